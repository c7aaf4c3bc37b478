# SPDX-License-Identifier: GPL-2.0
"""Troubles of what is sent, caused on purpose: each is the first finding, and its remedy, applied here, silences it."""
import sys

from streams import stream
from world import THERE, alone, lab, run, trouble


@trouble("tx-queue-stuck", "the other end reads again")
def stuck_queue(w):
    """The far end of a tap stops reading while a socket sends."""
    w.tap(options="--napi")
    w.here.ip("link set tap0 txqueuelen 50")
    w.nic("read on")
    w.attach()
    w.nic("read off 0")
    w.nic("read off 1")
    w.nic("read off 2")
    w.nic("read off 3")
    s = w.udp()
    w.load(lambda: [s.sendto(bytes(500), (THERE, 5000 + i)) for i in range(8)], .02)
    w.expect("tx-queue-stuck", fix=False, remedy=lambda: w.nic("read on"), settle=1)


def unread(w, sockets, nr):
    """Sends this many datagrams at once, while the other end does not read for a moment; then waits until it read all,
    so that no burst meets the one before it, however late the other end is."""
    def ended():
        count = w.nic("count")
        return sum(q["frames"] for q in count["queues"]) + count["drops"]
    before = ended()
    w.nic("read off")
    for i in range(nr):
        sockets[i % len(sockets)].sendto(bytes(500), (THERE, 5000))
    w.nic("read on")
    lab.until(lambda: ended() - before >= nr, 5)


@trouble("tx-ring-full", "ip link set txqueuelen")
@alone
def ring_too_short_for_bursts(w):
    """Bursts of 106 datagrams to a ring of 100 that is read a moment later."""
    w.tap(queues=1)
    w.here.ip("link set tap0 txqueuelen 100")
    w.nic("read on")
    w.attach()
    s = w.udp()
    w.load(lambda: unread(w, [s], 106), .05)
    w.expect("tx-ring-full")


@trouble("tx-completion-slow", "the other end reads at once")
@alone
def slow_completions(w):
    """The far end of a tap reads every 8 ms."""
    w.tap()
    w.nic("delay 8")
    w.nic("read on")
    w.attach()
    s = w.udp()
    w.load(lambda: [s.sendto(bytes(500), (THERE, 5000 + i)) for i in range(8)], .01)
    w.expect("tx-completion-slow", fix=False, remedy=lambda: w.nic("delay 0"))


@trouble("qdisc-wait", "tc qdisc change … rate 1gbit")
def shaper_too_slow(w):
    """tbf of 2 Mbit/s with room for 60 kB, and more traffic than that."""
    w.tap()
    w.nic("read on")
    w.here.run("tc qdisc replace dev tap0 root tbf rate 2mbit burst 5000 limit 60000")
    w.attach("-m", "pktsize,txlat,qdisc,drop")
    s = w.udp()
    w.load(lambda: [s.sendto(bytes(1000), (THERE, 5000)) for _ in range(4)], .01)
    w.expect("qdisc-wait", fix=False,
             remedy=lambda: w.here.run("tc qdisc change dev tap0 root tbf rate 1gbit burst 100000 limit 600000"))


@trouble("qdisc-drops", "tc qdisc change … rate 1gbit")
def shaper_drops(w):
    """tbf of 2 Mbit/s with room for 6 kB, and more traffic than that."""
    w.tap()
    w.nic("read on")
    w.here.run("tc qdisc replace dev tap0 root tbf rate 2mbit burst 5000 limit 6000")
    w.attach()
    s = w.udp()
    w.load(lambda: [s.sendto(bytes(1000), (THERE, 5000)) for _ in range(4)], .01)
    w.expect("qdisc-drops", fix=False,
             remedy=lambda: w.here.run("tc qdisc change dev tap0 root tbf rate 1gbit burst 100000 limit 600000"))


@trouble("tso-off", "ethtool -K tso on")
@alone
def tso_switched_off(w):
    """ethtool -K tso off; a TCP stream."""
    w.veth()
    w.here.run("ethtool -K eth0 tso off")
    w.attach()
    stream(w, w.here, w.there)
    w.expect("tso-off")


@trouble("tx-checksum-off", "ethtool -K tx on")
@alone
def checksums_switched_off(w):
    """ethtool -K tx off; a TCP stream."""
    w.veth()
    w.here.run("ethtool -K eth0 tx off")
    w.attach()
    stream(w, w.here, w.there)
    w.expect("tx-checksum-off", then=("tso-off",))


@trouble("tx-copied", "ethtool -K sg on")
@alone
def scatter_gather_off(w):
    """ethtool -K sg off; a TCP stream."""
    w.veth()
    w.here.run("ethtool -K eth0 sg off")
    w.attach()
    stream(w, w.here, w.there)
    w.expect("tx-copied", then=("tso-off",))


@trouble("gso-split-early", "tc qdisc change … burst 400kb")
@alone
def burst_below_a_buffer(w):
    """tbf whose burst is below 64 KiB; a TCP stream."""
    w.veth()
    w.here.run("tc qdisc replace dev eth0 root tbf rate 2gbit burst 16kb limit 4mb")
    w.attach()
    stream(w, w.here, w.there)
    w.expect("gso-split-early", fix=False,
             remedy=lambda: w.here.run("tc qdisc change dev eth0 root tbf rate 2gbit burst 400kb limit 8mb"))


@trouble("tc-egress-drops", "tc filter del")
def tc_filter_drops_what_is_sent(w):
    """A tc program at egress that returns TC_ACT_SHOT."""
    w.tap()
    w.nic("read on")
    w.filter("egress", 2)
    w.attach()
    s = w.udp()

    def send():
        try:
            s.sendto(bytes(500), (THERE, 5000))
        except OSError:
            pass
    w.load(send, .005)
    w.expect("tc-egress-drops", fix=False, remedy=lambda: w.here.run("tc filter del dev tap0 egress"))


@trouble("neighbour-dead", "ip neigh add")
def neighbour_does_not_answer(w):
    """Datagrams to an on-link address that answers no ARP."""
    w.tap()
    w.nic("read on")
    w.here.run("sysctl -qw net.ipv4.neigh.tap0.retrans_time_ms=50 net.ipv4.neigh.tap0.mcast_solicit=1 "
               "net.ipv4.neigh.tap0.ucast_solicit=1")
    w.attach()
    s = w.udp()
    w.load(lambda: s.sendto(bytes(500), ("198.18.0.66", 5000)), .005)
    w.expect("neighbour-dead", fix=False, settle=.5,
             remedy=lambda: w.here.ip("neigh replace 198.18.0.66 lladdr 02:00:00:00:00:66 dev tap0 nud permanent"))


if __name__ == "__main__":
    run(sys.argv[1:])

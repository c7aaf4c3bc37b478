# SPDX-License-Identifier: GPL-2.0
"""Healthy interfaces under real load: no findings."""
import socket
import sys

from streams import stream
from lib.wire import udp, udp6
from world import THERE, alone, healthy, inside, lab, run


def spread(total, size, words="", queues=4):
    return [f"{q} {total // queues} {size} {words}" for q in range(queues)]


@healthy
def idle(w):
    """A packet five times per second."""
    w.tap()
    w.attach()
    w.frames("0 1 60", every=.2)
    w.reader()
    w.quiet(least=2)


@healthy
@alone
def tcp_as_fast_as_it_goes(w):
    """A TCP stream out."""
    w.veth()
    w.attach()
    stream(w, w.here, w.there)
    w.quiet(least=10000)


@healthy
@alone
def tcp_both_ways(w):
    """A TCP stream out, and one in."""
    w.veth()
    w.attach()
    stream(w, w.here, w.there)
    stream(w, w.there, w.here, 5002, "10.0.1.1")
    w.quiet(least=10000)


@healthy
@alone
def tcp_with_napi(w):
    """A TCP stream in, with GRO and therefore NAPI."""
    w.veth()
    for ns in w.here, w.there:
        ns.run("ethtool -K eth0 gro on")
    w.attach()
    stream(w, w.there, w.here, 5002, "10.0.1.1")
    w.quiet(least=10000)


@healthy
@alone
def tcp_ipv6(w):
    """A TCP stream over IPv6."""
    w.veth()
    for ns in w.here, w.there:
        ns.run("sysctl -qw net.ipv6.conf.all.disable_ipv6=0 net.ipv6.conf.eth0.disable_ipv6=0")
    for i, ns in enumerate((w.here, w.there), 1):
        ns.ip(f"addr add fd00:1::{i}/64 dev eth0 nodad")
    w.attach()
    stream(w, w.here, w.there, 5001, "fd00:1::2")
    w.quiet(least=10000)


@healthy
@alone
def tcp_jumbo(w):
    """A TCP stream in, with an MTU of 9000."""
    w.veth(mtu=9000)
    w.attach()
    stream(w, w.there, w.here, 5001, "10.0.1.1")
    w.quiet(least=10000)


@healthy
@alone
def tcp_paced(w):
    """Four TCP streams of 100 Mbit/s each."""
    w.veth()
    w.attach()
    for i in range(4):
        stream(w, w.here, w.there, 5001 + i, pace=12500000)
    w.quiet(least=500)


@healthy
@alone
def short_connections(w):
    """Short connections: each ends in TIME_WAIT, where the kernel frees packets as if there were no socket."""
    w.veth()
    w.attach()
    listener = inside(w.here, lambda: socket.create_server(("", 5001), backlog=1000))
    w.stack.callback(listener.close)

    def one():
        c = inside(w.there, lambda: socket.create_connection(("10.0.1.1", 5001)))
        s = listener.accept()[0]
        c.sendall(b"GET")
        s.recv(100)
        s.sendall(bytes(3000))
        s.close()
        while c.recv(4096):
            pass
        c.close()
    w.load(one)
    w.quiet(least=500)


@healthy
@alone
def many_small_flows(w):
    """2000 flows of small datagrams."""
    w.tap()
    w.attach()
    w.reader()
    w.frames(*spread(200, 120, "flows=500"), every=.01)
    w.quiet(least=5000)


@healthy
def media(w):
    """Forty streams of 50 packets per second, marked for low delay."""
    w.tap()
    w.attach()
    w.reader()
    w.frames(*spread(40, 200, "flows=10"), every=.02)
    w.quiet(least=1000)


@healthy
@alone
def bursts_that_fit(w):
    """Bursts of 300 packets per queue, which all rings and backlogs hold."""
    w.tap()
    w.attach()
    w.reader()
    w.frames(*spread(300, 1000, "flows=30"), every=.05)
    w.quiet(least=3000)


@healthy
def one_large_flow(w):
    """All packets on one queue and one CPU, which has time left."""
    w.tap()
    w.attach()
    w.reader()
    w.frames("0 100 1000", every=.01)
    w.quiet(least=3000)


@healthy
def uneven_but_idle(w):
    """Nine tenths of the packets on one queue, whose CPU has time."""
    w.tap()
    w.attach()
    w.reader()
    w.frames("0 90 300 flows=50", "1 5 300", "2 3 300", "3 2 300", every=.02)
    w.quiet(least=2000)


@healthy
@alone
def udp_that_would_not_merge(w):
    """GRO is off, and would not help."""
    w.tap()
    w.here.run("ethtool -K tap0 gro off")
    w.attach()
    w.reader()
    w.frames(*spread(400, 300, "flows=100"), every=.01)
    w.quiet(least=10000)


@healthy
def shaper_with_room(w):
    """tbf of 1 Gbit/s, and far less traffic."""
    w.tap()
    w.nic("read on")
    w.here.run("tc qdisc replace dev tap0 root tbf rate 1gbit burst 100kb limit 1mb")
    w.attach("-m", "all")
    s = w.udp()
    w.load(lambda: [s.sendto(bytes(1000), (THERE, 5000)) for _ in range(10)], .01)
    w.quiet(least=500)


@healthy
def sending(w):
    """16 sockets send 3200 datagrams per second."""
    w.tap()
    w.nic("read on")
    w.attach()
    sockets = [w.udp() for _ in range(16)]
    w.load(lambda: [s.sendto(bytes(1000), (THERE, 5000)) for s in sockets], .005)
    w.quiet(least=2000)


@healthy
@alone
def forwarding(w):
    """A router between two interfaces."""
    w.tap()
    other = lab.tap(w.here, "tap1", 4, "--napi", 1500, "198.19.0.2/16")
    w.stack.callback(other.close)
    w.here.run("sysctl -qw net.ipv4.conf.all.forwarding=1")
    w.here.ip("neigh add 198.19.0.1 lladdr 02:00:00:00:00:09 dev tap1")
    other("read on")
    w.attach()
    w.frames(*spread(200, 500, "flows=50 dst=198.19.0.1"), every=.01)
    w.quiet(least=5000)


@healthy
def pings(w):
    """The kernel frees a reply as if there were no socket, after the raw socket got its copy."""
    w.veth()
    w.attach()
    raw = inside(w.here, lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP))
    raw.settimeout(.2)
    w.stack.callback(raw.close)
    seq = [0]

    def ping():
        seq[0] += 1
        head = bytes([8, 0, 0, 0, 0, 1, seq[0] >> 8 & 255, seq[0] & 255])
        n = sum(int.from_bytes(head[i:i + 2], "big") for i in range(0, 8, 2))
        n = ~((n & 0xffff) + (n >> 16)) & 0xffff
        raw.sendto(head[:2] + n.to_bytes(2, "big") + head[4:], ("10.0.1.2", 0))
        try:
            raw.recv(2000)
        except TimeoutError:
            pass
    w.load(ping, .005)
    w.quiet(least=100)


@healthy
def noise_of_a_network(w):
    """ARP for others, multicast that nobody joined, frames for others that a switch floods: a few of each."""
    w.tap()
    w.attach()
    w.reader()
    w.frames("0 5 60 arp", "1 5 200 dmac=01:00:5e:00:00:fb dst=224.0.0.251 dport=5353", "2 5 100 dmac=02:09:09:09:09:09",
             "3 5 100 raw", "0 50 300 flows=20", every=.05)
    w.quiet(least=500)


@healthy
def a_few_strays(w):
    """A scan: a closed port now and then, a packet for another network, a bad checksum."""
    w.tap()
    w.attach()
    w.reader()
    w.frames("0 1 100 dport=77", "1 1 100 dst=10.1.2.3", "0 100 300 flows=20", every=.25)
    w.quiet(least=200)


@healthy
def xdp_program_passes(w):
    """A generic XDP program that passes everything; UDP, which GRO would not merge."""
    w.tap()
    w.xdp(2)
    w.attach()
    w.reader()
    w.frames(*spread(200, 300, "flows=50"), every=.02)
    w.quiet(least=3000)


@healthy
def rps_on_both(w):
    """RPS to both CPUs."""
    w.tap()
    w.write("queues/rx-*/rps_cpus", 3)
    w.attach()
    w.reader()
    w.frames(*spread(200, 300, "flows=50"), every=.02)
    w.quiet(least=3000)


@healthy
def marks_now_and_then(w):
    """One packet in 200 is marked CE."""
    w.tap()
    w.attach()
    w.reader()
    w.frames("0 995 300 ecn=2 flows=9", "0 5 300 ecn=3 flows=9", every=.1)
    w.quiet(least=3000)


@healthy
def a_few_fragments(w):
    """A large datagram now and then, as from DNS."""
    w.veth()
    w.attach()
    w.reader(9, netns=w.here)
    s = w.udp(w.there)
    w.load(lambda: s.sendto(bytes(4000), ("10.0.1.1", 9)), .02)
    w.quiet(least=50)


@healthy
def groups_nobody_joined(w):
    """IPv4 and IPv6 multicast that no socket has joined, and broadcasts that nobody listens to."""
    w.wire(ipv6=True)
    w.attach()
    w.reader(port=10)
    group, everybody = udp(9, dst="224.1.2.3"), udp(9, dst="198.18.255.255")
    group6 = udp6(9, dst="ff02::1:ff01:203")
    frames = [w.wires.eth(group, dst=bytes.fromhex("01005e010203")), w.wires.eth(everybody, dst=b"\xff" * 6),
              w.wires.eth(group6, 0x86dd, bytes.fromhex("3333ff010203"))]
    w.load(lambda: [w.wires.write(0, f) for f in frames * 5], .02)
    drops = w.quiet(least=100)["meters"].get("drop", [])
    lab.same("groups_nobody_joined: all that is dropped is benign", [r for r in drops if not r.get("benign")], [])
    got = {r["location"].split("+")[0]: r["packets"] for r in drops if r["reason"] == "multicast-unjoined"}
    lab.check(f"groups_nobody_joined: IPv6, too # {got}", got.get("ip6_mc_input"), str(drops))


if __name__ == "__main__":
    run(sys.argv[1:])

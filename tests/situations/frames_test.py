# SPDX-License-Identifier: GPL-2.0
"""Troubles in the packets themselves, or in how they arrive: wrong, split, shuffled, too many at once."""
import os
import random
import struct
import sys

from streams import bursts, stream
from lib.wire import first_fragment, tcp, udp
from world import THERE, Skip, alone, lab, run, trouble


def threads(w):
    """Makes the interface poll in threads; returns their PIDs."""
    w.write("threaded", 1)
    pids = lab.sh(f"pgrep '^napi/{w.dev}-' || true").split()
    if not pids:
        raise Skip(f"this kernel does not poll {w.dev} in threads")
    return pids


@trouble("checksum-bad", "the sender's checksums are right")
def checksums_are_wrong(w):
    """Every tenth UDP datagram has a wrong checksum."""
    w.wire()
    w.attach()
    w.reader()
    bad = w.packets_in(*[udp(9)] * 9, udp(9, spoil=1), every=.01)

    def mend():
        bad.stop()
        w.packets_in(*[udp(9)] * 10, every=.01)
    w.expect("checksum-bad", fix=False, remedy=mend)


@trouble("no-hops-left", "the loop is gone")
def packets_in_a_loop(w):
    """Packets to be forwarded that arrive with a TTL of 1."""
    w.wire()
    w.here.run("sysctl -qw net.ipv4.conf.all.forwarding=1 net.ipv4.icmp_ratelimit=0")
    w.here.ip(f"route add 10.9.0.0/16 via {THERE} dev tap0")
    w.attach()
    loop = w.packets_in(*[udp(9, dst="10.9.9.9", ttl=1)] * 2)

    def mend():
        loop.stop()
        w.packets_in(*[udp(9, dst="10.9.9.9")] * 2)
    w.expect("no-hops-left", fix=False, remedy=mend)


@trouble("rx-fragments", "smaller datagrams")
def datagrams_longer_than_the_mtu(w):
    """Datagrams of 8000 bytes over an MTU of 1500."""
    w.veth()
    w.attach()
    w.reader()
    s, size = w.udp(w.there), [8000]
    w.load(lambda: [s.sendto(bytes(size[0]), ("10.0.1.1", 9)) for _ in range(10)], .01)

    def smaller():
        size[0] = 1400
    w.expect("rx-fragments", fix=False, remedy=smaller)


@trouble("vlan-unknown", "the switch takes the tag away")
def tag_of_another_vlan(w):
    """UDP to this host with a VLAN tag that no device has."""
    w.wire()
    w.attach()
    w.reader()
    frame = w.wires.eth(struct.pack("!HH", 77, 0x0800) + udp(9), 0x8100)
    tagged = w.load(lambda: [w.wires.write(0, frame) for _ in range(5)], .02)

    def mend():
        tagged.stop()
        w.packets_in(*[udp(9)] * 5)
    w.expect("vlan-unknown", fix=False, remedy=mend)


@trouble("fragments-lost", "the path loses nothing")
def second_halves_are_lost(w):
    """First fragments whose rest never arrives."""
    w.wire()
    w.here.run("sysctl -qw net.ipv4.ipfrag_time=1")
    w.attach()
    w.reader()
    numbers = iter(range(1, 60000))
    halves = w.load(lambda: [w.wires.write(0, w.wires.eth(first_fragment(next(numbers)))) for _ in range(5)], .02)

    def mend():
        halves.stop()
        w.packets_in(*[udp(9)] * 5)
    w.expect("fragments-lost", fix=False, remedy=mend, settle=1.5)


@trouble("rx-out-of-order", "the paths are of one length")
def segments_are_shuffled(w):
    """TCP segments of 1000 bytes in random order, polled by a thread."""
    w.wire()
    cpu = min(os.sched_getaffinity(0))
    for pid in threads(w):      # polls everything written meanwhile at once, as from a card
        lab.sh(f"taskset -pc {cpu} {pid} && chrt -b -p 0 {pid}")
    w.attach()
    frames = [w.wires.eth(tcp(9, 16, seq=1 + 1000 * i, ack=1, payload=bytes(1000))) for i in range(32)]

    def write(some):
        os.sched_setaffinity(0, [cpu])
        for f in some:
            w.wires.write(0, f)
    load = w.load(lambda: write(random.sample(frames, len(frames))), .01)

    def mend():
        load.stop()
        w.load(lambda: write(frames), .01)
    w.expect("rx-out-of-order", fix=False, remedy=mend)


@trouble("gro-not-used", "ethtool -K gro on")
@alone
def small_segments_over_a_veth(w):
    """A TCP stream whose sender has neither TSO nor GSO."""
    w.veth()
    w.there.run("ethtool -K eth0 tso off gso off")
    w.attach()
    stream(w, w.there, w.here, to="10.0.1.1")
    w.expect("gro-not-used")


@trouble("xdp-bad-action", "ip link set xdpgeneric off")
def xdp_program_returns_nonsense(w):
    """A generic XDP program that returns 99."""
    w.tap()
    w.xdp(99)
    w.attach()
    w.reader()
    w.frames("0 100 200", every=.02)
    w.expect("xdp-bad-action", fix=False, remedy=lambda: w.here.ip("link set tap0 xdpgeneric off"))


@trouble("napi-budget-low", "sysctl netdev_budget=300")
@alone
def budget_for_a_slow_card(w):
    """net.core.netdev_budget is 32; TCP segments arrive in bursts of 100."""
    w.host_sysctl("net.core.netdev_budget", 32)
    w.host_sysctl("net.core.netdev_budget_usecs", None)
    w.veth(mtu=600)
    w.here.run("ethtool -K eth0 gro on")
    w.there.run("ethtool -K eth0 tso off")      # so that a buffer's segments arrive at once
    w.there.run("sysctl -qw net.ipv4.tcp_min_tso_segs=100")      # bursts stay whole on a slow machine
    w.attach()
    # A stream is no burst while its receiver reads, and opens the window, bit by bit.
    bursts(w, w.there, w.here, 100 * (600 - 52), to="10.0.1.1")
    w.expect("napi-budget-low")


@trouble("napi-threads-one-cpu", "taskset -pc 0-1 for each thread")
@alone
def threads_on_one_cpu(w):
    """Polls in threads that are all bound to CPU 1, with a slow stack."""
    w.need_free_cpu()
    w.tap()
    w.slow_stack()
    for pid in threads(w):
        lab.sh(f"taskset -pc 1 {pid}")
    w.attach()
    w.reader()
    w.saturate(*(f"{q} 300 200 flows=16" for q in range(4)))
    w.expect("napi-threads-one-cpu", settle=.5)


if __name__ == "__main__":
    run(sys.argv[1:])

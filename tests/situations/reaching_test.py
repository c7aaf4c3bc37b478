# SPDX-License-Identifier: GPL-2.0
"""Troubles of reachability: addresses, routes, neighbours, ports, sockets, MTUs, links that are down."""
import contextlib
import signal
import socket
import sys

from world import HERE, THERE, healthy, inside, lab, run, trouble
from programs import named, program, sends
from lib.wire import THERE6, first_fragment, ip4, tcp, udp, udp6        # found because world extends the path


@trouble("checksum-bad", "the sender's checksums are right")
def checksums_are_wrong_in_ipv6(w):
    """Every tenth UDP datagram over IPv6 has a wrong checksum, which recvmsg() finds."""
    w.wire(ipv6=True)
    w.attach()
    w.reader(family=socket.AF_INET6)
    good, bad = w.wires.eth(udp6(9), 0x86dd), w.wires.eth(udp6(9, spoil=1), 0x86dd)
    w.load(lambda: [w.wires.write(0, good) for _ in range(9)], .01)
    spoilt = w.load(lambda: w.wires.write(0, bad), .01)
    w.expect("checksum-bad", fix=False, remedy=spoilt.stop)


@trouble("neighbour-dead", "ip neigh add")
def ipv6_neighbour_does_not_answer(w):
    """Datagrams to an on-link IPv6 address that answers no neighbour solicitation."""
    w.wire(ipv6=True)
    w.here.run("sysctl -qw net.ipv6.neigh.tap0.retrans_time_ms=50 net.ipv6.neigh.tap0.mcast_solicit=1")
    w.attach()
    s = inside(w.here, lambda: socket.socket(socket.AF_INET6, socket.SOCK_DGRAM))
    w.stack.callback(s.close)
    sends(w, s, ("2001:2::66", 5000))
    doc = w.expect("neighbour-dead", fix=False, settle=.5, remedy=lambda: w.here.ip(
        "neigh replace 2001:2::66 lladdr 02:00:00:00:00:66 dev tap0 nud permanent"))
    lab.check(f"{w.name}: names it", "2001:2::66" in doc["findings"][0]["what"], doc["findings"][0]["what"])


@trouble("neighbour-dead", "ip neigh add")
def many_wait_for_a_silent_neighbour(w):
    """More packets to an address that answers no ARP than may wait for it, so that most find no room."""
    w.tap()
    w.nic("read on")
    w.attach()
    sends(w, w.udp(), ("198.18.0.66", 5000))
    doc = w.expect("neighbour-dead", fix=False, settle=.5, remedy=lambda: w.here.ip(
        "neigh replace 198.18.0.66 lladdr 02:00:00:00:00:66 dev tap0 nud permanent"))
    lab.check(f"{w.name}: names it", "198.18.0.66" in doc["findings"][0]["what"], doc["findings"][0]["what"])


def neighbours(w):
    """The host of the first namespace, which gives a neighbour up ten times as soon as others do, and pings one that answers."""
    w.veth()
    w.dev, w.at = "eth0", f"{w.here}/host"
    w.here.run("sysctl -qw net.ipv4.neigh.eth0.retrans_time_ms=100")
    w.attach("-m", "neigh,icmp")
    w.load(lambda: w.here.run("ping -qc1 -W1 10.0.1.2"), .2)


@trouble("neighbours-silent", "the address is at the other end")
def neighbours_are_silent(w):
    """Datagrams to three addresses of the network that nobody has, as the host's meter `neigh` sees them."""
    neighbours(w)
    silent, command = [f"10.0.1.{n}" for n in (66, 67, 68)], "ip neigh show dev eth0 nud failed nud incomplete"
    for address in silent:
        sends(w, w.udp(), (address, 9), each=1)
    w.reader(netns=w.there)

    def up():
        listed = w.here.run(command)
        lab.check(f"{w.name}: its command names them", all(address in listed for address in silent), listed)
        for address in silent:
            w.there.ip(f"addr add {address}/24 dev eth0")
    doc = w.expect("neighbours-silent", fix=False, settle=.5, remedy=up)
    says, row = doc["findings"][0], doc["meters"]["neigh"][0]
    lab.check(f"{w.name}: it has this command", command in says["try"], says["try"])
    lab.check(f"{w.name}: says what the meter counts", f"{row['dropped']['failed']} packets" in says["what"], str(row))


@healthy
def neighbours_come_and_go(w):
    """Neighbours are forgotten and asked for again; one that is not there is pinged, and its network is scanned."""
    neighbours(w)
    w.load(lambda: w.here.ip("neigh flush dev eth0 10.0.1.2"), .1)
    absent = w.udp()
    sends(w, absent, ("10.0.1.66", 9), every=.1, each=1)
    sweep = [f"10.0.1.{n}" for n in range(100, 150)]

    def scan():
        address = sweep.pop(0)
        sweep.append(address)
        for _ in range(2):
            with contextlib.suppress(OSError):
                absent.sendto(bytes(8), (address, 9))
    w.load(scan, .02)
    doc = w.quiet(seconds=2, least=5)
    row = doc["meters"]["neigh"][0]
    lab.check(f"{w.name}: some answer, and some fail # {row['resolutions']}, dropped: {row['dropped']}",
              row["resolutions"]["answered"] and row["dropped"]["failed"] >= 10, str(row))


@trouble("link-down", "ip link set PEER up")
def other_end_is_down(w):
    """The peer of a veth is administratively down while a program sends."""
    w.veth()
    w.attach()
    w.reader(netns=w.there)
    sends(w, w.udp(), ("10.0.1.2", 9))
    w.there.ip("link set eth0 down")
    w.expect("link-down", fix=False, settle=.5, remedy=lambda: w.there.ip("link set eth0 up"))


@trouble("link-down", "ip link set IFACE up")
def switched_off(w):
    """The interface itself is administratively down while a program sends."""
    w.veth()
    w.attach()
    w.reader(netns=w.there)
    sends(w, w.udp(), ("10.0.1.2", 9))
    w.here.ip("link set eth0 down")
    w.expect("link-down")


@trouble("peer-mtu-smaller", "ip link set mtu 1500 at the other end")
def other_end_takes_less(w):
    """A veth with MTU 1500 whose peer has 1000; datagrams of 300 and of 1400 bytes."""
    w.veth()
    w.there.ip("link set eth0 mtu 1000")
    w.attach()
    w.reader(netns=w.there)
    sends(w, w.udp(), ("10.0.1.2", 9), (300, 1400))
    w.expect("peer-mtu-smaller", fix=False, remedy=lambda: w.there.ip("link set eth0 mtu 1500"))


@trouble("rx-too-long", "ip link set mtu 1500")
def takes_less_than_the_other_end(w):
    """The same, measured at the end with the smaller MTU."""
    w.veth()
    w.here.ip("link set eth0 mtu 1000")
    w.attach()
    w.reader()
    sends(w, w.udp(w.there), ("10.0.1.1", 9), (300, 1400))
    w.expect("rx-too-long", fix=False, remedy=lambda: w.here.ip("link set eth0 mtu 1500"))


@trouble("tcp-port-closed", "the program is started")
def connection_refused(w):
    """Connections to a TCP port on which nothing listens, 200 per second."""
    w.veth()
    w.attach()

    def connect():
        with inside(w.there, lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM)) as s:
            s.settimeout(1)
            with contextlib.suppress(OSError):
                s.connect(("10.0.1.1", 81))
    w.load(connect, .005)

    def start():
        held = inside(w.here, lambda: socket.create_server(("", 81), backlog=4096))
        w.stack.callback(held.close)
        held.settimeout(.2)

        def take():
            with contextlib.suppress(TimeoutError):
                held.accept()[0].close()
        w.load(take)
    w.expect("tcp-port-closed", fix=False, remedy=start)


@trouble("syn-queue-full", "sysctl tcp_syncookies=1")
def flood_of_syns(w):
    """SYNs from addresses that never answer, to a listener with backlog 8, without SYN cookies."""
    w.wire()
    w.here.run("sysctl -qw net.ipv4.tcp_syncookies=0 net.ipv4.tcp_max_syn_backlog=8")
    w.stack.callback(inside(w.here, lambda: socket.create_server(("", 80), backlog=8)).close)
    w.attach()
    ports = iter(range(1000, 1 << 30))

    def flood():
        for _ in range(10):
            port = next(ports)
            w.wires.write(0, w.wires.eth(tcp(80, src=f"198.18.0.{100 + port % 50}", sport=port % 60000)))
    w.load(flood, .01)
    w.expect("syn-queue-full")


@trouble("source-is-own", "the other host gets another address")
def address_is_taken(w):
    """Another host has the same IPv4 address, and sends."""
    w.wire()
    w.attach()
    w.reader()
    other = w.packets_in(*[udp(9, src=HERE)] * 5)

    def mend():
        other.stop()
        w.packets_in(*[udp(9)] * 5)
    w.expect("source-is-own", fix=False, remedy=mend)


@trouble("source-invalid", "the sender uses an address of its own")
def martians(w):
    """Packets from 127.0.0.1, and from the broadcast address."""
    w.wire()
    w.attach()
    w.reader()
    bad = w.packets_in(*[udp(9, src=src) for src in ("127.0.0.1", "255.255.255.255")] * 3)

    def mend():
        bad.stop()
        w.packets_in(*[udp(9)] * 5)
    w.expect("source-invalid", fix=False, remedy=mend)


@trouble("route-refuses", "ip route del blackhole")
def route_into_a_blackhole(w):
    """Packets to be forwarded, to a destination with a blackhole route."""
    w.wire()
    w.here.run("sysctl -qw net.ipv4.conf.all.forwarding=1")
    w.here.ip(f"route add 10.0.0.0/8 via {THERE} dev tap0")
    w.here.ip("route add blackhole 10.9.0.0/16")
    w.attach()
    w.packets_in(*[udp(9, dst="10.9.9.9")] * 5)
    w.expect("route-refuses", fix=False, remedy=lambda: w.here.ip("route del blackhole 10.9.0.0/16"))


@trouble("no-route-out", "ip route add")
def nowhere_to_send(w):
    """A program sends to a network without a route: sendto() fails, and no packet is created."""
    w.tap()
    w.nic("read on")
    w.attach()
    sends(w, w.udp(), ("10.9.9.9", 9))
    w.frames("0 1 200 arp", every=.05)
    w.expect("no-route-out", fix=False, remedy=lambda: w.here.ip(f"route add 10.9.0.0/16 via {THERE} dev tap0"))


@trouble("protocol-unknown", "the sender stops")
def tunnel_without_an_end(w):
    """GRE packets to a host without a tunnel."""
    w.wire()
    w.attach()
    w.reader()
    gre = w.packets_in(*[ip4(47, bytes(100))] * 5)

    def mend():
        gre.stop()
        w.packets_in(*[udp(9)] * 5)
    w.expect("protocol-unknown", fix=False, remedy=mend)


@trouble("fragments-lost", "sysctl ipfrag_high_thresh")
def no_memory_for_fragments(w):
    """More incomplete fragments than net.ipv4.ipfrag_high_thresh allows."""
    w.wire()
    w.here.run("sysctl -qw net.ipv4.ipfrag_low_thresh=20000 net.ipv4.ipfrag_high_thresh=30000")
    w.attach()
    numbers = iter(range(1, 60000))
    w.load(lambda: [w.wires.write(0, w.wires.eth(first_fragment(next(numbers)))) for _ in range(3)], .02)
    w.expect("fragments-lost", fix=False, then=("rx-fragments",),
             remedy=lambda: w.here.run("sysctl -qw net.ipv4.ipfrag_high_thresh=40000000"))


@trouble("socket-full", "kill -CONT")
def reader_is_stopped(w):
    """The program that owns the socket is stopped (SIGSTOP)."""
    w.veth()
    w.attach()
    p = program(w, "s.bind(('', 9))\nprint(flush=True)\nwhile True: s.recv(9999)")
    sends(w, w.udp(w.there), ("10.0.1.1", 9), (1000,))
    p.send_signal(signal.SIGSTOP)
    named(w, w.expect("socket-full", fix=False, settle=1, remedy=lambda: p.send_signal(signal.SIGCONT)),
          f"(pid {p.pid})", "port 9", f"kill -CONT {p.pid}")


@trouble("socket-full", "a larger SO_RCVBUF")
def buffer_was_chosen(w):
    """Bursts of 20 to a program that set SO_RCVBUF to 2048 itself: no sysctl changes that."""
    w.veth()
    w.attach()
    p = program(w, "s.setsockopt(1, 8, 2048)\ns.bind(('', 9))\nprint(flush=True)\nwhile True: s.recv(9999)")
    sends(w, w.udp(w.there), ("10.0.1.1", 9), (1000,), .02, 20)

    def larger():
        p.kill()
        p.wait()
        w.reader()
    named(w, w.expect("socket-full", fix=False, remedy=larger, settle=.5), f"(pid {p.pid})", "SO_RCVBUF")


if __name__ == "__main__":
    run(sys.argv[1:])

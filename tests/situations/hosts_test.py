# SPDX-License-Identifier: GPL-2.0
"""Typical healthy hosts: with containers, name servers, talkative neighbours, strangers that scan: no findings."""
import contextlib
import socket
import struct
import sys

from streams import stream
from world import HERE, THERE, healthy, inside, run
from lib.wire import ip4, tcp, udp      # found because world extends the path


def containers(w, count=5):
    """A bridge with this many containers; the first one's port is measured."""
    w.here = w.namespace()
    w.here.ip("link add br0 type bridge")
    w.here.ip("addr add 10.5.0.1/24 dev br0")
    w.here.ip("link set br0 up")
    inner = [w.namespace(f"c{i}") for i in range(count)]
    for i, ns in enumerate(inner):
        w.here.ip(f"link add c{i} type veth peer name eth0 netns {ns}")
        w.here.ip(f"link set c{i} master br0 up")
        ns.ip(f"addr add 10.5.0.{i + 2}/24 dev eth0")
        ns.ip("link set eth0 up")
    w.dev, w.at = "c0", f"{w.here}/c0"
    return inner


@healthy
def container_host(w):
    """Five containers on a bridge; the port of one that sends, receives, and is contacted by others."""
    one, two, three, four, _ = containers(w)
    w.attach("-m", "all")
    stream(w, one, two, to="10.5.0.3", pace=2000000)
    stream(w, three, one, to="10.5.0.2", pace=2000000)
    w.reader(netns=one)
    s = w.udp(four)
    w.load(lambda: s.sendto(bytes(100), ("10.5.0.2", 9)), .01)
    w.quiet(least=500)


@healthy
def name_server(w):
    """400 queries per second, each from a new socket; one in 50 gives up before its answer arrives."""
    w.veth()
    w.attach()
    server = inside(w.there, lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
    w.stack.callback(server.close)
    server.bind(("10.0.1.2", 53))
    server.settimeout(.2)
    asked = [0]

    def serve():
        with contextlib.suppress(TimeoutError, OSError):
            query, who = server.recvfrom(999)
            server.sendto(query + bytes(100), who)

    def ask():
        asked[0] += 1
        with inside(w.here, lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) as s:
            s.settimeout(.2)
            s.sendto(bytes(40), ("10.0.1.2", 53))
            with contextlib.suppress(TimeoutError):
                if asked[0] % 50:
                    s.recv(999)
    w.load(serve)
    w.load(ask, .0025)
    w.quiet(least=200)


@healthy
def connections_that_end_with_a_reset(w):
    """Short connections, closed with SO_LINGER 0 as load generators and health checks do."""
    w.veth()
    w.attach()
    listener = inside(w.here, lambda: socket.create_server(("", 5001), backlog=500))
    w.stack.callback(listener.close)

    def one():
        c = inside(w.there, lambda: socket.create_connection(("10.0.1.1", 5001)))
        s = listener.accept()[0]
        c.sendall(b"GET")
        s.recv(100)
        s.sendall(bytes(3000))
        c.recv(9999)
        c.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        c.close()
        s.close()
    w.load(one, .003)
    w.quiet(least=500)


@healthy
def television(w):
    """Multicast of 10 Mbit/s that one program has joined, and as much that nobody has."""
    w.wire()
    w.attach()
    s = inside(w.here, lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
    w.stack.callback(s.close)
    s.bind(("", 5004))
    s.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, socket.inet_aton("239.1.2.3") + socket.inet_aton(HERE))
    s.setsockopt(socket.SOL_SOCKET, 33, 1 << 22)        # SO_RCVBUFFORCE
    s.settimeout(.2)

    def read():
        with contextlib.suppress(TimeoutError):
            while True:
                s.recv(9999)
    w.load(read)
    groups = [w.wires.eth(udp(5004, 1300, dst=f"239.1.2.{i}"), dst=bytes([1, 0, 0x5e, 1, 2, i])) for i in (3, 4)]
    w.load(lambda: [w.wires.write(i % 4, f) for i, f in enumerate(groups * 10)], .01)
    w.quiet(least=1000)


@healthy
def chatter(w):
    """DHCP, ARP, mDNS, SSDP, NetBIOS, VRRP, OSPF, IGMP, LLDP, spanning tree, EAPOL: 40 of each per second."""
    w.wire()
    w.attach()
    arp = struct.pack("!HHBBH6s4s6s4s", 1, 0x800, 6, 4, 1, b"\x02\0\0\0\0\x99", socket.inet_aton(THERE), bytes(6),
                      socket.inet_aton("198.18.0.77"))
    everybody, eth = b"\xff" * 6, w.wires.eth
    frames = [eth(udp(67, 300, src="0.0.0.0", dst="255.255.255.255", sport=68), dst=everybody),
              eth(udp(137, 60, dst="198.18.255.255"), dst=everybody), eth(arp, 0x806, dst=everybody),
              eth(bytes(100), 0x88cc, bytes.fromhex("0180c200000e")), eth(bytes(40), 0x888e),
              eth(bytes.fromhex("424203") + bytes(35), 38, bytes.fromhex("0180c2000000"))]
    for packet, last in ((udp(5353, 100, dst="224.0.0.251"), 251), (ip4(112, bytes(20), dst="224.0.0.18"), 18),
                         (ip4(89, bytes(44), dst="224.0.0.5"), 5), (ip4(2, bytes(8), dst="224.0.0.1"), 1)):
        frames.append(eth(packet, dst=bytes([1, 0, 0x5e, 0, 0, last])))
    frames.append(eth(udp(1900, 100, dst="239.255.255.250"), dst=bytes.fromhex("01005e7ffffa")))
    w.load(lambda: [w.wires.write(0, f) for f in frames], .025)
    w.quiet(least=200)


@healthy
def traceroutes(w):
    """A router of 1000 packets per second; each second a traceroute of 16 probes through it, and one to it."""
    w.wire()
    w.here.run("sysctl -qw net.ipv4.conf.all.forwarding=1")
    w.here.ip(f"route add 10.9.0.0/16 via {THERE} dev tap0")
    w.attach()
    w.packets_in(*[udp(9, dst="10.9.9.9")] * 10, every=.01)
    probes = [udp(33434 + i, 20, dst="10.9.9.9", ttl=1) for i in range(16)] + [udp(33434 + i, 20) for i in range(16)]
    w.packets_in(*probes, every=1)
    w.quiet(least=500)


@healthy
def port_scan(w):
    """Ten TCP ports and ten UDP ports are tried repeatedly, beside a light load."""
    w.wire()
    w.attach()
    w.reader()
    w.packets_in(udp(9), every=.01)
    w.packets_in(*[tcp(port) for port in range(20, 30)], *[udp(port, 8) for port in range(20, 30)], every=1)
    w.quiet(least=50)


@healthy
def mirrored(w):
    """tc mirrors all received packets to another interface."""
    w.veth()
    w.reader()
    w.here.ip("link add d0 type veth peer name d1")
    w.here.ip("link set d0 up")
    w.here.ip("link set d1 up")
    w.here.run("tc qdisc add dev eth0 clsact")
    w.here.run("tc filter add dev eth0 ingress protocol ip u32 match u32 0 0 action mirred egress mirror dev d0")
    w.attach("-m", "all")
    s = w.udp(w.there)
    w.load(lambda: [s.sendto(bytes(200), ("10.0.1.1", 9)) for _ in range(10)], .01)
    w.quiet(least=300)


if __name__ == "__main__":
    run(sys.argv[1:])

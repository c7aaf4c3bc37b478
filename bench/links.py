# SPDX-License-Identifier: GPL-2.0
"""Links that one CPU saturates: live frames and sockets, over a veth pair and over a tap."""
from contextlib import contextmanager

from checks import at_point, between
from children import HEADLINE, Attached, Bench, lab, mac, xdp_id
from tell import Wrong

CPU = 0
OTHERS = 50		# tolerated packets that we did not send: ARP
HEADERS = 1.1		# upper bound of bytes with headers / payload, for full TCP segments


def udp_received(netns):
    """Packets that reached UDP, delivered or dropped."""
    lines = [line.split() for line in netns.run("cat /proc/net/snmp").splitlines()
             if line.startswith("Udp:")]
    udp = dict(zip(lines[0][1:], map(int, lines[1][1:])))
    return udp["InDatagrams"] + udp["InErrors"]


class Link:
    """name; netns, device: the measured interface; kinds of traffic; points all packets pass."""
    headline = HEADLINE

    def __init__(self):
        self.hooks = {}		# of the programs of a set of meters

    def go(self, kind, ms):
        """Sends traffic without losing a packet: {"packets", "bytes", "seconds", "cpu", "laps": [the same, and "work"]}."""

    def slices(self, ms):
        """{kind: result of go()}"""
        return {kind: self.go(kind, ms) for kind in self.kinds}


class Live(Link):
    """64-byte UDP packets made in the kernel, sent to a socket that is never read."""
    kinds, rx, points = ("udp",), "xdp", ("rx-nic", "rx-stack")

    def ready(self):
        self.live("send 1000")	# fills the socket: further packets count as InErrors

    def go(self, kind, ms):
        before = udp_received(self.netns)
        said = self.live(f"go {ms}")
        if udp_received(self.netns) - before != said["packets"]:
            raise Wrong(f"{self.name}: {udp_received(self.netns) - before} packets arrived "
                        f"instead of {said['packets']}")
        return said

    def verify(self, doc, told):
        super().verify(doc, told)
        dropped = at_point(doc, "drops")	# of programs that only count
        if dropped:
            between(f"{self.name}, drops,", dropped, told["packets"], told["packets"] + OTHERS)

    def attach(self, meters, rx="xdp", **options):
        return self.instead(Attached(self.netns, self.device, rx, meters, **options), rx == "xdp")

    def instead(self, what, xdp=True):
        """With what attaches an XDP program (`xdp`): that one runs, and not ours."""

    def verify(self, doc, told):
        missed = doc["lost"]["events"]
        for point in self.points:
            between(f"{self.name}, {point},", at_point(doc, point), told["packets"] - missed,
                    told["packets"] + OTHERS)


class VethLive(Live):
    """Sent through one end of a veth; the other end has XDP and passes them to the stack."""
    name, device, headline = "live frames, veth", "eth0", "pktsize,ecn,rxcpu"

    def __init__(self, sources=1, ecn=2):
        super().__init__()
        self.near, self.netns = lab.Namespace("near"), lab.Namespace("far")
        lab.veth(self.near, self.netns, mtu=1500)
        self.netns.ip("addr add 10.0.0.1/8 dev eth0")
        self.far = Bench("far", "eth0", netns=self.netns)
        self.far("xdp on")	# a veth drops live frames if its peer has no XDP program
        self.live = Bench("live", "--cpu", CPU, "--mac", mac(self.netns, "eth0"), "--sources",
                          sources, "--ecn", ecn, "eth0", "eth0", netns=self.near)
        self.ready()

    @contextmanager
    def instead(self, what, xdp=True):
        if xdp:
            self.far("xdp off")
        with what as attached:
            yield attached
        self.far("xdp on")

    def close(self):
        self.live.close()
        self.far.close()
        self.near.delete()
        self.netns.delete()


class TapLive(Live):
    """The tap's XDP program is run on frames as if the tap had received them."""
    name, device = "live frames, tap", "tap0"

    def __init__(self):
        super().__init__()
        self.netns = lab.Namespace("live")
        self.nic = lab.tap(self.netns, "tap0", 1, "--napi", 1500, "10.0.0.1/8")
        self.far = Bench("far", "tap0", netns=self.netns)
        self.live = Bench("live", "--cpu", CPU, "--mac", mac(self.netns, "tap0"), "tap0",
                          netns=self.netns)
        self.ready()

    @contextmanager
    def instead(self, what, xdp=True):
        with what as attached:
            if xdp:
                self.live(f"program {xdp_id(self.netns, 'tap0')}")
            yield attached
            self.live("program 0")

    def close(self):
        for child in (self.live, self.far, self.nic):
            child.close()
        self.netns.delete()


class Sockets(Link):
    """64-byte UDP packets and a TCP stream between sockets."""
    kinds, rx = ("udp", "tcp"), None

    def __init__(self, *wire):
        super().__init__()
        self.near, self.far = (lab.Namespace(f"{self.device}-{end}") for end in ("from", "to"))
        self.near.run("sysctl -qw net.ipv4.tcp_slow_start_after_idle=0")
        if not wire:
            lab.veth(self.near, self.far, mtu=1500)
            self.address()
        self.bench = Bench("sockets", "--cpu", CPU, *wire, self.near, self.far, "10.0.0.1")
        self.bench.answer()
        if wire:
            self.address()
            self.bench("there are addresses")

    def address(self):
        for netns, last in (self.near, 2), (self.far, 1):
            netns.ip(f"addr add 10.0.0.{last}/8 dev {self.device}")
            netns.ip(f"link set {self.device} up")

    def go(self, kind, ms):
        return self.bench(f"{kind} {ms}")

    def close(self):
        self.bench.close()
        self.near.delete()
        self.far.delete()

    def attach(self, meters, rx=None, **options):
        return Attached(self.netns, self.device, rx, meters, **options)

    def verify(self, doc, told):
        """Checks bytes, as the number of TCP packets is not known."""
        least = told["packets"] * 64 + told["bytes"] - told["packets"] * 22
        missed = doc["lost"]["events"] * 65536
        for point in self.points:
            between(f"{self.name}, {point}, bytes,", lab.bytes_at(doc, point), least - missed,
                    least * HEADERS + OTHERS * 100)


class VethSockets(Sockets):
    name, device, points, headline = "sockets, veth", "eth0", ("rx-stack",), "pktsize,ecn,rxcpu"

    @property
    def netns(self):
        return self.far		# the receiving end


class TapSockets(Sockets):
    """Two taps connected in user space; the sending one is measured."""
    name, device, points = "sockets, tap", "tap0", ("tx-stack", "tx-nic")

    def __init__(self):
        super().__init__("--wire", "tap0")

    @property
    def netns(self):
        return self.near


LINKS = [VethLive, TapLive, VethSockets, TapSockets]

# SPDX-License-Identifier: GPL-2.0
"""A device and the one above it, both attached: each counts its own packets, though one sends while the other does."""
import socket
import struct

from lib import left
from lib.lab import *
from lib.wire import Wire, inside, udp

ABOVE = "198.19.0.2"                            # the address of the device above
UPPER, LOWER = "pktsize,ecn,drop,qdisc", "pktsize,ecn,drop,qdisc,txlat"
MARKED = {0: 40, 1: 7, 2: 11, 3: 23}            # datagrams by codepoint that the device above sends
DIRECT, DIRECT_ECN = 17, 2                      # frames that only the one below sends
ITS_OWN, OTHERS = 29, 13                         # received by the one above, and by the one below only: nobody takes them
NOBODY = b"\x02\0\0\0\0\x55"
TCX = KERNEL >= (6, 6)


class Pair:
    """tap0, and up0 above it; `want` is what each must have counted since attach()."""
    def __init__(self, netns, kind, vlan=None):
        self.netns, self.kind, self.vlan = netns, kind.split()[0], vlan
        self.master = self.kind in ("bridge", "bond")
        self.wire = Wire(netns, "tap0", 1, None)
        netns.ip(f"link add {'' if self.master else 'link tap0 '}name up0 type {kind}")
        if self.master:
            netns.ip(f"link set tap0 {'down' if self.kind == 'bond' else 'up'}")
            netns.ip("link set tap0 master up0")
        netns.ip("link set tap0 up")
        netns.ip("link set up0 up")
        netns.ip(f"addr add {ABOVE}/24 dev up0")
        netns.ip("neigh replace 198.19.0.77 lladdr 02:00:00:00:00:77 dev up0")
        for dev in "tap0", "up0":
            netns.run(f"tc qdisc replace dev {dev} root pfifo limit 1000")
        self.mac = bytes.fromhex(netns.ip("-o link show up0").split("link/ether ")[1][:17].replace(":", ""))
        self.out = inside(netns, lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW))
        self.out.bind(("tap0", 0))              # protocol 0: it receives nothing
        self.udp = inside(netns, lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        self.udp.connect(("198.19.0.77", 9))
        # a port of a bridge or bond receives nothing for itself, but what a bridge has no other port for
        self.below = 0 if self.kind == "bond" else OTHERS
        until(lambda: "LOWER_UP" in netns.ip("-o link show up0"))
        self.settle()
        self.want = {}

    def settle(self):
        """A device that comes up may send something of its own."""
        quiet = 0
        while quiet < 20:
            time.sleep(.01)
            quiet = 0 if self.wire.drain() else quiet + 1

    def attach(self, dev):
        nicprobe("attach", f"{self.netns}/{dev}", "--rx", "driver", "-m", UPPER if dev == "up0" else LOWER)
        sees = {"rx-nic": self.kind == "bridge", "rx-stack": self.kind == "bridge" or TCX}
        self.want[dev] = {"sees": sees if dev == "up0" else {"rx-nic": True, "rx-stack": True}, "sent": 0, "received": 0,
                          "dropped": 0, "ecn": {}, "rx ecn": {}, "completed": 0, "waiting": 0, "bytes": 0}

    def detach(self, dev):
        nicprobe("detach", f"{self.netns}/{dev}")
        del self.want[dev]

    def expect(self, devs, way, packets, size, ecn=None):
        for dev in devs:
            want = self.want.get(dev)
            if not want:
                continue
            want[way] += packets
            marks = want["ecn" if way == "sent" else "rx ecn"]
            marks[ecn] = marks.get(ecn, 0) + packets
            if way == "sent":
                tag = 4 if self.vlan and dev == "tap0" and "up0" in devs else 0
                want["bytes"] += packets * (size + tag)
                want["waiting"] += packets

    def send(self):
        """As one device sends for the other: what waits in the tap was sent, and is not complete."""
        for ecn, packets in MARKED.items():
            self.udp.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, ecn)
            for _ in range(packets):
                self.udp.send(bytes(100))
            self.expect(("up0", "tap0"), "sent", packets, 142, CODEPOINTS[ecn])
        frame = self.wire.eth(udp(9, 58), dst=b"\x02\0\0\0\0\x78")
        frame = frame[:15] + bytes([DIRECT_ECN]) + frame[16:]
        for _ in range(DIRECT):
            self.out.send(frame)
        self.expect(("tap0",), "sent", DIRECT, 100, CODEPOINTS[DIRECT_ECN])

    def complete(self):
        """The far end reads all that was sent. What it reads is the proof of it."""
        got, want = sum(self.wire.drain().values()), sum(MARKED.values()) + DIRECT
        if got != want:
            raise RuntimeError(f"{self.kind}: {want} frames were sent, {got} have come")
        for w in self.want.values():
            w["completed"], w["waiting"] = w["completed"] + w["waiting"], 0

    def receive(self):
        tag = struct.pack("!HH", 0x8100, self.vlan) if self.vlan else b""
        for devs, packets, mac, tag in ((("up0", "tap0"), ITS_OWN, self.mac, tag), (("tap0",), self.below, NOBODY, b"")):
            frame = self.wire.eth(bytes(86), 0x88b5, dst=mac)
            self.wire.write(0, frame[:12] + tag + frame[12:], packets)
            self.expect(devs, "received", packets, 100, "not-ip")
        for dev, dropped in ("up0", ITS_OWN), ("tap0", self.below):
            if dev in self.want:
                self.want[dev]["dropped"] += dropped

    def check(self, name):
        for dev, want in self.want.items():
            until(lambda: figures(show(f"{self.netns}/{dev}"), dev) == wanted(want, dev, self.vlan), .5)
            same(f"{name}: {dev}", figures(show(f"{self.netns}/{dev}"), dev), wanted(want, dev, self.vlan))

    def round(self, name):
        self.send()
        self.check(f"{name}: sent")
        self.complete()
        self.receive()
        self.check(f"{name}: completed, received")

    def close(self):
        self.netns.ip("link del up0")
        for each_ in self.out, self.udp, self.wire:
            each_.close()


def figures(doc, dev):
    m = doc["meters"]
    got = {p: packets_at(doc, p) for p in ("rx-nic", "rx-stack", "tx-stack", "tx-nic")}
    for point in "rx-stack", "tx-stack", "tx-nic":
        got[f"ecn {point}"] = {}
        for marks in ecn_at(doc, point).values():
            for mark, n in marks.items():
                got[f"ecn {point}"][mark] = got[f"ecn {point}"].get(mark, 0) + n
    got["bytes"] = bytes_at(doc, "tx-nic")
    got["dropped"] = {way: sum(r["packets"] for r in m["drop"] if r["direction"] == way) for way in ("rx", "tx")}
    got["qdisc"] = {"timed": sum(r["wait_seconds"]["count"] for r in m["qdisc"]),
                    "not timed": nonzero({k: sum(r["lost"][k] for r in m["qdisc"]) for r in m["qdisc"][:1] for k in r["lost"]})}
    got["lost"] = nonzero(lost(doc))
    if dev == "tap0":
        got["completed"] = sum(r["completion_seconds"]["count"] for r in m["txlat"])
        got["waiting"] = sum(r["in_flight"] for r in m["txlat"])
        got["not completed"] = nonzero({k: sum(r["lost"][k] for r in m["txlat"]) for r in m["txlat"][:1] for k in r["lost"]})
    return got


def wanted(want, dev, vlan):
    sent, came = want["sent"], {point: want["received"] * sees for point, sees in want["sees"].items()}
    got = {**came, "tx-stack": sent, "tx-nic": sent, "ecn tx-stack": nonzero(want["ecn"]), "ecn tx-nic": nonzero(want["ecn"]),
           "ecn rx-stack": nonzero(want["rx ecn"]) if came["rx-stack"] else {}, "bytes": want["bytes"],
           "dropped": {"rx": want["dropped"], "tx": 0}, "qdisc": {"timed": sent, "not timed": {}}, "lost": {}}
    if dev == "tap0":
        got.update({"completed": want["completed"], "waiting": want["waiting"], "not completed": {}})
    return got


def orders(pair):
    name = f"stacked: {pair.kind}"
    for first, second in (("tap0", "up0"), ("up0", "tap0")):
        for leaves, stays in (("tap0", "up0"), ("up0", "tap0")):
            told = f"{name}: {first} came first, {leaves} leaves first"
            pair.attach(first)
            pair.round(f"{told}: alone")
            pair.attach(second)
            pair.round(f"{told}: both")
            pair.detach(leaves)
            pair.round(f"{told}: the other stays")
            pair.detach(stays)


def above(kind, vlan=None):
    netns = Namespace(kind.split()[0])
    try:
        pair = Pair(netns, kind, vlan)
    except RuntimeError as e:
        return skip(f"stacked: {kind}", f"this kernel cannot make one: {str(e).split(': ', 1)[1]}")
    before = left.Before(netns)
    orders(pair)
    before.check(f"stacked: {kind}: nothing is left")
    pair.close()
    return netns.delete()


def macvlan():
    above("macvlan mode bridge")


def vlan():
    above("vlan id 7", 7)


def bridge():
    above("bridge mcast_snooping 0")


def bond():
    above("bond mode active-backup")


need_root()
left.own_bpffs()
each(macvlan, vlan, bridge, bond)
finish()

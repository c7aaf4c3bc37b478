#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""ARP and neighbour discovery: each resolution, packet that waits and drop that the test causes is counted, and its time
lies between what the peer waited and what the test saw."""
import errno
import socket
import struct
import threading
import time

from lib.lab import *
from lib.wire import inside

need_root()
MAC = bytes.fromhex("020000000042")
ARP, IPV6, IPV4, NS, NA = 0x0806, 0x86dd, 0x0800, 135, 136
ENDS = {"answered", "failed", "deleted", "set"}


def sum16(data):
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


class Peer:
    """Answers ARP and neighbour solicitations in the kernel's place, after as many seconds as it was told."""
    def __init__(self, netns, dev):
        self.waits, self.asked, self.answered, self.came = {}, {}, {}, 0
        self.s = inside(netns, lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3)))
        self.s.bind((dev, 3))
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while True:
            try:
                frame, where = self.s.recvfrom(4096)
            except OSError:     # the interface is down
                continue
            kind = int.from_bytes(frame[12:14], "big")
            if where[2] == socket.PACKET_OUTGOING:
                continue
            if kind == ARP and frame[21] == 1:
                self.ask(socket.inet_ntop(socket.AF_INET, frame[38:42]), frame)
            elif kind == IPV6 and frame[20] == 58 and frame[54] == NS:
                self.ask(socket.inet_ntop(socket.AF_INET6, frame[62:78]), frame)
            elif kind in (IPV4, IPV6) and frame[23 if kind == IPV4 else 20] == socket.IPPROTO_UDP:
                self.came += 1

    def ask(self, address, frame):
        self.asked.setdefault(address, []).append(time.monotonic())
        if address in self.waits:
            threading.Timer(self.waits[address], self.answer, [address, frame]).start()

    def answer(self, address, frame):
        self.answered[address] = time.monotonic()
        self.s.send((self.arp if "." in address else self.advertise)(frame))

    @staticmethod
    def arp(frame):
        return (frame[6:12] + MAC + frame[12:20] + b"\0\2" + MAC + frame[38:42] + frame[22:32])

    @staticmethod
    def advertise(frame):
        source, target = frame[22:38], frame[62:78]
        body = struct.pack("!I", 0x60000000) + target + b"\2\1" + MAC
        pseudo = target + source + struct.pack("!II", len(body) + 4, 58)
        sum_ = sum16(pseudo + struct.pack("!BBH", NA, 0, 0) + body)
        return (frame[6:12] + MAC + frame[12:18] + struct.pack("!HBB", len(body) + 4, 58, 255) + target + source +
                struct.pack("!BBH", NA, 0, sum_) + body)


def udp(netns, address):
    s = inside(netns, lambda: socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_DGRAM))
    s.connect((address, 9))
    return s


def send(netns, address, count=1):
    with udp(netns, address) as s:
        for _ in range(count):
            s.send(b"x")


def state(address, dev="v0"):
    rows = json.loads(a.ip(f"-j neigh show {address} dev {dev}") or "[]")
    return rows[0]["state"][0] if rows else ""


def stat(table, word):
    """What the kernel counts, of all namespaces: the sum over CPUs."""
    with open(f"/proc/net/stat/{table}", encoding="ascii") as f:
        head, *lines = [line.split() for line in f]
    return sum(int(line[head.index(word)], 16) for line in lines)


def rows():
    doc = show(f"{a}/host")
    same("nothing is lost", lost(doc), {})
    return {(r["device"], r["family"]): r for r in doc["meters"]["neigh"]}


def count(row):
    """The counters that are not 0."""
    got = {}
    for key, value in row.items():
        if isinstance(value, dict) and "count" not in value:
            got |= {f"{key}.{k}": n for k, n in value.items() if n}
        elif isinstance(value, int) and value:
            got[key] = value
    return got


def timed(name, histogram, peer, address, since, nr=-1):
    """From the question to the answer, as the peer saw them, is the least; what the test saw is the most."""
    least, most = peer.answered[address] - peer.asked[address][nr], time.monotonic() - since
    check(f"{name}: the time is between that at the peer and that of the test", histogram["count"] == 1 and
          least <= histogram["sum"] <= most, f"{least} {histogram} {most}")


def test_answered():
    """Two interfaces, two families, another namespace."""
    ways = (("v0", "inet", "10.1.0.50", .3, 3), ("v1", "inet", "10.1.1.50", .1, 5), ("v0", "inet6", "2001:2::50", .2, 2))
    since = time.monotonic()
    for dev, _, address, wait, packets in ways:
        peers[dev].waits[address] = wait
        send(a, address, packets)
    send(stranger, "10.1.2.50", 7)
    check("all are answered", until(lambda: all(state(w[2], w[0]) == "REACHABLE" for w in ways)))
    got = rows()
    same("rows are those of this namespace", set(got) - {("others", "-")}, {w[:2] for w in ways})
    for dev, family, address, _, packets in ways:
        row = got[dev, family]
        same(f"{dev} {family}: one is answered", count(row), {
            "resolutions.answered": 1, "solicits": 1, "waited": packets})
        timed(f"{dev} {family}", row["latency_seconds"], peers[dev], address, since)
        check(f"{dev} {family}: it took what the peer waited", row["latency_seconds"]["sum"] >=
              peers[dev].waits[address])


def test_failed():
    """Nobody answers: each packet is dropped, and the sender told."""
    before = stat("arp_cache", "res_failed"), stat("ndisc_cache", "res_failed")
    with udp(a, "10.1.0.9") as four, udp(a, "2001:2::9") as six:
        for n, s in ((4, four), (6, six)):
            s.settimeout(10)
            s.setsockopt(*((socket.IPPROTO_IP, 11) if s is four else (socket.IPPROTO_IPV6, 25)), 1)   # IP(V6)_RECVERR
            for _ in range(n):
                s.send(b"x")
        for s in four, six:
            try:
                s.recv(1)
                not_ok("the sender is told", "it is not")
            except OSError as e:
                same("the sender is told", e.errno, errno.EHOSTUNREACH)
    got = rows()
    for n, family in ((4, "inet"), (6, "inet6")):
        same(f"{family}: one fails", count(got["v0", family]), {
            "resolutions.failed": 1, "dropped.failed": n, "waited": n, "solicits": 3})
    check("the kernel counts as many failures, or those of others, too", stat("arp_cache", "res_failed") > before[0] and
          stat("ndisc_cache", "res_failed") > before[1])


def test_overflow():
    """Of 40 packets a few find room; those that the peer gets are those that were not dropped."""
    a.run("sysctl -qw net.ipv4.neigh.v0.unres_qlen_bytes=8192")
    peers["v0"].waits["10.1.0.51"], before = .3, (stat("arp_cache", "unresolved_discards"), peers["v0"].came)
    send(a, "10.1.0.51", 40)
    until(lambda: state("10.1.0.51") == "REACHABLE")
    time.sleep(.1)
    came, got = peers["v0"].came - before[1], rows()["v0", "inet"]
    check("some are dropped", 0 < came < 40, str(came))
    same("40 waited, and those that did not come were dropped", count(got), {
        "resolutions.answered": 1, "solicits": 1, "waited": 40, "dropped.overflow": 40 - came})
    more = stat("arp_cache", "unresolved_discards") - before[0]
    check("the kernel counts as many, or those of others, too", more >= 40 - came, f"{more}, {40 - came}")
    a.run("sysctl -qw net.ipv4.neigh.v0.unres_qlen_bytes=212992")


def test_again():
    """The same neighbour five times; the peer's kernel answers, before the event tells that a packet waits."""
    b.ip("addr add 10.1.0.2/24 dev v0")
    since = time.monotonic()
    for _ in range(5):
        send(a, "10.1.0.2")
        until(lambda: state("10.1.0.2") == "REACHABLE")
        a.ip("neigh del 10.1.0.2 dev v0")
    got = rows()["v0", "inet"]
    same("five are answered", count(got), {"resolutions.answered": 5, "solicits": 5, "waited": 5})
    check("all are timed", got["latency_seconds"]["count"] == 5 and
          0 < got["latency_seconds"]["sum"] < time.monotonic() - since, str(got["latency_seconds"]))
    b.ip("addr del 10.1.0.2/24 dev v0")


def test_after_failure():
    """The entry is there: when the next question begins, is known or said not to be."""
    send(a, "10.1.0.3")
    until(lambda: state("10.1.0.3") == "FAILED")
    b.ip("addr add 10.1.0.3/24 dev v0")
    send(a, "10.1.0.3")
    until(lambda: state("10.1.0.3") == "REACHABLE")
    got = rows()["v0", "inet"]
    counts = count(got)
    untimed = counts.pop("untimed_resolutions", 0)
    same("one fails, one is answered", counts, {"resolutions.failed": 1, "resolutions.answered": 1, "solicits": 4,
                                                "waited": 2, "dropped.failed": 1})
    same("it is timed or untimed", untimed + got["latency_seconds"]["count"], 1)
    print(f"# untimed: {untimed}")
    b.ip("addr del 10.1.0.3/24 dev v0")


def test_ended_early():
    """A user deletes one while packets wait, says the address of another, and takes the third's interface down."""
    slow = [f"net.ipv4.neigh.{dev}.retrans_time_ms" for dev in ("v0", "v1")]
    a.run("sysctl -qw " + " ".join(f"{name}=20000" for name in slow))      # none is asked twice
    for address, count_ in (("10.1.0.10", 2), ("10.1.0.11", 3), ("10.1.1.10", 4)):
        send(a, address, count_)
    a.ip("neigh del 10.1.0.10 dev v0")
    a.ip("neigh replace 10.1.0.11 lladdr 02:00:00:00:00:42 dev v0 nud reachable")
    a.ip("link set v1 down")
    got = rows()
    same("one is deleted, one is set", count(got["v0", "inet"]), {
        "resolutions.deleted": 1, "resolutions.set": 1, "solicits": 2, "waited": 5, "dropped.deleted": 2})
    same("one is deleted with its interface", count(got["v1", "inet"]), {
        "resolutions.deleted": 1, "solicits": 1, "waited": 4, "dropped.deleted": 4})
    a.ip("link set v1 up")
    a.run("sysctl -qw " + " ".join(f"{name}=1000" for name in slow))


def test_without_packet():
    """Asking for an address without a packet is no packet."""
    peers["v0"].waits["10.1.0.52"] = .1
    a.ip("neigh add 10.1.0.52 dev v0 use")
    until(lambda: state("10.1.0.52") == "REACHABLE")
    same("one is answered", count(rows()["v0", "inet"]), {"resolutions.answered": 1, "solicits": 1})


def test_confirmed():
    """Neighbours whose address is old are asked: one answers, one with another address, one is silent."""
    peers["v0"].waits["10.1.0.53"] = .2
    a.run("sysctl -qw net.ipv4.neigh.v0.delay_first_probe_time=1")
    for address in "10.1.0.53", "10.1.0.12":
        a.ip(f"neigh replace {address} lladdr {MAC.hex(':')} dev v0 nud stale")
    since = time.monotonic()
    send(a, "10.1.0.53")
    until(lambda: state("10.1.0.53") == "REACHABLE")
    got = rows()["v0", "inet"]
    same("one is confirmed", count(got), {"confirmations.confirmed": 1, "probes": 1})
    least, most = peers["v0"].waits["10.1.0.53"], time.monotonic() - since - 1
    check("its time is what the peer waits", least - .001 <= got["confirm_seconds"]["sum"] <= most,
          f"{least} {got['confirm_seconds']} {most}")
    send(a, "10.1.0.12")
    until(lambda: state("10.1.0.12") == "FAILED", 8)
    same("one is silent", count(rows()["v0", "inet"]), {
        "confirmations.confirmed": 1, "confirmations.silent": 1, "probes": 4})


def test_refused():
    """A full table: that of IPv6, which all namespaces share."""
    if sh("ip -6 neigh show"):
        skip("neigh: entries are refused", "this machine has neighbours of IPv6 that it needs")
        return
    before = stat("ndisc_cache", "table_fulls")
    global_sysctl("net.ipv6.neigh.default.gc_thresh3", 1)
    for n in range(20):
        try:
            send(a, f"2001:2::1:{n:x}")
        except OSError:
            pass
    # in this order: the kernel's own packets of this interface are refused meanwhile, too
    got, more = rows()["v0", "inet6"], stat("ndisc_cache", "table_fulls") - before
    check("entries are refused", 0 < got["refused_entries"] <= more, f"{got['refused_entries']}, {more}")
    print(f"# refused: {got['refused_entries']} of 20, the kernel says {more}")


a, b, stranger = (Namespace(n) for n in ("a", "b", "c"))
for i, (one, dev) in enumerate(((a, "v0"), (a, "v1"), (stranger, "v2"))):
    one.ip(f"link add {dev} type veth peer name {dev} netns {b}")
    for end in one, b:
        end.ip(f"link set {dev} up")
    one.ip(f"addr add 10.1.{i}.1/24 dev {dev}")
    if dev == "v0":
        one.run(f"sysctl -qw net.ipv6.conf.{dev}.disable_ipv6=0 net.ipv6.conf.lo.disable_ipv6=0")
        one.ip(f"addr add 2001:2::1/64 dev {dev} nodad")
peers = {dev: Peer(b, dev) for dev in ("v0", "v1", "v2")}


def around(test):
    def run():
        nicprobe("attach", "-m", "neigh", f"{a}/host")
        try:
            test()
        finally:
            nicprobe("detach", f"{a}/host")
            a.ip("neigh flush all nud permanent", check=False)
            for dev in "v0", "v1":
                a.ip(f"neigh flush dev {dev}", check=False)
    run.__name__ = test.__name__
    return run


each(*map(around, (test_answered, test_failed, test_overflow, test_again, test_after_failure, test_ended_early,
                   test_without_packet, test_confirmed, test_refused)))
finish()

#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Echoes and errors of ICMP: each that the test causes is counted once, its time lies between what the line takes and what
ping says, and the sums are the kernel's own."""
import os
import socket
import struct
import time

from lib.icmp import *
from lib.lab import *
from lib.wire import inside

DELAY = .02
ME = "icmp-test"
FLOOD = int(os.environ.get("FLOOD", 3000))
with open("/proc/self/comm", "w", encoding="ascii") as comm:
    comm.write(ME)


def rows(ns):
    """{(remote, process): the counts that are not 0}, and no time."""
    doc = show(f"{ns}/host")
    same("nothing is lost", lost(doc), {})
    got = {}
    for r in doc["meters"]["icmp"]:
        counts = {"asked": r["asked_requests"], "unanswered": r["unanswered_requests"], "again": r["again_requests"],
                  "answered": r["answered_requests"], "failed": r["failed_requests"], "duplicate": r["duplicate_replies"],
                  "stray": r["stray_replies"], "replied": r["replied_requests"], "unread": r["unread"],
                  "mtu": r["mtu_bytes"], "unheeded": r["unheeded_errors"], "times": r["latency_seconds"]["count"], "replies": r["reply_seconds"]["count"]}
        for way in "received", "forwarded", "sent":
            counts.update({f"{way} {name}": n for name, n in r[f"{way}_errors"].items()})
        if nonzero(counts):
            got[r["remote"], r["process"]] = nonzero(counts)
    return got


def seconds(ns, what, remote):
    """The sum of a histogram over the rows of this host."""
    return sum(r[what]["sum"] for r in show(f"{ns}/host")["meters"]["icmp"] if r["remote"] == remote)


def errors(ns, way):
    """{name: errors}, of all hosts"""
    got = {}
    for r in show(f"{ns}/host")["meters"]["icmp"]:
        for name, n in r[f"{way}_errors"].items():
            got[name] = got.get(name, 0) + n
    return nonzero(got)


def attach(ns, *known, meters="icmp"):
    """`known`: these neighbours, as the process of a packet that waits for an address is not known when it is sent."""
    for address in known:
        ns.run(f"ping -qc1 {address}")
    nicprobe("attach", f"{ns}/host", "-m", meters)


def test_echo(here, there):
    """Of both families: the time of each is at least what the other end waits, and no longer than ping says."""
    attach(here, THERE, THERE6)
    attach(there)
    for ours, theirs, v6 in (HERE, THERE, False), (HERE6, THERE6, True):
        took, before = [], 0
        with Replies(there, v6, after=DELAY):
            for _ in range(3):
                pings = ping(here, theirs)
                total = seconds(here, "latency_seconds", theirs)
                took.append((total - before, pings))
                before = total
            check(f"icmp: each echo to {theirs} took as long as it must, and less than ping says",
                  all(DELAY <= got <= pings for got, pings in took), took)
            more = ping(here, theirs, 7)
        got, replied = seconds(here, "latency_seconds", theirs), seconds(there, "reply_seconds", ours)
        check(f"icmp: the times of {theirs} as three see them", 10 * DELAY <= replied <= got <= more + sum(p for _, p in took),
              (replied, got, more, took))
    k = kernel(there)
    ping(here, THERE, 5)
    ping(here, THERE6, 6)
    same("icmp: echoes by host and process", rows(here), {(THERE, "ping"): {"asked": 15, "answered": 15, "times": 15},
                                                          (THERE6, "ping"): {"asked": 16, "answered": 16, "times": 16}})
    same("icmp: who replies", rows(there), {(HERE, "unknown"): {"replied": 15, "replies": 15},
                                            (HERE6, "unknown"): {"replied": 16, "replies": 16}})
    same("icmp: the kernel's replies", grew(kernel(there), k, "OutType0", "6OutType129"), {"OutType0": 5, "6OutType129": 6})


def test_unanswered(here, there):
    """By a host that is silent; requests sent again; replies that come twice, and those to no request."""
    attach(here, THERE, THERE6)
    silent(there, 1)
    for address in THERE, THERE6:
        ping(here, address, 4, "-i .01 -W .1", replies=False)
    raw(here, THERE, *[(8, 0, struct.pack("!HH", 77, 1))] * 3)
    time.sleep(2.2)
    silent(there, 0)
    same("icmp: no reply after two seconds", rows(here),
         {(THERE, "ping"): {"asked": 4, "unanswered": 4}, (THERE6, "ping"): {"asked": 4, "unanswered": 4},
          (THERE, ME): {"asked": 1, "again": 2, "unanswered": 1}})
    nicprobe("detach", f"{here}/host")
    attach(here)
    for address, v6 in (THERE, False), (THERE6, True):
        with Replies(there, v6, times=3):
            ping(here, address, 5)
    raw(there, HERE, (0, 0, struct.pack("!HH", 78, 1)), (0, 0, struct.pack("!HH", 78, 2)))
    same("icmp: replies that come twice, and to no request", rows(here),
         {**{(a, "ping"): {"asked": 5, "answered": 5, "times": 5, "duplicate": 10} for a in (THERE, THERE6)},
          ("others", "-"): {"stray": 2}})


def test_ports(here, there):
    """Where nobody listens: at both ends, and as the kernels count it."""
    attach(here)
    attach(there)
    k = kernel(here), kernel(there)
    udp(here, THERE, 12)
    udp(here, THERE6, 7)
    same("icmp: ports unreachable, received", rows(here), {(THERE, "unknown"): {"received port-unreachable": 12},
                                                           (THERE6, "unknown"): {"received port-unreachable": 7}})
    same("icmp: ports unreachable, sent", rows(there), {(HERE, "unknown"): {"sent port-unreachable": 12},
                                                        (HERE6, "unknown"): {"sent port-unreachable": 7}})
    same("icmp: as the kernel counts them here", grew(kernel(here), k[0], "InType3", "6InType1"), {"InType3": 12, "6InType1": 7})
    same("icmp: as the kernel counts them there", grew(kernel(there), k[1], "OutType3", "6OutType1"),
         {"OutType3": 12, "6OutType1": 7})


def test_kinds(here, there):
    """Each type and code by its name; the sums of a type are the kernel's."""
    attach(here)
    attach(there)
    k = kernel(here)
    raw(there, HERE, *[(t, c, struct.pack("!HH", 0, 1300) + BODY) for t, c in ERRORS])
    raw(there, HERE6, *[(t, c, struct.pack("!I", 1400) + BODY6) for t, c in ERRORS6])
    for address, there_, kinds, mtu in (THERE, HERE, ERRORS, 1300), (THERE6, HERE6, ERRORS6, 1400):
        want = {}
        for name in filter(None, kinds.values()):
            want[name] = want.get(name, 0) + 1
        same(f"icmp: errors of {address} by name", rows(here)[address, "unknown"],
             {"mtu": mtu, **{f"received {name}": n for name, n in want.items()}})
        same(f"icmp: errors to {there_} by name", rows(there)[there_, "unknown"],
             {f"sent {name}": n for name, n in want.items()})
    want = {f"InType{t}": sum(1 for kind, _ in ERRORS if kind == t) for t in (3, 5, 11, 12)} | \
        {f"6InType{t}": sum(1 for kind, _ in ERRORS6 if kind == t) for t in (1, 2, 3, 4, 137)}
    same("icmp: as the kernel counts them", grew(kernel(here), k, *want), want)


def test_routed(here, router, far):
    """Through a router: TTLs that end there, ports unreachable behind it, and packets too big for what follows."""
    attach(here, ROUTER, ROUTER6, FAR, FAR6)
    attach(router)
    k = kernel(here), kernel(router)
    ping(here, FAR, 5, "-t 1 -i .01 -W .1", replies=False)
    ping(here, FAR6, 4, "-t 1 -i .01 -W .1", replies=False)
    ping(here, FAR, 3)
    udp(here, FAR, 6)
    udp(here, FAR6, 2)
    time.sleep(2.2)
    same("icmp: through a router", rows(here),
         {(FAR, "ping"): {"asked": 8, "answered": 3, "failed": 5, "times": 3}, (FAR6, "ping"): {"asked": 4, "failed": 4},
          (ROUTER, "unknown"): {"received ttl-exceeded": 5}, (ROUTER6, "unknown"): {"received ttl-exceeded": 4},
          (FAR, "unknown"): {"received port-unreachable": 6}, (FAR6, "unknown"): {"received port-unreachable": 2}})
    same("icmp: what a router sends and passes on", rows(router),
         {(FROM, "unknown"): {"sent ttl-exceeded": 5}, (FROM6, "unknown"): {"sent ttl-exceeded": 4},
          (FAR, "unknown"): {"asked": 3, "answered": 3, "times": 3, "received port-unreachable": 6,
                             "forwarded port-unreachable": 6},
          (FAR6, "unknown"): {"received port-unreachable": 2, "forwarded port-unreachable": 2}})
    same("icmp: as the kernel counts them", grew(kernel(here), k[0], "InType3", "InType11", "6InType1", "6InType3"),
         {"InType3": 6, "InType11": 5, "6InType1": 2, "6InType3": 4})
    same("icmp: as the router's kernel counts them",
         grew(kernel(router), k[1], "InType3", "OutType11", "6InType1", "6OutType3"), {"OutType11": 5, "6OutType3": 4})
    for ns in here, router:
        nicprobe("detach", f"{ns}/host")
        attach(ns)
    for ns in router, far:
        ns.ip("link set eth2 mtu 1400")
    udp(here, FAR, 5, 1450, dont_fragment=True)
    udp(here, FAR6, 4, 1450, dont_fragment=True)
    same("icmp: too big", rows(here), {(ROUTER, "unknown"): {"received too-big": 5, "mtu": 1400},
                                       (ROUTER6, "unknown"): {"received too-big": 4, "mtu": 1400}})
    same("icmp: too big, as the router says", errors(router, "sent"), {"too-big": 9})


def test_unheeded(here, there):
    """Errors too-big about TCP to one host, a second after the first; not of UDP, of another host, or of a smaller MTU."""
    attach(here)

    def told(nr, proto=6, far=9, mtu=1300):
        about = BODY[:9] + bytes([proto]) + BODY[10:19] + bytes([far]) + BODY[20:]
        about6 = BODY6[:6] + bytes([proto]) + BODY6[7:39] + bytes([far]) + BODY6[40:]
        raw(there, HERE, *[(3, 4, struct.pack("!HH", 0, mtu) + about)] * nr)
        raw(there, HERE6, *[(2, 0, struct.pack("!I", mtu) + about6)] * nr)
    told(4)
    told(2, far=10, mtu=1400)
    told(3, proto=17)
    time.sleep(1)
    told(3, far=10)             # the MTU is smaller than before
    told(7, far=11)
    told(3, proto=17)
    told(5)
    same("icmp: too big, unheeded", rows(here), {(a, "unknown"): {"received too-big": 27, "unheeded": 5, "mtu": 1300}
                                                 for a in (THERE, THERE6)})


def test_routes(here, router):
    """Routes that refuse: few, as the kernel limits these errors by host, whatever is set."""
    attach(here)
    for i, kind in enumerate(("unreachable", "prohibit", "blackhole")):
        router.ip(f"route add {kind} 10.66.{i}.0/24")
        router.ip(f"-6 route add {kind} fd66:{i}::/32")
        udp(here, f"10.66.{i}.1", 2)
        udp(here, f"fd66:{i}::1", 3)
    same("icmp: routes that refuse", rows(here),
         {(ROUTER, "unknown"): {"received host-unreachable": 2, "received prohibited": 2},
          (ROUTER6, "unknown"): {"received net-unreachable": 3, "received prohibited": 3}})


def test_fragments(here, there):
    """The first has the header: each counts once."""
    attach(here, THERE, THERE6)
    took = ping(here, THERE, 5, "-s 4000 -i .01"), ping(here, THERE6, 5, "-s 4000 -i .01")
    same("icmp: in fragments", rows(here), {(a, "ping"): {"asked": 5, "answered": 5, "times": 5} for a in (THERE, THERE6)})
    for address, most in zip((THERE, THERE6), took):
        check(f"icmp: their times: {address}", 0 < seconds(here, "latency_seconds", address) <= most, took)


def test_stacked(here, there):
    """A bridge and its port see the same packets: they count once, also where a bridge passes them on."""
    mid = Namespace("mid")
    veth(here, mid, name="b0")
    veth(mid, there, name="b1")
    here.ip("link add br0 type bridge")
    here.ip("link set b0 master br0")
    mid.ip("link add br1 type bridge")
    for name in "b0", "b1":
        mid.ip(f"link set {name} master br1")
    for ns, name, nr in (here, "br0", 1), (mid, "br1", 0), (there, "b1", 2):
        ns.ip(f"link set {name} up")
        if nr:
            ns.ip(f"addr add 10.6.0.{nr}/24 dev {name}")
    attach(here, "10.6.0.2")
    attach(mid)
    attach(there)
    ping(here, "10.6.0.2", 6)
    ping(there, "10.6.0.1", 3)
    udp(here, "10.6.0.2", 5)
    udp(there, "10.6.0.1", 4)
    same("icmp: through a bridge", rows(here),
         {("10.6.0.2", "ping"): {"asked": 6, "answered": 6, "times": 6},
          ("10.6.0.2", "unknown"): {"replied": 3, "replies": 3, "received port-unreachable": 5, "sent port-unreachable": 4}})
    same("icmp: echoes of others that a bridge passes on", rows(mid),
         {("10.6.0.2", "unknown"): {"asked": 6, "answered": 6, "times": 6},
          ("10.6.0.1", "unknown"): {"asked": 3, "answered": 3, "times": 3}})
    for ns, name in (here, "br0"), (here, "b0"), (there, "b1"):
        ns.ip(f"link del {name}")
    nicprobe("detach", f"{mid}/host")


def test_loopback(here):
    """Both ends are this host."""
    attach(here)
    took = ping(here, "127.0.0.1", 20, "-i .002")
    ping(here, "::1", 10)
    udp(here, "127.0.0.1", 3)
    same("icmp: of this host", rows(here),
         {("127.0.0.1", "ping"): {"asked": 20, "answered": 20, "times": 20},
          ("::1", "ping"): {"asked": 10, "answered": 10, "times": 10},
          ("127.0.0.1", "unknown"): {"replied": 20, "replies": 20, "received port-unreachable": 3, "sent port-unreachable": 3},
          ("::1", "unknown"): {"replied": 10, "replies": 10}})
    check("icmp: their times", 0 < seconds(here, "latency_seconds", "127.0.0.1") <= took, took)


def test_waits(here):
    """A request that waits for its neighbour is sent when that answers; where none does, the kernel says so itself."""
    here.ip("neigh flush dev eth0")
    here.run("sysctl -qw net.ipv4.neigh.eth0.retrans_time_ms=100")
    attach(here)
    ping(here, THERE, 2)
    ping(here, "10.9.0.77", 1, "-W 2", replies=False)
    got = rows(here)
    same("icmp: a request that waited for the neighbour", {k: got[k] for k in got if k[0] == THERE},
         {(THERE, "unknown"): {"asked": 1, "answered": 1, "times": 1}, (THERE, "ping"): {"asked": 1, "answered": 1, "times": 1}})
    same("icmp: a neighbour that does not answer", {k: got[k] for k in got if k[0] != THERE},
         {(HERE, "unknown"): {"sent host-unreachable": 1, "received host-unreachable": 1}})


def test_flood(here, there):
    attach(here, THERE)
    attach(there)
    took = ping(here, THERE, FLOOD, "-f")
    same("icmp: a flood", rows(here), {(THERE, "ping"): {"asked": FLOOD, "answered": FLOOD, "times": FLOOD}})
    same("icmp: a flood, replied", rows(there), {(HERE, "unknown"): {"replied": FLOOD, "replies": FLOOD}})
    check("icmp: a flood: the times", 0 < seconds(here, "latency_seconds", THERE) <= took, took)


def test_beside(here, there):
    """With dns, in one program: each counts its own."""
    attach(here, THERE, meters="icmp,dns")
    ping(here, THERE, 3)
    with inside(here, lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) as s:
        s.sendto(struct.pack("!HHHHHH", 1, 0x0100, 1, 0, 0, 0) + b"\1x\0\0\1\0\1", (THERE, 53))
    time.sleep(.1)
    doc = show(f"{here}/host")["meters"]
    same("icmp beside dns: queries", {r["remote"]: r["asked_queries"] for r in doc["dns"] if r["asked_queries"]}, {THERE: 1})
    same("icmp beside dns", {p: c for (_, p), c in rows(here).items()},
         {"ping": {"asked": 3, "answered": 3, "times": 3}, "unknown": {"received port-unreachable": 1}})
    text = nicprobe("show", f"{here}/host").stdout
    check("icmp: show says that it looks at each packet", "icmp: it looks at the headers of all packets" in " ".join(text.split()),
          text)
    names = nicprobe("attach", f"{there}/host", check=False)
    check("icmp: it is not attached unasked", "icmp" not in names.stdout.split("measures")[-1].split("\n")[0], names.stdout)


need_root()
one, two, three, four = Namespace("here"), Namespace("there"), Namespace("router"), Namespace("far")
for at, (end, other, nets) in enumerate(((one, two, (HERE, THERE, HERE6, THERE6)), (one, three, (FROM, ROUTER, FROM6, ROUTER6)),
                                         (three, four, (BEYOND, FAR, BEYOND6, FAR6)))):
    veth(end, other, name=f"eth{at}", mtu=1500)
    for netns, v4, v6 in (end, nets[0], nets[2]), (other, nets[1], nets[3]):
        netns.run(f"sysctl -qw net.ipv6.conf.eth{at}.disable_ipv6=0 net.ipv6.conf.lo.disable_ipv6=0")
        netns.ip(f"addr add {v4}/24 dev eth{at}")
        netns.ip(f"addr add {v6}/64 dev eth{at} nodad")
for netns in one, two, three, four:     # as many errors as the test causes
    netns.run("sysctl -qw net.ipv4.icmp_ratemask=0 net.ipv6.icmp.ratelimit=0 net.ipv6.icmp.ratemask=")
three.run("sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1")
one.ip(f"route add default via {ROUTER}")
one.ip(f"-6 route add default via {ROUTER6}")
four.ip(f"route add default via {BEYOND}")
four.ip(f"-6 route add default via {BEYOND6}")


def clean():
    for netns in one, two, three:
        nicprobe("detach", f"{netns}/host", check=False)


each(test_echo, test_unanswered, test_ports, test_kinds, test_routed, test_unheeded, test_routes, test_fragments, test_stacked, test_loopback,
     test_waits, test_flood, test_beside, here=one, there=two, router=three, far=four, after=clean)
finish()

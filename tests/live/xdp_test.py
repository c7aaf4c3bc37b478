#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""The meter `xdp` reports exactly what a known XDP program does to a known number of frames."""
import shutil

from lib.lab import *
from lib.redirect import *

need_root()
N = 100


def rows(doc):
    """{(event, where, result): packets}; if a program is named, it must be the test's."""
    got = {}
    for r in doc["meters"]["xdp"]:
        if r["program"] not in ("-", f"np_test_xdp {p.id}"):
            return {f"program {r['program']}": 0}
        got[r["event"], r["where"], r["result"]] = r["packets"]
    return got


def case(name, what, where, want, says="", count=N, size=100, iface=None):
    """`count` frames arrive and the program does `what`; then checks the rows and the findings."""
    iface = iface or f"{a}/eth0"
    p.do(what, where)
    nicprobe("attach", "-m", "xdp", iface)
    for queue in range(2):
        sender(f"send {queue} {count // 2} {size}")
    sender("go")
    doc = {}

    def there():
        doc.update(show(iface))
        return sum(rows(doc).values()) >= sum(want.values())
    until(there, 3)
    table = nicprobe("show", iface, env={"COLUMNS": "60"}).stdout
    check(f"xdp {name}: openmetrics", nicprobe("show", iface, "-f", "openmetrics").returncode == 0)
    nicprobe("detach", iface)
    same(f"xdp {name}", rows(doc), want)
    if says:
        check(f"xdp {name}: says {says!r}", says in said(doc, "xdp-") and "try:" in table, f"it says {doc['findings']}")
    else:
        same(f"xdp {name}: silent", said(doc, "xdp-"), "")


if not shutil.which("clang") or not shutil.which("bpftool"):
    skip("xdp", "needs clang and bpftool")
    finish()

# b sends to a's eth0, where the program runs, which sends on through a's eth1 to c.
a, b, c = Namespace("a"), Namespace("b"), Namespace("c")
veth(a, b, queues=2)
a.ip("link add eth1 numtxqueues 4 numrxqueues 4 type veth peer name eth0 numtxqueues 4 numrxqueues 4 "
     f"netns {c}")
a.ip("link set eth1 mtu 9000 up")
c.ip("link set eth0 mtu 9000 up")
b.run("ethtool -K eth0 gro on")
c.run("ethtool -K eth0 gro on")
p = Program()
p.attach(a, "eth0")
sender = Nic("packet eth0 --queues 2", b)
eth1 = index(a, "eth1")
p.put("devs", 3, eth1, a)
p.put("cpus", 0, 192)

REDIRECTED = {("redirect", f"ifindex {eth1}", "ok"): N, ("send", "to eth1", "ok"): N}
DEVMAP_ID, CPUMAP_ID = p.maps["devs"], p.maps["cpus"]
case("pass", 2, 0, {})
case("drop", 1, 0, {})
case("aborted", 0, 0, {("exception", "-", "XDP_ABORTED"): N},
     f"np_test_xdp {p.id} aborted on {N} packets")
case("unknown action", 57, 0, {("exception", "-", "unknown 57"): N},
     f"returned the invalid action 57 for {N} packets, which were dropped")
case("redirect", IFINDEX, eth1, REDIRECTED)
case("redirect, the other end", IFINDEX, eth1, {("send", "from eth0", "ok"): N},
     iface=f"{a}/eth1")
case("redirect to no interface", IFINDEX, 1 << 30, {("redirect", "an ifindex", "EINVAL"): N},
     f"{N} redirects of the XDP program np_test_xdp {p.id} to an ifindex failed with EINVAL: no interface has")
case("devmap", DEVMAP, 3, {("redirect", f"devmap {DEVMAP_ID} slot 3", "ok"): N,
                                 ("send", "to eth1", "ok"): N})
# the helper itself returns XDP_ABORTED: no redirect is attempted
case("devmap, empty slot", DEVMAP, 5, {("exception", "-", "XDP_ABORTED"): N},
     f"aborted on {N} packets")
case("send back", 3, 0, {("send back", "-", "ok"): N})
case("cpumap", CPUMAP, 0,
     {("redirect", f"cpumap {CPUMAP_ID} cpu 0", "ok"): N, ("to cpu", f"cpumap {CPUMAP_ID} cpu 0", "ok"): N,
      ("on cpu", f"cpumap {CPUMAP_ID} cpu 0", "passed"): N})

# Targets that reject packets.
c.ip("link set eth0 mtu 500")
case("target takes none", IFINDEX, eth1,
     {("redirect", f"ifindex {eth1}", "ok"): N, ("send", "to eth1", "not taken"): N},
     f"{N} packets redirected from eth0 to eth1 were dropped: rejected by the driver", size=1000)
case("target takes none, its own view", IFINDEX, eth1, {("send", "from eth0", "not taken"): N},
     f"{N} packets redirected from eth0 to eth1 were dropped", size=1000, iface=f"{a}/eth1")
c.ip("link set eth0 mtu 9000")
a.ip("link set eth1 mtu 500")
case("target with a small MTU", IFINDEX, eth1, {("redirect", "an ifindex", "EMSGSIZE"): N},
     "failed with EMSGSIZE: longer than the MTU of the target", size=1000)
a.ip("link set eth1 mtu 9000 down")
case("target is down", DEVMAP, 3, {("redirect", f"devmap {DEVMAP_ID}", "ENETDOWN"): N},
     "failed with ENETDOWN: the target interface is down")
a.ip("link set eth1 up")
c.run("ethtool -K eth0 gro off")
if "xdp_features" in sh("bpftool btf dump id 1 format c | grep -A400 '^struct net_device {'", check=False):
    case("target without NAPI", IFINDEX, eth1, {("redirect", "an ifindex", "EOPNOTSUPP"): N},
         "failed with EOPNOTSUPP: the driver of the target does not accept packets from XDP")
else:	# before 6.3 only the driver knew
    case("target without NAPI", IFINDEX, eth1,
         {("redirect", f"ifindex {eth1}", "ok"): N, ("send", "to eth1", "ENXIO"): N},
         f"{N} packets redirected from eth0 to eth1 were dropped: ENXIO")
b.run("ethtool -K eth0 gro off")
case("send back to a peer without NAPI", 3, 0, {("send back", "-", "ENXIO"): N},
     f"the driver dropped {N} packets that an XDP program returned with XDP_TX: ENXIO")

# A cpumap with room for one: how many of a batch it takes is a race, but all are accounted for.
p.put("cpus", 0, 1)
p.do(CPUMAP, 0)


def all_done():
    global got
    got = {(e, r): n for (e, w, r), n in rows(show(f"{a}/eth0")).items()}
    return got.get(("redirect", "ok")) == 2000 and \
        got.get(("to cpu", "ok"), 0) == got.get(("on cpu", "passed"), 0) > 0


for left in tries(10, "the thread of the cpumap kept up with the sender"):
    nicprobe("attach", "-m", "xdp", f"{a}/eth0")
    sender("send 0 2000 100")
    sender("go")
    until(all_done)
    if got.get(("to cpu", "full")) or not left:
        break
    nicprobe("detach", f"{a}/eth0")
same("xdp cpumap, full: every frame is somewhere",
     (got.get(("redirect", "ok")), got.get(("to cpu", "ok"), 0) + got.get(("to cpu", "full"), 0),
      got.get(("to cpu", "ok"))), (2000, 2000, got.get(("on cpu", "passed"))))
check("xdp cpumap, full: says so", got.get(("to cpu", "full"), 0) and
      f"{got['to cpu', 'full']} packets were dropped because the queue of cpumap {CPUMAP_ID} to CPU 0 was full" in said(show(f"{a}/eth0"), "xdp-"), str(got))
nicprobe("detach", f"{a}/eth0")
finish()

#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Every hook and attach method, each forced in turn: the same counts; and what is missing is reported."""
import glob
import random

from lib.lab import *

PACKETS = 4000
need_root()
global_sysctl("net.core.netdev_max_backlog", 100000)
ABSENT = "taken away by $NICPROBE_CANNOT"
TP = "tp_btf/*_entry"
VETH_XDP = "attaching XDP to veth turns TSO off on its peer and NAPI on: this changes what is measured"


# The points, and the packet meters. Other meters have tests of their own.
HERE = {"rx-nic", "rx-stack", "tx-stack", "tx-nic", "pktsize", "ecn", "ecn_source", "rxcpu", "flow", "txlat"}


def same_absent(name, got, want):
    """Exactly these are absent, each with a reason."""
    got = {k: v for k, v in got.items() if k in HERE}
    for what in sorted(set(got) | set(want)):
        if what not in got or what not in want or want[what] not in got[what]:
            return not_ok(f"{name}: absent", f"{what}: {got.get(what)!r}, not {want.get(what)!r}")
    return ok(f"{name}: absent")


def run(name, where, sender, args, cannot, seed, l4=("udp", "icmp")):
    """Attaches, sends, waits for the last packet; returns the expectation and the document."""
    nicprobe("attach", where, *args, env={"NICPROBE_CANNOT": cannot})
    want = random_frames(sender, random.Random(seed), PACKETS, l4)
    sent = sender("go interleave")
    docs = [show(where)]

    def there():
        docs.append(show(where))
        return packets_at(docs[-1], "rx-stack") >= PACKETS
    until(there)
    nicprobe("detach", where)
    check(f"{name}: sent", sent["sent"] == PACKETS, str(sent))
    return want, docs[-1]


def unknown(by_queue):
    """The same with unknown queues."""
    if isinstance(next(iter(by_queue.values())), tuple):
        return {None: tuple(sum(v[i] for v in by_queue.values()) for i in (0, 1))}
    total = {}
    for row in by_queue.values():
        for key, value in row.items():
            if isinstance(value, dict):
                le = total.setdefault(key, {})
                for k, v in value.items():
                    le[k] = le.get(k, 0) + v
            else:
                total[key] = total.get(key, 0) + value
    return {None: total}


def rx(name, where, sender, args=(), cannot="", hooks=("xdp", "tcx"), blind="", absent=None):
    """`hooks`: the expected hooks of rx-nic and rx-stack; `blind`: those that know no queue."""
    want, doc = run(name, where, sender, args, cannot, name)
    same(f"{name}: hooks", (doc["hooks"]["rx-nic"], doc["hooks"]["rx-stack"]), hooks)
    for point, tap in zip(("rx-nic", "rx-stack"), hooks):
        sizes, ecn = want.pktsize(), want.ecn
        if point in blind.split():
            sizes, ecn = unknown(sizes), unknown(ecn)
        same(f"{name}: {point} sizes", sizes_at(doc, point), sizes if tap else {})
        same(f"{name}: {point} ecn", ecn_at(doc, point), ecn if tap else {})
    if hooks[0]:
        cpu = want.rxcpu()
        same(f"{name}: rxcpu", rxcpu(doc), unknown(cpu) if "rx-nic" in blind.split() else cpu)
        same(f"{name}: ecn_source", sources(doc), want.sources)
    else:
        same(f"{name}: no rxcpu, no ecn_source", sorted(HERE & set(doc["meters"])), sorted(
            {"pktsize", "ecn", "txlat"} - set(doc["absent"])))
    same_absent(name, {k: v for k, v in doc["absent"].items() if k != "txlat"}, absent or {})
    same(f"{name}: lost", lost(doc), {})


def no_rx_nic(why):
    return {"rx-nic": why, **{m: "rx-nic cannot be seen: " for m in ("ecn_source", "rxcpu", "flow")}}


a, b, c = Namespace("a"), Namespace("b"), Namespace("c")
nic = tap(a)
TAP = f"{a}/tap0"

# The tap device: XDP disturbs nothing there, and is the default.
rx("tap", TAP, nic)
rx("tap, --rx xdp", TAP, nic, ["--rx", "xdp"])
rx("tap, --rx driver", TAP, nic, ["--rx", "driver"], hooks=(TP, "tcx"))
# After generic XDP, tc sees an untagged packet without its Ethernet header (mac_len is 0).
rx("tap, --rx xdp-generic", TAP, nic, ["--rx", "xdp-generic"],
   hooks=("xdp-generic", "tp_btf/netif_receive_skb"))
rx("tap, --rx tc", TAP, nic, ["--rx", "tc"], hooks=(None, "tcx"), absent=no_rx_nic("not asked for (--rx tc)"))
rx("tap without xdp", TAP, nic, cannot="xdp", hooks=(TP, "tcx"))
rx("tap without driver", TAP, nic, cannot="driver")
rx("tap without dispatcher", TAP, nic, cannot="dispatcher")
rx("tap without xdp, driver", TAP, nic, cannot="xdp,driver", hooks=(None, "tcx"), absent=no_rx_nic(ABSENT))
# Creating a clsact qdisc stops the transmit queues: only a last resort.
rx("tap without tcx", TAP, nic, cannot="tcx", hooks=("xdp", "tp_btf/netif_receive_skb"))
rx("tap without tcx, stack", TAP, nic, cannot="tcx,stack", hooks=("xdp", "clsact"))
rx("tap without tc", TAP, nic, cannot="tc", hooks=("xdp", "tp_btf/netif_receive_skb"))
rx("tap, --rx driver, without tcx, stack", TAP, nic, ["--rx", "driver"], "tcx,stack", (TP, "clsact"))
rx("tap without tracepoints", TAP, nic, cannot="tp_btf", hooks=("xdp", "tcx"),
   absent={"tx-stack": ABSENT, "tx-nic": ABSENT})

# A queue that nobody recorded: XDP knows it anyway, an skb without a NAPI ID does not.
rx("tap without recorded", TAP, nic, cannot="recorded", hooks=("xdp", "tp_btf/netif_receive_skb"),
   blind="rx-stack")
rx("tap without recorded, xdp", TAP, nic, cannot="recorded,xdp", hooks=(TP, "tp_btf/netif_receive_skb"),
   blind="rx-nic rx-stack")
napi = tap(a, "tap1", options="--napi")
rx("tap with NAPI without recorded, xdp", f"{a}/tap1", napi, cannot="recorded,xdp",
   hooks=(TP, "tp_btf/netif_receive_skb"), blind="rx-nic rx-stack")

# veth: XDP changes what is measured, so only on request.
veth(b, c)
sender, VETH = Nic("packet eth0 --queues 4", c), f"{b}/eth0"
rx("veth", VETH, sender, hooks=(TP, "tcx"))
rx("veth, --rx xdp", VETH, sender, ["--rx", "xdp"])
rx("veth, --rx driver", VETH, sender, ["--rx", "driver"], hooks=(TP, "tcx"))
rx("veth, --rx tc", VETH, sender, ["--rx", "tc"], hooks=(None, "tcx"),
   absent=no_rx_nic("not asked for (--rx tc)"))
# Generic XDP takes queue_mapping as queue + 1, which veth does not mean: better unknown than wrong.
rx("veth, --rx xdp-generic", VETH, sender, ["--rx", "xdp-generic"],
   hooks=("xdp-generic", "tp_btf/netif_receive_skb"), blind="rx-nic")
rx("veth without driver", VETH, sender, cannot="driver", hooks=(None, "tcx"), absent=no_rx_nic(VETH_XDP))
rx("veth without tcx, stack", VETH, sender, cannot="tcx,stack", hooks=(TP, "clsact"))
rx("veth without tc", VETH, sender, cannot="tc", hooks=(TP, "tp_btf/netif_receive_skb"))
rx("veth without device", VETH, sender, cannot="device", hooks=(TP, "tcx"))


def untold(cannot):
    """Checks that there are programs, and counts those that do not filter by device. For a page pool, functions called
    by the programs filter."""
    nicprobe("attach", VETH, "-m", "all", env={"NICPROBE_CANNOT": cannot})
    pins = glob.glob(f"/sys/fs/bpf/nicprobe/{os.stat(f'/run/netns/{b.name}').st_ino}/eth0/[!p]*")
    links = [sh(f"bpftool -j link show pinned {pin}", check=False) for pin in pins]
    shared = [sh(f"bpftool -j prog show pinned {pin}", check=False) for pin in pins]    # the others are maps
    ids = {json.loads(link).get("prog_id") for link in links if link} | {
        json.loads(prog).get("id") for prog in shared if prog}
    code = [sh(f"bpftool prog dump xlated id {prog}") for prog in ids - {None}]
    nicprobe("detach", VETH)
    return len(code) > 20, sum(f"0x{unknown}" in text for text in code
                               for unknown in ("6e696370726f6265", "6e696370726f6267"))


same("the device is told by its address", untold(""), (True, 0))
check("without device it is not", untold("device")[1] > 10)
# With a single queue there is nothing to find out.
veth(b, c, "eth1", 1)
nicprobe("attach", f"{b}/eth1", env={"NICPROBE_CANNOT": "recorded"})
one = Nic("packet eth1", c)
one("send 0 100 100 ecn=3")
one("go")
until(lambda: packets_at(show(f"{b}/eth1"), "rx-stack") == 100)
doc = show(f"{b}/eth1")
nicprobe("detach", f"{b}/eth1")
same("veth of one queue without recorded", {p: list(sizes_at(doc, p)) for p in ("rx-nic", "rx-stack")},
     {"rx-nic": [0], "rx-stack": [0]})
b.run("ethtool -K eth0 gro on")
c.run("ethtool -K eth0 tso off")
rx("veth with GRO", VETH, sender, hooks=(TP, "tcx"))
# Its NAPIs exist now, one per queue: the rank of the ID is the queue.
rx("veth by NAPI", VETH, sender, cannot="recorded", hooks=(TP, "tp_btf/netif_receive_skb"))
rx("veth by NAPI, xdp", VETH, sender, ["--rx", "xdp"], "recorded", ("xdp", "tp_btf/netif_receive_skb"))
b.run("ethtool -K eth0 gro off")
c.run("ethtool -K eth0 tso on")

# Packets of 4 KiB and more from a raw socket have their IP header in a page, which typed tracepoints can read since
# 6.11. Otherwise the codepoint is unknown: counted as lost, not as "not IP".
name = "veth without dynptr"
for size, unread in (3000, 0), (5000, 150):
    nicprobe("attach", VETH, env={"NICPROBE_CANNOT": "dynptr,tc"})
    for words in "v4", "v6", "v6 qinq=7,8", "arp":
        sender(f"send 0 25 {size} {words} ecn=3")
    sender("go")
    until(lambda: packets_at(show(VETH), "rx-stack") == 100)
    doc = show(VETH)
    nicprobe("detach", VETH)
    same(f"{name}: hooks", (doc["hooks"]["rx-nic"], doc["hooks"]["rx-stack"]), (TP, "tp_btf/netif_receive_skb"))
    got = [sum(e.values()) for p in ("rx-nic", "rx-stack") for e in ecn_at(doc, p).values()]
    same(f"{name}: {size} bytes, sizes", packets_at(doc, "rx-nic"), 100)
    same(f"{name}: {size} bytes, lost", doc["lost"].get("ecn", 0), unread)
    same(f"{name}: {size} bytes, not IP", [e.get("not-ip", 0) for p in ("rx-nic", "rx-stack")
         for e in ecn_at(doc, p).values()], [25, 25])
    same(f"{name}: {size} bytes, ECN", got, [25, 25] if unread else [100, 100])

# Transmit.
reader = tap(a, "tap3", options="--steer")
a.ip("link set tap3 txqueuelen 5000")
out, OUT = Nic("packet tap3 --queues 4", a), f"{a}/tap3"
reader("read on")


def tx(cannot, hooks, absent=None):
    name = f"tx without {cannot or 'nothing'}"
    reader("reset")
    nicprobe("attach", OUT, env={"NICPROBE_CANNOT": cannot})
    want = Expected()
    for i, words in enumerate(["v4 udp ecn=1", "v6 tcp ecn=2", "v4 vlan=5 ecn=3", "v6 qinq=5,6", "arp", "raw"]):
        for queue in range(4):
            for size in 90, 1518, 3500, 4096, 9000:
                out(f"send {queue} {queue + 2} {size} {words}")
                want.add(queue, queue + 2, size, words.split())
    out("go interleave")
    reader(f"wait {want.count()}")
    doc, read = show(OUT), reader("count")
    nicprobe("detach", OUT)
    same(f"{name}: hooks", (doc["hooks"]["tx-stack"], doc["hooks"]["tx-nic"]), hooks)
    for point, tap in zip(("tx-stack", "tx-nic"), hooks):
        same(f"{name}: {point} sizes", sizes_at(doc, point), want.pktsize() if tap else {})
        same(f"{name}: {point} ecn", ecn_at(doc, point), want.ecn if tap else {})
    same(f"{name}: far end", {q: nonzero(c["ecn"]) for q, c in enumerate(read["queues"])}, want.ecn)
    same(f"{name}: lost", lost(doc), {})
    same_absent(name, doc["absent"], absent or {})
    latency = sum(r["completion_seconds"]["count"] for r in doc["meters"].get("txlat", []))
    same(f"{name}: txlat", latency, 0 if "txlat" in (absent or {}) else want.count())


tx("", ("tp_btf/net_dev_queue", "tp_btf/net_dev_start_xmit"))
tx("device", ("tp_btf/net_dev_queue", "tp_btf/net_dev_start_xmit"))
tx("xmit", (None, None), {"tx-stack": ABSENT, "tx-nic": ABSENT})
tx("tp_btf", (None, None), {"tx-stack": ABSENT, "tx-nic": ABSENT, "txlat": ABSENT})


# clsact, and foreign filters in it.
def tc(netns, command):
    return netns.run(f"tc {command}")


def filters(netns):
    return [line for line in tc(netns, "filter show dev tap0 ingress").splitlines() if " pref " in line]


NO_TCX = {"NICPROBE_CANNOT": "tcx,stack"}
same("clsact: none before", "clsact" in tc(a, "qdisc show dev tap0"), False)
nicprobe("attach", TAP, env=NO_TCX)
same("clsact: there while attached", "clsact" in tc(a, "qdisc show dev tap0"), True)
nicprobe("detach", TAP)
same("clsact: none left", "clsact" in tc(a, "qdisc show dev tap0"), False)

# A foreign filter that lets nothing pass to later ones: ours must run first.
THEIRS = "bpf bytecode '1,6 0 0 1'"
tc(a, "qdisc add dev tap0 clsact")
for prio in 2, 49, 40000, 49152:
    name = f"clsact of another, filter at {prio}"
    tc(a, f"filter add dev tap0 ingress protocol all prio {prio} handle 7 {THEIRS}")
    before = filters(a)
    rx(name, TAP, nic, cannot="tcx", hooks=("xdp", "clsact"))
    same(f"{name}: as it was", filters(a), before)
    same(f"{name}: the qdisc, too", "clsact" in tc(a, "qdisc show dev tap0"), True)
    tc(a, f"filter del dev tap0 ingress prio {prio}")
tc(a, f"filter add dev tap0 ingress protocol all prio 1 handle 7 {THEIRS}")
before = filters(a)
FIRST = "another filter has tc priority 1 on tap0: ours cannot run before it"
rx("clsact of another, filter at 1", TAP, nic, cannot="tcx", hooks=("xdp", "tp_btf/netif_receive_skb"))
nicprobe("attach", TAP, env=NO_TCX)
doc = show(TAP)
nicprobe("detach", TAP)
check("clsact of another, filter at 1, without stack: absent", doc["hooks"]["rx-stack"] is None and
      FIRST in doc["absent"].get("rx-stack", ""), str(doc["absent"]))
same("clsact of another, filter at 1: as it was", filters(a), before)
tc(a, "qdisc del dev tap0 clsact")

# A foreign filter is added to a clsact that we created: on detach it stays, and so does the qdisc.
nicprobe("attach", TAP, env=NO_TCX)
tc(a, f"filter add dev tap0 ingress protocol all prio 49 handle 9 {THEIRS}")
nicprobe("detach", TAP)
same("clsact that we made: another's later filter stays", len([f for f in filters(a) if "handle 0x9" in f]), 1)
same("clsact that we made: ours is gone", "nicprobe" in tc(a, "filter show dev tap0 ingress"), False)
tc(a, "qdisc del dev tap0 clsact")

# Requested by name, an unavailable hook is an error.
for args, cannot in (["--rx", "xdp"], "xdp"), (["--rx", "driver"], "driver"), (["--rx", "driver"], "tp_btf"):
    r = nicprobe("attach", TAP, *args, env={"NICPROBE_CANNOT": cannot}, check=False)
    check(f"--rx {args[1]} without {cannot}: an error", r.returncode == 1 and "taken away" in r.stderr,
          f"{r.returncode}: {r.stdout}{r.stderr}")
    check(f"--rx {args[1]} without {cannot}: nothing is left", nicprobe("show", TAP, check=False).returncode == 1)
finish()

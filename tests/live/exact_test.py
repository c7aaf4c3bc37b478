#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Every packet is counted once, in the right place: a run of 100,000 for each hook, veth and tap; or $RUNS of
$PACKETS, and fewer kinds on an emulated CPU."""
import random

from lib.lab import *

RUNS, PACKETS = int(os.environ.get("RUNS", 1)), int(os.environ.get("PACKETS", 100000))
need_root()
# RPS and veth queue packets on the backlog; packets it drops never reach the stack.
global_sysctl("net.core.netdev_max_backlog", 300000)


def send(nic, seed, l4):
    rng = random.Random(seed)
    want = random_frames(nic, rng, PACKETS, l4, each=200 if PACKETS >= 100000 else 50)
    sent = nic("go interleave")
    if sent["sent"] != PACKETS or want.count() != PACKETS:
        raise RuntimeError(f"sent {sent}, wanted {want.count()}")
    return want


def settled(where, point):
    """The document once all packets sent were seen (or will not be)."""
    docs = []

    def there():
        docs.append(show(where))
        return packets_at(docs[-1], point) >= PACKETS
    until(there)
    return docs[-1]


def wrong_rx(doc, want, loses):
    """The errors in the document, or nothing; `loses`: meters that cannot read every packet."""
    for what, got, expect in [
            ("rx-nic sizes", sizes_at(doc, "rx-nic"), want.pktsize()),
            ("rx-stack sizes", sizes_at(doc, "rx-stack"), want.pktsize()),
            ("rx-nic ecn", ecn_at(doc, "rx-nic"), want.ecn),
            ("rx-stack ecn", ecn_at(doc, "rx-stack"), want.ecn),
            ("ecn_source", sources(doc), want.sources),
            ("rxcpu", rxcpu(doc), want.rxcpu()),
            ("tx-stack", sizes_at(doc, "tx-stack"), {}),
            ("tx-nic", sizes_at(doc, "tx-nic"), {}),
            ("lost", {k: n for k, n in lost(doc).items() if k not in loses}, {})]:
        if got != expect:
            return f"{what}: {difference(got, expect)}"
    return None


def rx(name, where, sender, tap, l4=("udp", "icmp"), how=None, cpus=None, loses=()):
    """One attach per run, with 100,000 packets over 4 queues from both CPUs."""
    for run in range(RUNS):
        nicprobe("attach", where, "--rx", tap)
        want = send(sender, f"{name} {run}", l4)
        doc = settled(where, "rx-stack")
        nicprobe("detach", where)
        why = wrong_rx(doc, want, loses)
        if not why and how and doc["hooks"]["rx-nic"] != how:
            why = f"the hook is {doc['hooks']['rx-nic']}, not {how}"
        if not why and cpus:
            got = {(r["queue"], r["cpu"]) for r in doc["meters"]["rxcpu"]}
            why = None if got == cpus else f"CPUs: {difference(sorted(got), sorted(cpus))}"
        if not why and len({r["cpu"] for r in doc["meters"]["rxcpu"]}) < min(2, len(CPUS)):
            why = "one CPU did all"
        if why:
            return not_ok(name, f"run {run}: {why}")
    ok(f"{name} # {RUNS} x {PACKETS}")


def wrong_tx(doc, want, read):
    for point in "tx-stack", "tx-nic":
        for what, got, expect in [("sizes", sizes_at(doc, point), want.pktsize()),
                                  ("ecn", ecn_at(doc, point), want.ecn)]:
            if got != expect:
                return f"{point} {what}: {difference(got, expect)}"
    for what, got, expect in read:
        if got != expect:
            return f"{what}: {difference(got, expect)}"
    return None


def as_read(count):
    """Sizes and codepoints by queue, as the far end counted them."""
    sizes = {q: histogram({int(s): n for s, n in c["sizes"].items()})
             for q, c in enumerate(count["queues"]) if c["frames"]}
    ecn = {q: nonzero(c["ecn"]) for q, c in enumerate(count["queues"]) if c["frames"]}
    return sizes, ecn


def tx(name, where, sender, reader, by_queue, cannot=""):
    """The same for sending; `reader` is the far end, which on a tap knows the queues."""
    reader("read on")
    for run in range(RUNS):
        reader("reset")
        nicprobe("attach", where, env={"NICPROBE_CANNOT": cannot})
        want = send(sender, f"{name} {run}", ("udp", "icmp", "tcp"))
        reader(f"wait {PACKETS} 10000")
        doc = show(where)
        nicprobe("detach", where)
        count = reader("count")
        sizes, ecn = as_read(count)
        all_sizes, all_ecn = Expected(), {}
        for q, by_size in want.sizes.items():
            for size, n in by_size.items():
                all_sizes.add(0, n, size)
            for mark, n in want.ecn[q].items():
                all_ecn[mark] = all_ecn.get(mark, 0) + n
        read = [("drops", count["drops"], 0)]
        if by_queue:
            read += [("far end sizes", sizes, sizes_at(doc, "tx-nic")),
                     ("far end ecn", ecn, ecn_at(doc, "tx-nic"))]
        else:
            read += [("far end sizes", sizes, all_sizes.pktsize()), ("far end ecn", ecn, {0: all_ecn})]
        why = wrong_tx(doc, want, read)
        if why:
            return not_ok(name, f"run {run}: {why}")
    ok(f"{name} # {RUNS} x {PACKETS}")


def rps(netns, iface, mask):
    for q in range(4):
        netns.run(f"sh -c 'echo {mask} > /sys/class/net/{iface}/queues/rx-{q}/rps_cpus'")


CPUS = sorted(os.sched_getaffinity(0))
a, b, c = Namespace("a"), Namespace("b"), Namespace("c")
pinned = {(q, CPUS[q % len(CPUS)]) for q in range(4)}    # nic sends queue n on the nth CPU

nic = tap(a)
for way in "xdp", "driver":
    any_l4 = ("udp", "tcp", "icmp")        # a tap without NAPI has no GRO
    rx(f"tap, {way}", f"{a}/tap0", nic, way, any_l4, cpus=pinned)
    rps(a, "tap0", 3)
    rx(f"tap, {way}, RPS", f"{a}/tap0", nic, way, any_l4, cpus=pinned)
    rps(a, "tap0", 0)
napi = tap(a, "tap1", options="--napi")
rx("tap with NAPI, driver", f"{a}/tap1", napi, "driver")
frags = tap(a, "tap2", options="--napi-frags")
# The headers are in pages, which typed tracepoints read since 6.11: flow loses some samples, and reports it.
rx("tap with NAPI and frags, driver", f"{a}/tap2", frags, "driver", loses={"flow"} if KERNEL < (6, 11) else ())

veth(b, c)
sender = Nic("packet eth0 --queues 4", c)
rx("veth, driver", f"{b}/eth0", sender, "driver", ("udp", "tcp", "icmp"), cpus=pinned)
rps(b, "eth0", 3)
rx("veth, driver, RPS", f"{b}/eth0", sender, "driver", ("udp", "tcp", "icmp"), cpus=pinned)
rps(b, "eth0", 0)
rx("veth, xdp", f"{b}/eth0", sender, "xdp")
rps(b, "eth0", 3)
rx("veth, xdp, RPS", f"{b}/eth0", sender, "xdp")
rps(b, "eth0", 0)
b.run("ethtool -K eth0 gro on")
c.run("ethtool -K eth0 tso off")        # then veth uses its peer's NAPI, and GRO
rx("veth with GRO, driver", f"{b}/eth0", sender, "driver")
b.run("ethtool -K eth0 gro off")
c.run("ethtool -K eth0 tso on")

# A ring that holds everything sent: tun drops packets that find its ring full.
out = tap(a, "tap3", options="--steer")
a.ip("link set tap3 txqueuelen 30000")
tx("tap, tx", f"{a}/tap3", Nic("packet tap3 --queues 4", a), out, True)
tx("tap, tx, as another driver", f"{a}/tap3", Nic("packet tap3 --queues 4", a), out, True, "orderly")
tx("veth, tx", f"{c}/eth0", sender, Nic("packet eth0", b), False)
finish()

#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Polls caused on purpose: how many packets each took, by whom, in which windows; and when it is a finding."""
from lib.lab import *
from lib.traffic import Sender

need_root()
BUDGET = 64


def rows(doc):
    return {r["queue"]: r for r in doc["meters"]["napi"]}


def le(histogram):
    return {float(k): n for k, n in histogram["le"].items() if n}


def polls(row):
    return sum(row["polls"].values())


def settled(where):
    """The document once no window is open any more."""
    time.sleep(.005)
    return show(where)


def conserved(name, doc):
    """Invariants of any load: sums, samples and causes agree with each other."""
    for queue, r in rows(doc).items():
        what = f"{name}: queue {queue}"
        packets = r["work"]["sum"]
        same(f"{what}: a sample a poll", r["work"]["count"], polls(r))
        same(f"{what}: a time or a reason a poll", sum(r["timed_polls"].values()), polls(r))
        same(f"{what}: times", r["poll_seconds"]["count"], polls(r) - r["timed_polls"]["none"])
        same(f"{what}: windows hold all packets", [r[k]["sum"] for k in ("burst_100us", "burst_1ms")], [packets] * 2)
        check(f"{what}: longer windows hold more", r["burst_1ms"]["count"] <= r["burst_100us"]["count"] and
              (r["burst_1ms"]["max"] or 0) >= (r["burst_100us"]["max"] or 0))
        check(f"{what}: no wait without a poll", r["wait_seconds"]["count"] <= polls(r))
        same(f"{what}: full budgets are runs", r["run"]["sum"], r["exhausted_polls"] * BUDGET)


# 1. A tap with NAPI: each frame we write is a poll of one, in the softirq at the end of the write.
a, b = Namespace("a"), Namespace("b")
name = "tap --napi"
nic = tap(a, "tap0", 4, "--napi")
nicprobe("attach", f"{a}/tap0", "-m", "napi,pktsize")
counts = {0: 500, 1: 300, 2: 7}
for queue, count in counts.items():
    nic(f"send {queue} {count} 100")
start = time.monotonic()
nic("go")
took = time.monotonic() - start
doc = settled(f"{a}/tap0")
nicprobe("detach", f"{a}/tap0")
nic.close()
got = rows(doc)
same(f"{name}: packets", {q: r["work"]["sum"] for q, r in got.items()}, counts)
same(f"{name}: polls of one", {q: le(r["work"]) for q, r in got.items()}, {q: {1: n} for q, n in counts.items()})
same(f"{name}: as rx-nic counts", {q: h["count"] for q, h in sizes_at(doc, "rx-nic").items()}, counts)
same(f"{name}: all in softirqs", {q: r["polls"]["softirq"] + r["polls"]["ksoftirqd"] for q, r in got.items()}, counts)
same(f"{name}: nothing else", [(r["exhausted_polls"], r["squeezed_softirqs"], r["tx_polls"], r["near_ring_runs"])
                               for r in got.values()], [(0, 0, 0, 0)] * 3)
same(f"{name}: each waited", {q: r["wait_seconds"]["count"] for q, r in got.items()}, counts)
check(f"{name}: in no more windows than there were", all(r["burst_1ms"]["count"] <= took * 1e3 + 2
                                                         for r in got.values()))
check(f"{name}: times within the time it took", all(r["poll_seconds"]["sum"] + r["wait_seconds"]["sum"] < took
                                                    for r in got.values()), str(took))
conserved(name, doc)

# 2. With frags tun calls GRO itself, without polls.
nic = tap(a, "tap0", 1, "--napi-frags")
nicprobe("attach", f"{a}/tap0", "-m", "napi,pktsize")
nic("send 0 50 1500")
nic("go")
doc = settled(f"{a}/tap0")
nicprobe("detach", f"{a}/tap0")
nic.close()
same("tap --napi-frags: no polls", (doc["meters"]["napi"], packets_at(doc, "rx-nic")), ([], 50))

# NAPIs of veths have IDs: their queue is known by their order.
veth(a, b, "eth4", 4)
a.run("ethtool -K eth4 tso off")
b.run("ethtool -K eth4 gro on")
wide, counts = Nic("packet eth4 --queues 4", a), {0: 40, 1: 10, 2: 30, 3: 20}
nicprobe("attach", f"{b}/eth4", "-m", "napi,pktsize")
for queue, count in counts.items():
    wide(f"send {queue} {count} 100")
wide("go")
until(lambda: packets_at(show(f"{b}/eth4"), "rx-nic") == sum(counts.values()), 2)
doc = settled(f"{b}/eth4")
nicprobe("detach", f"{b}/eth4")
same("veth of 4 queues: packets", {q: r["work"]["sum"] for q, r in rows(doc).items()}, counts)
same("veth of 4 queues: as rx-nic counts", {q: h["count"] for q, h in sizes_at(doc, "rx-nic").items()}, counts)
conserved("veth of 4 queues", doc)

# A veth with neither GRO nor XDP has no NAPI: by default nothing looks for polls there, which would cost each packet.
# What is named is attached, for the NAPI that may come.
veth(a, b, "eth5", 1)
bare, quiet = Nic("packet eth5", a), f"{b}/eth5"
BY_NAPI = {"softirq_raise", "softirq_entry", "napi_poll"}


def attached(*args, where=quiet):
    """Is it measured, and which of its own programs are there? If not: why?"""
    doc = json.loads(nicprobe("attach", "-j", where, *args).stdout)
    netns, device = where.split("/")
    pins = os.listdir(f"/sys/fs/bpf/nicprobe/{os.stat(f'/run/netns/{netns}').st_ino}/{device}")
    return "napi" in doc["meters"], BY_NAPI & set(pins), doc["absent"].get("napi", "")


def polled(count):
    bare(f"send 0 {count} 100")
    bare("go")
    until(lambda: packets_at(show(quiet), "rx-nic") == count, 2)
    return {q: r["work"]["sum"] for q, r in rows(settled(quiet)).items()}


on, programs, why = attached()
check("veth without NAPI: napi is left out, and it is said why", not on and "no NAPI while GRO is off" in why and
      "-m +napi" in why, why)
same("veth without NAPI: none of its programs runs", programs, set())
nicprobe("attach", "-m", "+napi", quiet)
a.run("ethtool -K eth5 tso off")
b.run("ethtool -K eth5 gro on")
same("veth without NAPI: added, and its NAPI begins", polled(30), {0: 30})
gro = show(quiet)["meters"]["gro"][0]
same("veth without NAPI: gro counts what comes now, and does not say why, as it saw no polls",
     [sum(gro["frames"].values()), {why: n for why, n in gro["alone"].items() if n}], [30, {"other": 30}])
nicprobe("detach", quiet)
same("veth with NAPI: by default", attached(), (True, BY_NAPI, ""))
nicprobe("detach", quiet)
b.run("ethtool -K eth5 gro off")
for args in ("-m", "napi,pktsize"), ("--rx", "xdp"):
    same(f"veth without NAPI: {' '.join(args)}", attached(*args), (True, BY_NAPI, ""))
    nicprobe("detach", quiet)

# So has a tap whose program asked for none; what nobody has opened may get one.
plain = f"{a}/tap2"
a.ip("tuntap add tap2 mode tap multi_queue")
a.ip("link set tap2 up")
same("a tap that nobody has opened: by default", attached(where=plain), (True, BY_NAPI, ""))
nicprobe("detach", plain)
nic = tap(a, "tap2", 2)
on, programs, why = attached(where=plain)
check("tap without NAPI: napi is left out, and it is said why", not on and "IFF_NAPI" in why and "-m +napi" in why, why)
same("tap without NAPI: none of its programs runs", programs, set())
nic("send 0 30 100")
nic("send 1 20 100")
nic("go")
same("tap without NAPI: its frames are counted", {q: h["count"] for q, h in sizes_at(show(plain), "rx-nic").items()},
     {0: 30, 1: 20})
nicprobe("attach", "-m", "+napi", plain)
nic.close()
nic = tap(a, "tap2", 2, "--napi")
nic("send 1 40 100")
nic("go")
same("tap without NAPI: added, and it is opened with one", {q: r["work"]["sum"] for q, r in rows(settled(plain)).items()},
     {1: 40})
nicprobe("detach", plain)
same("tap with NAPI: by default", attached(where=plain), (True, BY_NAPI, ""))
nicprobe("detach", plain)
nic.close()
a.ip("link del tap2")

# 3. veth polls if its receiver has GRO and its sender no TSO. We fill the sender's qdisc, then open it: it passes 64
# packets (dev_tx_weight) before a poll can run on that CPU.
veth(a, b, "eth1", 1)
a.run("ethtool -K eth1 tso off")
b.run("ethtool -K eth1 gro on")
VETH = f"{b}/eth1"
sender = Nic("packet eth1", a)


def threaded(on):
    b.run(f"sh -c 'echo {on} > /sys/class/net/eth1/threaded'")


def burst(count):
    """One frame now, the next `count` all at once."""
    a.run("tc qdisc replace dev eth1 root tbf rate 8bit burst 150 limit 100000000")
    sender(f"send 0 {count} 100")
    sender("go")
    a.run("tc qdisc replace dev eth1 root tbf rate 100gbit burst 100000000 limit 100000000")
    sender("send 0 1 100")
    sender("go")


def bursts(name, sizes, env=None, most=3):
    """A document of these bursts in which none was split, as by a softirq elsewhere."""
    for left in tries(most, "a softirq elsewhere tore a burst apart"):
        nicprobe("attach", VETH, "-m", "napi,pktsize", env=env)
        for size in sizes:
            burst(size)
        until(lambda: packets_at(show(VETH), "rx-nic") >= sum(sizes) + len(sizes), 2)
        doc = settled(VETH)
        text = nicprobe("show", VETH).stdout
        metrics = nicprobe("show", VETH, "-f", "openmetrics").stdout
        nicprobe("detach", VETH)
        r = rows(doc).get(0)
        if not left or r and r["exhausted_polls"] == sum(size // BUDGET for size in sizes):
            break
    same(f"{name}: packets", (r["work"]["sum"], packets_at(doc, "rx-nic")), (sum(sizes) + len(sizes),) * 2)
    conserved(name, doc)
    return doc, r, text, metrics


name = "20 bursts of 48"
doc, r, text, metrics = bursts(name, [48] * 20)
want = {1: 20, 48: 20}
for figure in "work", "burst_100us", "burst_1ms":
    if figure == "burst_1ms":   # a preceding frame and its burst may fall into one millisecond
        same(f"{name}: {figure}: the most", r[figure]["max"] in (48, 56), True)
    else:
        same(f"{name}: {figure}", le(r[figure]), want)
same(f"{name}: none exhausted", (r["exhausted_polls"], r["run"]["count"]), (0, 0))
check(f"{name}: in the table", "burst 100us" in text and 'nicprobe_napi_burst_100us_bucket{' in metrics)

# 4. More than a poll may take: its budget is used up repeatedly, and the ring is not emptied.
doc, r, text, _ = bursts("one burst of 1000", [1000])
same("one burst of 1000: polls", le(r["work"]), {1: 1, 40: 1, 64: 15})
same("one burst of 1000: exhausted", r["exhausted_polls"], 1000 // BUDGET)
same("one burst of 1000: near the ring", r["near_ring_runs"], 1)
doc, r, text, _ = bursts("bursts of 100 among 20 of 48", [48] * 20 + [100] * 4)
same("bursts of 100 among 20 of 48: runs", (le(r["run"]), r["near_ring_runs"]), ({64: 4}, 0))

# Enough to defer the softirq to ksoftirqd (after ten rounds, or 2 ms). On a busy machine an interrupt may come first
# and do some of its work.
for _ in range(5):
    doc, r, text, _ = bursts("a burst of 6000", [6000])
    if r["polls"]["ksoftirqd"] * 4 >= polls(r):
        break
same("a burst of 6000: exhausted", r["exhausted_polls"], 6000 // BUDGET)
check(f"a burst of 6000: ksoftirqd took over # {r['polls']}", r["polls"]["ksoftirqd"] >= 20 and
      r["polls"]["softirq"] + r["polls"]["ksoftirqd"] == polls(r))

# 6. The thread of a NAPI: counted as such; outside of softirqs the start of a poll is unknown.
threaded(1)
doc, r, text, _ = bursts("threaded", [1000], most=1)
same("threaded: all by the thread", {k: n for k, n in r["polls"].items() if n}, {"thread": polls(r)})
same("threaded: no wait for a softirq", r["wait_seconds"]["count"], 0)
if "fentry" in doc["remarks"].get("napi", "") or r["timed_polls"]["exact"]:
    same("threaded: timed", r["timed_polls"]["exact"], polls(r))
else:
    same("threaded: not timed", r["timed_polls"]["none"], polls(r))
    check("threaded: and it says so", "threads" in doc["remarks"]["napi"], str(doc["remarks"]))
same("threaded: not put off", said(doc, "napi-"), "")
threaded(0)


# 7. One poll uses up the budget of a softirq: it ends with packets left, and the kernel counts that.
def softnet(column):
    """The sum over all CPUs: 0 packets processed, 2 time_squeeze. Includes other interfaces."""
    with open("/proc/net/softnet_stat") as f:
        return sum(int(line.split()[column], 16) for line in f)


global_sysctl("net.core.netdev_budget", BUDGET)
before, processed = softnet(2), softnet(0)
doc, r, text, _ = bursts("a budget of 64", [2000])
grown, processed = softnet(2) - before, softnet(0) - processed
check(f"a budget of 64: the kernel processed them # {processed}", processed >= 2001, str(processed))
check(f"a budget of 64: each full poll ended its softirq # {r['squeezed_softirqs']}, the kernel counts {grown}",
      0 <= r["exhausted_polls"] - r["squeezed_softirqs"] <= 2 and r["squeezed_softirqs"] <= grown,
      f"{r['squeezed_softirqs']} of {r['exhausted_polls']}, {grown}")
doc, r, text, _ = bursts("a budget of 64, small bursts", [48] * 3)
same("a budget of 64, small bursts: no squeeze", (r["squeezed_softirqs"], said(doc, "napi-budget")), (0, ""))

# 8. Without the per-CPU variables of the kernel: it reports what is missing, and the rest is right.
doc, r, text, _ = bursts("without percpu", [48] * 3 + [200], {"NICPROBE_CANNOT": "percpu"})
same("without percpu: work", le(r["work"]), {1: 4, 8: 1, 48: 3, 64: 3})
same("without percpu: no squeezed, no wait", (r["squeezed_softirqs"], r["wait_seconds"]["count"]), (0, 3))
check("without percpu: it says so", "no squeezed" in doc["remarks"]["napi"] and "no squeezed" in text)

# 9. A process that waits for packets polls by itself.
for netns, address in (a, 1), (b, 2):
    netns.ip(f"addr add 198.18.7.{address}/24 dev eth1")
a.run("tc qdisc del dev eth1 root")
BUSY = f"""
import socket, struct
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("198.18.7.2", 7777))
s.setsockopt(socket.SOL_SOCKET, 46, 20000)
print("ready", flush=True)
s.recv(100)
s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", 0, 300000))
try:
    s.recv(100)
except BlockingIOError:
    pass
"""
nicprobe("attach", VETH)
waiter = subprocess.Popen(["ip", "netns", "exec", str(b), sys.executable, "-c", BUSY], stdout=subprocess.PIPE, text=True)
waiter.stdout.readline()
a.run(f"""{sys.executable} -c 'import socket
socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("198.18.7.2", 7777))'""")
waiter.wait(timeout=20)
doc = settled(VETH)
nicprobe("detach", VETH)
r = rows(doc)[0]
check(f"busy poll: counted as such # {r['polls']}", r["polls"]["busy-poll"] > 100 and not r["polls"]["thread"], str(r["polls"]))
same("busy poll: not timed, not exhausted", (r["timed_polls"]["none"] >= r["polls"]["busy-poll"], r["exhausted_polls"]),
     (True, 0))
conserved("busy poll", doc)

# 10. Attached while packets arrive: no absurd figures, and other interfaces' polls do not count.
more = Nic("packet eth1", a)
quiet = tap(b, "tap9", 1, "--napi")
nicprobe("attach", f"{b}/tap9")
traffic = Sender(more, 1, "100 100")
start = time.monotonic()
nicprobe("attach", VETH)
time.sleep(.2)
traffic.stop()
doc, took = settled(VETH), time.monotonic() - start
other = settled(f"{b}/tap9")
nicprobe("detach", VETH)
nicprobe("detach", f"{b}/tap9")
r = rows(doc)[0]
conserved("attached in traffic", doc)
check(f"attached in traffic: times # {took:.3f} s", r["poll_seconds"]["sum"] < took and
      (r["wait_seconds"]["max"] or 0) < took, str(r))
same("polls of others", other["meters"]["napi"], [])

# 11. Interfaces without NAPI report so.
nicprobe("attach", f"{a}/lo")
doc = show(f"{a}/lo")
nicprobe("detach", f"{a}/lo")
check("lo: absent", "has no NAPI" in doc["absent"].get("napi", ""), str(doc["absent"]))
refused = nicprobe("attach", f"{a}/lo", "-m", "napi", check=False)
check("lo: asked for by name it is an error", refused.returncode == 1 and "has no NAPI" in refused.stderr, refused.stderr)
nicprobe("attach", VETH, env={"NICPROBE_CANNOT": "tp_btf"})
doc = show(VETH)
nicprobe("detach", VETH)
check("without tracepoints: absent", doc["absent"].get("napi"), str(doc["absent"]))
finish()

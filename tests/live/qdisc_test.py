#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Time in the qdisc, drops and requeues: at rates that we set, compared with the counts of tc(8)."""
import re

from lib.lab import *
from lib.stall import Stalled
from lib.traced import traced

need_root()
DEFAULT = sh("sysctl -n net.core.default_qdisc").strip()
STEP = 1.125        # a histogram step


def rows(doc):
    """{(queue, kind): row}"""
    return {(int(r["queue"]), r["qdisc"]): r for r in doc["meters"]["qdisc"]}


def brief(doc):
    """{(queue, kind): what is not 0}, histograms by their counts"""
    got = {}
    for key, r in rows(doc).items():
        row = {"timed": r["wait_seconds"]["count"], "waiting": r["waiting"], "segmented": r["segmented"],
               "refused": r["refused"], **r["dropped"], **r["lost"]}
        got[key] = nonzero(row)
    return got


def tc(netns, dev, what="dropped"):
    """A statistic of the root qdisc, from tc -s."""
    text = netns.run(f"tc -s qdisc show dev {dev} root")
    return int(re.search(rf"{what} (\d+)", text)[1])


def qdisc(netns, dev, words):
    netns.run(f"tc qdisc replace dev {dev} {words}")


def run(where, batches, args=(), meters="qdisc,pktsize"):
    """Attaches, sends in one batch; returns how long that took."""
    nicprobe("attach", where, "-m", meters, *args)
    for batch in batches:
        sender(f"send {batch}")
    begin = time.monotonic()
    sender("go")
    return time.monotonic() - begin


a, b = Namespace("a"), Namespace("b")
far = tap(a, "tap0", 4, "--steer")
a.ip("link set tap0 txqueuelen 20000")
sender = Nic("packet tap0 --queues 4 --vnet-hdr", a)
TAP = f"{a}/tap0"

# 1. Queues that are never full: every packet bypasses the queue, and is counted all the same.
name = DEFAULT
run(TAP, ["0 1000 100", "1 70 200", "3 3000 1000"])
doc = show(TAP)
nicprobe("detach", TAP)
same(f"{name}: every packet, by queue", brief(doc),
     {(q, DEFAULT): {"timed": n} for q, n in ((0, 1000), (1, 70), (3, 3000))})
same(f"{name}: as many as at tx-stack", packets_at(doc, "tx-stack"), 4070)
p50 = rows(doc)[3, DEFAULT]["wait_seconds"]["p50"]
check(f"{name}: they do not wait # {p50 * 1e6:.2f} us", p50 < 1e-4, str(p50))
same(f"{name}: no finding", said(doc, "qdisc-"), "")

# 2. tbf: packet i waits until the bytes before it are sent, less its own lateness: between none and the time that
# sending took.
N, SIZE, RATE, BURST = 200, 1000, 1e6, 4000
qdisc(a, "tap0", f"root tbf rate {RATE * 8:.0f}bit burst {BURST} limit 1000000")


def through_tbf(queue, packets, args=(), meters="qdisc,pktsize"):
    """How long sending took, the figures then, and those once the queue is empty."""
    took = run(TAP, [f"{queue} {packets} {SIZE}"], args, meters)
    early = brief(show(TAP))[queue, "tbf"]
    until(lambda: tc(a, "tap0", r"backlog \w+") == 0)
    doc = show(TAP)
    nicprobe("detach", TAP)
    return took, early, doc


name = "tbf"
for _ in tries(8, "sending took as long as they wait"):
    took, got, doc = traced(through_tbf, 2, N)
    if took < N * SIZE / RATE / 8:
        break
check(f"{name}: some wait # {got}", got["waiting"] > 0 and got["waiting"] + got["timed"] == N, str(got))
same(f"{name}: all came out", brief(doc), {(2, "tbf"): {"timed": N}})
h = rows(doc)[2, "tbf"]["wait_seconds"]
for what, got, middle in ("median", h["p50"], N / 2), ("mean", h["sum"] / N, (N + 1) / 2):
    want = (middle * SIZE - BURST) / RATE
    check(f"{name}: {what} # {got * 1e3:.1f} ms of {want * 1e3:.1f} less up to {took * 1e3:.1f}",
          .9 * (want - took) < got < 1.1 * want, f"{got}, not {want} less up to {took}")
check(f"{name}: a finding", "in the qdisc tbf" in said(doc, "qdisc-wait"), str(doc["findings"]))

# 3. The same beside the time in the driver: a reader that takes packets at once.
far("read on")
_, _, doc = traced(through_tbf, 1, 150, meters="qdisc,txlat")
check("slower than the driver: a finding", "times as long as in the driver" in said(doc, "qdisc-wait"),
      str(doc["findings"]))
far("read off")

# 4. Drops: tbf's own limit, and as many as tc counts; with sampling, too, as their reason shows.
for args in [], ["--sample", 8]:
    name = "tbf with a limit" + (", sampled" if args else "")

    def limited():
        qdisc(a, "tap0", "root pfifo")
        qdisc(a, "tap0", "root tbf rate 8mbit burst 4000 limit 20000")
        before = tc(a, "tap0")
        return through_tbf(0, 300, args=args)[2], tc(a, "tap0") - before

    doc, drops = traced(limited)
    got = brief(doc)[0, "tbf"]
    check(f"{name}: drops are tc's # {drops}", got.get("by-qdisc") == drops and drops > 100, f"{got}, tc {drops}")
    if args:
        check(f"{name}: others are sampled # {got}", got.get("timed", 0) < 150, str(got))
    else:       # the sender retries what was dropped
        same(f"{name}: all were sent in the end", got, {"timed": 300, "by-qdisc": drops})
    words = said(doc, "qdisc-drops")
    check(f"{name}: a finding # {words}", f"dropped {drops} packets" in words and "100.0%" not in words, str(doc["findings"]))

# 5. The qdisc is changed meanwhile: each kind has a row of its own; the content of the old one is dropped.
nicprobe("attach", TAP, "-m", "qdisc")
want = {}
for kind, words, n in (("pfifo", "pfifo", 30), ("tbf", "tbf rate 8kbit burst 2000 limit 100000", 20),
                       ("bfifo", "bfifo", 40)):
    qdisc(a, "tap0", f"root {words}")
    sender(f"send 1 {n} 1000")
    sender("go")
    want[1, kind] = {"timed": n}
want[1, "tbf"] = {"timed": 2, "otherwise": 18}
doc = show(TAP)
nicprobe("detach", TAP)
same("another qdisc: rows of their own", brief(doc), want)

# 6. Attached while packets wait: their arrival was not seen.
qdisc(a, "tap0", "root tbf rate 8mbit burst 2000 limit 100000")


def behind_others():
    sender("send 0 50 1000")
    sender("go")
    return through_tbf(0, 20, meters="qdisc")[2]


same("attached while packets wait: the next are timed", brief(traced(behind_others)), {(0, "tbf"): {"timed": 20}})

# 7. Software GSO, as the tap has no TSO: a buffer's wait ends when it is split. Cases: bypassing the qdisc, dequeued
# from it, and split by the qdisc itself, which differs.
def software_gso():
    far("reset")
    run(TAP, ["2 50 9014 v4 tcp gso=1000", "2 7 500"])
    until(lambda: packets_at(show(TAP), "tx-nic") == 457, 1)
    doc = show(TAP)
    nicprobe("detach", TAP)
    return doc


for name, words, want in (
        ("past pfifo", "pfifo", {"timed": 50, "segmented": 50}),
        ("out of tbf", "tbf rate 80mbit burst 20000 limit 1000000", {"timed": 50, "segmented": 50}),
        ("in tbf", "tbf rate 80mbit burst 4000 limit 1000000", {"split-by-qdisc": 50})):
    qdisc(a, "tap0", "root pfifo")
    qdisc(a, "tap0", f"root {words}")
    kind = words.split()[0]
    want = {**want, "timed": want.get("timed", 0) + 7}
    doc = traced(software_gso)
    same(f"software GSO {name}", brief(doc), {(2, kind): want})
    same(f"software GSO {name}: buffers at tx-stack", packets_at(doc, "tx-stack"), 57)
    check(f"software GSO {name}: packets at tx-nic # {packets_at(doc, 'tx-nic')}",
          packets_at(doc, "tx-nic") == 50 * 9 + 7, str(packets_at(doc, "tx-nic")))
    check(f"software GSO {name}: a finding if it is not timed",
          bool(said(doc, "qdisc-splits")) == ("split-by-qdisc" in want), str(doc["findings"]))

# 8. A device without a qdisc; and one whose driver stops its queue: as many requeues as tc counts.
wire = Stalled(a, b)
VETH = f"{a}/veth0"
sender = wire.sender
run(VETH, ["0 500 100"])
doc = show(VETH)
nicprobe("detach", VETH)
same("noqueue", brief(doc), {(0, "noqueue"): {"timed": packets_at(doc, "tx-stack")}})
check("noqueue: ours are there", packets_at(doc, "tx-stack") >= 500)
for words, n, lost in (("pfifo limit 2000", 1000, False), ("pfifo limit 10", 600, True)):
    qdisc(a, "veth0", f"root {words}")
    before, dropped = tc(a, "veth0", "requeues"), tc(a, "veth0")
    nicprobe("attach", VETH, "-m", "qdisc")
    with wire.stalled(.15):
        sender(f"send 0 {n} 100")
        sender("go")
    until(lambda: brief(show(VETH))[0, "pfifo"].get("waiting") is None)
    doc = show(VETH)
    nicprobe("detach", VETH)
    requeues, drops = tc(a, "veth0", "requeues") - before, tc(a, "veth0") - dropped
    same(f"{words}: refusals are tc's requeues, and drops its drops", brief(doc)[0, "pfifo"],
         nonzero({"timed": n, "refused": requeues, "by-qdisc": drops}))
    check(f"{words}: there were some # {requeues} requeues, {drops} drops", requeues and bool(drops) == lost,
          f"{requeues}, {drops}")
wire.close()
finish()

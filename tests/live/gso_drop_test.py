# SPDX-License-Identifier: GPL-2.0
"""Buffers that tbf drops or splits: tc counts buffers and nicprobe packets, and nicprobe reports both."""
import re

from lib.lab import *

need_root()
a = Namespace("gsodrop")
far = tap(a, "tap0", 1)
sender = Nic("packet tap0 --vnet-hdr", a)
TAP = f"{a}/tap0"
EACH, COUNT, SIZE = 9, 40, 9014     # packets per TCP buffer, at 1000 bytes each, and 14 + 40 of headers


def tc(what="dropped"):
    return int(re.search(rf"{what} (\d+)", a.run("tc -s qdisc show dev tap0 root"))[1])


def through(words, meters, count=COUNT):
    """The document, and tc's number of drops."""
    a.run("tc qdisc replace dev tap0 root pfifo")
    a.run(f"tc qdisc replace dev tap0 root {words}")
    nicprobe("attach", TAP, "-m", meters)
    before = tc()
    sender(f"send 0 {count} {SIZE} v4 tcp gso=1000")
    sender("go")
    doc = show(TAP)
    return doc, tc() - before


def by_qdisc(doc):
    rows = [r for r in doc["meters"]["drop"] if r["who"] == "qdisc"]
    return sum(r["packets"] for r in rows), sum(r["buffers"] for r in rows)


# Whole buffers: only some fit at a time. A rejected one is sent again during the 7 ms that the rate takes: often enough
# that some are dropped, and not so often that a table would print "11.46k".
WHOLE = "tbf rate 400mbit burst 20000 limit 40000"
doc, drops = through(WHOLE, "pktsize,drop,qdisc,counters")
check(f"whole: tbf drops # {drops}", drops > 10)
same("whole: drop has packets and buffers", by_qdisc(doc), (EACH * drops, drops))
same("whole: the meter qdisc has buffers", sum(r["dropped"]["by-qdisc"] for r in doc["meters"]["qdisc"]), drops)
counted = {r["counter"].split()[0]: r["events"] for r in doc["meters"]["counters"] if r["source"] == "tc -s"}
same("whole: and so has tc", counted.get("tbf"), drops)
words = said(doc, "qdisc-drops")
check(f"whole: the finding says both # {words}", f"dropped {EACH * drops} packets" in words and
      f"in {drops} buffers, which tc counts" in words, words)
table = nicprobe("show", TAP, "drop").stdout
check("whole: so does the table", re.search(r"packets +buffers", table) and
      re.search(rf" {EACH * drops} +{drops}\b", table), table)
om = nicprobe("show", TAP, "-f", "openmetrics").stdout
check("whole: and OpenMetrics", re.search(rf"nicprobe_drop_buffers_total\{{.*QDISC_DROP.*\}} {drops}\n", om), om)
nicprobe("detach", TAP)

# Without the meter drop only buffers are known.
doc, drops = through(WHOLE, "pktsize,counters")
words = said(doc, "qdisc-drops")
check(f"buffers alone: the finding says so # {words}", f"dropped {drops} buffers of one or several packets" in words,
      f"{drops}: {words}")
nicprobe("detach", TAP)

# Split: each packet is dropped by itself, and its buffer is not counted as well.
doc, drops = through("tbf rate 8mbit burst 4000 limit 4000", "pktsize,drop,qdisc,counters")
check(f"cut: tbf drops # {drops}", drops > 10)
same("cut: as many packets as tc, one in a buffer", by_qdisc(doc), (drops, drops))
same("cut: nothing else is dropped", [r for r in doc["meters"]["drop"] if r["who"] != "qdisc"], [])
row, = [r for r in doc["meters"]["qdisc"] if r["qdisc"] == "tbf"]
same("cut: the meter qdisc", [row["dropped"], row["waiting"]], [{"by-qdisc": drops, "otherwise": 0}, 0])
check(f"cut: each buffer was split # {row['lost']}", row["lost"]["split-by-qdisc"] >= COUNT, str(row))
words = said(doc, "qdisc-drops")
check(f"cut: the finding # {words}", f"dropped {drops} packets" in words and "buffers" not in words, words)
table = nicprobe("show", TAP, "drop").stdout
check("cut: no column that says nothing", "buffers" not in table, table)
nicprobe("detach", TAP)
sender.close()
far.close()
finish()

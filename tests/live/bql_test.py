#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""A TX queue that its driver stops for a chosen time: the far end of a veth reads nothing meanwhile."""
from lib.lab import *
from lib.stall import Stalled

need_root()
a, b = Namespace("a"), Namespace("b")
wire = Stalled(a, b)
a.run("tc qdisc replace dev veth0 root pfifo limit 5000")
VETH = f"{a}/veth0"


def row(doc):
    rows = doc["meters"]["bql"]
    return rows[0] if rows else None


BQL = "bql-", "tx-ring-full", "tx-stalls"


def go(words):
    wire.sender(f"send {words}")
    wire.sender("go")


# 1. No stops: nothing is counted or reported.
nicprobe("attach", VETH, "-m", "bql,pktsize")
go("0 100 100")
time.sleep(.05)
doc = show(VETH)
nicprobe("detach", VETH)
same("not stopped", (row(doc), said(doc, *BQL)), (None, ""))
check("not stopped: they came by", packets_at(doc, "tx-stack") >= 100, str(doc["meters"]))

# 2. Stopped for 200 ms with packets waiting: the longest stop takes as long. The scheduler may let the far end run for
# a moment all the same (its fair server, 6.12).
for _ in tries(4, "the far end ran while it was to stand still"):
    nicprobe("attach", VETH, "-m", "bql")
    with wire.stalled(.2):
        begin = time.monotonic()
        go("0 1000 100")
        filled = time.monotonic()
        level = show(VETH)
    until(lambda: row(show(VETH))["stopped_queues"] == 0)
    low, high = wire.until - filled, time.monotonic() - begin
    doc = show(VETH)
    nicprobe("detach", VETH)
    r = row(doc)
    h = r["stopped_by_driver_seconds"]
    if h["max"] >= low * .9:
        break
same("200 ms: stopped while it is", level and row(level)["stopped_queues"], 1)
same("200 ms: every stop has its time", h["count"], r["stops"]["driver"])
same("200 ms: none by BQL, none idle", (r["stops"]["bql"], r["idle_stops"]), (0, 0))
check(f"200 ms: the longest # {h['max'] * 1e3:.0f} ms, {low * 1e3:.0f} to {high * 1e3:.0f}",
      low * .9 <= h["max"] <= high * 1.125, f"{h['max']}, not {low} to {high}")
check("200 ms: a finding", "the driver stopped queue 0" in said(doc, *BQL), str(doc["findings"]))

# 3. Without BQL the meter is absent.
same("no BQL here", (r["fill_ratio"]["count"], r["in_flight_bytes"]["count"], r["stopped_by_bql_seconds"]["count"]),
     (0, 0, 0))
wire.close()
finish()

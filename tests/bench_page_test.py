#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The page of the bench: what is said of a limit, and that the figures of an earlier run stand beside those of this one."""
import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(ROOT, "bench"))
import bars                     # noqa: E402
import page                     # noqa: E402
import tables                   # noqa: E402

failed = 0


def same(name, got, want):
    global failed
    failed += got != want
    print(f"ok bench: {name}" if got == want else f"not ok bench: {name}: {got!r}, not {want!r}")


def limits():
    for name, got, most, floor, least, want in (
            ("reached", 11.9, 12, 15, 15, "reached"), ("just", 12, 12, 0, 0, "reached"),
            ("missed", 12.1, 12, 11.9, 12, "missed"), ("no empty programs", 12.1, 12, None, None, "missed"),
            ("not measured", None, 12, 15, 15, "not measured"),
            ("not even by empty programs", 28.1, 12, 19.8, 25, "missed, and empty programs alone lose 19.8 %"),
            ("not by any that count", 13, 12, 11.9, 12.2, "missed, and programs that only count lose 12.2 %")):
        same(f"a limit: {name}", tables.reached(bars.Bar("figure", "%", most, got, floor, least)), want)
    same("a limit: not by any for the same figures", tables.reached(bars.Bar("figure", "%", 25, 29, 23, 24, 25.4)),
         "missed, and programs for the same figures alone lose 25.4 %")
    same("a limit: those for the same figures reach it", tables.reached(bars.Bar("figure", "%", 25, 29, 23, 24, 24.9)), "missed")
    same("a limit: in nanoseconds", tables.reached(bars.Bar("figure", "ns", 250, 389, 369)),
         "missed, and empty programs alone add 369.0 ns")
    same("a limit: in milliseconds", tables.reached(bars.Bar("figure", "ms", 60, 248, 90)),
         "missed, and the kernel takes 90.0 ms to verify the programs")


def losses():
    """Each loss is beside that of empty programs of the same set, on the same link, of the same traffic."""
    rows = [{"link": link, "traffic": kind, "case": f"{what}, {meters}", "loss": 100 * n + 10 * m + k + (what == "nicprobe") / 2}
            for n, link in enumerate(("sockets, tap", "sockets, veth", "live frames, veth", "live frames, tap"))
            for m, meters in enumerate(("headline", "default", "all"))
            for k, kind in enumerate(("udp", "tcp")) for what in ("empty programs", "nicprobe")]
    rows += [{**row, "case": "programs that only count, default", "loss": row["loss"] - .2}
             for row in rows if row["case"] == "nicprobe, default" and "sockets" in row["link"]]
    found = bars.bars({"throughput": {"rows": rows}})
    beside = [bar for bar in found if bar.unit == "%"]
    same("losses: as many as there are limits", len(beside), len(bars.LOSSES) + 2)
    same("losses: empty programs beside each", {bar.got - bar.floor for bar in beside}, {.5})
    same("losses: programs that only count beside those of the default meters between sockets",
         [round(bar.got - bar.least, 1) for bar in beside if bar.least is not None], [.2] * 4)
    same("losses: above empty programs", [bar.got for bar in found if bar.unit == "points"], [.5])


def idle():
    rows = [{"interfaces": 1, "ns": 400}, {"interfaces": 16, "ns": 430}, {"interfaces": 64, "why": "no memory"}]
    doc = {"idle": {"packet_ns": 1500, "empty_ns": 370, "rows": rows}, "queues": [], "interfaces": [], "keys": []}
    found = {bars.name(bar.what).split(" to a UDP")[0]: (bar.got, bar.floor) for bar in bars.bars({"scale": doc})}
    same("idle interfaces", found, {"added by 1 idle interface": (400, 370), "added by 16 idle interfaces": (430, 370),
                                    "added by 64 idle interfaces": (None, 370),
                                    "added by 16 idle interfaces, relative to 1": (1.075, None)})
    doc["idle"]["in_turns"] = 1.04
    same("idle interfaces: the ratio measured in turns", [bar.got for bar in bars.bars({"scale": doc}) if "relative" in bar.what], [1.04])
    cells = next(t for t in tables.tables("scale", doc) if t.title.startswith("The cost of attached idle")).rows
    same("idle interfaces: why not 64", cells[-1], ["64", "no memory"])


def connections():
    """A script that this kernel cannot run is named with the reason; where all can, there is no such table."""
    doc = {"rows": [{"what": "session alone", "ns": 8000, "spread": [7000, 9000], "base": 111000}],
           "absent": [{"what": "bpftrace tcpconnect", "why": "no kprobes"}]}
    found = tables.tables("connections", doc)
    same("connections", [t.rows for t in found], [[["session alone", "8000", "7000", "9000"]], [["bpftrace tcpconnect", "no kprobes"]]])
    same("connections: of all scripts", len(tables.tables("connections", {**doc, "absent": []})), 1)


def earlier():
    """A figure that was renamed would lose what it was before."""
    results = os.path.join(ROOT, "bench", "results")
    docs, before = page.load(results), page.earlier(results)
    names = {bars.name(bar.what) for bar in bars.bars(docs)}
    same("each figure of the earlier run has one beside it", sorted(set(before["values"]) - names), [])
    table = tables.of_bars(docs, before)
    at = table.heads.index(before["date"])
    same("and is told", sum(row[at] != "-" for row in table.rows), len(before["values"]))


for test in limits, losses, idle, connections, earlier:
    test()
sys.exit(bool(failed))

#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The bench: what is said of a limit, that the figures of an earlier run stand beside those of this one, and that a core
which somebody else uses, too, changes no figure."""
import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(ROOT, "bench"))
import bars                     # noqa: E402
import dispatch                 # noqa: E402
import page                     # noqa: E402
import tables                   # noqa: E402
import throughput               # noqa: E402
from quiet import AGAIN, Quiet   # noqa: E402

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


def lap(ns, work):
    return {"packets": 1000, "bytes": 64000, "seconds": 9, "cpu": ns / 1e6, "work": work}


class Core:
    """Traffic whose packets take 800 ns, and `more`; while somebody else uses the core, in `busy` of ten laps, twice as long."""
    name, kinds = "a link", ("udp",)

    def __init__(self, busy):
        self.busy, self.more, self.slices = busy, 0, 0

    def go(self, _kind, ms):
        self.slices += 1
        laps = [lap((800 + self.more) * (1 + disturbed), (100 + n % 5) * (1 + disturbed))
                for n in range(ms // 10) for disturbed in [n % 10 < self.busy]]
        return {"packets": 1000 * len(laps), "bytes": 64000 * len(laps), "laps": laps}


def laps():
    """A case that costs a fifth is told as that, whatever somebody else does on the core at the time."""
    for before, after in (0, 0), (0, 8), (8, 0), (5, 9):
        core, quiet = Core(before), Quiet("cpu")
        without = quiet.slice(core, "udp", 200, 1)["laps"]
        core.busy, core.more = after, 200
        rounds = [{"udp": {"without": without, "with": quiet.slice(core, "udp", 200)["laps"], "watcher": 0, "lost": 0}}]
        row, = throughput.rows(quiet, {(core, "a case"): rounds})
        same(f"laps: {before} of ten disturbed without, {after} with: the loss", (row["loss"], row["spread"]), (20, [20, 20]))
        same(f"laps: {before}, {after}: the figure is undisturbed", row.get("disturbed"), None)
        figure = dispatch.figure(quiet, [(without, rounds[0]["udp"]["with"])], without)
        same(f"laps: {before}, {after}: in ns", figure, {"ns": 200, "spread": [200, 200], "base": 800})
    quiet = Quiet("cpu")
    core = Core(0)
    quiet.slice(core, "udp", 200)
    same("laps: nobody disturbs: one slice is enough", (core.slices, quiet.percent()), (1, 100))
    core.busy, core.slices = 9, 0
    said = quiet.slice(core, "udp", 100)
    same("laps: one of ten counts: five slices", (core.slices, len(said["laps"]), said["packets"]), (5, 50, 50000))
    core.busy, core.slices = 10, 0
    said = quiet.slice(core, "udp", 100)
    same("laps: none counts: no more slices than it may", core.slices, AGAIN)
    same("laps: and that is told", (quiet.few(said["laps"]), len(quiet.ns(said["laps"]))), (True, 3))
    row = {"link": "live frames, veth", "traffic": "udp", "case": "x", "base": 1, "rate": 1, "loss": 20, "spread": [19, 21],
           "watcher_cpu": 0, "unseen": 0}
    doc = {"by": "cpu", "cases": ["x"], "absent": [], "rows": [row]}
    for disturbed, want in (False, "20.0 (19.0 to 21.0)"), (True, "20.0 (19.0 to 21.0) ?"):
        row["disturbed"] = disturbed
        same(f"laps: in a table, disturbed: {disturbed}", tables.tables("throughput", doc)[0].rows[1], ["x", want])
        same(f"laps: a limit, disturbed: {disturbed}", bars.loss(doc, "live frames, veth", "x"), None if disturbed else 20)


for test in limits, losses, idle, connections, laps, earlier:
    test()
sys.exit(bool(failed))

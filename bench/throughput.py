# SPDX-License-Identifier: GPL-2.0
"""Packets per second of one CPU: with nothing attached, with nicprobe, and with other tools."""
import statistics
from contextlib import contextmanager

import machine
from children import Bench, lab
from checks import between
from links import LINKS, TapSockets, VethLive
from quiet import Quiet, quartiles
from rivals import SCRIPTS, Bpftrace, Netqtop, Poll, Tcpdump
from tell import done, progress, right


@contextmanager
def shown(link):
    """The headline meters, with `show` run ten times per second."""
    with link.attach(link.headline) as attached:
        with Poll("show", link.netns, link.device, lab.NICPROBE) as poll:
            yield attached
        attached.watched = poll.watched


class Counting(Bench):
    """Of what they have counted, what `nicprobe show -j` would tell."""
    def show(self):
        sizes = [{"point": point, "queue": 0, "packet_size_bytes": {"count": n["packets"], "sum": n["bytes"], "le": {}}}
                 for point, n in self("read").items()]
        return {"lost": {"events": 0}, "meters": {"pktsize": sizes}}


@contextmanager
def started(make, *args, **options):
    child = make(*args, **options)
    child.answer()
    try:
        yield child
    finally:
        child.close()


@contextmanager
def beside(link, meters, program, *options):
    """Programs on the hooks of these meters, as many as they have. "nothing": empty ones, the minimum cost of any;
    "counting": packets and bytes are counted by queue where the meters do, the minimum cost of counting; with "--figures",
    also what the default meters tell of a received packet: the minimum cost of that."""
    if meters not in link.hooks:
        with link.attach(meters) as attached:
            link.hooks[meters] = attached.hooks()
    if program == "counting" and link.rx == "xdp":
        running = link.instead(started(Counting, program, *options, link.device, *link.hooks[meters], "xdp", netns=link.netns))
    else:
        running = started(Counting if program == "counting" else Bench, program, link.device, *link.hooks[meters],
                          netns=link.netns)
    with running as child:
        yield child


def rival(make, *args):
    return lambda link: make(*args, link.netns, link.device)


COUNTING, FIGURES = "programs that only count, default", "programs for the same figures, default"
# name: a context manager that attaches the case to a link
CASES = {
    "empty programs, headline": lambda link: beside(link, link.headline, "nothing"),
    "empty programs, default": lambda link: beside(link, None, "nothing"),
    "empty programs, all": lambda link: beside(link, "all", "nothing"),
    COUNTING: lambda link: beside(link, None, "counting"),
    FIGURES: lambda link: beside(link, None, "counting", "--figures"),
    "nicprobe, headline": lambda link: link.attach(link.headline),
    "nicprobe, headline, tracepoints": lambda link: link.attach(link.headline, "driver"),
    "nicprobe, headline, shown 10/s": shown,
    "nicprobe, default": lambda link: link.attach(None),
    "nicprobe, default, --sample 1": lambda link: link.attach(None, sample=1),
    "nicprobe, all": lambda link: link.attach("all"),
    "nicprobe, all, --sample 1": lambda link: link.attach("all", sample=1),
    **{f"bpftrace {name}": rival(Bpftrace, name) for name in SCRIPTS},
    "tcpdump": rival(Tcpdump),
    "ethtool -S, 10/s": rival(Poll, "ethtool -S"),
    "sysfs, 10/s": rival(Poll, "sysfs"),
    "netqtop": rival(Netqtop),
}
SETS = "headline", "default", "all"
QUICK = [*(f"{what}, {meters}" for meters in SETS for what in ("empty programs", "nicprobe")),
         "bpftrace netsize", "bpftrace nettxlat", "tcpdump"]


def why_not(case, link):
    """Why the case cannot run on the link, or ""."""
    if case.startswith("bpftrace"):
        return Bpftrace.why_not()
    if case == "tcpdump":
        return Tcpdump.why_not()
    if case == "netqtop":
        return Netqtop.why_not()
    if case == FIGURES and link.rx != "xdp":
        return "they are for packets that are received, and that XDP sees"
    if case.endswith("tracepoints") and link.rx != "xdp":
        return "always attached by tracepoints and tc here"
    if case.startswith("ethtool") and link.device == "tap0":
        return "a tap has no such statistics"
    return ""


def verify(case, link, what, told):
    """Checks that the measured tool counted all packets."""
    counts = what.counts() if hasattr(what, "counts") else {}
    if case.startswith("bpftrace"):
        # ipecn has nothing to count here, nettxlat only where packets complete
        for name, count in counts.items():
            if name != "@us" or link.device == "tap0" and link.rx is None:
                between(f"{case}, {name},", count,
                        told["packets"] if name in ("@recv", "@cpu") else 1, 1 << 60)
    if case == "tcpdump":
        between("tcpdump", counts["seen"], told["packets"], 1 << 60)
    return counts


WARM = 2	# slices that are not measured: a burst of 10000 packets is followed whole, and is over then; caches are warm


def abba(quiet, link, case, ms):
    """One round of a case: without, with, with, without. {kind: the laps of both, and what else is told}"""
    laps = {kind: {"without": [], "with": []} for kind in link.kinds}
    told = {"packets": 0, "bytes": 0}

    def measure(where, *most):
        for kind in link.kinds:
            said = quiet.slice(link, kind, ms, *most)
            laps[kind][where] += said["laps"]
            if where == "with":
                count(said)

    def count(said):
        for key in told:
            told[key] += said[key]

    link.go("udp", WARM * ms)
    measure("without", 3)
    with CASES[case](link) as what:
        count(link.go("udp", WARM * ms))
        measure("with")
        measure("with")
        if hasattr(what, "show"):
            link.verify(what.show(), told)
    counts = verify(case, link, what, told)
    link.go("udp", WARM * ms)
    measure("without", 3)
    return {kind: {**laps[kind], "watcher": getattr(what, "watched", 0),
                   "lost": counts.get("lost", 0) / max(1, told["packets"])} for kind in link.kinds}


def row(quiet, link, case, kind, rounds, base):
    """The figures of the rounds of a case. `base`: the laps without any, beside all cases."""
    rounds = [r[kind] for r in rounds]
    without = quiet.median(base)
    laps = [lap for r in rounds for lap in r["with"]]
    ns = quiet.ns(laps)
    loss = [100 * (1 - without / each) for each in ns]
    middle = statistics.median
    return {"link": link.name, "traffic": kind, "case": case,
            "base": round(1e9 / without), "rate": round(1e9 / middle(ns)), "laps": len(ns),
            **({"disturbed": True} if quiet.few(laps) else {}),
            "loss": round(middle(loss), 2), "spread": [round(each, 2) for each in quartiles(loss)],
            "watcher_cpu": round(100 * middle(r["watcher"] for r in rounds), 1),
            "unseen": round(100 * middle(r["lost"] for r in rounds), 1)}


def rows(quiet, got):
    """`got`: {(link, case): rounds}"""
    base = {}
    for (link, _), rounds in got.items():
        for kind in link.kinds:
            base.setdefault((link, kind), []).extend(lap for r in rounds for lap in r[kind]["without"])
    return [row(quiet, link, case, kind, rounds, base[link, kind]) for (link, case), rounds in got.items()
            for kind in link.kinds]


def part(quick):
    links = [make() for make in ([VethLive, TapSockets] if quick else LINKS)]
    rounds, ms = (2, 60) if quick else (5, 80)
    quiet = Quiet("seconds" if machine.irq_time_apart() else "cpu")
    absent, got = {}, {}
    for n in range(rounds):
        for link in links:
            cases = QUICK if quick else list(CASES)
            for case in cases[n % len(cases):] + cases[:n % len(cases)]:
                reason = why_not(case, link)
                if reason:
                    absent[link.name, case] = reason
                    continue
                progress(f"throughput: round {n + 1} of {rounds}: {link.name}: {case}")
                got.setdefault((link, case), []).append(right(abba, quiet, link, case, ms))
    done()
    for link in links:
        link.close()
    return {"rounds": rounds, "ms": ms, "by": quiet.by, "undisturbed": round(quiet.percent()), "cases": list(CASES),
            "rows": rows(quiet, got),
            "absent": [{"link": link, "case": case, "why": why}
                       for (link, case), why in absent.items()]}

# SPDX-License-Identifier: GPL-2.0
"""The cost per event: run-time statistics of tracing programs, ours and bpftrace's, during fixed
traffic through a tap, minus those of empty programs on the same hooks in the same run."""
import statistics
import sys

import checks
import dispatch
from children import HEADLINE, Attached, Bench, followed, lab, meters_known
from rivals import SCRIPTS, Bpftrace
from tell import done, progress, right
from traffic import SHAPES, Traffic

DEEP, SHALLOW = 2000, 64	# frames in flight: room in a tap's queues; budget of a NAPI poll
MARKED = 1000			# frames marked CE, for scripts that count only those
CANNOT = {"btf": "tc"}


def spent(before, after, programs):
    """{(program, hook): [ns, events]} of programs {id: (program, hook)}."""
    out = {}
    for prog, what in programs.items():
        a, b = before[str(prog)], after[str(prog)]
        at = out.setdefault(what, [0, 0])
        at[0] += b["ns"] - a["ns"]
        at[1] += b["count"] - a["count"]
    return out


def measure(trace, traffic, programs):
    """{phase: {(program, hook): [ns, events]}} of programs {id: (program, hook)}, while frames are
    sent and received."""
    ids = " ".join(map(str, programs))
    at = [trace(f"read {ids}")]
    for phase in (traffic.out, traffic.into):
        phase()
        at.append(trace(f"read {ids}"))
    return {"tx": spent(at[0], at[1], programs), "rx": spent(at[1], at[2], programs)}


def empty(kind):
    def run(trace, traffic):
        ids = trace(f"empty {kind} {' '.join(traffic.hooks.get(kind, []))}")
        got = measure(trace, traffic, {v: (k, k) for k, v in ids.items()})
        trace("empty off")
        return got
    return run


def nicprobe(device, way, meters=None, binary=None):
    def run(trace, traffic):
        own, lab.NICPROBE = lab.NICPROBE, binary or lab.NICPROBE
        try:
            with Attached(traffic.netns, device, "driver", meters,
                          {"NICPROBE_CANNOT": CANNOT[way]},
                          followed(meters) if device == "tap0" else None) as attached:
                got = measure(trace, traffic, attached.programs(trace))
                doc = attached.show()
        finally:
            lab.NICPROBE = own
        buffers = traffic.frames if device == "tap0" else 0
        checks.verify(doc, buffers, buffers * traffic.shape.segs)
        return got
    return run


def rival(script):
    """The scripts count all interfaces, so counts may include other packets."""
    def run(trace, traffic):
        with Bpftrace(script) as b:
            got = measure(trace, traffic, b.programs(trace))
            traffic.marked(MARKED)
        counts = b.counts()
        want = {"ipecn": MARKED * traffic.shape.segs if traffic.shape.segs == 1 else 1}
        for name, count in counts.items():
            checks.between(f"{script}, {name},", count, want.get(script, traffic.frames), 1 << 60)
        if not counts:
            sys.exit(f"bench: bpftrace's {script} counted nothing")
        return got
    return run


def case(name):
    """A case by name: "txlat btf": only that meter, "all btf": all meters, "idle btf": the default
    meters on an idle interface; "netsize": bpftrace's script."""
    what, _, kind = name.partition(" ")
    if what == "empty":
        return empty(kind)
    if kind:
        meters = {"nicprobe": None, "idle": None, "idle-all": "all", "headline": HEADLINE}
        return nicprobe("tap1" if what.startswith("idle") else "tap0", kind,
                        meters.get(what, what))
    return rival(name)


def cases(names):
    return {name: case(name) for name in names if name not in SCRIPTS or not Bpftrace.why_not()}


def hooks(trace, traffic):
    """Finds the hooks for empty programs; returns the meters that a tap does not support."""
    known = set(meters_known())
    with Attached(traffic.netns, "tap1", "driver", "all",
                  {"NICPROBE_CANNOT": CANNOT["btf"]}) as attached:
        traffic.hooks["btf"] = sorted({hook for _, hook in attached.programs(trace).values()})
        known -= set(attached.show()["meters"])
    return known


def tracing(trace, traffic, runs, rounds):
    """{case: [result of each round]}; every round runs all cases in turn."""
    absent = hooks(trace, traffic)
    got = {}
    for n in range(rounds):
        for name, run in runs.items():
            if name.split()[0] in absent:
                continue
            progress(f"events: {traffic.shape.name}, {traffic.batch} in flight: "
                     f"round {n + 1} of {rounds}: {name}")
            got.setdefault(name, []).append(right(run, trace, traffic))
    done()
    return got


def counted(rounds, phase, what, enough):
    """[(ns, events)] of the rounds with enough events."""
    all_of = [r[phase].get(what, [0, 0]) for r in rounds]
    return [(ns, events) for ns, events in all_of if events >= enough]


def net(got, name, traffic):
    """The figures of each program, also minus those of an empty program on its hook."""
    rows = []
    kind = name.rpartition(" ")[2] if " " in name else "tp"
    enough = traffic.frames // 10	# fewer events cost little per packet, or are of others
    for phase in ("tx", "rx"):
        for program, hook in got[name][0][phase]:
            ours = counted(got[name], phase, (program, hook), enough)
            base = counted(got[f"empty {kind}"], phase, (hook, hook), enough)
            if not ours or not base:
                continue
            base = statistics.median(ns / events for ns, events in base)
            each = sorted(ns / events for ns, events in ours)
            ns = statistics.median(each)
            events = statistics.median(events for _, events in ours)
            rows.append({"case": name, "shape": traffic.shape.name, "in_flight": traffic.batch,
                         "phase": phase, "program": program, "hook": hook, "ns": round(ns, 2),
                         "empty": round(base, 2), "net": round(ns - base, 2),
                         "spread": [round(each[0] - base, 2), round(each[-1] - base, 2)],
                         "per_packet": round((ns - base) * events / traffic.frames, 2)})
    return rows


def figures(trace, traffic, runs, rounds):
    got = tracing(trace, traffic, runs, rounds)
    traffic.close()
    return [row for name in got if not name.startswith("empty")
            for row in net(got, name, traffic)]


def names(quick):
    alone = [f"{meter} btf" for meter in meters_known() if meter != "counters"]
    whole = ["empty btf", "empty tp", "headline btf", "nicprobe btf", "all btf", "idle btf", "idle-all btf"]
    if quick:
        return [*whole, "pktsize btf", "txlat btf", *SCRIPTS]
    return [*whole, *SCRIPTS, *alone]


def part(quick):
    trace = Bench("trace")
    rounds = 1 if quick else 4
    rows = figures(trace, Traffic(DEEP), cases(names(quick)), rounds)
    short = ["empty btf", "empty tp", "txlat btf", "nettxlat"]
    rows += figures(trace, Traffic(SHALLOW), cases(short), rounds)
    busy = [name for name in names(quick) if "idle" not in name]
    for shape in [] if quick else SHAPES[1:]:
        rows += figures(trace, Traffic(DEEP, shape, frames=DEEP * 10), cases(busy), 2)
    trace.close()
    return {"rounds": rounds, "meters": meters_known(), "clock": dispatch.clock(quick), "rows": rows}


def attempt(rounds, words):
    """Measures only these cases, and NAME=NICPROBE: another build; saves nothing."""
    runs, chosen = {}, [word for word in words if "=" not in word] or (
        [] if words else names(quick=True))
    for word in words:
        name, _, path = word.partition("=")
        if path:
            runs.update({f"{name} btf": nicprobe("tap0", "btf", None, path),
                         f"idle {name} btf": nicprobe("tap1", "btf", None, path)})
    bases = ["empty btf", "empty tp"]
    return figures(Bench("trace"), Traffic(DEEP),
                   {**cases(bases), **cases(chosen), **runs}, rounds)

#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""What nicprobe costs, beside nothing and beside bpftrace, in one run (root).
usage: bench/run.py [ROUNDS [CASE | NAME=NICPROBE]...]
With cases only those are traced, and nothing is kept; NAME=NICPROBE is another build of it.
"txlat btf" is that meter alone, "ecn,txlat btf" those two; "nicprobe raw" what is on by default,
"all btf" everything; "idle btf" and "idle-all btf" the same where nothing happens.
"""
import json
import os
import platform
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path += [os.path.join(HERE, "..", "tests", "live"), HERE]
import lab                      # noqa: E402
import report                   # noqa: E402
from rivals import Bpftrace     # noqa: E402

B = os.environ.get("B", "build")
BENCH = os.path.join(B, "bench", "bench")
ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 5
QUEUES, FRAMES, SIZE = 4, 40000, 64
ENOUGH = FRAMES // 100	# events: of fewer a mean says nothing, and they cost a packet nothing
DEEP, SHALLOW = 2000, 64	# frames in flight: what a tap's queues hold; what one NAPI poll takes

class Wrong(Exception):
    """Fast and wrong is no result."""


class Trace:
    """`bench trace`: run-time statistics, and the empty programs."""
    def __init__(self):
        self.p = subprocess.Popen([BENCH, "trace"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  text=True, bufsize=1)

    def __call__(self, line):
        self.p.stdin.write(line + "\n")
        got = self.p.stdout.readline()
        if not got:
            sys.exit(f"bench trace went away at: {line}")
        return json.loads(got)


class Traffic:
    """A tap in a namespace of its own: frames out of it, and into it, as many each time."""
    def __init__(self, batch):
        self.batch = batch
        self.hooks = {}
        self.netns = lab.Namespace(f"bench{batch}")
        self.tap = lab.tap(self.netns, "tap0", QUEUES, "--napi --steer")
        self.idle = lab.tap(self.netns, "tap1", QUEUES, "--napi")
        self.packet = lab.Nic(f"packet tap0 --queues {QUEUES}", self.netns)
        self.tap("read on")
        self.packet("read on")		# or what comes in fills its memory
        self.pins = f"/sys/fs/bpf/nicprobe/{os.stat(f'/run/netns/{self.netns}').st_ino}"

    def send(self, nic):
        for queue in range(QUEUES):
            nic(f"send {queue} {self.batch // QUEUES} {SIZE} v4 udp ecn=2 src=10.0.0.{queue + 2}")
        sent = nic("go")["sent"]
        if sent != self.batch:
            sys.exit(f"sent {sent} of {self.batch} frames")

    def out(self):
        self.tap("reset")
        for done in range(self.batch, FRAMES + 1, self.batch):
            self.send(self.packet)
            read = self.tap(f"wait {done} 20000")["frames"]
            if read != done:
                sys.exit(f"the tap read {read} of {done} frames")

    def into(self):
        for _ in range(FRAMES // self.batch):
            self.send(self.tap)
        time.sleep(.05)			# the last NAPI poll


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
    """{phase: {(program, hook): [ns, events]}} of programs {id: (program, hook)}, while frames go
    out and come in."""
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


class Attached:
    """with Attached(...) as programs: nicprobe's tracing programs, {id: (program, hook)}."""
    def __init__(self, trace, traffic, device, kind, meters):
        self.where = f"{traffic.netns}/{device}"
        self.args = [self.where, "--rx", "driver", *(["-m", meters] if meters else [])]
        self.cannot = "tc" if kind == "btf" else "tc,tp_btf"
        self.find = f"pins {traffic.pins}/{device}"
        self.trace = trace

    def __enter__(self):
        lab.nicprobe("attach", *self.args, env={"NICPROBE_CANNOT": self.cannot})
        return {pin["id"]: (name.split("__")[0], pin["hook"])
                for name, pin in self.trace(self.find).items() if pin["hook"]}

    def __exit__(self, *_):
        lab.nicprobe("detach", self.where)


def nicprobe(device, kind, meters=None, binary=lab.NICPROBE):
    def run(trace, traffic):
        lab.NICPROBE = binary
        with Attached(trace, traffic, device, kind, meters) as programs:
            got = measure(trace, traffic, programs)
            doc = lab.show(f"{traffic.netns}/{device}")
        verify(doc, FRAMES if device == "tap0" else 0)
        return got
    return run


def total(rows, metric):
    """Of a histogram the samples, of a counter with parts their sum."""
    return sum(row[metric] if not isinstance(row[metric], dict) else
               row[metric].get("count", 0) if "le" in row[metric] else
               sum(row[metric].values()) for row in rows)


def by_point(rows, metric):
    points = dict.fromkeys((row["point"] for row in rows), 0)
    for row in rows:
        points[row["point"]] += total([row], metric)
    return points.values()


# What a meter must have counted for each frame once; a meter of packets at every point.
COUNTS = {"pktsize": lambda rows: by_point(rows, "packet_size_bytes"),
          "ecn": lambda rows: by_point(rows, "packets"),
          "rxcpu": lambda rows: [total(rows, "packets")],
          "gso": lambda rows: by_point(rows, "buffer_size"),
          "napi": lambda rows: [round(sum(row["work"]["sum"] for row in rows))],
          "gro": lambda rows: [total(rows, "frames"), total(rows, "buffer_size")],
          "qdisc": lambda rows: [total(rows, "wait_seconds")],
          "txlat": lambda rows: [total(rows, "completion_seconds")],
          "drop": lambda rows: [total(rows, "packets")]}


def verify(doc, want):
    # an event inside our own program is missed, and nicprobe says how many were
    missed = doc["lost"]["events"]
    for meter, rows in doc["meters"].items():
        for got in COUNTS[meter](rows) if meter in COUNTS else ():
            if not want - missed <= got <= want:
                raise Wrong(f"{meter} counted {got}, not {want} (missed {missed})")


def rival(script):
    def run(trace, traffic):
        with Bpftrace(script) as b:
            got = measure(trace, traffic, b.programs(trace))
        for name, count in b.counts().items():
            if count < FRAMES:		# it cannot tell interfaces apart: others may be in it
                sys.exit(f"{script}: {name} has {count}, not {FRAMES}")
        return got
    return run


def meters_known():
    """{meter: why it is not on by default, or ""}, in nicprobe's order."""
    out, name = {}, ""
    for line in lab.nicprobe("list", "-v").stdout.split("\n\n")[0].splitlines()[1:]:
        if line[:3].strip():
            name = line.split()[0]
            out[name] = ""
        elif "only on request" in line:
            out[name] = line.split(": ", 1)[1]
    return out


def case(name):
    """By its name, as the usage has them."""
    what, _, kind = name.partition(" ")
    if what == "empty":
        return empty(kind)
    if kind:
        return nicprobe("tap1" if what.startswith("idle") else "tap0", kind,
                        {"nicprobe": None, "idle": None, "idle-all": "all"}.get(what, what))
    return rival(name)


METERS = meters_known()
WAYS = ("btf", "raw")
NAMES = ["empty btf", "empty raw", "empty tp",
         *(f"{what} {way}" for what in ("nicprobe", "idle", "all", "idle-all") for way in WAYS),
         "netsize", "nettxlat",
         *(f"{meter} {way}" for way in WAYS for meter in METERS if meter != "counters")]
SOME = {}
for word in sys.argv[2:]:
    name, _, path = word.partition("=")
    SOME.update({f"{name} {way}": nicprobe(dev, "btf", meters, path) for way, dev, meters in
                 (("btf", "tap0", None), ("idle btf", "tap1", None))} if path else
                {name: case(name)})
if SOME:
    NAMES = ["empty btf", *(["empty raw"] if any(name.endswith("raw") for name in SOME) else []),
             *(["empty tp"] if any(name.startswith("net") for name in SOME) else [])]
CASES = {name: case(name) for name in NAMES} | SOME
RIVALS = [name for name in CASES if name.startswith("net")]


def right(run, trace, traffic):
    """What counted wrong is run again, and said: some kernels keep tracing programs from running
    while a certain process is current. Wrong three times is wrong."""
    for _ in range(2):
        try:
            return run(trace, traffic)
        except Wrong as why:
            print(f"# once more: {why}", file=sys.stderr)
    try:
        return run(trace, traffic)
    except Wrong as why:
        sys.exit(f"it does not work: {why}")


def tracing(batch, cases):
    """Every case, as many times as there are rounds, one after the other."""
    trace, traffic = Trace(), Traffic(batch)
    for way in WAYS:	# where empty programs are to be, and which meters a tap has none of
        with Attached(trace, traffic, "tap1", way, "all") as programs:
            traffic.hooks[way] = sorted({hook for _, hook in programs.values()})
            absent = set(METERS) - set(lab.show(f"{traffic.netns}/tap1")["meters"])
    got = {name: [] for name in cases}
    for n in range(ROUNDS):
        for name, run in cases.items():
            if name in RIVALS and not Bpftrace.there() or name.split()[0] in absent:
                continue
            if sys.stderr.isatty():
                print(f"\r\33[K{batch} in flight: round {n + 1} of {ROUNDS}: {name}", end="",
                      file=sys.stderr)
            got[name].append(right(run, trace, traffic))
    if sys.stderr.isatty():
        print("\r\33[K", end="", file=sys.stderr)
    return got


def counted(rounds, phase, what):
    """[(ns, events)] of the rounds in which there were enough to tell."""
    all_of = [r[phase].get(what, [0, 0]) for r in rounds]
    return [(ns, events) for ns, events in all_of if events >= ENOUGH]


def net(got, case, kind):
    """Each program's figures, and above those of an empty one on its hook."""
    rows = []
    for phase in ("tx", "rx"):
        for program, hook in got[case][0][phase] if got[case] else ():
            ours = counted(got[case], phase, (program, hook))
            base = counted(got[f"empty {kind}"], phase, (hook, hook))
            if not ours or not base:
                continue
            base = statistics.median(ns / events for ns, events in base)
            each = sorted(ns / events for ns, events in ours)
            ns = statistics.median(each)
            events = statistics.median(events for _, events in ours)
            rows.append({"case": case, "phase": phase, "program": program, "hook": hook, "ns": ns,
                         "empty": base, "net": ns - base,
                         "spread": [each[0] - base, each[-1] - base],
                         "per_packet": (ns - base) * events / FRAMES})
    return rows


def figures(batch, cases):
    got = tracing(batch, cases)
    programs = {name.split()[0]: sorted({what for what, _ in rounds[0]["tx"]})
                for name, rounds in got.items() if rounds and name.split()[0] in METERS}
    return programs, [row for case in cases if not case.startswith("empty")
                      for row in net(got, case, case.split()[-1] if " " in case else "tp")]


def main():
    lab.need_root()
    began = time.time()
    packets = [] if SOME else json.loads(subprocess.run(
        [BENCH, "packet", *["--progress"] * sys.stderr.isatty()], check=True,
        stdout=subprocess.PIPE).stdout)
    programs, rows = figures(DEEP, CASES)
    shallow = {} if SOME else {name: run for name, run in CASES.items()
                               if name in ("empty btf", "empty tp", "txlat btf", "nettxlat")}
    result = {"kernel": platform.release(), "cpu": report.cpu(), "date": time.strftime("%F %T"),
              "load": os.getloadavg()[0],
              "packet": packets, "tracing": rows,
              "shallow": figures(SHALLOW, shallow)[1] if shallow else [], "rounds": ROUNDS,
              "frames": FRAMES, "meters": report.meters(METERS, programs, rows)}
    result["seconds"] = round(time.time() - began)
    if SOME:
        report.show_meters(result)
        report.show_tracing(result)
        return
    result["bars"] = report.bars(result)
    os.makedirs(os.path.join(HERE, "results"), exist_ok=True)
    with open(os.path.join(HERE, "results", "latest.json"), "w", encoding="utf-8") as f:
        json.dump(result, f, indent=1)
    report.show(result)


main()

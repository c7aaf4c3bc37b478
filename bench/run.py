#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""What nicprobe costs, beside nothing and beside bpftrace, in one run (root).
usage: bench/run.py [ROUNDS [CASE | NAME=NICPROBE]...]
With cases only those are traced, and nothing is kept; NAME=NICPROBE is another build of it.
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
DEEP, SHALLOW = 2000, 64	# frames in flight: what a tap's queues hold; what one NAPI poll takes

# Where each of our tracing programs is attached.
HOOKS = {"rx_gro": "napi_gro_receive_entry", "rx_skb": "netif_receive_skb_entry",
         "rx_stack": "netif_receive_skb", "tx_stack": "net_dev_queue",
         "tx_nic": "net_dev_start_xmit", "tx_return": "net_dev_xmit",
         "txlat_hand": "net_dev_start_xmit", "txlat_done": "net_dev_xmit",
         "txlat_used": "consume_skb", "txlat_free": "kfree_skb"}


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


def spent(before, after, hooks):
    """{hook: [ns, events]} of programs {id: hook}; several of one hook are added."""
    out = {}
    for prog, hook in hooks.items():
        a, b = before[str(prog)], after[str(prog)]
        at = out.setdefault(hook, [0, 0])
        at[0] += b["ns"] - a["ns"]
        at[1] += b["count"] - a["count"]
    return out


def measure(trace, traffic, programs):
    """{phase: {what: [ns, events]}} of programs {id: what}, while frames go out and come in."""
    ids = " ".join(map(str, programs))
    at = [trace(f"read {ids}")]
    for phase in (traffic.out, traffic.into):
        phase()
        at.append(trace(f"read {ids}"))
    return {"tx": spent(at[0], at[1], programs), "rx": spent(at[1], at[2], programs)}


def empty(kind):
    def run(trace, traffic):
        ids = trace(f"empty {kind}")
        got = measure(trace, traffic, {v: k for k, v in ids.items()})
        trace("empty off")
        return got
    return run


def nicprobe(device, kind, cannot, binary=lab.NICPROBE):
    def run(trace, traffic):
        lab.NICPROBE = binary
        where = f"{traffic.netns}/{device}"
        lab.nicprobe("attach", where, "--rx", "driver", env={"NICPROBE_CANNOT": cannot})
        try:
            pins = trace(f"pins {traffic.pins}/{device}")
            got = measure(trace, traffic, {v: k.split("__")[0] for k, v in pins.items()
                                           if k.endswith(kind)})
            doc = lab.show(where)
        finally:
            lab.nicprobe("detach", where)
        verify(doc, FRAMES if device == "tap0" else 0)
        return got
    return run


def verify(doc, want):
    seen = {point: 0 for point in ("rx-nic", "rx-stack", "tx-stack", "tx-nic")}
    for row in doc["meters"]["pktsize"]:
        seen[row["point"]] += row["packet_size_bytes"]["count"]
    txlat = sum(row["completion_seconds"]["count"] for row in doc["meters"]["txlat"])
    for what, got in [*seen.items(), ("txlat", txlat)]:
        # an event inside our own program is missed, and nicprobe says how many were
        missed = doc["lost"]["events"] if what == "txlat" else 0
        if not want - missed <= got <= want:
            raise Wrong(f"nicprobe counted {got} at {what}, not {want} (missed {missed})")


def rival(script):
    def run(trace, traffic):
        with Bpftrace(script) as b:
            got = measure(trace, traffic, b.programs(trace))
        for name, count in b.counts().items():
            if count < FRAMES:		# it cannot tell interfaces apart: others may be in it
                sys.exit(f"{script}: {name} has {count}, not {FRAMES}")
        return got
    return run


CASES = {"empty btf": empty("btf"), "empty raw": empty("raw"), "empty tp": empty("tp"),
         "nicprobe btf": nicprobe("tap0", "btf", "tc"),
         "nicprobe raw": nicprobe("tap0", "raw", "tc,tp_btf"),
         "idle btf": nicprobe("tap1", "btf", "tc"),
         "idle raw": nicprobe("tap1", "raw", "tc,tp_btf"),
         "netsize": rival("netsize"), "nettxlat": rival("nettxlat")}
SOME = {}
for word in sys.argv[2:]:
    name, _, path = word.partition("=")
    SOME.update({f"{name} {way}": nicprobe(dev, "btf", "tc", path) for way, dev in
                 (("btf", "tap0"), ("idle btf", "tap1"))} if path else {name: CASES[name]})
if SOME:
    SOME["empty btf"] = CASES["empty btf"]
    if any(name.startswith("net") for name in SOME):
        SOME["empty tp"] = CASES["empty tp"]
CASES = SOME or CASES
RIVALS = [name for name, run in CASES.items() if name.startswith("net")]


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
    got = {name: [] for name in cases}
    for n in range(ROUNDS):
        for name, run in cases.items():
            if name in RIVALS and not Bpftrace.there():
                continue
            if sys.stderr.isatty():
                print(f"\r\33[K{batch} in flight: round {n + 1} of {ROUNDS}: {name}", end="",
                      file=sys.stderr)
            got[name].append(right(run, trace, traffic))
    if sys.stderr.isatty():
        print("\r\33[K", end="", file=sys.stderr)
    return got


def counted(rounds, phase, what):
    """[(ns, events)] of the rounds in which there was one for each frame at the least."""
    all_of = [r[phase].get(what, [0, 0]) for r in rounds]
    return [(ns, events) for ns, events in all_of if events >= FRAMES]


def net(got, case, kind):
    """Each program's figures, and above those of an empty one on its hook."""
    rows = []
    for phase in ("tx", "rx"):
        for what in got[case][0][phase] if got[case] else ():
            hook = HOOKS.get(what, what)
            ours = counted(got[case], phase, what)
            base = counted(got[f"empty {kind}"], phase, hook)
            if not ours or not base:
                continue
            base = statistics.median(ns / events for ns, events in base)
            each = sorted(ns / events for ns, events in ours)
            ns = statistics.median(each)
            events = statistics.median(events for _, events in ours)
            rows.append({"case": case, "phase": phase, "program": what, "hook": hook, "ns": ns,
                         "empty": base, "net": ns - base,
                         "spread": [each[0] - base, each[-1] - base],
                         "per_packet": (ns - base) * events / FRAMES})
    return rows


def figures(batch, cases):
    got = tracing(batch, cases)
    return [row for case in cases if not case.startswith("empty")
            for row in net(got, case, case.split()[-1] if " " in case else "tp")]


def main():
    lab.need_root()
    began = time.time()
    packets = [] if SOME else json.loads(subprocess.run(
        [BENCH, "packet", *["--progress"] * sys.stderr.isatty()], check=True,
        stdout=subprocess.PIPE).stdout)
    rows = figures(DEEP, CASES)
    shallow = {} if SOME else {name: run for name, run in CASES.items()
                               if name in ("empty btf", "empty tp", "nicprobe btf", "nettxlat")}
    result = {"kernel": platform.release(), "cpu": report.cpu(), "date": time.strftime("%F %T"),
              "seconds": round(time.time() - began), "load": os.getloadavg()[0],
              "packet": packets, "tracing": rows,
              "shallow": figures(SHALLOW, shallow) if shallow else [], "rounds": ROUNDS, "frames": FRAMES}
    if SOME:
        report.show_tracing(result)
        return
    result["bars"] = report.bars(result)
    os.makedirs(os.path.join(HERE, "results"), exist_ok=True)
    with open(os.path.join(HERE, "results", "latest.json"), "w", encoding="utf-8") as f:
        json.dump(result, f, indent=1)
    report.show(result)


main()

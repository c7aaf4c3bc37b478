#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Measures the cost of nicprobe against a baseline without it and against comparable tools (root).
usage: bench/run.py [--quick] [--out DIR] [PART]...
       bench/run.py try [ROUNDS [CASE | NAME=NICPROBE]...]
Parts: packets, dispatch, events, throughput, scale, lifecycle, faces, questions, connections (default:
all).
Each part writes DIR/PART.json; then DIR/README.md and its plots are made from these files.
`try` traces only these cases and saves nothing: "txlat btf" is that meter alone, "ecn,txlat btf"
those two, "nicprobe btf" the default meters, "all btf" all meters, "idle btf" and "idle-all btf"
the same on an idle interface, "netsize" bpftrace's script; NAME=NICPROBE is another build.
"""
import atexit
import fcntl
import json
import os
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(HERE)
import connections              # noqa: E402
import dispatch                 # noqa: E402
import events                   # noqa: E402
import faces                    # noqa: E402
import lifecycle                # noqa: E402
import machine                  # noqa: E402
import packets                  # noqa: E402
import page                     # noqa: E402
import questions                # noqa: E402
import report                   # noqa: E402
import scale                    # noqa: E402
import throughput               # noqa: E402


EXPEDITED = "/sys/kernel/rcu_expedited"
PARTS = {"packets": packets.part, "dispatch": dispatch.part, "events": events.part, "throughput": throughput.part,
         "scale": scale.part, "lifecycle": lifecycle.part, "faces": faces.part,
         "questions": questions.part, "connections": connections.part}


def mounts():
    """Enters a mount namespace and mounts file systems that may be missing: tracefs for bpftrace and
    classic tracepoints, a BPF file system for pins."""
    if os.environ.get("BENCH_MOUNTS") != str(os.getpid()):
        os.environ["BENCH_MOUNTS"] = str(os.getpid())
        os.execvp("unshare", ["unshare", "-m", sys.executable, os.path.abspath(__file__), *sys.argv[1:]])
    for kind, where, there in (("tracefs", "/sys/kernel/tracing", "events"), ("bpf", "/sys/fs/bpf", None)):
        if os.path.ismount(where) or there and os.path.exists(f"{where}/{there}"):
            continue
        r = subprocess.run(["mount", "-t", kind, kind, where], capture_output=True, text=True, check=False)
        if r.returncode:
            sys.exit(f"bench: cannot mount {kind} at {where}: {r.stderr.strip()}")


def alone():
    """Locks out other benches, and expedites RCU, for which live frames and XDP programs wait."""
    lock = open("/run/lock/nicprobe-bench", "w", encoding="ascii")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        sys.exit("bench: another bench is running, which would distort the figures\n"
                 "  try: again when it has ended")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    atexit.register(lock.close)
    try:
        with open(EXPEDITED, "r+", encoding="ascii") as f:
            atexit.register(expedite, f.read())
        expedite("1")
    except OSError:
        pass			# not expedited: takes longer


def expedite(value):
    with open(EXPEDITED, "w", encoding="ascii") as f:
        f.write(value)


def measure(name, quick):
    began, load = time.time(), os.getloadavg()[0]
    return {"machine": machine.describe(), "date": time.strftime("%F"), "quick": quick,
            "load": round(load, 1), **PARTS[name](quick), "seconds": round(time.time() - began)}


def attempt(words):
    rows = events.attempt(int(words[0]) if words else 5, words[1:])
    report.rows(rows)


def main(args):
    if os.geteuid():
        sys.exit("bench: needs root, to load BPF programs and make network namespaces")
    if args[:1] == ["try"]:
        mounts()
        alone()
        return attempt(args[1:])
    quick = "--quick" in args
    out = os.path.join(HERE, "results")
    if "--out" in args:
        at = args.index("--out")
        out = args[at + 1] if at + 1 < len(args) else sys.exit(__doc__)
        del args[at:at + 2]
    names = [arg for arg in args if arg != "--quick"] or list(PARTS)
    if not set(names) <= set(PARTS):
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    mounts()
    alone()
    os.makedirs(out, exist_ok=True)
    for name in names:
        doc = measure(name, quick)
        page.save(doc, os.path.join(out, f"{name}.json"))
        report.part(name, doc)
    docs = page.load(out)
    page.write(docs, out)
    report.bars(docs)
    print(f"\nAll figures, with plots: {os.path.relpath(out)}/README.md")


try:
    main(sys.argv[1:])
except KeyboardInterrupt:
    sys.exit(130)
except BrokenPipeError:		# | head
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(141)

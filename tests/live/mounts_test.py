#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Without tracefs, debugfs and a BPF file system mounted: the same meters, and bench works."""
from lib.lab import *

need_root()
BENCH = os.path.join(ROOT, os.environ.get("B", "build"), "bench", "bench")
BARE = "umount -l /sys/kernel/tracing; umount -lR /sys/kernel/debug; umount -lR /sys/fs/bpf; "


def bare(command, tracefs=False):
    """A command in a mount namespace without these; a BPF file system is there."""
    mounts = "mount -t bpf bpf /sys/fs/bpf" + (" && mount -t tracefs tracefs /sys/kernel/tracing" if tracefs else "")
    return subprocess.run(["unshare", "-m", "sh", "-c", f"({BARE}) 2>/dev/null; {mounts} && {command}"],
                          capture_output=True, text=True, timeout=300, check=False)


a = Namespace("a")
nic = tap(a, "tap0", 2, "--napi")
docs = {}
for tracefs in True, False:
    r = bare(f"{NICPROBE} attach {a}/tap0 -m all >/dev/null && {NICPROBE} show -j --total {a}/tap0 && "
             f"{NICPROBE} detach {a}/tap0 >/dev/null", tracefs)
    if check(f"{'with' if tracefs else 'without'} tracefs: attached and shown", r.returncode == 0, r.stderr):
        docs[tracefs] = json.loads(r.stdout)
if len(docs) == 2:
    same("without tracefs: the same meters", sorted(docs[False]["meters"]), sorted(docs[True]["meters"]))
    same("without tracefs: for the same reasons", docs[False]["absent"], docs[True]["absent"])
nic.close()

# bpftrace needs tracefs, and so do the empty programs beside it. Without any BPF file system, too.
if not os.path.exists(BENCH):
    skip("bench", "it was not built: make build/bench/bench")
else:
    for case in "pktsize btf", "netsize":
        r = subprocess.run(["unshare", "-m", "sh", "-c", f"({BARE}) 2>/dev/null; "
                            f"exec python3 {ROOT}/bench/run.py try 1 '{case}'"], capture_output=True, text=True,
                           timeout=200, check=False, env={**os.environ, "NICPROBE": NICPROBE, "NIC": NIC})
        if "bpftrace is not installed" in r.stdout + r.stderr:
            skip(f"bench: {case}", "bpftrace is not installed")
        else:
            check(f"bench: {case}: it measures", r.returncode == 0 and any(c.isdigit() for c in r.stdout),
                  f"{r.returncode}: {r.stdout[-300:]} {r.stderr[-300:]}")
finish()

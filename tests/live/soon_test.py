#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Links are made while programs are loaded: a link that fails late ends as one that fails at once."""
import shutil
import subprocess
import tempfile
import threading

from lib.lab import *

need_root()
a, busy = Namespace("a"), Namespace("busy")
# veth wants no fewer receive queues than its peer has to send
sh(f"ip -n {a} link add v0 numtxqueues 1 numrxqueues 1 type veth peer name v1 numtxqueues 4 numrxqueues 4")
sh(f"ip -n {a} link set v0 up; ip -n {a} link set v1 up")
WHERE = f"{a}/v0"


def keep_busy(stop):
    """Makes and removes interfaces, which takes the lock that links need."""
    with tempfile.NamedTemporaryFile("w", suffix=".ip") as batch:
        batch.writelines(f"link add d{n} group 7 type veth peer name e{n}\n" for n in range(150))
        batch.write("link del group 7\n")
        batch.flush()
        while not stop.is_set():
            subprocess.run(["ip", "-n", str(busy), "-batch", batch.name], check=True, timeout=60)


def attempt():
    """(what attach says, whether it began again)."""
    with tempfile.NamedTemporaryFile("r") as out:
        r = subprocess.run(["strace", "-f", "-qq", "-e", "trace=mkdir", "-o", out.name, NICPROBE, "attach", "--rx",
                            "xdp", WHERE], capture_output=True, text=True, timeout=60)
        made = out.read().count("/v0\", 0700) = 0")
    return f"{r.returncode} {r.stderr}", made > 1


def late():
    if not shutil.which("strace"):
        skip("soon: a link that fails late", "no strace")
        return
    calm, again = attempt()
    check("soon: XDP is refused", "rejects XDP: No space left" in calm, calm)
    check("soon: at once, so attach does not begin again", not again, "it did")
    stop = threading.Event()
    worker = threading.Thread(target=keep_busy, args=(stop,))
    worker.start()
    tries = []
    try:
        while len(tries) < 40 and not any(again for _, again in tries):
            tries.append(attempt())
    finally:
        stop.set()
        worker.join()
    check("soon: a link failed late, and attach began again", any(again for _, again in tries), f"{len(tries)} tries")
    same("soon: it says the same, however late", {said for said, _ in tries}, {calm})
    same("soon: nothing is left attached", nicprobe("list").stdout.count("v0"), 0)
    nicprobe("attach", WHERE)
    nicprobe("detach", WHERE)


each(late)
finish()

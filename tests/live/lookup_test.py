#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Calls of the C library that look up names: each that the test makes counts once, by what came of it, and takes as long as
the server waited, and no longer than the caller saw. Each file of a library that is mapped at attach is followed."""
import collections
import glob
import os
import shutil
import signal
import subprocess
import sys
import tempfile

from lib.connections import attach
from lib.lab import *
from lib.nameserver import NXDOMAIN, SERVFAIL, Server, servers_close

ME, OTHER = "look-test", "look-other"
LOOKUPS = os.path.join(os.path.dirname(NIC), "lookups")
MUSL = "/usr/lib/x86_64-linux-musl/libc.so"
BT = shutil.which("gethostlatency.bt", path="/usr/sbin:/usr/bin:/usr/share/bpftrace/tools")
LIBC = os.path.realpath(glob.glob("/lib*/*-linux-gnu/libc.so.6")[0])
MANY = int(os.environ.get("LOOKUPS", 500))
SERVER = "127.0.0.1"
X86 = os.uname().machine == "x86_64"
work = tempfile.TemporaryDirectory(prefix="np-lookup-")


def file(name, text):
    path = os.path.join(work.name, name)
    with open(path, "w", encoding="ascii") as f:
        f.write(text)
    return path


RESOLV = file("resolv.conf", f"nameserver {SERVER}\noptions timeout:1 attempts:1\n")
SWITCH = file("nsswitch.conf", "hosts: files dns\n")


class Caller:
    """tests/lookups, with a file system in which the server is ours, and other mounts that are asked for."""
    def __init__(self, ns, *words, mounts="true", program=LOOKUPS):
        script = f"mount --bind {RESOLV} /etc/resolv.conf && mount --bind {SWITCH} /etc/nsswitch.conf && {mounts} && " \
            f"exec {program} as:{ME} {' '.join(words)}"
        self.p = subprocess.Popen(["ip", "netns", "exec", str(ns), "unshare", "-m", "sh", "-c", script],
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def wait(self):
        """Until it reads a line."""
        return self.p.stdout.readline().strip()

    def end(self):
        """[(result, seconds)] of its calls."""
        out, _ = self.p.communicate("\n" * 9, timeout=100)
        if self.p.returncode:
            raise RuntimeError(f"lookups: {self.p.returncode}")
        return [(int(r), int(ns) / 1e9) for r, ns in map(str.split, out.splitlines())]


def call(ns, *words, **more):
    return Caller(ns, *words, **more).end()


def rows(ns):
    """{(process, result): calls}, all of which but those that were left have a time."""
    doc = show(f"{ns}/host")
    same("nothing is lost", lost(doc), {})
    got = {(r["process"], r["result"]): r for r in doc["meters"]["lookup"] if r["calls"]}
    same("each call has a time", {k: r["latency_seconds"]["count"] for k, r in got.items()},
         {k: 0 if k[1] == "left" else r["calls"] for k, r in got.items()})
    return {k: r["calls"] for k, r in got.items()}


def seconds(ns, result, process=ME):
    return sum(r["latency_seconds"]["sum"] for r in show(f"{ns}/host")["meters"]["lookup"]
               if (r["process"], r["result"]) == (process, result))


def mine(**results):
    return {(ME, "ok" if k == "ok" else k if k == "left" else "EAI_" + k): n for k, n in results.items()}


def functions():
    """Of each function, once, though some call others."""
    none, fails = f"code-{NXDOMAIN}.", f"code-{SERVFAIL}."
    words = [("gai", "host.", "ok", 10), ("gai", none, "NONAME", 3), ("gai", fails, "AGAIN", 2), ("gai", "127.0.0.1", "ok", 4),
             ("name", "host.", "ok", 5), ("name", none, "NONAME", 6), ("name", fails, "AGAIN", 1),
             ("name2", "host.", "ok", 7), ("name2", none, "NONAME", 2),
             ("name-r", "host.", "ok", 8), ("name-r", none, "NONAME", 1), ("name-r", "127.0.0.1", "ok", 2),
             ("name2-r", "host.", "ok", 3), ("name2-r", fails, "AGAIN", 1), ("small-r", "host.", "OVERFLOW", 2)]
    want, asked = collections.Counter(), []
    for function, name, result, times in words:
        want[result] += times
        asked += [f"times:{times}", f"{function}:{name}"]
    return want, asked


def test_results(ns):
    Server(ns, SERVER)
    want, asked = functions()
    attach(ns, "-m", "lookup")
    got = call(ns, *asked, "gai:ok.")
    same("results: as many calls", len(got), sum(want.values()) + 1)
    same("results: each once", rows(ns), mine(**want, NODATA=1))


def test_times(ns):
    """What the server waits, and a second where it is silent."""
    Server(ns, SERVER)
    attach(ns, "-m", "lookup")
    got = call(ns, "times:3", "gai:host-200.", "times:2", "name:host-100.", "gai:silent.")
    took = sum(s for _, s in got[:5])
    same("times: which", rows(ns), mine(ok=5, AGAIN=1))
    check("times: what the server waited, and no longer than the caller saw", .8 <= seconds(ns, "ok") <= took,
          (seconds(ns, "ok"), took))
    check("times: of the silent one", 1 <= seconds(ns, "EAI_AGAIN") <= got[5][1], (seconds(ns, "EAI_AGAIN"), got[5]))


def test_many(ns, stranger):
    """By process; a namespace of its own has its own lookups."""
    for host in ns, stranger:
        Server(host, SERVER)
    attach(ns, "-m", "lookup")
    callers = [Caller(host, f"times:{MANY}", "gai:host.", f"as:{OTHER}", "times:7", "name:host.") for host in (ns, ns, stranger)]
    for c in callers:
        c.end()
    same("many: by process", rows(ns), {**mine(ok=2 * MANY), (OTHER, "ok"): 14})


def test_left(ns):
    """A call that siglongjmp() leaves counts as that when the thread calls again, from wherever in its
    stack; on arm64 one further down is taken for part of it."""
    Server(ns, SERVER)
    attach(ns, "-m", "lookup")
    same("left: it is", [r for r, _ in call(ns, "left:silent.", "gai:127.0.0.1", "left:silent.", "deep:127.0.0.1",
                                            "left:silent.", "name:127.0.0.1", "left:silent.")], [0] * 7)
    same("left: each but the last, after which there is none", rows(ns), mine(ok=3 if X86 else 2, left=3))


def test_dies(ns):
    """A thread or process that ends in its call leaves nothing; a child of fork() is in none."""
    Server(ns, SERVER)
    attach(ns, "-m", "lookup")
    same("dies: they do", [r for r, _ in call(ns, "cancelled:silent.", "killed:silent.", "forked:host-600.")], [0] * 3)
    same("dies: those that returned", rows(ns), mine(ok=2))


def other_libc(name):
    """A shell script that puts a copy of the C library in its place, which is another file."""
    copy = os.path.join(work.name, name)
    shutil.copy(LIBC, copy)
    return f"mount --bind {copy} {LIBC}"


def test_library(ns):
    """One that another file system has in the same place; one that was removed; one that comes later is not followed."""
    Server(ns, SERVER)
    before = Caller(ns, "line:ready", "times:9", "gai:host.", mounts=other_libc("other"))
    gone = Caller(ns, f"as:{OTHER}", "line:ready", "times:4", "gai:host.", mounts=other_libc("gone"))
    for c in before, gone:
        same("library: it is there", c.wait(), "ready")
    os.unlink(os.path.join(work.name, "gone"))
    attach(ns, "-m", "lookup")
    for c in before, gone:
        c.end()
    same("library: both are followed", rows(ns), {**mine(ok=9), (OTHER, "ok"): 4})
    text = " ".join(nicprobe("show", f"{ns}/host").stdout.split())
    check("library: how many is said", "and 2 further files of a C library" in text, text)
    call(ns, "times:5", "gai:host.", mounts=other_libc("later"))
    same("library: one that comes later is not", rows(ns), {**mine(ok=9), (OTHER, "ok"): 4})


def test_overlay(ns):
    """Two overlays show the same file, which then has the probes twice: each call still counts once."""
    if "overlay" not in open("/proc/filesystems", encoding="ascii").read():
        return skip("overlay", "this kernel has no overlayfs")
    low, empty = (os.path.join(work.name, name) for name in ("low", "empty"))
    for path in low, empty:
        os.mkdir(path)
    shutil.copy(LIBC, low)
    mounts = f"mkdir -p {work.name}/top && mount -t overlay overlay -o lowerdir={low}:{empty} {work.name}/top && " \
        f"mount --bind {work.name}/top/{os.path.basename(LIBC)} {LIBC}"
    words = "line:ready", "times:6", "gai:host.", "times:5", "name:host.", "times:4", "name-r:host.", "left:silent.", "gai:host."
    Server(ns, SERVER)
    callers = [Caller(ns, *words, mounts=mounts) for _ in range(2)]
    for c in callers:
        same("overlay: it is there", c.wait(), "ready")
    attach(ns, "-m", "lookup")
    for c in callers:
        c.end()
    return same("overlay: each once", rows(ns), mine(ok=32, left=2))


def test_musl(ns):
    """Its functions call each other in another way."""
    if not os.path.exists(MUSL):
        return skip("musl", "musl-tools is not installed")
    Server(ns, SERVER)
    program = os.path.join(work.name, "lookups-musl")
    sh(f"musl-gcc -D_GNU_SOURCE -o {program} {ROOT}/tests/lookups.c")
    want, asked = functions()
    before = Caller(ns, "line:ready", *asked, program=program)
    same("musl: it is there", before.wait(), "ready")
    attach(ns, "-m", "lookup")
    same("musl: as many calls", len(before.end()), sum(want.values()))
    return same("musl: each once", rows(ns), mine(**want))


def test_beside(ns):
    """gethostlatency.bt, of the same calls."""
    if not BT or not shutil.which("bpftrace"):
        return skip("beside", "bpftrace is not installed")
    Server(ns, SERVER)
    attach(ns, "-m", "lookup")
    with open(os.path.join(work.name, "bt"), "w+", encoding="utf-8") as out, \
            subprocess.Popen(["bpftrace", BT], stdout=out, stderr=subprocess.STDOUT) as bt:
        def text():
            return open(out.name, encoding="utf-8").read()
        if not until(lambda: "LATms" in text() or bt.poll() is not None, 200) or bt.poll() is not None:
            return skip("beside", f"gethostlatency.bt does not run: {text()[-200:]}")
        calls = call(ns, "times:20", "gai:host-50.", "times:5", "gai:127.0.0.1")
        until(lambda: text().count(ME) >= len(calls), 20)
        bt.send_signal(2)
        bt.wait(60)
        lines = [line.split() for line in text().splitlines() if f" {ME} " in line]
    same("beside: nicprobe", rows(ns), mine(ok=25))
    same("beside: gethostlatency", len(lines), 25)
    ours, theirs, took = seconds(ns, "ok") * 1000, sum(int(line[3]) for line in lines), sum(s for _, s in calls) * 1000
    # Each may have the other's probes in its time; it rounds down to a millisecond.
    return check("beside: both have what the server waited, and no more than the caller saw",
                 20 * 50 <= min(ours, theirs) and max(ours, theirs) <= took, (ours, theirs, took))


def test_refused(ns):
    """A file into which the kernel puts no probe, as one begins there already, is left out; the others are followed."""
    trap = os.path.join(work.name, "libc.so.trap")
    shutil.copy(os.path.join(os.path.dirname(NIC), "trap.so"), trap)
    program = f"import ctypes; ctypes.CDLL('{trap}'); print('ready', flush=True); input()"
    p = subprocess.Popen(["ip", "netns", "exec", str(ns), "python3", "-c", program],
                         stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    same("refused: it is mapped", p.stdout.readline().strip(), "ready")
    Server(ns, SERVER)
    r = nicprobe("attach", f"{ns}/host", "-m", "lookup")
    call(ns, "times:3", "gai:host.")
    p.communicate("\n", timeout=10)
    same("refused: the others count", rows(ns), mine(ok=3))
    check("refused: it is said", "the kernel puts no probes into 1" in " ".join(r.stdout.split()), r.stdout)


def test_removed(ns):
    """Alone, beside another meter, and with all."""
    Server(ns, SERVER)
    attach(ns, "-m", "lookup,dns")
    call(ns, "gai:host.")
    nicprobe("attach", "-m", "-lookup", f"{ns}/host")
    call(ns, "gai:host.")
    same("removed: it is", "lookup" in show(f"{ns}/host")["meters"], False)
    nicprobe("attach", "-m", "+lookup", f"{ns}/host")
    call(ns, "times:3", "gai:host.")
    same("removed: counts anew", rows(ns), mine(ok=3))


def test_said(ns):
    """That it costs something is said; it is not attached unasked."""
    attach(ns)
    same("said: not unasked", "lookup" in show(f"{ns}/host")["meters"], False)
    text = nicprobe("list", "-v").stdout
    check("said: list -v", "lookup" in text and "uprobe" in text, text)
    r = nicprobe("attach", f"{ns}/host", "-m", "+lookup", env={"NICPROBE_CANNOT": "uprobe"}, check=False)
    check("said: a kernel without uprobes has none", r.returncode == 1 and "lookup cannot be had" in r.stderr, r.stderr)
    r = nicprobe("attach", f"{ns}/host", "-m", "+lookup", env={"NICPROBE_CANNOT": "uretprobe"}, check=False)
    check("said: nor one whose return probes harm", r.returncode == 1 and "lookup cannot be had" in r.stderr, r.stderr)
    same("said: what was attached stays", "connect" in show(f"{ns}/host")["meters"], True)


def harms():
    """Is this a CPU of arm64 on which pages of code alone cannot be read, so that return probes crash programs that unwind?"""
    read = "import mmap; mmap.mmap(-1, 4096, prot=mmap.PROT_EXEC)[0]"
    return not X86 and subprocess.run([sys.executable, "-c", read], check=False).returncode == -signal.SIGSEGV


def test_harms(ns):
    r = nicprobe("attach", f"{ns}/host", "-m", "lookup", check=False)
    check("harms: it is not attached, and why is said", r.returncode == 1 and "unwind their stack" in " ".join(r.stderr.split()), r.stderr)


need_root()
one, two = Namespace("here"), Namespace("stranger")


def clean():
    nicprobe("detach", f"{one}/host", check=False)
    servers_close()


TESTS = (test_results, test_times, test_many, test_left, test_dies, test_library, test_overlay, test_musl, test_beside, test_refused,
         test_removed, test_said)
each(*([test_harms] if harms() else TESTS), ns=one, stranger=two, after=clean)
finish()

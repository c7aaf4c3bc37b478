# SPDX-License-Identifier: GPL-2.0
"""Privileges, bpffs, memory, files or a system call are denied: one clear sentence, nothing is left behind, and none is
taken for a feature that the kernel lacks."""
import contextlib
import errno
import json
import os
import random
import re
import shutil
import subprocess
import tempfile

from lib import lab, left
from lib.lab import NICPROBE, Namespace, check, nicprobe, same, sh, skip, tap
from lib.sentences import OURS, one_sentence, run

POINTS = int(os.environ.get("POINTS", 6))     # calls that are made to fail, spread, others each time
UNTRACED = {"ASAN_OPTIONS": "detect_leaks=0"}     # the search for leaks would trace us, too, and fails


def privileges(ns, iface):
    """Not root, or root without a capability."""
    with tempfile.TemporaryDirectory() as path:
        os.chmod(path, 0o755)
        copy = shutil.copy(NICPROBE, path)
        for args in f"attach {iface}", f"detach {iface}", f"run {iface} -- true", "wifi", "host connect", "host bind", "driver tun", f"bench {iface}":
            pins = left.pins()
            r = subprocess.run(["setpriv", "--reuid=65534", "--clear-groups", copy, *args.split()],
                               capture_output=True, text=True, check=False)
            why = one_sentence(r.stderr, ["CAP_BPF", "CAP_NET_ADMIN", "CAP_PERFMON", "root"])
            check(f"denied: not root: {args.split()[0]}", r.returncode == 1 and not why and left.pins() == pins, why)
            if args.split()[0] in ("driver", "bench"):
                check(f"denied: not root: {args.split()[0]} says that it mounts", "CAP_SYS_ADMIN" in r.stderr, r.stderr)
    for cap in "bpf", "net_admin", "perfmon":
        drop = cap if cap == "net_admin" else f"{cap},cap_sys_admin"
        r = subprocess.run(["nsenter", f"--net=/run/netns/{ns}", "capsh", f"--drop=cap_{drop}", "--", "-c",
                            f"exec {NICPROBE} attach tap0"], capture_output=True, text=True, check=False)
        why = one_sentence(r.stderr, [f"this needs CAP_{cap.upper()}\n"])
        check(f"denied: without CAP_{cap.upper()}", r.returncode == 1 and not why, why)
    enter = ["nsenter", f"--net=/run/netns/{ns}", "capsh", "--drop=cap_sys_admin", "--", "-c"]
    r = subprocess.run([*enter, f"{NICPROBE} attach tap0 && {NICPROBE} show -j tap0 && {NICPROBE} detach tap0"],
                       capture_output=True, text=True, check=False)
    check("denied: CAP_SYS_ADMIN is not needed for one's own namespace", r.returncode == 0, r.stderr)
    r = subprocess.run([*enter, f"{NICPROBE} attach {iface}"], capture_output=True, text=True, check=False)
    why = one_sentence(r.stderr, ["CAP_SYS_ADMIN", "network namespace"])
    check("denied: but for another", r.returncode == 1 and not why, why)


def bpffs(iface):
    """bpffs not mounted: in pid 1's mount namespace we mount it, elsewhere we report it."""
    script = f"umount -l {left.BPFFS}; umount -l {left.BPFFS} 2>/dev/null; exec {NICPROBE} attach {iface}"
    r = subprocess.run(["unshare", "-m", "-p", "-f", "--mount-proc", "sh", "-c",
                        script.replace("exec ", "") + f" && {NICPROBE} show -j {iface} | head -c 1; "
                        f"{NICPROBE} detach {iface}; grep -c ' {left.BPFFS} bpf' /proc/mounts; ls {OURS}"],
                       capture_output=True, text=True, check=False)
    check("denied: bpffs is not mounted: we do", "attached (tun" in r.stdout and r.stdout.endswith("{1\n"),
          f"{r.stdout} {r.stderr}")
    readable = os.access("/proc/1/ns/mnt", os.R_OK)
    if not readable:
        skip("denied: bpffs is not mounted in a mount namespace of its own", "pid 1 may not be asked for its own here")
        return
    for args in f"attach {iface}", f"show {iface}", "list":
        r = subprocess.run(["unshare", "-m", "sh", "-c", script.replace(f"attach {iface}", args)],
                           capture_output=True, text=True, check=False)
        why = one_sentence(r.stderr, ["is not the host's here"])
        check(f"denied: bpffs is not mounted in a mount namespace of its own: {args.split()[0]}",
              r.returncode == 1 and not why, why)


def whole(stdout):
    """From `attach -j`: the meters, and the hooks they use."""
    doc = json.loads(stdout)
    return {key: doc[key] for key in ("meters", "absent", "hooks") if key in doc}


def limits(iface):
    """A lack of resources is named, and never taken for a missing kernel feature."""
    want = whole(run(f"attach -j {iface}").stdout)
    run(f"detach {iface}")
    # with fewer than 4 files it does not even start
    ways = {f"{n} files at once": ["prlimit", f"--nofile={n}"] for n in (4, 6, 8, 12, 16, 20, 24, 32)}
    if "asan" not in sh(f"ldd {NICPROBE}"):	# which needs more than anybody has; with 16 MB even the libraries find no room
        ways |= {f"{n} MB of memory": ["prlimit", f"--as={n << 20}"] for n in (20, 24, 32, 48)}
    ended = 0
    for name, prefix in ways.items():
        pins = left.pins()
        r = run(f"attach -j {iface}", prefix=prefix)
        if r.returncode:
            # a sanitizer complains as well that it cannot open files
            said = re.sub(r'^\{"error":"(.*?)"(,"try":".*")?\}$', r"nicprobe: \1", r.stderr.split("\n==")[0])
            why = one_sentence(said, [], hint=False)
            if not re.search("Too many open files|Cannot allocate memory|memory", said):
                why = why or f"it names another reason: {said!r}"
            # with none to spare it cannot even clean up: the next run does
            run(f"detach {iface}")
            check(f"denied: {name}", r.returncode in (1, 127) and not why and left.pins() == pins,
                  why or f"something is left, or {r.returncode}")
            ended += 1
        else:
            same(f"denied: {name} are enough for all", whole(r.stdout), want)
            run(f"detach {iface}")
    check(f"denied: resources ran out # {ended} of {len(ways)} times", ended >= 3)
    with tempfile.NamedTemporaryFile() as none:
        r = run(f"attach {iface}", prefix=["unshare", "-m", "sh", "-c", f"mount --bind {none.name} "
                                           '/sys/kernel/btf/vmlinux; exec "$@"', "sh"])
    why = one_sentence(r.stderr, ["cannot read the types of this kernel", "/sys/kernel/btf/vmlinux"], hint=False)
    check("denied: types that cannot be read", r.returncode == 1 and not why, why or r.stdout)


@contextlib.contextmanager
def one_by_one():
    """On one CPU, programs are loaded one by one: strace counts the calls of each thread by themselves."""
    cpus = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cpus)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, cpus)


def abreast(iface, strace, pins):
    """Programs are loaded by several threads: a load of each may fail, too. So does a first call, by which libbpf finds out
    what it can: what is absent for that is not asked here."""
    bad_ones, ended = [], 0
    for error in "EPERM", "ENOMEM":
        for n in range(1, 5):
            p = run(f"attach -j {iface}", env=UNTRACED,
                    prefix=[*strace, "-o", "/dev/null", "-e", f"inject=bpf:error={error}:when={n}"])
            ended += p.returncode != 0
            why = one_sentence(re.sub(r'^\{"error":"(.*?)"(,"try":".*")?\}$', r"nicprobe: \1", p.stderr), [],
                               hint=False) if p.returncode else ""
            run(f"detach {iface}")
            if why or left.pins() != pins:
                bad_ones.append(f"{error} {n}: {why or 'something is left'}")
    check(f"denied: any thread's load may fail # {ended} attaches did", not bad_ones, "; ".join(bad_ones))


def refused(iface):
    """Every BPF system call may fail."""
    if not shutil.which("strace"):
        skip("denied: any bpf() that fails", "no strace")
        return
    want = whole(run(f"attach -j {iface}").stdout)
    run(f"detach {iface}")
    pins, trace = left.pins(), f"/tmp/nicprobe-calls-{os.getpid()}"
    strace = ["strace", "-f", "--seccomp-bpf", "-qq", "-e", "trace=bpf"]    # stops at no other call: ten times as fast
    abreast(iface, strace, pins)
    with one_by_one():
        each_call(iface, strace, want, pins, trace)


def each_call(iface, strace, want, pins, trace):
    run(f"attach {iface}", prefix=[*strace, "-o", trace])
    run(f"detach {iface}")
    with open(trace, encoding="utf-8") as f:
        by = [line.split()[0] for line in f if "bpf(" in line]
        calls = by.count(by[0])         # strace counts those of each thread by themselves: links are made by others
    os.unlink(trace)
    # the first calls find out what libbpf and we can do
    ends = {run(f"attach -j {iface}", env=UNTRACED, prefix=[*strace, "-o", "/dev/null", "-e", f"inject=bpf:error=EINTR:when={n}"])
            .returncode for n in range(1, 26) if run(f"detach {iface}")}
    run(f"detach {iface}")
    check("denied: whichever of the first bpf() fails, attach ends in order", ends == {0, 1}, ends)
    for error, times in ("ENOMEM", POINTS), ("EMFILE", POINTS), ("EPERM", POINTS), *((e, min(POINTS, 6)) for e in ("ENFILE", "EAGAIN", "EINTR")):
        why, failed, n = "", 0, 0
        # a few in between, and the last three: without "meta" nothing is attached
        step = max(1, calls // times)
        for n in [*range(26 + random.randrange(step), calls - 3, step), *range(calls - 2, calls + 1)]:
            if why:
                break
            p = run(f"attach -j {iface}", env=UNTRACED,
                    prefix=[*strace, "-o", "/dev/null", "-e", f"inject=bpf:error={error}:when={n}"])
            if p.returncode == 0:
                got = whole(p.stdout)
                if error != "EPERM" and got != want:
                    why = f"it takes that for a feature: {lab.difference(got, want)}"
                for meter in got["absent"].keys() - want["absent"].keys():
                    if os.strerror(errno.EPERM) not in got["absent"][meter]:
                        why = f"{meter} is absent, and not for what failed: {got['absent'][meter]}"
                run(f"detach {iface}")
            else:
                failed += 1
                why = one_sentence(re.sub(r'^\{"error":"(.*?)"(,"try":".*")?\}$', r"nicprobe: \1", p.stderr), [],
                                   hint=False)
            if left.pins() != pins:
                why = why or f"leaves {[pin for pin in left.pins() if pin not in pins]}"
        check(f"denied: any bpf() may fail with {error} # {failed} attaches did", not why and failed, f"the call {n}: {why}")


def kind(call):
    """The command of a call of bpf(), and whose pin it is about."""
    command, pin = re.search(r"BPF_\w+", call)[0], re.search(r'nicprobe/([a-z]*).*/(off"|host"|)', call)
    return command, pin and pin.groups()


def between(iface):
    """A call fails from the first program that is attached until events are passed on to it. The reason is told, or nothing
    is missing: what the first try left must not fail a second."""
    if not shutil.which("strace"):
        skip("denied: any bpf() while programs are attached", "no strace")
        return
    few, trace = f"attach -j -m napi,gso {iface}", f"/tmp/nicprobe-calls-{os.getpid()}"
    strace = ["strace", "-f", "--seccomp-bpf", "-qq", "-e", "trace=bpf"]
    for name, other in ("alone", ""), ("beside another interface", f"{iface[:-1]}1"):
        if other:
            nicprobe("attach", other, "-m", "gso")
        want = whole(run(few, prefix=[*strace, "-o", trace]).stdout)
        run(f"detach {iface}")
        with open(trace, encoding="utf-8") as f:
            kinds = list(map(kind, f))
        os.unlink(trace)
        pins, bad_ones, ended = left.pins(), [], 0
        begin = kinds.index(("BPF_OBJ_PIN", ("", 'off"')))
        end = max(n for n, k in enumerate(kinds) if k == ("BPF_OBJ_GET", ("shared", 'host"')))
        some = kinds[begin:end + 1]	# the first and the last of each kind
        for n in sorted({begin + some.index(k) for k in some} | {end - some[::-1].index(k) for k in some}):
            p = run(few, env=UNTRACED,
                    prefix=[*strace, "-o", "/dev/null", "-e", f"inject=bpf:error=EPERM:when={n + 1}"])
            ended += p.returncode != 0
            told = os.strerror(errno.EPERM) in p.stderr if p.returncode else whole(p.stdout) == want
            run(f"detach {iface}")
            if not told or left.pins() != pins:
                bad_ones.append(f"{n + 1} {kinds[n]}: {p.stderr or p.stdout[:300]}, "
                                f"leaves {[pin for pin in left.pins() if pin not in pins]}")
        check(f"denied: any bpf() while programs are attached, {name} # {ended} attaches failed", ended and not bad_ones,
              "; ".join(bad_ones))


def unloadable(iface):
    """The kernel refuses the program of a point, with others and alone: what counts there is absent."""
    if not shutil.which("strace"):
        skip("denied: a point that cannot be loaded", "no strace")
        return
    trace = f"/tmp/nicprobe-calls-{os.getpid()}"
    # on one CPU no other thread loads programs: strace counts the calls of each thread by themselves
    strace = ["taskset", "-c", str(min(os.sched_getaffinity(0))), "strace", "-f", "-qq", "-e", "trace=bpf"]
    run(f"attach -m gso {iface}", prefix=[*strace, "-o", trace])
    run(f"detach {iface}")
    with open(trace, encoding="utf-8") as f:
        load = next(n for n, line in enumerate(f, 1) if 'prog_name="net_dev_queue"' in line)
    os.unlink(trace)
    # twice for the reason, and the first calls of the second load
    refused = [*strace, "-o", "/dev/null", "-e", f"inject=bpf:error=EPERM:when={load}..{load + 6}"]
    named = run(f"attach -m gso {iface}", prefix=refused, env=UNTRACED)
    check("denied: a point that cannot be loaded: its meter is refused",
          named.returncode == 1 and "gso cannot be had" in named.stderr and "Operation not permitted" in named.stderr,
          f"{named.returncode} {named.stderr}")
    run(f"detach {iface}")


def untrue(name, r, words=()):
    """A command that cannot look at what is attached says why, instead of that nothing is attached."""
    said = re.sub(r'^\{"error":"(.*?)"(?:,"try":"(.*)")?\}$', r"nicprobe: \1\n  try: \2",
                  r.stderr.split("\n==")[0])	# a sanitizer may complain as well
    why = one_sentence(said.removesuffix("  try: \n"), words, hint=False) if r.returncode else ""
    if any(w in said + r.stdout for w in ("not attached", "rm -r", "is gone")):
        why = f"it is attached: {r.stdout[:300]!r} {said!r}"
    return f"{name}: {why}" if why else ""


def unseen(iface):
    """What is attached cannot be inspected: too few files, no permission, no /proc."""
    nicprobe("attach", iface)
    commands = f"show -j {iface}", f"detach {iface}", f"run {iface} -- true"
    sanitized = "asan" in sh(f"ldd {NICPROBE}")	# which needs /proc itself
    for args in () if sanitized else (*commands, f"attach {iface}"):
        r = run(args, prefix=["unshare", "-m", "sh", "-c", 'mount -t tmpfs none /proc; exec "$@"', "sh"])
        why = untrue("no /proc", r, ["cannot identify this network namespace", "No such file", "mount -t proc"])
        check(f"denied: no /proc: {args.split()[0]}", r.returncode == 1 and not why, why or f"{r.returncode} {r.stdout}")
    if not sanitized:
        r = run("show -j", prefix=["unshare", "-m", "sh", "-c", 'mount -t tmpfs none /proc; exec "$@"', "sh"])
        why = untrue("no /proc", r)
        check("denied: no /proc: show of all", not why and "this network namespace" in r.stdout + r.stderr, why or r.stdout[:300])
    for args in commands[:2]:
        bad_ones, ended = [], 0
        for n in range(4, 13):
            r = run(args, prefix=["prlimit", f"--nofile={n}"], env=UNTRACED)
            ended += r.returncode != 0
            if r.returncode != 127:	# 127: not even its libraries can be loaded
                why = untrue(f"{n} files", r, ["Too many open files"])
                bad_ones += [why] if why else []
            run(f"attach {iface}")	# if that detached it
        check(f"denied: few files: {args.split()[0]} # {ended} ended", ended and not bad_ones, "; ".join(bad_ones))
        if not shutil.which("strace"):
            skip(f"denied: any bpf() of {args.split()[0]} that fails", "no strace")
            continue
        bad_ones, ended = [], 0
        for error, words in ("EMFILE", "Too many open files"), ("EACCES", "Permission denied"):
            # some may fail without harm: others are tried until one ended it
            for tried, n in enumerate((1, *random.sample(range(2, 9), 7))):
                if tried > POINTS // 2 + 1 and ended:
                    break
                r = run(args, env=UNTRACED,
                        prefix=["strace", "-f", "--seccomp-bpf", "-qq", "-o", "/dev/null", "-e", "trace=bpf", "-e",
                                f"inject=bpf:error={error}:when={n}"])
                ended += r.returncode != 0
                why = untrue(f"{error} at {n}", r, [words])
                bad_ones += [why] if why else []
                run(f"attach {iface}")
        check(f"denied: any bpf() of {args.split()[0]} that fails # {ended} ended", ended and not bad_ones, "; ".join(bad_ones))
    nicprobe("detach", iface)


lab.need_root()
left.own_bpffs()
ns = Namespace("denied")
nic = tap(ns, queues=4)
another = tap(ns, "tap1")
before = left.Before(ns)
def between_calls(iface):
    with one_by_one():
        between(iface)


lab.each(privileges, bpffs, limits, refused, between_calls, unloadable, unseen,
         ns=ns, iface=f"{ns}/tap0", after=lambda: nicprobe("detach", "--all", check=False))
before.check("denied: all of this leaves nothing")
nic.close()
another.close()
lab.finish()

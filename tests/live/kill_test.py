# SPDX-License-Identifier: GPL-2.0
"""Attach killed at any point, and several at once: the next one cleans up, and exactly one succeeds."""
import os
import random
import shutil
import signal
import subprocess
import tempfile
import time

from lib import lab, left
from lib.lab import NICPROBE, Namespace, check, nicprobe, same, skip, tap

POINTS = int(os.environ.get("POINTS", 4))	# per attach method
TIMES = min(30, 2 * POINTS)	# pairs that run at once
FEW = ["-m", "pktsize,ecn,ecn_source,rxcpu,txlat"]	# all meters take several times as long to attach

WAYS = {	# how to attach; without tcx, with a foreign clsact or none
    "xdp": (["--rx", "xdp"], {}, False),
    "driver": (["--rx", "driver", "-m", "all"], {}, True),
    "generic": (["--rx", "xdp-generic"], {}, False),
    "filter": (["--rx", "driver"], {"NICPROBE_CANNOT": "tcx"}, True),
    "clsact": (["--rx", "driver"], {"NICPROBE_CANNOT": "tcx,stack"}, False),
}


def start(args, env, prefix=(), **kwargs):
    args = [*args, *FEW] if args[0] == "attach" and "-m" not in args else args
    return subprocess.Popen([*prefix, NICPROBE, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            env={**os.environ, **env}, **kwargs)


def killed(estimate, args, env):
    """Kills an attach at a random moment: returns whether it was in time."""
    p = start(args, env)
    time.sleep(random.random() * estimate)
    p.kill()
    p.communicate()
    return p.returncode == -signal.SIGKILL


def clean_up(n, iface):
    """Cleans up alternately by detach and by the next attach; returns the error, or ""."""
    if n % 2:
        r = nicprobe("attach", iface, *FEW, check=False)
        # it may have been killed after the last step
        if r.returncode and "attached already" not in r.stderr:
            return r.stderr
    r = nicprobe("detach", iface, check=False)
    if r.returncode and (n % 2 or "not attached" not in r.stderr):
        return r.stderr
    return ""


def killed_at_random(ns, iface, seconds):
    """At moments spread over the duration of an attach."""
    for way, (args, env, theirs) in WAYS.items():
        if theirs:
            ns.run("tc qdisc add dev tap0 clsact")
            ns.run("tc filter add dev tap0 ingress bpf bytecode '1,6 0 0 0,'")
        before = left.Before(ns)
        hit, n, why = 0, 0, ""
        while hit < POINTS and n < 6 * POINTS:
            # other work on this machine changes the duration
            now = killed(seconds, ["attach", iface, *args], env)
            seconds *= 1.01 if now else .95
            hit += now
            why = why or clean_up(n, iface)
            n += 1
        check(f"kill: {way}: {POINTS} attaches killed, the next command cleans up", not why and hit == POINTS,
              why or f"only {hit} of {n} were killed in time")
        before.check(f"kill: {way}: {POINTS} attaches killed leave nothing")
        if theirs:
            ns.run("tc qdisc del dev tap0 clsact")


def made(call, iface, way):
    """The number of these system calls in an attach."""
    args, env, _ = WAYS[way]
    with tempfile.NamedTemporaryFile("r") as log:
        start(["attach", iface, *args], env, prefix=["strace", "-o", log.name, "-e", f"trace={call}"]).communicate()
        nicprobe("detach", iface)
        return sum(line.startswith(f"{call}(") for line in log)


def killed_at_calls(ns, iface):
    """At system calls that change something, counted by strace, which is more exact than a clock. It stops at every
    call (--seccomp-bpf injects no signals), which takes seconds on a busy machine: so at as many as POINTS allows,
    starting at another one each time."""
    if not shutil.which("strace"):
        skip("kill: at each system call", "no strace")
        return
    before = left.Before(ns)
    for way, calls in (("clsact", ("mkdir", "sendto", "bpf")), ("xdp", ("bpf",))):
        args, env, _ = WAYS[way]
        for call in calls:
            step = max(7 if call == "bpf" else 1, -(-made(call, iface, way) // POINTS))
            n, died, found = -random.randrange(step), 0, ""
            while True:
                n += step
                p = start(["attach", iface, *args], env, prefix=[
                    "strace", "-o", "/dev/null", "-e", f"trace={call}", "-e", f"inject={call}:signal=KILL:when={n}"])
                p.communicate()
                r = nicprobe("detach", iface, check=False)
                if r.returncode and "not attached" not in r.stderr:
                    found = found or f"call {n}: {r.stderr}"
                pins = [pin for pin in left.pins() if pin not in before.pins]
                if pins:
                    found = found or f"call {n} leaves {pins}"
                network = [x for x in left.network(ns) if x not in before.network]
                if network:
                    found = found or f"call {n} leaves {network}"
                if p.returncode >= 0 or n > 500:
                    break
                died += 1
            check(f"kill: {way}: at calls of {call} # {died} times, one in {step}, up to the call {n}",
                  not found and died and n <= 500, found or f"{died} died, {n} calls")
    before.check("kill: at each system call, nothing is left")


def interrupted(ns, iface, seconds):
    """Ctrl-C or a service manager: attach removes what it has begun, and ends by the signal."""
    before = left.Before(ns)
    for number in signal.SIGINT, signal.SIGTERM, signal.SIGHUP:
        hit, n, why = 0, 0, ""
        while hit < POINTS // 2 and n < 6 * POINTS and not why:
            p = start(["attach", iface], {})
            time.sleep(random.random() * seconds)
            p.send_signal(number)
            said = p.communicate()[1]
            n += 1
            there = bool(left.pins() != before.pins)
            if p.returncode == 0:
                seconds *= .97
                if nicprobe("detach", iface, check=False).returncode:
                    why = "it ended with success, and nothing is attached"
            elif p.returncode != -number:
                why = f"it ended with {p.returncode}: {said!r}"
            elif there:
                why = f"something is left: {said!r}"
            else:
                hit += 1
        check(f"kill: {number.name} during attach leaves nothing, {hit} of {n} times in time", hit and not why, why)
    nohup = start(["attach", iface], {}, preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    time.sleep(seconds / 2)
    nohup.send_signal(signal.SIGHUP)
    said = nohup.communicate()[1]
    same("kill: SIGHUP that is ignored is ignored", [nohup.returncode, said], [0, ""])
    nicprobe("detach", iface)
    before.check("kill: interrupted attaches leave nothing")


def two_at_once(ns, iface):
    before = left.Before(ns)
    wins, why = [], ""
    for n in range(TIMES):
        both = [start(["attach", iface], {}) for _ in range(2)]
        said = [p.communicate()[1] for p in both]
        codes = sorted(p.returncode for p in both)
        wins.append(codes)
        lost = [s for p, s in zip(both, said) if p.returncode]
        if len(lost) == 1 and "is attached already" not in lost[0]:
            why = why or lost[0]
        nicprobe("detach", iface)
    same("kill: of two attaches at once one wins", [w for w in wins if w != [0, 1]], [])
    check("kill: and the other says that it is attached already", not why, why)
    before.check("kill: two attaches at once leave nothing")


def attach_and_detach_at_once(ns, iface):
    before = left.Before(ns)
    why = ""
    for n in range(TIMES):
        if n % 2:
            nicprobe("attach", iface, *FEW)
        both = [start([what, iface], {}) for what in ("attach", "detach")]
        for p in both:
            said = p.communicate()[1]
            if p.returncode and "attached already" not in said and "not attached" not in said:
                why = why or said or f"ended with {p.returncode}"
        nicprobe("detach", iface, check=False)
    check("kill: attach and detach at once, each is whole", not why, why)
    before.check("kill: attach and detach at once leave nothing")


def shown_while_detached(ns, iface):
    """`show -i` must end with a sentence when its interface is gone, and never print half a table."""
    why, whole = "", 0
    for n in range(15):
        nicprobe("attach", iface, *FEW)
        p = start(["show", "-j", "-i", ".005", "-c", "10000", iface], {})
        p.stdout.readline()	# it has started
        time.sleep(n * .002)
        nicprobe("detach", iface)
        out, err = p.communicate(timeout=20)
        lines = out.splitlines()
        whole += all(line.startswith("{") and line.endswith("}") for line in lines)
        if p.returncode != 1 or "detached" not in err or err.count("\n") > 1:
            why = why or f"{p.returncode}: {err!r}"
    check("kill: show -i of what is being detached ends with a sentence", not why, why)
    same("kill: show -i of what is being detached prints whole lines", whole, 15)


def reattached_while_shown(nic, iface):
    """Detached and reattached between two snapshots: no rates across the two."""
    why = ""
    for _ in range(5):
        nicprobe("attach", iface, *FEW)
        nic("send 0 1000 100")
        nic("go")
        p = start(["show", "-j", "-i", ".2", "-c", "2", iface], {})
        p.stdout.readline()
        nicprobe("detach", iface)
        nicprobe("attach", iface, *FEW)
        out, err = p.communicate(timeout=20)
        if "1844674" in out:
            why = why or f"prints what wrapped around: {out[:300]}"
        nicprobe("detach", iface)
    check("kill: show -i of what was attached anew prints no nonsense", not why, why)


def main():
    ns = Namespace("kill")
    nic = tap(ns, "tap0", queues=4)
    iface = f"{ns}/tap0"
    times = []
    for _ in range(5):
        at = time.monotonic()
        nicprobe("attach", iface, *FEW)
        times.append(time.monotonic() - at)
        nicprobe("detach", iface)
    seed = random.randrange(1 << 32)
    random.seed(seed)
    print(f"# attach takes {sorted(times)[2] * 1e3:.0f} ms; random seed {seed}")
    killed_at_random(ns, iface, sorted(times)[2] * 1.1)
    killed_at_calls(ns, iface)
    interrupted(ns, iface, sorted(times)[2] * 1.1)
    two_at_once(ns, iface)
    attach_and_detach_at_once(ns, iface)
    shown_while_detached(ns, iface)
    reattached_while_shown(nic, iface)
    nic.close()


lab.need_root()
left.own_bpffs()
main()
lab.finish()

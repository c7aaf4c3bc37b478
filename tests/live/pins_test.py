# SPDX-License-Identifier: GPL-2.0
"""Pins that cannot be trusted, read or locked: no foreign files are removed, and the problem is reported."""
import fcntl
import os
import signal
import subprocess
import tempfile
import time

from lib import lab, left
from lib.lab import NICPROBE, Namespace, check, nicprobe, same, sh, tap, until

OURS = f"{left.BPFFS}/nicprobe"
NOBODY = 65534


def refused(name, args, *words, limit=20, prefix=()):
    """It ends in time, with a sentence that has these words."""
    try:
        r = subprocess.run([*prefix, NICPROBE, *args.split()], capture_output=True, text=True, timeout=limit, check=False)
    except subprocess.TimeoutExpired:
        lab.not_ok(f"pins: {name}", f"it did not end within {limit} s")
        return
    lines = r.stderr.splitlines()
    check(f"pins: {name}", r.returncode == 1 and lines and len(lines) <= 2 and not [w for w in words if w not in r.stderr],
          f"{r.returncode}: {r.stderr!r} {r.stdout[:200]!r}")


def forged(ns, iface):
    """Mounted without mode=, a BPF file system is writable by others: the kernel's default."""
    same("pins: anybody may write to this BPF file system", oct(os.stat(left.BPFFS).st_mode & 0o7777), "0o1777")
    number = os.stat(f"/run/netns/{ns}").st_ino
    with tempfile.TemporaryDirectory() as victim:
        def precious():
            for name in "meta", "a", "b":
                with open(f"{victim}/{name}", "w", encoding="ascii") as f:
                    f.write("precious")
            return sorted(os.listdir(victim))

        def by_nobody(*commands):
            subprocess.run(["setpriv", f"--reuid={NOBODY}", "--regid", str(NOBODY), "--clear-groups", "sh", "-ec",
                            "\n".join(commands)], check=True)

        def gone():
            sh(f"rm -rf {OURS} {left.BPFFS}/xdp")

        before = precious()
        ways = {
            "a directory of somebody": [f"mkdir -m 755 {OURS}"],
            "a directory for all": [f"mkdir -m 777 {OURS}; chmod 777 {OURS}"],
            "a link in it": [f"mkdir -m 755 {OURS} {OURS}/{number}", f"ln -s {victim} {OURS}/{number}/tap0"],
            "a link of a namespace": [f"mkdir -m 755 {OURS}", f"ln -s {victim} {OURS}/{number}"],
            "a link": [f"ln -s {victim} {OURS}"],
            "a link that leads nowhere": [f"ln -s /nowhere {OURS}"],
        }
        for name, commands in ways.items():
            by_nobody(*commands)
            for args in (f"attach {iface}", f"detach {iface}", f"detach --force {iface}", "detach --all --force",
                         f"show {iface}", "show", "list", f"run {iface} -- true"):
                refused(f"{name}: {args.replace(iface, 'IFACE')}", args, OURS, "rm")
            same(f"pins: {name}: nothing is removed", sorted(os.listdir(victim)), before)
            gone()
        # our own directory, whose content only root can have made
        for name, at in ("of an interface", f"{number}/tap0"), ("of a namespace", f"{number}"):
            os.makedirs(os.path.dirname(f"{OURS}/{at}"), mode=0o700)
            os.symlink(victim, f"{OURS}/{at}")
            nicprobe("detach", "--force", iface, check=False)
            nicprobe("detach", "--all", "--force", check=False)
            nicprobe("attach", iface, check=False)
            same(f"pins: ours, with a link {name}: nothing is removed", sorted(os.listdir(victim)), before)
            gone()
    os.chmod(left.BPFFS, 0o777)
    refused("a BPF file system in which all may rename", f"attach {iface}", left.BPFFS, "chmod +t")
    os.chmod(left.BPFFS, 0o1777)
    sh(f"mkdir -m 700 {OURS}; mount -t tmpfs tmpfs {OURS}")
    refused("another file system", f"attach {iface}", "another file system")
    sh(f"umount {OURS}; rmdir {OURS}")


def locked(iface):
    """The holder of the lock is waited for, and named."""
    nicprobe("attach", iface, "-m", "pktsize")
    p = subprocess.Popen([NICPROBE, "show", "-i", ".001", "-c", "100000", iface], stdout=subprocess.DEVNULL)
    holds = f"FLOCK  ADVISORY  READ {p.pid} "

    def stop():
        p.send_signal(signal.SIGSTOP)
        until(lambda: "\nState:\tT" in open(f"/proc/{p.pid}/status", encoding="ascii").read())
        if holds in open("/proc/locks", encoding="ascii").read():
            return True
        p.send_signal(signal.SIGCONT)
        return False

    check("pins: a `show` is stopped while it has the lock", until(stop, 20))
    refused("a `show` that is stopped: detach does not wait for ever", f"detach {iface}", f"process {p.pid} (nicprobe)",
            "which is stopped", f"kill -CONT {p.pid}")
    r = nicprobe("show", "-t", iface, check=False)
    same("pins: but others read all the same", r.returncode, 0)
    p.send_signal(signal.SIGCONT)
    p.kill()
    p.wait()
    fd = os.open(OURS, os.O_RDONLY)
    fcntl.flock(fd, fcntl.LOCK_EX)
    with open("/proc/self/comm", encoding="ascii") as f:
        comm = f.read().strip()
    at = time.monotonic()
    refused("a lock that is kept", f"show -t {iface}", f"process {os.getpid()} ({comm})", limit=60)
    waited = time.monotonic() - at
    check(f"pins: a lock that is kept is waited for # {waited:.0f} s", 15 < waited < 30)
    p = subprocess.Popen([NICPROBE, "detach", iface], stderr=subprocess.PIPE, text=True)
    time.sleep(1)
    os.close(fd)
    same("pins: a lock that is given back is taken", [p.communicate()[1], p.returncode], ["", 0])


lab.need_root()
left.own_bpffs()
ns = Namespace("pins")
nic = tap(ns)
before = left.Before(ns)
lab.each(forged, locked, ns=ns, iface=f"{ns}/tap0", after=lambda: nicprobe("detach", "--all", check=False))
before.check("pins: all of this leaves nothing")
nic.close()
lab.finish()

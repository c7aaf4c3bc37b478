# SPDX-License-Identifier: GPL-2.0
"""The capabilities of each command: with exactly these it does all that root can, and with fewer it says so."""
import glob
import json
import os
import re
import shutil
import subprocess
import tempfile

from lib import lab, left
from lib.lab import NICPROBE, ROOT, Namespace, check, nicprobe, same, sh, tap

OURS = f"{left.BPFFS}/nicprobe"
USER, GROUP, OTHER = 4000, 4242, 4243
MEASURE = ("bpf", "net_admin", "perfmon")


# Opens each pin to read and write, and to write; and tries to change what it can open.
WRITE = """
import collections, ctypes, errno, glob, json, os, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *3 * [ctypes.c_int], ctypes.c_long]
libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
def bpf(cmd, *words):
    return libc.syscall(321, cmd, ctypes.create_string_buffer(struct.pack(*words), 128), 128)
opened, errors = [], collections.defaultdict(set)
def way(name, good):
    errors[name].add("none" if good else errno.errorcode[ctypes.get_errno()])
key, value = ctypes.create_string_buffer(4), ctypes.create_string_buffer(b"x" * 65536)
for path in glob.glob(sys.argv[1]):
    name = ctypes.create_string_buffer(path.encode())
    for flags in 0, 16:         # BPF_F_WRONLY
        fd = bpf(7, "QII", ctypes.addressof(name), 0, flags)
        if fd < 0:
            continue
        opened.append(os.path.basename(path))
        way("update", bpf(2, "QQQQ", fd, ctypes.addressof(key), ctypes.addressof(value), 0) == 0)
        way("delete", bpf(3, "QQQQ", fd, ctypes.addressof(key), 0, 0) == 0)
        if flags:
            continue
        way("mmap", libc.mmap(None, 4096, 3, 1, fd, 0) != 2**64 - 1)
        at = libc.mmap(None, 4096, 1, 1, fd, 0)
        way("mprotect", at == 2**64 - 1 or libc.mprotect(at, 4096, 3) == 0)
print(json.dumps({"opened": sorted(opened), "errors": {k: sorted(v) for k, v in errors.items()}}))
"""


def table():
    """{command: capabilities} of the man page's table."""
    with open(os.path.join(ROOT, "man", "nicprobe.8"), encoding="utf-8") as f:
        body = f.read().split(".Sh PERMISSIONS\n")[1].split("\n.S")[0]
    return {command: sorted(re.findall(r"CAP_\w+", caps))
            for commands, caps in re.findall(r"^\.It Cm (.*) Ta (.*)$", body, flags=re.M)
            for command in commands.split(" , ")}


class User:
    """An ordinary user, with these capabilities and groups."""
    def __init__(self, binary, caps=(), groups=(USER,), netns=None):
        words = ",".join(["-all", *(f"+{c}" for c in caps)])
        enter = ["nsenter", f"--net=/run/netns/{netns}"] if netns else []
        self.prefix = [*enter, "setpriv", f"--reuid={USER}", f"--regid={USER}", "--groups", ",".join(map(str, groups)),
                       "--inh-caps", words, "--ambient-caps", words, "--bounding-set", words, "--no-new-privs"]
        self.binary = binary

    def __call__(self, args):
        return subprocess.run([*self.prefix, self.binary, *args.split()], capture_output=True, text=True, timeout=120,
                              check=False)


def measured(stdout):
    """What is the same for all users: a dispatcher, whose directory is root's, is not."""
    doc = json.loads(stdout.replace('"xdp in a dispatcher"', '"xdp"'))
    return {key: doc[key] for key in ("meters", "hooks", "absent", "remarks")}


def commands(binary, ns):
    """Each with exactly the table's capabilities, in its own namespace and in another; and with one fewer."""
    before = left.pins()
    root = subprocess.run(["nsenter", f"--net=/run/netns/{ns}", NICPROBE, "attach", "-j", "tap0"], capture_output=True,
                          text=True, check=True)
    nicprobe("detach", f"{ns}/tap0")
    user = User(binary, MEASURE, netns=ns)
    r = user("attach -j tap0")
    same("rights: attach by a user with three capabilities is root's", r.returncode == 0 and measured(r.stdout) or r.stderr,
         measured(root.stdout))
    r = user("show -t -j tap0")
    same("rights: show, too", [r.returncode, r.stderr, json.loads(r.stdout or "{}").get("lost", {}).get("events", "?")],
         [0, "", 0])
    r = user("list -j")
    same("rights: list, too", [r.returncode, [row["interface"] for row in json.loads(r.stdout or "[]")]], [0, ["tap0"]])
    r = user("detach tap0")
    same("rights: detach, too", [r.returncode, r.stderr, os.path.exists(OURS)], [0, "", False])
    r = user("run tap0 -- true")
    same("rights: run, too", [r.returncode, r.stderr, os.path.exists(OURS)], [0, "", False])
    mounts = (*MEASURE, "sys_admin")
    for args in f"attach {ns}/tap0", f"show -t {ns}/tap0", f"detach {ns}/tap0", f"run {ns}/tap0 -- true":
        r = User(binary, mounts)(args)
        same(f"rights: {args.split()[0]} in another namespace, with CAP_SYS_ADMIN", [r.returncode, r.stderr], [0, ""])
    r = User(binary, mounts, netns=ns)("bench d0 rx-drop --seconds .3")
    check("rights: bench", r.returncode == 0 and "packets/s" in r.stdout, r.stderr)
    r = User(binary, mounts)("driver tun -- true")
    check("rights: driver is not refused for want of a right", "CAP_" not in r.stderr and "mount" not in r.stderr, r.stderr)
    r = User(binary, MEASURE, netns=ns)("wifi")
    check("rights: wifi is not refused for want of a right", "CAP_" not in r.stderr, r.stderr)
    for args in ("list", "list -v", "show tap0 hw", "drivers veth", "explain ecn-marked", "complete meters", "--help"):
        r = User(binary, netns=ns)(args)
        same(f"rights: {args} needs none", [r.returncode, r.stderr, bool(r.stdout)], [0, "", True])
    for args, needs in (("attach tap0", MEASURE), ("detach tap0", MEASURE), ("run tap0 -- true", MEASURE), ("wifi", MEASURE), ("host connect", MEASURE),
                        ("bench d0", mounts), ("driver tun", mounts)):
        for less in needs:
            if less in ("bpf", "perfmon") and "sys_admin" in needs:
                continue	# the user lacks these as well
            r = User(binary, [c for c in needs if c != less], netns=ns)(args)
            check(f"rights: {args.split()[0]} without CAP_{less.upper()} says so",
                  r.returncode == 1 and f"this needs CAP_{less.upper()}\n" in r.stderr, f"{r.returncode} {r.stderr!r}")
    same("rights: nothing is left", left.pins(), before)
    want = {"attach": MEASURE, "detach": MEASURE, "run": MEASURE, "wifi": MEASURE, "host": MEASURE, "driver": mounts, "bench": mounts,
            "show": (), "list": (), "serve": (), "drivers": (), "explain": (), "complete": ()}
    told = table()
    same("rights: the man page has the same table", {c: told.get(c) for c in want},
         {c: sorted(f"CAP_{n.upper()}" for n in caps) for c, caps in want.items()})


def group(binary, ns, nic):
    """--group: members may read, others may not, and nobody may do more."""
    iface = f"{ns}/tap0"
    nicprobe("attach", "--group", GROUP, iface)
    nic("send 1 25 100")
    nic("go")
    # packets at tx-stack that come by themselves would differ between two readings
    ours = json.loads(nicprobe("show", "-j", iface, "pktsize").stdout)
    inside, outside = User(binary, groups=(GROUP,), netns=ns), User(binary, groups=(GROUP,))
    for name, user, arg in ("in its namespace", inside, "tap0"), ("from another", outside, iface):
        r = user(f"show -t -q -j {arg} pktsize")
        doc = json.loads(r.stdout or "{}")
        same(f"rights: a member reads {name}: as root does", [r.returncode, r.stderr, doc.get("meters")],
             [0, "", ours["meters"]])
        same(f"rights: a member reads {name}: of missed events it is said that only root is told",
             doc.get("lost", {}).get("events", "?"), None)
        r = user(f"show -t {arg}")
        check(f"rights: a member reads {name}: in words, too", "unknown without root" in r.stdout and "25 packets" in r.stdout,
              r.stdout + r.stderr)
        check(f"rights: a member reads {name}: what only root can look at is not said to be gone or changed",
              not re.search("no longer attached|queues now|hook-blind", r.stdout), r.stdout)
        for args in f"show -w .1 {arg}", f"show -f openmetrics {arg}", "show -t", "list":
            r = user(args)
            same(f"rights: a member reads {name}: {args.replace(arg, 'IFACE')}", [r.returncode, r.stderr, "tap0" in r.stdout],
                 [0, "", True])
    check("rights: a member is told what of another namespace is not seen", "entered by root only" in outside("list").stdout)
    for user, name in (User(binary, groups=(OTHER,), netns=ns), "of no group"), (User(binary, netns=ns), "of another"):
        for args in "show tap0", "show", "list":
            r = user(args)
            check(f"rights: a user {name} is refused: {args}", r.returncode == 1 and "Permission denied" in r.stderr and
                  "--group" in r.stderr and not r.stdout, f"{r.returncode} {r.stderr!r} {r.stdout!r}")
    modes = {}
    for top, _, files in os.walk(OURS):
        if os.path.basename(top).startswith("shared-"):     # for attach and detach only: root's
            same("rights: nobody else reads what interfaces share", oct(os.stat(top).st_mode & 0o7777), "0o700")
            continue
        modes.setdefault(oct(os.stat(top).st_mode & 0o7777), []).append(os.stat(top).st_gid)
        for pin in files:
            st = os.stat(f"{top}/{pin}")
            modes.setdefault(oct(st.st_mode & 0o7777), set()).add(st.st_gid)
    same("rights: directories and maps are the group's to read, links and programs root's",
         modes, {"0o750": [GROUP] * 3, "0o640": {GROUP}, "0o660": {GROUP}, "0o600": {0}})
    for args in "detach tap0", "detach --all --force", "attach tap0":
        r = inside(args)
        check(f"rights: a member cannot {args.split()[0]}", r.returncode == 1 and "this needs CAP_BPF" in r.stderr, r.stderr)
    r = subprocess.run([*inside.prefix, "python3", "-c", WRITE, f"{OURS}/*/tap0/*"], capture_output=True, text=True, check=False)
    rows = [os.path.basename(path) for path in glob.glob(f"{OURS}/*/tap0/*") if os.stat(path).st_mode & 0o020]
    same("rights: a member can open to write what has rows in memory", [r.stderr, json.loads(r.stdout or "{}").get("opened")],
         ["", sorted(2 * rows)])
    same("rights: a member can write into none of it, by no way", json.loads(r.stdout or "{}").get("errors"),
         {way: ["EACCES" if way == "mprotect" else "EPERM"] for way in ("update", "delete", "mmap", "mprotect")})
    check("rights: rows in memory are of the meters attached", {"pktsize", "ecn", "rxcpu", "txlat"} <= set(rows), str(rows))
    mapped = subprocess.run(["strace", "-f", "-e", "trace=mmap", *inside.prefix, binary, "show", "-t", "tap0"],
                            capture_output=True, text=True, check=False)
    check("rights: a member has the rows mapped, as root has", mapped.stderr.count("PROT_READ, MAP_SHARED") >= len(rows), mapped.stderr)
    nic("send 1 25 100")
    nic("go")
    same("rights: programs count on in maps that are frozen", sum(r["packet_size_bytes"]["count"] for r in json.loads(
        nicprobe("show", "-j", iface, "pktsize").stdout)["meters"]["pktsize"] if r["point"] == "rx-nic"), 50)
    nicprobe("attach", "-m", "-txlat", iface)
    nicprobe("attach", "-m", "+txlat", iface)
    nic("send 1 25 100")
    nic("go")
    doc = json.loads(inside("show -t -q -j tap0").stdout or "{}").get("meters", {})
    same("rights: what is added later is the group's, too", ["txlat" in doc, oct(os.stat(glob.glob(
        f"{OURS}/*/tap0/txlat")[0]).st_mode & 0o7777), sum(r["packet_size_bytes"]["count"] for r in doc.get("pktsize", [])
        if r["point"] == "rx-nic")], [True, "0o660", 75])
    lab.same("rights: an interface attached without a group is not shown to it",
             [nicprobe("attach", f"{ns}/d0").returncode, *("d0" in inside(a).stdout for a in ("list", "show -t"))],
             [0, False, False])
    r = nicprobe("attach", "--group", OTHER, f"{ns}/d1", check=False)
    check("rights: there is one group", r.returncode == 1 and f"another group ({GROUP})" in r.stderr, r.stderr)
    nicprobe("detach", "--all")
    r = nicprobe("attach", "--group", "no-such-group", iface, check=False)
    check("rights: a group that is none", r.returncode == 1 and 'no group "no-such-group"' in r.stderr, r.stderr)
    os.chmod(left.BPFFS, 0o700)
    r = nicprobe("attach", "--group", GROUP, iface, check=False)
    check("rights: a BPF file system that lets nobody pass", r.returncode == 1 and f"chmod o+x {left.BPFFS}" in r.stderr,
          r.stderr)
    os.chmod(left.BPFFS, 0o711)
    r = nicprobe("attach", "--group", GROUP, iface)
    same("rights: one that lets all pass, and list nothing", inside("list").returncode, 0)
    nicprobe("detach", "--all")
    os.chmod(left.BPFFS, 0o1777)


def main():
    ns = Namespace("rights")
    nic = tap(ns)
    ns.ip("link add d0 type veth peer name d1")
    for name in "d0", "d1":
        ns.ip(f"link set {name} up")
    before = left.Before(ns)
    with tempfile.TemporaryDirectory() as path:
        os.chmod(path, 0o755)
        binary = shutil.copy(NICPROBE, path)
        os.chmod(binary, 0o755)
        lab.each(commands, group, binary=binary, ns=ns, nic=nic,
                 after=lambda: (nicprobe("detach", "--all", check=False), sh(f"rm -rf {OURS}")))
    before.check("rights: all of this leaves nothing")
    nic.close()


lab.need_root()
left.own_bpffs()
os.makedirs(f"{left.BPFFS}/xdp", exist_ok=True)     # libxdp leaves it behind if it has a dispatcher
main()
lab.finish()

# SPDX-License-Identifier: GPL-2.0
"""Bad input, and what is in the way: one clear sentence with a suggestion, the right exit status, nothing left behind."""
import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import tempfile
import termios

from lib import lab, left
from lib.lab import NICPROBE, Namespace, check, nicprobe, same, sh, skip, tap
from lib.sentences import OURS, bad, one_sentence, run

THEIRS = """
__attribute__((section("xdp"), used)) int their_xdp(void *ctx) { return 2; }
char _license[] __attribute__((section("license"), used)) = "GPL";
"""


def words(ns, iface):
    """Invalid arguments."""
    bad("no such interface", f"attach {ns}/tap1", 1, 'no interface "tap1" here; is it "tap0"?')
    bad("no such interface, nothing near", f"attach {ns}/eleven", 1, 'no interface "eleven" here')
    bad("a name that cannot be", f"attach {ns}/a:b", 1, '"a:b" is not a valid interface name')
    bad("an empty name", ["attach", ""], 1, "name is empty")
    bad("a very long name", ["attach", "x" * 300], 1, "too long")
    bad("no such namespace", "attach nonsuch-ns/tap0", 1, 'no network namespace "nonsuch-ns"')
    bad("no such namespace: show", "show nonsuch-ns/tap0", 1, 'no network namespace "nonsuch-ns"')
    bad("no such namespace: detach", "detach nonsuch-ns/tap0", 1, 'no network namespace "nonsuch-ns"')
    bad("a namespace that is a path", "attach ../../proc/1/ns/net/tap0", 1, "no network namespace")
    bad("not attached: show", f"show {iface}", 1, "is not attached", "attach")
    bad("not attached: detach", f"detach {iface}", 1, "is not attached")
    bad("nothing attached: show", "show", 1, "nothing is attached")
    bad("unknown meter", f"attach -m ecm {iface}", 2, 'no meter "ecm"', "ecn")
    bad("unknown meter among others", f"attach -m pktsize,frobnicate {iface}", 2, 'no meter "frobnicate"')
    bad("no meter at all", ["attach", "-m", "", iface], 2, "-m needs a meter")
    bad("a sign without a meter", f"attach -m + {iface}", 2, "-m + needs a meter")
    bad("a number that is not decimal", f"show -w 0x10 {iface}", 2, '-w takes a number from', "0x10")
    bad("unknown format", "show -f jsn", 2, 'no format "jsn"', "json")
    bad("unknown format, nothing near", "show -f frobnicate", 2, 'no format "frobnicate"', "openmetrics")
    bad("unknown command", "atach eth9", 2, 'no command "atach"', "nicprobe attach")
    bad("unknown command, nothing near", "frobnicate", 2, 'no command "frobnicate"', "--help")
    bad("unknown option", f"attach --metres ecn {iface}", 2, "no option --metres", "--meters")
    bad("unknown option of show", "show --interwal 1", 2, "no option --interwal", "--interval")
    bad("unknown common option", "list --jsn", 2, "no option --jsn", "--json")
    bad("unknown short option", "show -z", 2, "no option -z", "nicprobe show --help")
    bad("unknown short option among others", "list -vq", 2, "no option -q")
    bad("an option without its value", "show -i", 2, "-i needs a value")
    bad("a long option without its value", "show --interval", 2, "--interval needs a value")
    bad("a value that an option does not take", "list --json=1", 2, "--json takes no value")
    bad("unknown hook", f"attach --rx xpd {iface}", 2, 'no hook "xpd"', "--rx xdp")
    for value in "0", "-1", "abc", "1s", "", "nan", "1e9":
        bad(f"-i {value!r}", ["show", "-i", value], 2, "-i takes", f'"{value}"')
    for value in "0", "-1", "abc", "1.5", "99999999999999999999":
        bad(f"-c {value!r}", ["show", "-c", value], 2, "-c takes", f'"{value}"')
    for value in "0", "-1", "abc", "", "1000001", "99999999999999999999":
        bad(f"--sample {value!r}", ["attach", "--sample", value, iface], 2, "--sample takes", f'"{value}"')
    for value in "0", "-1", "abc", "", "100.1", "2%%", "nan", "0.001":
        bad(f"--budget {value!r}", ["attach", "--budget", value, iface], 2, "--budget takes", f'"{value}"')
    bad("--budget with --sample", f"attach --budget 2 --sample 16 {iface}", 2, "and so does --sample")
    bad("attach without an interface", "attach", 2, "attach: no interface given")
    bad("attach with two", "attach a b", 2, "attach takes one interface")
    bad("detach without an interface", "detach", 2, "detach: no interface given")
    bad("detach with one and --all", "detach --all x", 2, "one interface or --all, not both")
    bad("detach with two", "detach a b", 2, "one interface")
    bad("list with one", "list x", 2, "list takes meters only with -v")
    bad("run without a command", f"run {iface}", 2, "run needs an interface and a command")
    bad("run without a command after --", f"run {iface} --", 2, "run needs an interface and a command")
    bad("run without anything", "run", 2, "run needs an interface and a command")
    bad("complete what?", "complete frobnicate", 2, "complete takes one of")
    r = run("")
    check("bad: no command shows the commands", r.returncode == 2 and "nicprobe attach" in r.stderr, r.stderr)


def attached(iface):
    nicprobe("attach", iface)
    bad("attached already", f"attach {iface}", 1, "is attached already", "nicprobe show")
    bad("run on what is attached", f"run {iface} -- true", 1, "is attached already")
    bad("a meter that does not exist: show", f"show {iface} ecm", 2, 'no meter "ecm"')
    near = iface[:-1] + "1"
    bad("show of a name like it", f"show {near}", 1, "is not attached", f"nicprobe show {iface}")
    nicprobe("detach", iface)
    nicprobe("attach", "-m", "ecn", iface)
    bad("a meter that is not measured", f"show {iface} txlat", 1, "txlat is not measured")
    nicprobe("detach", iface)


def meters_that_cannot_be(ns):
    ns.ip("link add v0 numtxqueues 4 type veth peer name v1 numtxqueues 4")
    bad("a meter asked for that cannot be had", f"attach -m txlat {ns}/v0", 1, "txlat cannot be had", "never completes",
        hint=False)
    bad("veth with too few receive queues for XDP", f"attach --rx xdp {ns}/v0", 1, "rejects XDP", "--rx driver",
        before=["attaching XDP to"])
    ns.ip("link del v0")
    ns.ip("link add d0 type ifb")
    bad("a driver without XDP", f"attach --rx xdp {ns}/d0", 1, "no native XDP", "--rx driver")
    ns.ip("link del d0")


def many_queues(ns):
    ns.ip("link add d0 numtxqueues 4096 numrxqueues 4096 type veth peer name d1 numtxqueues 1 numrxqueues 4096")
    r = run(f"attach {ns}/d0")
    check("bad: 4096 queues", r.returncode == 0, r.stderr)
    run(f"detach {ns}/d0")
    group = "/sys/fs/cgroup/memory/nicprobe-test"
    if os.path.exists(os.path.dirname(group)):
        os.makedirs(group, exist_ok=True)
        with open(f"{group}/memory.limit_in_bytes", "w", encoding="ascii") as f:
            f.write("10M")
        r = run(f"attach {ns}/d0", prefix=["sh", "-c", f'echo $$ >{group}/cgroup.procs; exec "$@"', "sh"])
        # the kernel may kill the process rather than fail the allocation
        check("bad: a memory limit", r.returncode == -9 or not one_sentence(r.stderr, ["memory"], False),
              f"{r.returncode} {r.stderr}")
        run(f"detach {ns}/d0")
        os.rmdir(group)
    else:
        skip("bad: a memory limit", "no memory cgroup of version 1")
    ns.ip("link del d0")
    r = sh(f"ip -n {ns} link add d0 numtxqueues 4097 type veth peer name d1 2>&1", check=False)
    check("bad: more than 4096 queues the kernel refuses itself", "ueues" in r, r)


def xdp_taken(ns, iface):
    with tempfile.TemporaryDirectory() as path:
        with open(f"{path}/x.c", "w", encoding="ascii") as f:
            f.write(THEIRS)
        sh(f"clang -O2 -g -target bpf -c -o {path}/x.o {path}/x.c")
        for mode in "xdpdrv", "xdpgeneric":
            ns.ip(f"link set dev tap0 {mode} obj {path}/x.o sec xdp")
            theirs = left.network(ns)
            bad(f"XDP is taken ({mode})", f"attach --rx xdp {iface}", 1, 'XDP is taken by "their_xdp" (id ',
                "--rx driver")
            r = run(f"attach {iface}")
            check(f"bad: XDP is taken ({mode}): auto takes the driver's tracepoints, and says why",
                  r.returncode == 0 and re.search(r"rx-nic +\S*_entry \(.*their_xdp", " ".join(r.stdout.split())),
                  r.stdout + r.stderr)
            run(f"detach {iface}")
            same(f"bad: XDP is taken ({mode}): theirs stays", left.network(ns), theirs)
            ns.ip(f"link set dev tap0 {mode} off")
        # ours came first: theirs is rejected until we detach
        nicprobe("attach", "--rx", "xdp", iface)
        r = subprocess.run(["ip", "-n", str(ns), *f"link set dev tap0 xdpdrv obj {path}/x.o sec xdp".split()],
                           capture_output=True, check=False)
        check("bad: nobody pushes our XDP program out", r.returncode != 0 and "nicprobe_rx" in ns.ip("-d link show tap0"))
        nicprobe("detach", iface)


def foreign_pins(ns, iface):
    """Pins of another version, incomplete, or foreign."""
    number = os.stat(f"/run/netns/{ns}").st_ino
    home = f"{OURS}/{number}/tap0"

    def fake(value, name="nicprobe_meta"):
        sh(f"mkdir -p -m 700 {home}")
        sh(f"bpftool map create {home}/meta type array key 4 value {len(value)} entries 1 name {name}")
        sh(f"bpftool map update pinned {home}/meta key 0 0 0 0 value {' '.join(map(str, value))}")

    def all_say(name, *words):
        for args in f"attach {iface}", f"show {iface}", f"detach {iface}", f"run {iface} -- true":
            bad(f"{name}: {args.split()[0]}", args, 1, *words)
        r = run("list")
        check(f"bad: {name}: list", r.returncode == 0 and not one_sentence(r.stderr, words, hint=False), r.stderr)
        r = run("detach --all")
        check(f"bad: {name}: detach --all", r.returncode == 1 and not one_sentence(r.stderr, words), r.stderr)
        check(f"bad: {name}: it stays", os.path.exists(f"{home}/meta"))

    magic = struct.pack("<II", 0x6e696370, 99)
    fake(magic + bytes(3000))
    all_say("another version", "another version of nicprobe", "nicprobe detach ", "/tap0 --force")
    r = run(f"detach --force {iface}")
    check("bad: another version: detach --force", r.returncode == 0 and not os.path.exists(OURS), r.stderr)
    fake(struct.pack("<II", 0x6e696370, 1) + bytes(8))
    all_say("this version, but cut short", "another version of nicprobe", "--force")
    r = run("detach --all --force")
    check("bad: cut short: detach --all --force", r.returncode == 0 and not os.path.exists(OURS), r.stderr)
    for name, make in (("someone's map", lambda: fake(bytes(64), "theirs")), ("no magic", lambda: fake(bytes(64))),
                       ("a directory", lambda: sh(f"mkdir -p {home}/meta"))):
        make()
        all_say(f"meta is {name}", "not ours", f"rm -r {home}")
        sh(f"rm -r {home}")
        run("detach --all")
    sh(f"mkdir -p {OURS}/README {OURS}/{number}/.. {OURS}/12")
    r = run(f"attach {iface}")
    check("bad: someone's directories among ours do no harm", r.returncode == 0, r.stderr)
    sh(f"mkdir {OURS}/{number}/tap9")	# an attach that was interrupted at once
    r = run("list")
    check("bad: an attach that was cut short: list says so",
          r.returncode == 0 and "tap0" in r.stdout and "interrupted" in r.stderr, f"{r.stdout} {r.stderr}")
    r = run("show -j")
    check("bad: an attach that was cut short: show shows the others",
          r.returncode == 0 and [json.loads(line)["interface"] for line in r.stdout.splitlines()] == ["tap0"],
          f"{r.returncode} {r.stdout[:200]} {r.stderr}")
    bad("an attach that was cut short is not attached", f"show {ns}/tap9", 1, "is not attached")
    r = run("detach --all")
    same("bad: detach --all removes it, too", [r.returncode, r.stderr, os.path.exists(OURS)], [0, "", False])


def output(iface):
    """A closed pipe, a full disk, a narrow terminal."""
    nicprobe("attach", iface)
    for args in f"show {iface}", "list", f"show -j {iface}", f"show -f openmetrics {iface}", "list -v", "--help":
        r = subprocess.run(f"{NICPROBE} {args} >/dev/full", shell=True, capture_output=True, text=True, check=False)
        said = re.sub(r'^\{"error":"(.*)"\}$', r"nicprobe: \1", r.stderr)
        why = one_sentence(said, ["cannot write", "No space left"], hint=False)
        check(f"bad: a full disk: {args.replace(iface, 'IFACE')}", r.returncode == 1 and not why,
              f"{r.returncode} {why}")
        r = subprocess.run(f"{NICPROBE} {args} | head -c 1", shell=True, capture_output=True, text=True, check=False,
                           timeout=20)
        same(f"bad: a reader that goes: {args.replace(iface, 'IFACE')}", [len(r.stdout), r.stderr], [1, ""])
    r = subprocess.run(f"{NICPROBE} show -j -i .1 {iface} | head -3", shell=True, capture_output=True, text=True,
                       check=False, timeout=20)
    same("bad: show -i ends when its reader goes", [len(r.stdout.splitlines()), r.stderr], [3, ""])
    r = subprocess.run(f"{NICPROBE} attach {iface} >&-", shell=True, capture_output=True, text=True, check=False)
    check("bad: no stdout at all", r.returncode == 1 and not one_sentence(r.stderr, ["attached already"]), r.stderr)
    for columns in 40, 20, 1:
        wide = [line for line in nicprobe("show", iface, env={"COLUMNS": str(columns)}).stdout.splitlines()
                if len(line) > max(columns, 40)]
        same(f"bad: {columns} columns: show", wide, [])
    wide = [line for line in terminal(["show", iface], 40) if len(line) > 40]
    same("bad: a terminal of 40 columns: show", wide, [])
    nicprobe("detach", iface)


def terminal(args, columns):
    """The output on a terminal of this width."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    p = subprocess.Popen([NICPROBE, *args], stdout=theirs, stdin=theirs, env={**os.environ, "TERM": "xterm"})
    os.close(theirs)
    text = b""
    while True:
        try:
            more = os.read(ours, 65536)
        except OSError:
            break
        if not more:
            break
        text += more
    p.wait()
    os.close(ours)
    return re.sub(r"\x1b\[[0-9;]*m", "", text.decode()).replace("\r", "").splitlines()


def json_errors(ns, iface):
    for args, status in ((f"attach -j {ns}/tap1", 1), (f"show -j {iface}", 1), (f"detach -j {iface}", 1),
                         (f"attach -j -m ecm {iface}", 2), ("show -j -f jsn", 2), ("list -j x", 2),
                         ("show -j --frob", 2), (f"run -j {iface}", 2), ("show -j -i x", 2), ("detach -j", 2)):
        r = run(args)
        try:
            said = json.loads(r.stderr)
        except ValueError:
            said = {}
        check(f"bad: -j makes errors JSON: {args.replace(str(ns), 'NS')}",
              r.returncode == status and said.get("error") and set(said) <= {"error", "try"} and not r.stdout,
              f"{r.returncode} {r.stderr!r} {r.stdout!r}")


lab.need_root()
left.own_bpffs()
ns = Namespace("bad")
nic = tap(ns, queues=4)
before = left.Before(ns)
lab.each(words, attached, meters_that_cannot_be, many_queues, xdp_taken, foreign_pins, output, json_errors,
         ns=ns, iface=f"{ns}/tap0", after=lambda: nicprobe("detach", "--all", check=False))
before.check("bad: all of this leaves nothing")
nic.close()
lab.finish()

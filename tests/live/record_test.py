# SPDX-License-Identifier: GPL-2.0
"""What a recording has is what was sent: exactly, window by window, with findings and events, and as show says it."""
import contextlib
import random
import shutil
import struct
import tempfile

from lib.lab import *

need_root()
a = Namespace("rec")
nic = tap(a, "tap0", 4, "--napi", 1500, "198.18.0.2/16")
a.ip("neigh add 198.18.0.1 lladdr 02:00:00:00:00:01 dev tap0")
a.run("sysctl -qw net.ipv4.icmp_ratelimit=0")
nic("read on")
TAP = f"{a}/tap0"
DIR = tempfile.mkdtemp(prefix="nicprobe-record-")
atexit.register(sh, f"rm -rf {DIR}", check=False)


def send(count, port=77):
    nic(f"send 0 {count} 200 dport={port}")
    nic("go")


def path(name):
    return os.path.join(DIR, name)


def start(file, *args):
    """A recorder that has its first frame."""
    p = subprocess.Popen([NICPROBE, "record", path(file), *args], stderr=subprocess.PIPE, text=True)
    until(lambda: os.path.exists(path(file)) and os.path.getsize(path(file)) > 1000 or p.poll() is not None)
    return p


def end(p, how=signal.SIGINT):
    p.send_signal(how)
    return p.communicate(timeout=60)[1]


def asked(file, *args):
    """What show --from prints, without the options that other tests need."""
    r = subprocess.run([NICPROBE, "show", "--from", path(file), *args], capture_output=True, text=True, timeout=60)
    if r.returncode:
        raise RuntimeError(f"show --from {file} {args}: {r.stderr}")
    return r.stdout


def shown(file, *args):
    return json.loads(asked(file, "-j", *args))


def packets(doc, point="rx-nic"):
    return sum(r["packet_size_bytes"]["count"] for r in doc["meters"]["pktsize"] if r["point"] == point)


def events(file):
    return [json.loads(line) for line in asked(file, "-j", "--events").splitlines()]


def test_refused():
    # other tests may have something attached: not in a BPF file system of its own
    r = subprocess.run(["unshare", "-m", "sh", "-c", f"mount -t bpf bpf /sys/fs/bpf && exec {NICPROBE} record {path('none')}"],
                       capture_output=True, text=True, timeout=60)
    check("nothing attached: refused, nothing is written",
          r.returncode == 1 and "nothing is attached" in r.stderr and not os.path.exists(path("none")), r.stderr)
    for args, words in ((["record"], "needs a file"), (["record", path("x"), TAP], "is not attached"),
                        (["show", "--at", "03:12"], "goes with --from"),
                        (["show", "--from", path("x")], "No such file"),
                        (["show", "--from", "/etc/passwd"], "not a recording"),
                        (["record", path("x"), "--ring", "1"], "10s or more"),
                        (["record", path("x"), "--for", "soon"], "takes a time"),
                        (["record", path("x"), "--", "no-such-command"], "cannot run"),
                        (["record", path("x"), "--for", "1s", "--", "true"], "not both")):
        r = nicprobe(*args, check=False)
        check(f"{' '.join(args[:1] + args[2:])}: a sentence", r.returncode and words in r.stderr, r.stderr)


def test_exact():
    nicprobe("attach", TAP)
    p = start("exact", TAP, "-i", ".2")
    before = show(TAP)
    send(300)
    time.sleep(1)
    send(50)
    time.sleep(.5)
    end(p)
    doc, after = shown("exact"), show(TAP)
    same("the window has what was sent", packets(doc), 350)
    same("the totals at its end are those of show", shown("exact", "-t")["meters"]["pktsize"], after["meters"]["pktsize"])
    same("the drops are in it", sum(r["packets"] for r in doc["meters"]["drop"]), 350)
    check("their reasons and places have names", all(r["reason"] == "NO_SOCKET" and r["function"]
          for r in doc["meters"]["drop"]) if doc["meters"]["drop"] and "function" in doc["meters"]["drop"][0] else True)
    same("the document has the keys of show's", sorted(doc), sorted(show(TAP, "-w", ".1")))
    check("what was found then is found", "udp-port-closed" in found(doc), str(found(doc)))
    kinds = [(e["event"], e["what"].split(":")[0]) for e in events("exact") if e["event"].startswith("finding")]
    check("as an event", ("finding", "udp-port-closed") in kinds, str(kinds))
    table = asked("exact")
    check("a table says it, too", "udp-port-closed: 300 packets" in table, table)
    counts = [[line for line in text.splitlines() if "_count{" in line] for text in (
        asked("exact", "-f", "prometheus", "pktsize"), nicprobe("show", "-f", "prometheus", "-w", ".1", TAP,
                                                               "pktsize").stdout)]
    same("prometheus has the totals", *counts)


def test_window():
    """Each window has what was sent in it."""
    p = start("window", TAP, "-i", ".1")
    marks = []
    for count in (10, 200, 3):
        time.sleep(.35)
        begin = time.time()
        send(count)
        time.sleep(.35)
        marks.append((count, begin, time.time()))
    end(p)
    for count, begin, stop in marks:
        doc = shown("window", "--between", f"@{begin - .2:.3f}", f"@{stop:.3f}")
        same(f"between: the window has the {count} packets that were sent in it", packets(doc), count)
    _, begin, stop = marks[1]
    sums = [packets(shown("window", "--at", f"@{begin + i / 10:.3f}")) for i in range(-1, int(10 * (stop - begin)) + 1)]
    check("at: the packets are in one or two windows of a frame", max(sums) > 100, str(sums))
    same("the whole recording has all of them", packets(shown("window")), 213)
    r = subprocess.run([NICPROBE, "show", "--from", path("window"), "--at", "@1000"], capture_output=True, text=True)
    check("a time that is not in it: a sentence", r.returncode == 1 and "is not in it" in r.stderr, r.stderr)


def test_settings():
    p = start("settings", TAP, "-i", ".2")
    a.ip("link set tap0 mtu 1400")
    a.run("tc qdisc replace dev tap0 root pfifo_fast")
    a.run("ethtool -K tap0 gro off")
    a.ip("link set tap0 down")
    time.sleep(.5)
    end(p)
    told = [e["what"] for e in events("settings") if e["event"] in ("setting", "link")]
    for what in ("MTU: 1500, now 1400", "now pfifo_fast", "feature rx-gro: on, now off", "the link is down"):
        check(f"an event: {what}", any(what in t for t in told), str(told))
    a.ip("link set tap0 up mtu 1500")
    a.run("ethtool -K tap0 gro on")


def test_command():
    r = nicprobe("record", path("command"), TAP, "--", "sh", "-c", "sleep .3; exit 7", check=False)
    same("the status is the command's", r.returncode, 7)
    check("it says what was recorded", "frames in" in r.stderr, r.stderr)
    r = nicprobe("record", path("command"), TAP, "--for", ".3s")
    check("a second run is added, and it says so", "adding to it" in r.stderr, r.stderr)


def test_gone():
    b = Namespace("gone")
    tap(b, "tap1", 1)
    nicprobe("attach", f"{b}/tap1", "-m", "pktsize")
    p = start("gone", "-i", ".1")
    time.sleep(.3)
    nicprobe("detach", f"{b}/tap1")
    send(20)
    time.sleep(.5)
    end(p)
    told = [(e["interface"], e["event"]) for e in events("gone")]
    check("that one is detached is an event", (f"{b}/tap1", "gone") in told, str(told))
    same("the other is recorded further", packets(shown("gone", TAP)), 20)


def test_anew():
    """It is detached and attached again between two frames: both are events, and what was found has ended."""
    nicprobe("attach", TAP, check=False)
    p = start("anew", TAP, "-i", "1")
    send(100)
    until(lambda: any(e["event"] == "finding" for e in events("anew")))
    nicprobe("detach", TAP)
    nicprobe("attach", TAP)
    time.sleep(2)
    end(p)
    told = [(e["event"], e["what"]) for e in events("anew") if e["interface"] == TAP]
    same("attached anew between two frames: what happened", [event for event, what in told if event in ("attached", "gone") or
                                                           what.startswith("udp-port-closed")],
         ["attached", "finding", "finding ends", "gone", "attached"])


def mapped(pid):
    """Bytes of BPF maps that a process has mapped."""
    with open(f"/proc/{pid}/maps", encoding="ascii") as f:
        ranges = [line.split()[0].split("-") for line in f if line.rstrip().endswith("anon_inode:bpf-map")]
    return sum(int(end, 16) - int(begin, 16) for begin, end in ranges)


def programs(pid):
    """BPF programs that a process has open."""
    open_now = 0
    for fd in os.listdir(f"/proc/{pid}/fd"):
        with contextlib.suppress(FileNotFoundError):	# it was closed meanwhile
            open_now += "bpf-prog" in os.readlink(f"/proc/{pid}/fd/{fd}")
    return open_now


def test_held():
    """What it holds of an interface between two frames is gone one frame after a detach; with rare frames it holds nothing."""
    nicprobe("detach", TAP, check=False)
    nicprobe("attach", TAP)
    often, rarely = start("often", TAP, "-i", ".5"), start("rarely", TAP, "-i", "5")
    until(lambda: mapped(often.pid) > 0)
    check("record: between frames its maps stay mapped", mapped(often.pid) > 10000, mapped(often.pid))
    same("record: but not for five seconds", mapped(rarely.pid), 0)
    check("record: between frames its programs stay open", programs(often.pid) > 10, programs(often.pid))
    same("record: nor they for five seconds", programs(rarely.pid), 0)
    nicprobe("detach", TAP)
    until(lambda: mapped(often.pid) + programs(often.pid) == 0)
    same("record: a detach ends that", (mapped(often.pid), programs(often.pid)), (0, 0))
    end(often), end(rarely)
    nicprobe("attach", TAP)


def test_ring():
    p = start("ring", TAP, "-i", ".1", "--ring", "10s")
    for _ in range(24):
        send(7)
        time.sleep(1)
    sizes = [os.path.getsize(path(f)) for f in os.listdir(DIR) if f.startswith("ring")]
    end(p)
    doc = shown("ring")
    seconds = [json.loads(asked("ring", "-j", "-t", "--at", at))["time"] for at in ("-10s",)]
    same("a ring has two files", len(sizes), 2)
    check("it has the last 10 s at least, and 20 s at most", 9 <= doc["seconds"] <= 21, str(doc["seconds"]))
    check("ten seconds ago is in it", len(seconds) == 1)


CLOCK = r"""
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
int clock_gettime(clockid_t clock, struct timespec *t)
{
	int err = syscall(SYS_clock_gettime, clock, t), by = 0;
	FILE *f = clock == CLOCK_REALTIME ? fopen(getenv("CLOCK_BY"), "r") : NULL;

	if (f && fscanf(f, "%d", &by) == 1)
		t->tv_sec += by;
	if (f)
		fclose(f);
	return err;
}
"""


def test_set_back():
    """The clock is set back by an hour: each packet is found at the time that the clock told when it came."""
    if not shutil.which("cc"):
        skip("a clock that is set back", "there is no cc")
        return
    nicprobe("attach", TAP, check=False)
    subprocess.run(["cc", "-shared", "-fPIC", "-xc", "-o", path("clock.so"), "-"], input=CLOCK, text=True, check=True)

    def set_to(by):
        with open(path("clock.new"), "w", encoding="ascii") as f:
            f.write(str(by))
        os.rename(path("clock.new"), path("clock"))

    set_to(0)
    os.environ.update(LD_PRELOAD=path("clock.so"), CLOCK_BY=path("clock"))
    p = start("back", TAP, "-i", ".2")
    del os.environ["LD_PRELOAD"]
    begin = time.time()
    send(100)
    time.sleep(1)
    middle = time.time()
    set_to(-3600)
    time.sleep(.4)
    send(50)
    time.sleep(1)
    end(p)
    stop = time.time()
    del os.environ["CLOCK_BY"]
    same("set back: an event tells it", [e["what"] for e in events("back") if e["event"] == "clock"],
         ["it was set back by 1 h 0 min"])
    for name, count, a, sent, b in (("before", 100, begin - .3, begin, middle),
                                    ("after", 50, middle - 3600, middle + .4 - 3600, stop - 3600)):
        doc = shown("back", "--between", f"@{a:.3f}", f"@{b:.3f}")
        same(f"set back: what came {name} is between the times {name}", packets(doc), count)
        at = [shown("back", "--at", f"@{sent + i / 5:.3f}") for i in range(4)]
        check("set back: and at one of them", max(packets(doc) for doc in at) > count / 3, [packets(doc) for doc in at])
    same("set back: without times, the window is what came after it", packets(shown("back")), 50)
    r = nicprobe("top", "-b", "-i", ".2", "--from", path("back"), env={"COLUMNS": "200"})
    times = [line.split()[1] for line in r.stdout.splitlines() if "  window " in line]
    told = [line.split()[2] for line in r.stdout.splitlines() if line.split()[:2] == [TAP, "tun"]]
    check("set back: top goes through it as it was recorded", len(times) > 8 and sum(a > b for a, b in zip(times, times[1:])) == 1,
          times)
    same("set back: and shows what came before and after", sum(t != "0" and t != "-" for t in told) >= 2, True)
    page = nicprobe("report", path("back")).stdout
    check("set back: a report is of what came after it", "udp-port-closed" in page and "50 packets" in page)


def written(file):
    """When the frames of a file were read, and how many bytes behind its last whole block there are: docs/record.md."""
    with open(path(file), "rb") as f:
        data = f.read()
    at, when = 0, []
    while at + 24 <= len(data):
        mark, kind, _, _, length, ns = struct.unpack_from("<IcBHIQ", data, at)
        if mark != 0x72706e8e or at + 24 + length > len(data):
            break
        when += [ns / 1e9] if kind in b"FD" else []
        at += 24 + length
    return when, len(data) - at


def test_killed():
    """At any moment: what was written is read, and of the frames that were due at most one is not there."""
    nicprobe("attach", TAP, check=False)
    rounds, seed = int(os.environ.get("POINTS", 8)) * 2, random.Random(5)
    bad, cut, ages, nr = [], 0, [], 0
    for i in range(rounds):
        name = f"kill{i}"
        p = start(name, TAP, "-i", ".1")
        send(10)
        time.sleep(.05 + .3 * seed.random())
        p.kill()
        now = time.time()
        p.communicate()
        when, left = written(name)
        nr, cut = nr + len(when), cut + (left > 0)
        ages.append(now - when[-1] if when else 9)
        r = nicprobe("show", "-j", "-t", "--from", path(name), check=False)
        if r.returncode and "no frames" not in r.stderr and "no window" not in r.stderr:
            bad.append(r.stderr)
        elif (r.returncode == 0) != (len(when) > 1):
            bad.append(f"{len(when)} frames, and show says {r.stderr or 'a window'}")
        os.unlink(path(name))
    late = [f"{age:.2f} s" for age in ages if age > .25]	# due each .1 s; that a busy machine makes it late, too
    print(f"# killed {rounds} times: {nr} frames read, {cut} files with a cut block, the last frame at most {max(ages):.3f} s old")
    same(f"killed {rounds} times: every file is read", bad, [])
    check("killed: at most one frame is missing", len(late) <= max(1, rounds // 50), late)


def test_full_disk():
    script = f"""mount -t tmpfs -o size=64k none {DIR}/small
timeout 60 {NICPROBE} record {DIR}/small/f {TAP} -i .1; echo status $?
{NICPROBE} show -j -t --from {DIR}/small/f | head -c 60"""
    os.mkdir(path("small"))
    r = subprocess.run(["unshare", "-m", "sh", "-c", script], capture_output=True, text=True, timeout=100)
    check("a full disk: a sentence", r.stderr.count("No space left") == 1 and "status 1" in r.stdout, r.stdout + r.stderr)
    check("what was written is read", '"nicprobe":' in r.stdout, r.stdout + r.stderr)
    r = subprocess.run(f"ulimit -f 64; timeout 60 {NICPROBE} record {path('limited')} {TAP} -i .1; echo status $?",
                       shell=True, capture_output=True, text=True, timeout=100, check=False)
    check("a limit of file sizes: a sentence", "File too large" in r.stderr and "status 1" in r.stdout, r.stdout + r.stderr)
    check("what was written until then is read", "pktsize" in shown("limited", "-t")["meters"])


each(test_refused, test_exact, test_window, test_settings, test_command, test_gone, test_anew, test_held, test_ring, test_set_back,
     test_full_disk, test_killed)
nicprobe("detach", TAP, check=False)
finish()

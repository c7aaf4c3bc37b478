#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""nicprobe top --from: what a recording has, at each moment as `show --from` says it, by keys and as plain lines."""
import re
import tempfile

from lib.lab import *
from lib.terminal import Terminal, units

need_root()
a = Namespace("replay")
nic = tap(a, "tap0", 2, "--napi", 1500, "198.18.0.2/16")
a.ip("neigh add 198.18.0.1 lladdr 02:00:00:00:00:01 dev tap0")
other = tap(a, "tap1", 2, "--napi", 1500, "198.19.0.2/16")
TAP, OTHER = f"{a}/tap0", f"{a}/tap1"
DIR = tempfile.mkdtemp(prefix="nicprobe-replay-")
atexit.register(sh, f"rm -rf {DIR}", check=False)
FILE = os.path.join(DIR, "a.rec")
SENT = [0, 500, 0, 1500, 0, 0, 2500]    # packets of each step; the recorder makes a frame per second


def asked(*args):
    r = subprocess.run([NICPROBE, "show", "--from", FILE, "-j", *args], capture_output=True, text=True, timeout=60)
    return [json.loads(line) for line in r.stdout.splitlines()]


def record():
    """Packets of known number, a setting that changes, and an interface that is there for a while."""
    nic("read on")
    other("read on")
    nicprobe("attach", TAP)
    nicprobe("attach", OTHER)
    p = subprocess.Popen([NICPROBE, "record", FILE, "-i", "1"], stderr=subprocess.PIPE, text=True)
    until(lambda: os.path.exists(FILE) and os.path.getsize(FILE) > 1000)
    began = time.monotonic()
    for i, count in enumerate(SENT):
        time.sleep(max(0, began + i + .5 - time.monotonic()))    # between two frames
        if count:
            nic(f"send 1 {count} 300 v4 udp ecn=0")
            nic("go")
        if i == 3:
            nicprobe("detach", OTHER)
    time.sleep(1)
    p.send_signal(signal.SIGINT)
    p.communicate(timeout=60)
    nicprobe("detach", TAP)


def windows(*args, of=TAP, file=FILE):
    """[(clock, seconds, packets/s of tap0; None: it is not there)], as top -b prints them: of one interface, as the seconds are
    those of the last one."""
    r = subprocess.run([NICPROBE, "top", "--from", file, "-b", of, *args], capture_output=True, text=True, timeout=60)
    found = []
    for line in r.stdout.splitlines():
        if m := re.match(r"\S+ (\S+)  window (\S+) s", line):
            found.append([m[1], float(m[2]), None])
        if m := re.match(rf"  {TAP} +tun +(\S+)", line):
            found[-1][2] = units(m[1])
    return found, r


def near(got, want):
    """A rate is over the time between two readings of its meter; the window, between those of all of them, with three digits."""
    return got is not None and abs(got - want) <= .04 * want + .001


def test_batch():
    got, r = windows("-i", "1")
    check("batch: a window for each frame but the first", len(SENT) <= len(got) <= len(SENT) + 2, r.stdout + r.stderr)
    counts = [round(rate * seconds, 0) for _, seconds, rate in got if rate is not None]
    check("batch: the packets are those that were sent, one after the other",
          [c for c in counts if c] == approximately([c for c in SENT if c], counts), counts)
    longer, r = windows("-i", "3")
    total = sum(rate * seconds for _, seconds, rate in longer)
    check("batch -i 3: no packet in two windows, or in none", near(total, sum(SENT)), f"{total} of {sum(SENT)}")
    one, r = windows("-i", "1", "-n", "1", "--at", got[3][0])
    check("--at and -n: one window, that of this time", len(one) == 1 and one[0][0] == got[3][0], (one, got[3]))
    named, r = windows("-n", "1", of=OTHER)
    check("a named interface alone", OTHER in r.stdout and TAP not in r.stdout, r.stdout)


def approximately(want, got):
    """`want`, or None if these are not its numbers: rates are printed with four digits."""
    got = [c for c in got if c]
    return got if len(got) == len(want) and all(near(g, w) for g, w in zip(got, want)) else None


def clock(terminal):
    m = re.search(r"(\d\d:\d\d:\d\d)$", terminal.lines()[0])
    return m and m[1]


def rate(terminal):
    m = re.match(rf"  {TAP} +(?:tun +)?(\S+)", terminal.line(f"{TAP} "))
    return m and units(m[1])


def test_keys():
    got, _ = windows("-i", "1")
    busy = [w for w in got if w[2]]
    t = Terminal(f"{NICPROBE} top --from {FILE}", 120, 30)
    check("a recording: the first window", t.shows("a.rec") and until(lambda: clock(t) == got[0][0]), t.screen())
    check("what happened by then is told", "recording begins" in t.screen(), t.screen())
    for nr, w in enumerate(got[1:], 1):
        t.keys("t")
        check(f"t: window {nr}", until(lambda: clock(t) == w[0] and near(rate(t), w[2])), f"{rate(t)}, not {w}\n{t.screen()}")
    t.keys("t")
    check("t at the end says so", t.shows("the recording ends here"), t.screen())
    t.keys("T", "T")
    w = got[-3]
    check("T: back, the same figures", until(lambda: clock(t) == w[0] and near(rate(t), w[2])), t.screen())
    t.keys("r")
    check("r: the begin", until(lambda: clock(t) == got[0][0]), t.screen())
    t.keys("b", busy[1][0], "Enter")
    check("b: a time", until(lambda: clock(t) == busy[1][0] and near(rate(t), busy[1][2])), t.screen())
    t.keys("b", "25:99", "Enter")
    check("b: no time", t.shows("is no time"), t.screen())
    t.keys("r", "e")
    event = next(e for e in asked("--events") if e["event"] == "detached" or "gone" in e["event"] or
                 e["interface"] == OTHER and e["event"] != "attached")
    seen = until(lambda: t.keys("e") or event["what"][:40] in t.screen(), 10)
    check("e: comes to what happened", seen and f"{OTHER} " not in "\n".join(t.lines()[1:6]), (event, t.screen()))
    t.keys("a")
    check("a: nothing to attach", t.shows("nothing to attach"), t.screen())
    t.keys("r", " ")
    check("Space: plays to the end", t.shows("playing") and t.shows("the recording ends here", 20), t.screen())
    check("played: the last window", clock(t) == got[-1][0], t.screen())
    t.keys("T", ">", ">", ">")
    want = sum(round(w[2] * w[1]) for w in got[:-1] if w[2])
    m = None

    def whole():
        nonlocal m
        m = re.search(r"window (\S+) s", t.lines()[0])
        return m and float(m[1]) > 5 and near(rate(t) * float(m[1]), want)
    check("> : a window of ten seconds, as far as it goes", until(whole), (want, rate(t), m and m[1]))
    t.keys("q")
    check("q ends it, status 0", t.shows("status 0"), t.screen())
    t.close()


def test_agrees():
    """Each window as `show --from` has it, and its findings."""
    got, r = windows("-i", "1")
    for when, seconds, _ in got:
        docs = [d for d in asked("--at", when, TAP)]
        packets = sum(row["packet_size_bytes"]["count"] for row in docs[0]["meters"]["pktsize"] if row["point"] == "rx-nic")
        mine = next(w for w in got if w[0] == when)
        if abs(docs[0]["seconds"] - seconds) > .01:
            continue        # two frames in one second
        check(f"{when}: show --from has the same", near(mine[2] * seconds, packets), f"{mine[2] * seconds} and {packets}")
        for f in docs[0]["findings"]:
            told = re.split(r"^(?=\S+ \S+  window )", r.stdout, flags=re.M)
            check(f"{when}: the finding {f['id']} is told", any(f" {when}  window" in one and re.search(
                rf"^{f['severity']} +{f['id']}:", one, re.M) for one in told), r.stdout)


def test_gap():
    """A window does not reach over a time that was not recorded: what was sent then is in none."""
    gap = os.path.join(DIR, "gap.rec")
    nicprobe("attach", TAP)
    for count in 300, 0:
        p = subprocess.Popen([NICPROBE, "record", gap, TAP, "-i", ".5"], stderr=subprocess.DEVNULL)
        time.sleep(.8)
        if count:
            nic(f"send 1 {count} 300 v4 udp ecn=0")
            nic("go")
        time.sleep(1)
        p.send_signal(signal.SIGINT)
        p.wait(30)
        nic("send 1 700 300 v4 udp ecn=0")      # nobody records
        nic("go")
        time.sleep(1)
    nicprobe("detach", TAP)
    got, r = windows("-i", ".5", file=gap)
    counted = sum(rate * seconds for _, seconds, rate in got if rate)
    check("two runs: what was sent between them is in no window", near(counted, 300), f"{counted}: {r.stdout}")
    check("two runs: the first moment of the second has no window", any(rate is None for _, _, rate in got), r.stdout)


def test_refused():
    for args, words in ((["--at", "03:12"], "goes with --from"), (["--from", "/nix"], "No such file"),
                        (["--from", "/etc/passwd"], "not a recording"), (["--from", FILE, "eth7"], "is not in the recording"),
                        (["--from", FILE, "--at", "2001-01-01"], "is not in the recording"),
                        (["--from", FILE, "--at", "noon"], "is no time")):
        r = nicprobe("top", "-b", *args, check=False)
        check(f"top {' '.join(args).replace(FILE, 'FILE')}: a sentence", r.returncode and words in r.stderr and
              r.stderr.startswith("nicprobe: ") and not r.stdout, r.stderr + r.stdout)


record()
for test in (test_batch, test_keys, test_agrees, test_gap, test_refused):
    test()
finish()

#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""nicprobe top on a terminal: its numbers are those of the traffic that the test makes; keys, sizes, and what is left."""
import os
import re
import shutil
import signal
import socket
import threading
import time

from lib import left
from lib.lab import *
from lib.terminal import Terminal, units
from lib.wire import inside

EACH, SIZE = 100, 500   # packets and bytes of one go, on each queue but for its number
PERIOD = .1             # seconds from one go to the next


class Load(threading.Thread):
    """Sends EACH * (q + 1) packets to queue q every PERIOD, on time, and remembers when how many were sent."""
    def __init__(self, nic):
        super().__init__(daemon=True)
        self.nic, self.going, self.sent = nic, True, 0
        self.marks = [(time.monotonic(), 0)]
        self.start()

    def run(self):
        due = time.monotonic()
        while self.going:
            for q in range(4):
                self.nic(f"send {q} {EACH * (q + 1)} {SIZE} v4 udp ecn=0")
            self.sent += self.nic("go interleave")["sent"]
            self.marks.append((time.monotonic(), self.sent))
            due = max(due + PERIOD, time.monotonic())   # what is late is not made up for
            time.sleep(max(0, due - time.monotonic()))

    def rate(self):
        """Packets per second of the last three seconds."""
        (t0, n0), (t1, n1) = self.marks[-min(30, len(self.marks))], self.marks[-1]
        return (n1 - n0) / (t1 - t0)

    def rates(self, since):
        """Packets per second of every half second or so since then: what a window of half a second may have."""
        marks = [m for m in self.marks if m[0] >= since - 1]
        return [(n1 - n0) / (t1 - t0) for i, (t0, n0) in enumerate(marks) for t1, n1 in marks[i + 1:] if .3 < t1 - t0 < .7]

    def end(self):
        self.going = False
        self.join(10)


def near(got, want, part=.25):
    return got is not None and abs(got - want) <= part * want


def figures(terminal):
    """The numbers of its line in the overview: packets/s and bits/s received, and so on."""
    return [units(w) for w in terminal.line(f"{iface} ").split()[1:] if re.fullmatch(r"[0-9.]+[kMGT]?", w)]


def received(terminal):
    """packets/s of the line of the tap in the overview."""
    got = figures(terminal)
    return got[0] if got else None


def test_overview():
    t = Terminal(f"{NICPROBE} top", 100, 30)
    check("top shows the interface", t.shows(f"{iface} "))
    good = until(lambda: near(received(t), load.rate()), 8)
    check("top: packets/s are those that were sent", good, f"{received(t)}, not {load.rate():.0f}")
    packets, bits = figures(t)[:2]
    check("top: bits/s are those of the packets", near(bits, packets * SIZE * 8, .02), t.line(iface))
    check("top: an interface that is not attached says so", "not attached" in t.line("  lo "), t.line("  lo "))
    # the load as the kernel's own counts see it: show says the same of the same seconds
    doc = json.loads(nicprobe("show", "-j", "-w", "1", "-c", "1", iface).stdout)
    said = packets_at(doc, "rx-nic") / doc["seconds"]
    check("top and show agree", until(lambda: near(received(t), said, .25), 5), f"{received(t)} and {said}")
    t.keys("q")
    check("q ends it, status 0", t.shows("status 0"), t.screen())
    t.close()


def test_zoom():
    t = Terminal(f"{NICPROBE} top {iface}", 100, 45)
    check("only the named interface is shown", t.shows(f"{iface} ") and not t.line("  lo "), t.screen())
    t.keys("Enter")
    check("Enter: the interface", t.shows("queues  bars"), t.screen())

    def shares():
        per = {q: re.search(rf"^  q{q} +(\S+)", t.screen(), re.M) for q in range(4)}
        per = {q: units(m[1]) if m else 0 for q, m in per.items()}
        return all(near(per[q], sum(per.values()) * (q + 1) / 10, .1) for q in range(4)) and sum(per.values()) > 0
    check("its queues have 10, 20, 30 and 40 per cent", until(shares, 6), t.screen())
    t.keys("Tab", "Tab", "Enter")
    check("Enter: a queue", t.shows(f"{iface} q0") and t.shows("figures  of this queue"), t.screen())

    def of_queue():
        m = re.search(r"received +(\S+) packets/s", t.screen())
        return m and near(units(m[1]), load.rate() / 10)
    check("a queue has its packets/s", until(of_queue, 8), t.screen())
    t.keys("Escape", "G", "?")
    check("?: the keys", t.shows("keys of nicprobe top"), t.screen())
    t.keys("q", "Escape")
    check("back to the overview", t.shows("packets/s") and "›" not in t.lines()[0], t.screen())
    t.keys(" ")
    check("Space: paused", t.shows("paused"), t.lines()[0])
    t.keys(" ", ">", ">")
    check("> : a window of 5 s", t.shows("window 5", 12), t.lines()[0])
    t.keys("z")
    check("z: since then", t.shows("since z", 5), t.lines()[0])
    t.keys("C-c")
    check("Ctrl-C ends it, status 0", t.shows("status 0"), t.screen())
    t.close()


def test_sizes():
    t = Terminal(f"{NICPROBE} top", 80, 24, {"NO_COLOR": "1"})
    check("80 columns", t.shows(f"{iface} "))
    for width, height in ((40, 10), (200, 50), (20, 5), (80, 24)):
        t.resize(width, height)
        good = until(lambda: t.lines()[0].startswith("nicprobe top") and
                     (height < 6 or re.search(r"\d\d:\d\d:\d\d$", t.lines()[0])), 5)
        check(f"resized to {width}x{height}", good and max(map(len, t.lines())) <= width, t.screen())
        if width >= 40:
            check(f"{width}x{height} has the rate", until(lambda: near(received(t), load.rate()), 6),
                  t.screen())
    t.close()
    for env in ({"LANG": "C", "LC_ALL": "C"}, {"TERM": "vt100"}):
        t = Terminal(f"{NICPROBE} top", 80, 24, env)
        check(f"{env}: the rate", t.shows(f"{iface} ") and until(lambda: near(received(t), load.rate()), 6), t.screen())
        check(f"{env}: ASCII alone", "LANG" not in env or t.screen().isascii(), t.screen())
        t.keys("q")
        check(f"{env}: ends", t.shows("status 0"))
        t.close()


def attached():
    return name_of(other) in nicprobe("list").stdout


def name_of(port):
    return port.split("/")[1]


def test_attach():
    """`a` lasts as long as top, however it ends; `A` for good."""
    for way in ("q", "Ctrl-C", "SIGTERM", "kill -9", "the terminal closes", "a again"):
        t = Terminal(f"{NICPROBE} top {other}", 100, 24)
        t.shows("not attached")
        check(f"{way}: nothing is attached unasked", not attached())
        t.keys("a")
        check(f"{way}: a attaches", t.shows("until top ends", 20) and attached(), t.screen())
        if way == "q":
            good = t.shows("per packet", 10) or "no packet came" in t.screen()
            check("a says what it costs", good, t.screen())
        pid = t.pid("nicprobe")
        if way == "q":
            t.keys("q")
        elif way == "Ctrl-C":
            t.keys("C-c")
        elif way == "SIGTERM":
            os.kill(pid, signal.SIGTERM)
        elif way == "kill -9":
            os.kill(pid, signal.SIGKILL)
        elif way == "a again":
            t.keys("a")
        else:
            t.close()
        check(f"{way}: it is detached", until(lambda: not attached(), 20), nicprobe("list").stdout)
        t.close()
    t = Terminal(f"{NICPROBE} top {other}", 100, 24)
    t.shows("not attached")
    t.keys("A")
    check("A attaches for good", t.shows("until nicprobe detach", 20), t.screen())
    t.keys("q")
    check("A: it is still attached after top", t.shows("status 0") and attached())
    t.close()
    nicprobe("detach", other)


def test_killed_at_once():
    """Killed while it attaches: the attach is undone."""
    for delay in (.0, .05, .1, .2, .4):
        t = Terminal(f"{NICPROBE} top {other}", 100, 24)
        t.shows("not attached")
        t.keys("a")
        time.sleep(delay)
        os.kill(t.pid("nicprobe"), signal.SIGKILL)
        t.close()
    # the child may still be about to attach: what is there then goes, too
    time.sleep(1)
    check("killed while attaching: nothing is left", until(lambda: not attached(), 20), nicprobe("list").stdout)


def test_gone():
    t = Terminal(f"{NICPROBE} top {gone}", 100, 24)
    check("an interface of its own", t.shows(f"{gone} "))
    ns.ip(f"link del {name_of(gone)}")
    check("it goes away: a sentence", t.shows("is not there any more", 5), t.screen())
    t.keys("q")
    check("and top goes on", t.shows("status 0"))
    t.close()


def test_batch():
    for left in tries(4, "the load stood still for half a second"):
        began = time.monotonic()
        r = nicprobe("top", "-n", 2, "-i", .5, iface)
        were = load.rates(began)
        if were or not left:
            break
    check("no terminal: plain lines", r.stdout.count(f"{iface} ") >= 2 and "\033" not in r.stdout, r.stdout)
    rates = [units(x) for x in re.findall(rf"^  {iface} +\S+ +(\S+)", r.stdout, re.M)]
    check("batch: the rates", were and len(rates) == 2 and all(.8 * min(were) <= x <= 1.2 * max(were) for x in rates), f"{rates} {were}")
    r = sh(f"set -o pipefail; {NICPROBE} top -b -i .1 | head -n 3 >/dev/null; echo ${{PIPESTATUS[0]}}",
           executable="/bin/bash")
    check("| head ends it", r.strip() in ("0", "141"), r)
    for args, said in ((["nosuch"], "no interface nosuch"), (["-i", "0"], "-i takes a number"), (["-j"], "no JSON")):
        r = nicprobe("top", *args, check=False)
        check(f"top {' '.join(args)}: a sentence", r.returncode in (1, 2) and said in r.stderr, r.stderr)


def test_host():
    """A host has a table of its own: what connects, and what fails."""
    home = Namespace("tophost")
    home.ip("link set lo up")
    host = f"{home}/host"
    nicprobe("attach", host)
    server = inside(home, lambda: socket.create_server(("127.0.0.1", 8000)))
    p = subprocess.Popen([NICPROBE, "top", "-b", "-i", "2", "-n", "2", host], stdout=subprocess.PIPE, text=True)
    time.sleep(2.5)     # within the second window
    for _ in range(40):
        with inside(home, lambda: socket.create_connection(("127.0.0.1", 8000))) as s, server.accept()[0]:
            s.sendall(bytes(1000))
    for _ in range(10):
        inside(home, socket.socket).connect_ex(("127.0.0.1", 8001))
    out = p.communicate(timeout=20)[0]
    windows = [float(x) for x in re.findall(r"window (\S+) s", out)]
    rows = re.findall(rf"^  {host} +(\S+) +(\S+) +(-|\S+ \S+) +(\S+) +(\S+) ", out, re.M)
    check("a host: a row in each window", len(rows) == len(windows) == 2, out)
    # rates of three digits
    for column, what, count in (0, "opened", 40), (1, "failed", 10), (3, "accepted", 40), (4, "ended", 80):
        told = sum(units(r[column]) * w for r, w in zip(rows, windows))
        check(f"a host: connections {what}", abs(told - count) <= .015 * count, f"{told}: {out}")
    out = nicprobe("top", "-b", "-i", .5, "-n", 2, host, iface).stdout
    lines = out.splitlines()
    check("a host is in no table of packets", sum(line.startswith("  interface ") for line in lines) == 2 and
          [line.split()[0] for line in (lines[i - 1] for i, x in enumerate(lines) if x.startswith(f"  {host} "))] ==
          ["host"] * 2, out)
    nicprobe("detach", host)
    server.close()


def test_terminals():
    """A terminal that is none."""
    for env, said in (({"TERM": None}, "TERM is not set"), ({"TERM": "nosuch"}, '"nosuch" is not known'),
                      ({"TERM": "dumb"}, '"dumb" is not known')):
        t = Terminal(f"{NICPROBE} top", 80, 24, env)
        check(f"{env}: a sentence, and what to use instead",
              t.shows("status 1") and said in t.screen() and "nicprobe top -b" in t.screen(), t.screen())
        t.close()


def test_not_root():
    """Without capabilities: the kernel's counts are free to see, and attaching is refused."""
    drop = "setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all"
    shutil.copy(NICPROBE, "/tmp/np-top-test")
    os.chmod("/tmp/np-top-test", 0o755)
    try:
        t = Terminal(f"{drop} /tmp/np-top-test top", 100, 24)
        check("not root: the kernel's counts", t.shows("not attached"), t.screen())
        check("not root: it says what is not seen", t.shows("cannot be seen"), t.screen())
        t.keys("a")
        check("not root: a is refused with the reason", t.shows("CAP_BPF"), t.screen())
        t.keys("q")
        check("not root: ends", t.shows("status 0"))
        t.close()
    finally:
        os.unlink("/tmp/np-top-test")


need_root()
if not shutil.which("tmux"):
    skip("top", "tmux is not installed")
    finish()
left.own_bpffs()
ns = Namespace("top")
before = left.Before(ns)
nic = tap(ns, "tap0", 4, address="198.18.0.2/24")
others = tap(ns, "tap1", 2)
ns.ip("link add gone0 type veth peer name gone1")
iface, other, gone = f"{ns}/tap0", f"{ns}/tap1", f"{ns}/gone0"
nicprobe("attach", iface)
load = Load(nic)
each(test_overview, test_zoom, test_sizes, test_attach, test_killed_at_once, test_gone, test_batch, test_host,
     test_terminals, test_not_root)
load.end()
nicprobe("detach", iface)
nic.close(), others.close()
before.check("nothing is left")
finish()

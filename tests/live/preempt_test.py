#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Busy tasks preempt each other on one CPU, from Linux 7.0 on within our programs as well: everything is counted once.
With PREEMPT_RT, missed events are reported as such."""
import ctypes
import socket
import struct

from lib.lab import *
from lib.wire import THERE, Wire, inside

need_root()
SECONDS = 3
CPU = min(os.sched_getaffinity(0))
REALTIME = "PREEMPT_RT" in os.uname().version
PREEMPTS = KERNEL >= (7, 0)
prctl = ctypes.CDLL(None).prctl


class Task:
    """A process on that CPU that calls act(end) and returns a number. `urgent`: it wakes up every millisecond and
    preempts the others; act() is called repeatedly, each time with an early end."""
    def __init__(self, netns, act, urgent=False):
        read, write = os.pipe()
        self.pid, self.file = os.fork(), read
        if self.pid:
            os.close(write)
            return
        try:
            prctl(1, signal.SIGKILL)        # PR_SET_PDEATHSIG
            with open(f"/run/netns/{netns}") as f:
                ctypes.CDLL(None).setns(f.fileno(), 0)
            os.sched_setaffinity(0, [CPU])
            if urgent:
                os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
            os.write(write, struct.pack("=Q", run(act, urgent)))
        finally:
            os._exit(0)

    def count(self):
        data = os.read(self.file, 8)
        os.waitpid(self.pid, 0)
        os.close(self.file)
        return struct.unpack("=Q", data)[0]


def run(act, urgent):
    end, n = time.monotonic() + SECONDS, 0
    if not urgent:
        return act(end)
    prctl(29, 1)                            # PR_SET_TIMERSLACK, ns
    while time.monotonic() < end:
        n += act(0)
        time.sleep(.001)
    return n


def sends(address, port, each=8):
    """At least `each` datagrams; returns the number that the kernel accepted."""
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.connect((address, port))

    def act(end):
        n = 0
        while n < each or time.monotonic() < end:
            for _ in range(each):
                try:
                    n += s.send(b"x" * 100) == 100
                except OSError:             # the queue is full: it was not sent
                    pass
        return n
    return act


def tasks(netns, *acts):
    """All at once, the last one urgently; returns the count of each."""
    running = [Task(netns, act, act is acts[-1]) for act in acts]
    return [task.count() for task in running]


def counted(name, got, sent, may, share=1):
    """Never more than was sent; less only by what is reported missing, at most one in `share`."""
    least = sent - min(may, sent // share)
    check(f"preempt: {name} # {got} of {sent}, may lack {may}", least <= got <= sent,
          f"{got} of {sent}, may lack {may}")


a, b = Namespace("a"), Namespace("b")
veth(a, b)
a.ip("addr add 10.1.0.1/24 dev eth0")
ETH = f"{a}/eth0"


def test_drops():
    """To a neighbour that is not resolved: dropped by the sender, in its own time."""
    for probes in "mcast_solicit", "app_solicit":
        a.run(f"sysctl -qw net.ipv4.neigh.eth0.{probes}=0")
    nicprobe("attach", ETH, "-m", "drop")
    sent = tasks(a, *inside(a, lambda: [sends("10.1.0.7", 9), sends("10.1.0.8", 9)]))
    doc = show(ETH)
    nicprobe("detach", ETH)
    got = sum(r["packets"] for r in doc["meters"]["drop"] if r["reason"] == "NEIGH_FAILED")
    counted("drops of two tasks", got, sum(sent), doc.get("may_lack", {}).get("drop", 0) if PREEMPTS else 0, 1000)


def test_points():
    """Over several transmit queues: with PREEMPT_RT a task may be preempted between xmit and its return."""
    far = json.loads(b.ip("-j link show eth0"))[0]["address"]
    for host in range(20, 24):
        a.ip(f"neigh replace 10.1.0.{host} lladdr {far} dev eth0 nud permanent")
    nicprobe("attach", ETH, "-m", "pktsize,gso")
    sent = tasks(a, *inside(a, lambda: [sends(f"10.1.0.{20 + i}", 9 + i) for i in range(4)]))
    doc = show(ETH)
    nicprobe("detach", ETH)
    for point in "tx-stack", "tx-nic":
        may = doc.get("may_lack", {}).get(point, 0) if PREEMPTS and REALTIME else 0
        counted(point, packets_at(doc, point), sum(sent), may)


def reads(fd):
    """Reads all frames of a tap's queue, until the end; returns their number."""
    def act(end):
        n = 0
        while True:
            try:
                n += os.read(fd, 2048) != b""
            except BlockingIOError:
                if time.monotonic() >= end:
                    return n
    return act


def test_completions():
    """Both ends of a tap's queues, read by tasks of the same CPU, which free what they read."""
    tap = Wire(a, "tap0", 2)
    a.ip("link set tap0 txqueuelen 2000")
    nicprobe("attach", f"{a}/tap0", "-m", "txlat", "--sample", 1)
    senders = inside(a, lambda: [sends(THERE, port) for port in range(9, 25)])

    def send_all(end):
        n = 0
        while time.monotonic() < end:
            n += sum(send(0) for send in senders)
            time.sleep(.0002)
        return n
    got = tasks(a, send_all, reads(tap.fds[0]), reads(tap.fds[1]))
    read = got[1] + got[2] + sum(tap.drain().values())
    doc = show(f"{a}/tap0")
    rows = doc["meters"]["txlat"]
    same(f"preempt: completions # {got}",
         (sum(r["completion_seconds"]["count"] for r in rows), sum(r["in_flight"] for r in rows)), (read, 0))
    nicprobe("detach", f"{a}/tap0")


test_drops()
test_points()
test_completions()
finish()

#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Two CPUs meet at one object, or the second is quicker than the first expects: every count is what the test caused."""
import array
import contextlib
import mmap
import os
import socket
import struct
import time

from lib.asking import Trace
from lib.connections import attach, listen, rows
from lib.lab import *
from lib.messages import rename
from lib.wire import HERE, Wire, inside, tcp

CPUS = sorted(os.sched_getaffinity(0))
TIMES = int(os.environ.get("MEETINGS", 300))
MOST = 60           # seconds that anything may take
SYN, ACK = 2, 16


class Meeting:
    """Lets two processes go on at the same moment, as often as they like, by memory that both look at without an end."""
    def __init__(self):
        self.memory = mmap.mmap(-1, 4096)
        self.words = memoryview(self.memory).cast("Q")

    def meet(self, who, nr):
        """Number `nr`, from 1 on."""
        self.words[8 * who] = nr
        end = time.monotonic() + MOST
        while self.words[8 * (1 - who)] < nr:
            if time.monotonic() > end:
                raise TimeoutError("the other one does not come")

    def put(self, data):
        self.memory[1024:1026] = struct.pack("H", len(data))
        self.memory[1026:1026 + len(data)] = data

    def get(self):
        size, = struct.unpack("H", self.memory[1024:1026])
        return self.memory[1026:1026 + size]


def process(cpu, work, name=None):
    """A process on that CPU that does it; end() waits for it."""
    sys.stdout.flush()
    pid = os.fork()
    if pid:
        return pid
    status = 1
    try:
        os.sched_setaffinity(0, {CPUS[cpu]})
        if name:
            rename(name)
        work()
        status = 0
    except BaseException as e:      # pylint: disable=broad-except
        print(f"# {name or 'process'}: {type(e).__name__}: {e}", flush=True)
    os._exit(status)


def end(name, *pids):
    same(f"{name}: both did it", [os.waitpid(pid, 0)[1] for pid in pids], [0] * len(pids))


def test_fdpass(ns):
    """A file is sent again while the receiver, which never waits, takes it off the list of what is on its way."""
    attach(ns, "-m", "fdpass")
    a, b = inside(ns, lambda: socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET))
    many = 20 * TIMES

    def receive():
        left, until_ = many, time.monotonic() + MOST
        while left and time.monotonic() < until_:
            with contextlib.suppress(BlockingIOError):
                _, controls, _, _ = b.recvmsg(100, 64, socket.MSG_DONTWAIT)
                os.close(array.array("i", controls[0][2])[0])
                left -= 1
        assert not left

    def send():
        with open("/dev/null", "rb") as null:
            for _ in range(many):
                socket.send_fds(a, [b"x"], [null.fileno()])
    end("fdpass", process(0, send, "meet-from"), process(1, receive, "meet-to"))
    same("fdpass: who sent it is known of each", {
        (r["from"], r["to"]): (r["sent_descriptors"], r["received_descriptors"]) for r in rows(ns, "fdpass")
        if r["sent_descriptors"] or r["received_descriptors"]},
        {("meet-from", "-"): (many, 0), ("meet-from", "meet-to"): (0, many)})


def test_neigh(ns, far):
    """Two CPUs send to a neighbour whose address is not known, at once: either may be the first. It never answers."""
    attach(ns, "-m", "neigh")
    meeting, done = Meeting(), 0
    sockets = [inside(ns, lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) for _ in range(2)]
    ns.run("sysctl -qw net.ipv4.neigh.eth0.retrans_time_ms=300")
    nr = min(TIMES, 240)

    def work(who):
        for i in range(nr):
            meeting.meet(who, i + 1)
            sockets[who].sendto(b"x", (f"10.9.0.{i + 10}", 9))
    end("neigh", *(process(who, lambda: work(who), f"meet-{who}") for who in range(2)))
    until(lambda: "INCOMPLETE" not in ns.ip("neigh show dev eth0"))
    time.sleep(.2)
    row = next(r for r in rows(ns, "neigh") if r["device"] == "eth0")
    same("neigh: both waited, and were dropped", [row["waited"], nonzero(row["dropped"])], [2 * nr, {"failed": 2 * nr}])
    # one that is late by .9 s finds that the other has failed, and asks again
    failed = row["resolutions"]["failed"]
    check("neigh: both are one resolution", nr <= failed < 1.1 * nr, failed)
    same("neigh: each asked three times", [nonzero(row["resolutions"]), row["solicits"]], [{"failed": failed}, 3 * failed])


def at_once(wire, ask):
    """Two processes on two CPUs write the frame of each ask(nr) to a queue each, at once."""
    meeting = Meeting()

    def first():
        for i in range(TIMES):
            meeting.put(ask(i))
            write(0, i)

    def write(who, i):
        meeting.meet(who, 2 * i + 1)
        frame = meeting.get()
        meeting.meet(who, 2 * i + 2)
        wire.write(who, frame)
    return process(0, first), process(1, lambda: [write(1, i) for i in range(TIMES)])


def answer(wire, right):
    """The first frame for which that is so."""
    end_ = time.monotonic() + MOST
    while time.monotonic() < end_:
        for q in range(2):
            frame = wire.read(q)
            if frame and right(frame):
                return frame
    raise TimeoutError("no answer")


def test_answers(ns):
    """Two answers tell the same address, on two CPUs: the first one counts."""
    attach(ns, "-m", "neigh")
    wire = Wire(ns, "tap1", queues=2, address="")
    ns.ip("addr add 198.18.4.1/22 dev tap1")
    ns.run("sysctl -qw net.ipv4.neigh.tap1.retrans_time_ms=20000")
    s = inside(ns, lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))

    def ask(i):
        address = f"198.18.{5 + i // 200}.{i % 200 + 1}"
        s.sendto(b"x", (address, 9))
        asks = answer(wire, lambda f: f[12:14] == b"\x08\x06" and f[38:42] == socket.inet_aton(address))
        mac = b"\2\0\0\0\0\x99"
        return asks[6:12] + mac + asks[12:20] + b"\0\2" + mac + asks[38:42] + asks[22:32]
    end("answers", *at_once(wire, ask))
    row = next(r for r in rows(ns, "neigh") if r["device"] == "tap1")
    same("answers: one of each two", [nonzero(row["resolutions"]), row["latency_seconds"]["count"], row["untimed_resolutions"]],
         [{"answered": TIMES}, TIMES, 0])
    same("answers: one question, one packet that waited", [row["solicits"], row["waited"], nonzero(row["dropped"])], [TIMES, TIMES, {}])
    s.close()
    wire.close()


def test_delta(ns):
    """Events of two CPUs: the times between them add up to that from the first to the last."""
    trace, meeting = Trace(ns, "udp:::send", "--delta", "if_name", "--print", "delta_ns,timestamp"), Meeting()
    sockets, many = [inside(ns, lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) for _ in range(2)], 4 * TIMES

    def work(who):
        for i in range(many):
            meeting.meet(who, i + 1)
            sockets[who].sendto(b"x", ("127.0.0.1", 9))
    end("delta", *(process(who, lambda: work(who)) for who in range(2)))
    events = trace.events()
    moments, spans = [e["timestamp"] for e in events], [e["delta_ns"] for e in events]
    same("delta: all, and one is the first", [len(spans), spans.count(None)], [2 * many, 1])
    first = moments[spans.index(None)]      # of the first two, the one that began the count need not be the earlier
    same("delta: none is negative, none counts twice", [sum(n or 0 for n in spans), any(n and n < 0 for n in spans)],
         [max(moments) - first, False])
    for s in sockets:
        s.close()


def test_accept(ns):
    """The last ACK of a handshake comes twice, on two CPUs: of two sockets that the kernel makes it keeps one."""
    attach(ns, "-m", "accept")
    wire, left, server = Wire(ns, "tap0", queues=2), [], listen(ns, HERE, backlog=TIMES)
    port = server.getsockname()[1]

    def ask(i):
        sport = struct.pack("!H", 2000 + i)
        wire.write(0, wire.eth(tcp(port, sport=2000 + i)))
        got = answer(wire, lambda f: f[12:14] == b"\x08\0" and f[23] == 6 and f[47] == SYN | ACK and f[36:38] == sport)
        return wire.eth(tcp(port, ACK, sport=2000 + i, seq=2, ack=struct.unpack("!I", got[38:42])[0] + 1))
    end("accept", *at_once(wire, ask))
    server.setblocking(False)
    with contextlib.suppress(BlockingIOError):
        while True:
            left.append(server.accept()[0])
    same("accept: the kernel has as many", len(left), TIMES)
    got = [(r["connections"], r["depth_connections"]["count"], r["depth_connections"]["sum"]) for r in rows(ns, "accept") if r["connections"]]
    same("accept: each is counted once", got, [(TIMES, TIMES, TIMES * (TIMES - 1) // 2)])
    for s in left:
        s.close()
    server.close()
    wire.close()


def main():
    need_root()
    if len(CPUS) < 2:
        skip("meet", "needs two CPUs")
        return
    ns, far = Namespace("a"), Namespace("b")
    ns.ip(f"link add eth0 type veth peer name eth0 netns {far}")
    for n, one in enumerate((ns, far), 1):
        one.ip("link set eth0 up")
        one.ip(f"addr add 10.9.0.{n}/24 dev eth0")

    def after():
        nicprobe("detach", f"{ns}/host", check=False)
    each(test_fdpass, test_neigh, test_answers, test_accept, test_delta, after=after, ns=ns, far=far)
    finish()


main()

# SPDX-License-Identifier: GPL-2.0
"""In a guest: known traffic of sockets between namespaces, for several tools at once."""
import os
import select
import socket
import struct
import threading
import time
from collections import Counter

import cards            # noqa: F401: the place of lib     pylint: disable=unused-import
from lib.connections import client, converse, kernel, listen, read
from lib.peer import ACK, MSS, PSH, SYN, sack
from lib.wire import THERE, inside, tcp

SOCK, LATE, FIRST, CLIENT, LOST = "b-sock", "b-late", "b-first", "b-client", "b-lost"
# Ports by what happens there; the limits of the listeners differ, as tcpsynbl knows no ports.
PLAIN, CLOSED, DUAL, LEAVES, WAITED, THREADS, FULL, LISTENED, WINDOW = 8000, 8001, 8002, 8003, 8010, 8011, 8020, 8030, 8040
LIMITS = {PLAIN: 64, DUAL: 65, LEAVES: 66, WAITED: 67, THREADS: 68, FULL: 2, WINDOW: 69}
AGAIN, SYNS, SLOW, NAGLE = 80, 81, 84, 85
BEFORE, AFTER = 4, 14       # threads that wait in accept() before and after the scripts begin
MADE = Counter({PLAIN: 5, DUAL: 4, LEAVES: 2, WAITED: BEFORE, THREADS: AFTER, FULL: 3, WINDOW: 1})
FAILED = Counter({CLOSED: 1, FULL: 2})
UNREACHABLE = "198.18.0.77"
KB = 1024


def child(name, work):
    """A process of this name; end() waits for it."""
    pid = os.fork()
    if not pid:
        status = 1
        try:
            with open("/proc/self/comm", "w", encoding="ascii") as f:
                f.write(name)
            work()
            status = 0
        finally:
            os._exit(status)
    return pid


def end(*pids):
    for pid in pids:
        if os.waitpid(pid, 0)[1]:
            raise RuntimeError("a process of the test failed")


def reset(s):
    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    s.close()


def made(ns, kind=socket.SOCK_DGRAM, family=socket.AF_INET, protocol=0):
    return inside(ns, lambda: socket.socket(family, kind, protocol))


class Traffic:
    """What all tools see. Listeners, the old connection and threads that wait in accept() are there before."""
    def __init__(self, here, there, ns, peer):
        self.here, self.there, self.ns, self.peer = here, there, ns, peer
        self.servers = {port: listen(there, "::" if port == DUAL else "0.0.0.0", port, limit) for port, limit in LIMITS.items()}
        self.old = client(here, "10.9.0.2", PLAIN), self.servers[PLAIN].accept()[0]
        self.threads, self.accepted = [], 0
        self.wait(WAITED, BEFORE)
        self.queue = made(there)
        self.queue.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 10000)
        self.queue.bind(("10.9.0.2", 9))
        here.run("sysctl -qw net.core.somaxconn=300")
        ns.run("sysctl -qw net.ipv4.neigh.tap0.retrans_time_ms=100")
        for way in "10.9.0.2", "fd09::2":      # neighbours are known
            here.run(f"ping -qc1 {way}")

    def wait(self, port, number):
        def work():
            s = self.servers[port].accept()[0]
            s.recv(1)
            s.close()
        new = [threading.Thread(target=work, daemon=True) for _ in range(number)]
        for t in new:
            t.start()
        self.threads += new
        time.sleep(.5)

    def conversations(self):
        for there, back in (3000, 100 * KB), (3000, 100 * KB), (3000, 100 * KB), (KB - 2, 1):
            converse(self.servers[PLAIN], client(self.here, "10.9.0.2", PLAIN), there, back)
        for address in "fd09::2", "fd09::2", "10.9.0.2", "10.9.0.2":
            converse(self.servers[DUAL], client(self.here, address, DUAL), 100, 100)
        converse(self.servers[WINDOW], client(self.here, "10.9.0.2", WINDOW), 300 * KB, 1)
        for _ in range(2):      # the server closes first
            pid = child(CLIENT, lambda: read(client(self.here, "10.9.0.2", LEAVES), 100))
            s = self.servers[LEAVES].accept()[0]
            s.sendall(b"x")
            s.shutdown(socket.SHUT_WR)
            s.recv(1)
            s.close()
            end(pid)
        try:
            client(self.here, "10.9.0.2", CLOSED)
            raise RuntimeError("it was not refused")
        except ConnectionRefusedError:
            pass
        for s in self.old:
            s.close()
        self.accepted += 4 + 4 + 1 + 2

    def in_threads(self):
        self.wait(THREADS, AFTER)
        clients = [client(self.here, "10.9.0.2", port) for port, n in ((WAITED, BEFORE), (THREADS, AFTER)) for _ in range(n)]
        for c in clients:
            c.close()
        for t in self.threads:
            t.join(20)
        self.accepted += BEFORE + AFTER

    def overflow(self):
        """Three have room; the SYNs of two more are dropped."""
        def attempt():
            s = made(self.here, socket.SOCK_STREAM)
            s.setblocking(False)
            s.connect_ex(("10.9.0.2", FULL))
            return s
        before = kernel(self.there)["ListenOverflows"]
        fit = [client(self.here, "10.9.0.2", FULL) for _ in range(3)]
        rest = [attempt() for _ in range(2)]
        time.sleep(.3)
        for s in (*rest, *fit):
            s.close()
        self.overflows = kernel(self.there)["ListenOverflows"] - before
        for _ in range(3):
            s = self.servers[FULL].accept()[0]
            s.recv(1)
            s.close()
        self.accepted += 3

    def again(self):
        """As in live/host_lines_test.py: fast, by a probe, by a timeout; a SYN, and a SYN-ACK."""
        peer, before = self.peer, kernel(self.ns)["RetransSegs"]
        server = listen(self.ns)
        s, syn = peer.connect(AGAIN)
        peer.accept(syn)
        s.send(b"x" * 10 * MSS)
        got = peer.data(10 * MSS)
        peer.send(got[-1], ACK, ack=got[0].seq, options=sack((got[0].end, got[-1].end)))
        peer.next(ACK)
        peer.send(got[-1], ACK)
        s.send(b"y" * 100)
        tail = peer.next(PSH)
        peer.next(ACK), peer.next(ACK)
        peer.send(tail, ACK)
        lost, _ = peer.connect(SYNS)
        peer.accept(peer.next(SYN))
        peer.wire.write(0, peer.wire.eth(tcp(8000)))
        time.sleep(1.5)
        for x in (s, lost):
            reset(x)
        server.close()
        self.retransmits = kernel(self.ns)["RetransSegs"] - before

    def slow(self):
        """The peer answers after 200 ms; the process asks whether it did after a second."""
        def work():
            s = self.peer.socket()
            s.connect_ex((THERE, SLOW))
            time.sleep(1)
            p = select.poll()
            p.register(s, select.POLLOUT)
            p.poll(5000)
            reset(s)
        pid, syn = child(LATE, work), self.peer.next(SYN)
        time.sleep(.2)
        self.peer.accept(syn)
        end(pid)

    def nagle(self):
        s, syn = self.peer.connect(NAGLE)
        self.peer.accept(syn)
        s.send(b"x" * 100)
        first = self.peer.next(PSH)
        s.send(b"y" * 30)
        time.sleep(.15)     # sooner than the kernel sends something again
        self.peer.send(first, ACK)
        second = self.peer.next(PSH)
        while len(second.data) != 30:
            second = self.peer.next(PSH)
        self.peer.send(second, ACK)
        time.sleep(.1)
        reset(s)

    def first_byte(self):
        def work():
            s = client(self.here, "10.9.0.2", PLAIN)
            s.sendall(b"x")
            s.recv(100)
            s.recv(100)
            s.close()
        pid, s = child(FIRST, work), self.servers[PLAIN].accept()[0]
        s.recv(1)
        time.sleep(.3)
        s.sendall(b"hello")
        s.close()
        end(pid)
        self.accepted += 1

    def datagrams(self):
        def calls():
            server, c = made(self.here), made(self.here)
            server.bind(("127.0.0.1", 5000))
            c.connect(("127.0.0.1", 5000))
            for _ in range(40):
                c.send(b"x" * 100)
                server.recv(200)
            for s in server, c:
                s.close()
        end(child(SOCK, calls))

        def lost():
            with made(self.ns) as s:        # nobody has that address
                s.connect((UNREACHABLE, 9))
                s.send(b"x")
                time.sleep(1.5)
        with made(self.here) as s:
            for _ in range(30):
                s.sendto(bytes(1000), ("10.9.0.2", 9))
        time.sleep(.3)
        self.dropped = struct.unpack("9I", self.queue.getsockopt(socket.SOL_SOCKET, 55, 36))[8]       # SO_MEMINFO
        far = [made(self.here), made(self.here, family=socket.AF_INET6), made(self.here, family=socket.AF_INET6),
               made(self.here, socket.SOCK_RAW, protocol=socket.IPPROTO_ICMP)]
        for s, address in zip(far, ("10.9.0.2", "fd09::2", "2001:db8::1", "10.9.0.2")):
            s.connect_ex((address, 53))
            s.close()
        end(child(LOST, lost))

    def others(self):
        self.here.run("ping -qc3 -i .2 10.9.0.2")
        self.here.run("ping -qc2 -i .2 fd09::2")
        a, b = inside(self.here, lambda: socket.socketpair(socket.AF_UNIX))
        with open("/dev/null", "rb") as f:
            for room in 5, 2:
                socket.send_fds(a, [b"x"], [f.fileno()] * 5)
                for fd in socket.recv_fds(b, 1, room)[1]:
                    os.close(fd)
        s = listen(self.here, port=LISTENED, backlog=1000)
        s.listen(7)
        second = made(self.here, socket.SOCK_STREAM)
        try:
            second.bind(("0.0.0.0", LISTENED))
            raise RuntimeError("it was bound twice")
        except OSError:
            pass
        second.close()
        s.close()
        time.sleep(.2)

    def make(self):
        for part in (self.conversations, self.in_threads, self.overflow, self.again, self.slow, self.nagle, self.first_byte,
                     self.datagrams, self.others):
            while self.peer.wire.read(0) is not None:       # what connections of before still send it
                pass
            part()

#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""File descriptors passed by unix sockets: each that the test passes is counted once, by kind, with who sent it and who
received it, however quick that is."""
import array
import contextlib
import ctypes
import errno
import os
import select
import socket
import struct

from lib.connections import attach
from lib.lab import *
from lib.messages import Header, Message, Vector, rename
from lib.wire import inside, libc

ME, SENDER, RECEIVER = "fd-test", "fd-sender", "fd-receiver"
RIGHTS = struct.Struct("Nii")       # a control message's head
MANY = int(os.environ.get("PASSES", 300))


def rows(ns):
    """{(from, to, kind): (sent, received)}, without this host's others: nicprobe passes none."""
    doc = show(f"{ns}/host")
    same("nothing is lost", lost(doc), {})
    return {(r["from"], r["to"], r["kind"]): (r["sent_descriptors"], r["received_descriptors"])
            for r in doc["meters"]["fdpass"] if r["sent_descriptors"] or r["received_descriptors"]}


def passed(n, kind, sender=SENDER, receiver=RECEIVER):
    return {(sender, "-", kind): (n, 0), (sender, receiver, kind): (0, n)}


def process(name, work):
    """A process of this name that does it; end() waits for it."""
    pid = os.fork()
    if not pid:
        status = 1
        with contextlib.suppress(Exception):
            rename(name)
            work()
            status = 0
        os._exit(status)
    return pid


def end(name, *pids):
    same(f"{name}: both processes did it", [os.waitpid(pid, 0)[1] for pid in pids], [0] * len(pids))


def pair(ns, kind=socket.SOCK_STREAM):
    return inside(ns, lambda: socket.socketpair(socket.AF_UNIX, kind))


def take(s, most=64, flags=0):
    """Receives one message, and closes its descriptors; returns their number. Python's recv_fds() forgets the flags."""
    fds = array.array("i")
    data, controls, _, _ = s.recvmsg(100, socket.CMSG_LEN(most * fds.itemsize), flags)
    assert data
    for _, _, some in controls:
        fds.frombytes(some)
    for fd in fds:
        os.close(fd)
    return len(fds)


def test_kinds(ns):
    """One message with files of each kind, from one process to another."""
    out, into = os.pipe()
    kinds = {
        "socket": [socket.socket() for _ in range(3)], "file": [open(__file__, "rb") for _ in range(2)],
        "directory": [os.open("/", os.O_RDONLY)], "pipe": [out, into],
        "device": [os.open("/dev/null", os.O_RDONLY), os.open("/dev/zero", os.O_RDONLY)],
        "memfd": [os.memfd_create("a"), os.memfd_create("b")], "eventpoll": [select.epoll()],
        "namespace": [os.open("/proc/self/ns/net", os.O_RDONLY)], "pidfd": [os.pidfd_open(os.getpid())],
        "eventfd": [os.eventfd(0) for _ in range(4)],
    }
    fds = [f if isinstance(f, int) else f.fileno() for some in kinds.values() for f in some]
    attach(ns, "-m", "fdpass")
    a, b = pair(ns)
    end("kinds", process(SENDER, lambda: socket.send_fds(a, [b"x"], fds)),
        process(RECEIVER, lambda: same("kinds: received", take(b), len(fds))))
    want = {}
    for kind, some in kinds.items():
        want.update(passed(len(some), kind))
    same("kinds: each", rows(ns), want)
    for some in kinds.values():
        for f in some:
            os.close(f) if isinstance(f, int) else f.close()


def test_race(ns):
    """One after the other, to a process that waits for each, or asks without an end: who sent it is known in all."""
    attach(ns, "-m", "fdpass")
    for flags in 0, socket.MSG_DONTWAIT:
        a, b = pair(ns, socket.SOCK_SEQPACKET)

        def receive():
            got = 0
            while got < MANY:
                with contextlib.suppress(BlockingIOError):
                    got += take(b, flags=flags)
                    b.send(b"go")

        def send():
            with open("/dev/null", "rb") as null:
                for _ in range(MANY):
                    socket.send_fds(a, [b"x"], [null.fileno()])
                    a.recv(2)
        end("race", process(SENDER, send), process(RECEIVER, receive))
    same("race: all are known", rows(ns), passed(2 * MANY, "device"))


def test_datagrams(ns):
    """By address, from two processes; who sent which is known by the file."""
    attach(ns, "-m", "fdpass")
    server = inside(ns, lambda: socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM))
    server.bind(f"\0fdpass-{os.getpid()}")

    def send(path, n):
        c = inside(ns, lambda: socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM))
        with open(path, "rb") as file:
            rights = socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [file.fileno()] * 2)
            for _ in range(n):
                c.sendmsg([b"x"], [rights], 0, server.getsockname())
    end("datagrams", process(SENDER, lambda: send("/dev/null", 3)), process("fd-other", lambda: send(__file__, 4)))
    same("datagrams: received", sum(take(server) for _ in range(7)), 14)
    same("datagrams: by address", rows(ns), {**passed(6, "device", receiver=ME), **passed(8, "file", "fd-other", ME)})
    server.close()


def test_many(ns):
    """sendmmsg() and recvmmsg(), with another control message before."""
    attach(ns, "-m", "fdpass")
    a, b = pair(ns, socket.SOCK_SEQPACKET)
    null = os.open("/dev/null", os.O_RDONLY)
    who = struct.pack("iii", os.getpid(), os.getuid(), os.getgid())
    control = RIGHTS.pack(RIGHTS.size + 12, socket.SOL_SOCKET, 2) + who + b"\0" * 4         # SCM_CREDENTIALS
    control += RIGHTS.pack(RIGHTS.size + 12, socket.SOL_SOCKET, socket.SCM_RIGHTS) + struct.pack("iii", *[null] * 3)
    control += b"\0" * 4
    room = [ctypes.create_string_buffer(control if i < 20 else 256, 256) for i in range(40)]
    data, vectors = ctypes.create_string_buffer(8), []

    def header(i, size):
        vectors.append(Vector(ctypes.addressof(data), 8))
        return Message(Header(iov=ctypes.pointer(vectors[-1]), iovlen=1, control=ctypes.addressof(room[i]), controllen=size))
    out = (Message * 20)(*(header(i, len(control)) for i in range(20)))
    into = (Message * 20)(*(header(20 + i, 256) for i in range(20)))
    sent = libc.sendmmsg(a.fileno(), out, 20, socket.MSG_DONTWAIT)
    check("many: some are sent", sent > 2, (sent, os.strerror(ctypes.get_errno())))
    same("many: received", libc.recvmmsg(b.fileno(), into, 20, socket.MSG_DONTWAIT, None), sent)
    same("many: each message", rows(ns), passed(3 * sent, "device", ME, ME))
    os.close(null)
    for s in a, b:
        s.close()


def test_peek(ns):
    """Who looks at a message first gets its descriptors twice."""
    attach(ns, "-m", "fdpass")
    a, b = pair(ns)
    with open(__file__, "rb") as file:
        socket.send_fds(a, [b"x"], [file.fileno()])
    same("peek: once and again", (take(b, flags=socket.MSG_PEEK), take(b)), (1, 1))
    same("peek: both are received", rows(ns), {(ME, "-", "file"): (1, 0), (ME, ME, "file"): (0, 2)})
    for s in a, b:
        s.close()


def test_not(ns, stranger):
    """What fails is not sent; what nobody takes is not received; nor is what another namespace passes."""
    attach(ns, "-m", "fdpass")
    (a, b), (c, d) = pair(ns, socket.SOCK_DGRAM), pair(stranger)
    a.setblocking(False)
    sent = 0
    with open(__file__, "rb") as file:
        with contextlib.suppress(BlockingIOError):
            for _ in range(5000):
                socket.send_fds(a, [b"x"], [file.fileno()])
                sent += 1
        socket.send_fds(c, [b"x"], [file.fileno()])
    same("not: the other namespace", take(d), 1)
    check("not: one failed", sent < 5000, sent)
    same("not: those that were sent", rows(ns), {(ME, "-", "file"): (sent, 0)})
    same("not: one is taken", take(b), 1)
    same("not: by whom it was sent", rows(ns), {(ME, "-", "file"): (sent, 0), (ME, ME, "file"): (0, 1)})
    for s in a, b, c, d:
        s.close()


def test_failed(ns):
    """The note of a call that failed is removed: who sends without being seen is not known, and not taken for it."""
    a, b = pair(ns)
    with open(__file__, "rb") as file:
        socket.send_fds(a, [b"x"], [file.fileno()])        # before attach
        attach(ns, "-m", "fdpass")
        a.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            while True:
                a.send(b"y" * 100000)
        try:
            socket.send_fds(a, [b"x"], [file.fileno()])
        except BlockingIOError as e:
            same("failed: it did", e.errno, errno.EAGAIN)
    same("failed: the earlier one comes", take(b), 1)
    same("failed: from whom is not known", rows(ns), {("unknown", ME, "file"): (0, 1)})
    for s in a, b:
        s.close()


need_root()
rename(ME)
one, two = Namespace("a"), Namespace("b")
each(test_kinds, test_race, test_datagrams, test_many, test_peek, test_not, test_failed,
     ns=one, stranger=two, after=lambda: nicprobe("detach", f"{one}/host", check=False))
finish()

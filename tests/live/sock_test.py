#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""System calls to sockets: each that the test makes is counted once, with its family, protocol, process, error and size."""
import ctypes
import errno
import mmap
import os
import signal
import socket
import threading

from lib.connections import attach
from lib.lab import *
from lib.messages import Header, Message, Vector, rename
from lib.wire import inside, libc

ME = "sock-test"
ROWS = 2048                     # SOCK_ROWS
UDP, TCP, UNIX, PAIR = ("inet", "udp"), ("inet", "tcp"), ("unix", "stream"), ("unix", "dgram")
LO = "127.0.0.1"


def rows(ns, process=ME):
    """{(call, family, protocol): (calls, failed, bytes, messages, {errno: n})} of one process."""
    doc = show(f"{ns}/host")
    same("nothing is lost", lost(doc), {})
    return {(r["call"], r["family"], r["protocol"]):
            (r["calls"], r["failed_calls"], r["bytes"], r["size_bytes"]["count"], nonzero(r["errors_calls"]))
            for r in doc["meters"]["sock"] if r["process"] == process and r["calls"]}


def plain(n):
    """So many calls that succeed and move nothing."""
    return n, 0, 0, 0, {}


def moved(n, octets, more=0, **errors):
    """So many that move so many bytes in all; `more` that move none and return these errors, none of them a failure."""
    return n + more, 0, octets, n, errors


def sizes(ns, call, family, protocol):
    return next(nonzero(r["size_bytes"]["le"]) for r in show(f"{ns}/host")["meters"]["sock"]
                if (r["call"], r["family"], r["protocol"], r["process"]) == (call, family, protocol, ME))


def fails(number, call, *args):
    try:
        call(*args)
    except OSError as e:
        assert e.errno == number, e
    else:
        raise AssertionError(f"{call} did not fail")


def make(ns, family=socket.AF_INET, kind=socket.SOCK_STREAM, protocol=0):
    return inside(ns, lambda: socket.socket(family, kind, protocol))


def udp_pair(ns):
    server, c = make(ns, kind=socket.SOCK_DGRAM), make(ns, kind=socket.SOCK_DGRAM)
    server.bind((LO, 0))
    c.connect(server.getsockname())
    return server, c


def test_udp(ns):
    """Sends and receives of known sizes, by every call that there is for it."""
    attach(ns, "-m", "sock")
    server, c = udp_pair(ns)
    for size in [0] * 3 + [1] * 40 + [100] * 20 + [1400] * 10:
        c.send(b"x" * size)
        server.recv(2000)
    os.write(c.fileno(), b"y" * 7)
    os.read(server.fileno(), 100)
    os.writev(c.fileno(), [b"y" * 8, b"z" * 9])
    os.readv(server.fileno(), [bytearray(10), bytearray(100)])
    c.sendmsg([b"y" * 11, b"z" * 12])
    server.recvmsg(100)
    octets = 40 + 2000 + 14000 + 7 + 17 + 23
    same("udp: calls, and their bytes", rows(ns), {
        ("socket", *UDP): plain(2), ("bind", *UDP): plain(1), ("connect", *UDP): plain(1), ("getsockname", *UDP): plain(1),
        ("send", *UDP): moved(76, octets), ("recv", *UDP): moved(76, octets)})
    want = {"0": 3, "1": 40, "7": 1, "20": 1, "24": 1, "112": 20, "1536": 10}
    same("udp: sizes of what is sent", sizes(ns, "send", *UDP), want)
    same("udp: sizes of what is received", sizes(ns, "recv", *UDP), want)
    server.close()
    c.close()


def messages(lengths):
    room = ctypes.create_string_buffer(max(lengths))
    vectors = [Vector(ctypes.addressof(room), n) for n in lengths]
    made = (Message * len(lengths))(*(Message(Header(iov=ctypes.pointer(v), iovlen=1)) for v in vectors))
    return made, room, vectors


def test_many(ns):
    """sendmmsg() and recvmmsg(): a call, and each of its messages with its size."""
    attach(ns, "-m", "sock")
    server, c = udp_pair(ns)
    lengths = [10 * i for i in range(1, 61)]
    out, into = messages(lengths), messages([1000] * len(lengths))
    same("many: sent", libc.sendmmsg(c.fileno(), out[0], len(lengths), 0), len(lengths))
    same("many: received", libc.recvmmsg(server.fileno(), into[0], len(lengths), 0, None), len(lengths))
    want = 1, 0, sum(lengths), len(lengths), {}
    got = rows(ns)
    same("many: calls, messages and bytes", (got["send", *UDP], got["recv", *UDP]), (want, want))
    server.close()
    c.close()


def test_tcp(ns):
    """A connection of known content; one that is refused; one that is not yet, and what is written to the end of one."""
    attach(ns, "-m", "sock")
    server, c = make(ns), make(ns)
    server.bind((LO, 0))
    server.listen()
    at = server.getsockname()
    c.connect(at)
    s = server.accept()[0]              # it asks for its name, as Python makes a socket of a descriptor
    for size, n in (200, 30), (50000, 2):
        for _ in range(n):
            assert c.send(b"x" * size) == size
            assert len(s.recv(size, socket.MSG_WAITALL)) == size
    c.shutdown(socket.SHUT_WR)
    assert s.recv(10) == b""
    fails(errno.EPIPE, c.send, b"x")
    refused, late = make(ns), make(ns)
    for _ in range(3):
        fails(errno.ECONNREFUSED, refused.connect, (LO, 1))
    late.setblocking(False)
    fails(errno.EINPROGRESS, late.connect, at)
    late.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for _ in range(5):
        late.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
    fails(errno.EAGAIN, late.recv, 1)
    got, octets = rows(ns), 30 * 200 + 2 * 50000
    got.pop(("getsockname", *TCP))      # Python's
    same("tcp: calls", got, {
        ("socket", *TCP): plain(4), ("bind", *TCP): plain(1), ("listen", *TCP): plain(1), ("accept", *TCP): plain(1),
        ("connect", *TCP): (5, 3, 0, 0, {"ECONNREFUSED": 3, "EINPROGRESS": 1}), ("shutdown", *TCP): plain(1),
        ("setsockopt", *TCP): plain(1), ("getsockopt", *TCP): plain(5), ("recv", *TCP): moved(33, octets, 1, EAGAIN=1),
        ("send", *TCP): (33, 1, octets, 32, {"EPIPE": 1})})
    for x in (server, c, s, refused, late):
        x.close()


def test_unix(ns):
    """A pair and a named socket; splice() and sendfile() to and from them; and files that are no sockets."""
    attach(ns, "-m", "sock")
    a, b = inside(ns, socket.socketpair)
    for _ in range(25):
        a.send(b"x" * 64)
        assert b.recv(100) == b"x" * 64
    out, into = os.pipe()
    os.write(into, b"y" * 300)
    same("unix: spliced to a socket", os.splice(out, a.fileno(), 300), 300)
    same("unix: spliced from a socket", os.splice(b.fileno(), into, 300), 300)
    same("unix: through the pipe", len(os.read(out, 1000)), 300)
    with open(__file__, "rb") as file:
        same("unix: sendfile", os.sendfile(a.fileno(), file.fileno(), 0, 500), 500)
        os.read(file.fileno(), 10)
    assert len(b.recv(1000)) == 500
    missing = make(ns, socket.AF_UNIX, socket.SOCK_DGRAM)
    fails(errno.ENOENT, missing.connect, "/nonexistent/socket")
    fails(errno.ENOTCONN, missing.getpeername)
    octets = 25 * 64 + 300 + 500
    got = rows(ns)
    got.pop(("getsockname", *UNIX), None)
    same("unix: calls", got, {
        ("socketpair", *UNIX): plain(1), ("send", *UNIX): moved(27, octets), ("recv", *UNIX): moved(27, octets),
        ("socket", *PAIR): plain(1), ("connect", *PAIR): (1, 1, 0, 0, {"ENOENT": 1}),
        ("getpeername", *PAIR): (1, 1, 0, 0, {"ENOTCONN": 1})})
    for x in (a, b, missing):
        x.close()
    os.close(out)
    os.close(into)


def test_errors(ns):
    """By name; what is not yet is no failure, and descriptors that are no sockets are nobody's."""
    attach(ns, "-m", "sock")
    (server, c), other = udp_pair(ns), make(ns, kind=socket.SOCK_DGRAM)
    server.setblocking(False)
    for _ in range(9):
        fails(errno.EAGAIN, server.recv, 10)
    fails(errno.EMSGSIZE, c.send, b"x" * 70000)
    fails(errno.EADDRINUSE, other.bind, server.getsockname())
    fails(errno.EPROTONOSUPPORT, make, ns, socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_UDP)
    fails(errno.EAFNOSUPPORT, make, ns, 60, socket.SOCK_DGRAM)
    old = signal.signal(signal.SIGALRM, lambda *_: None)
    signal.setitimer(signal.ITIMER_REAL, .1)
    same("errors: interrupted", libc.recv(c.fileno(), ctypes.create_string_buffer(9), 9, 0), -1)
    signal.signal(signal.SIGALRM, old)
    libc.recv(9999, None, 0, 0)
    libc.recv(0xffffffff, None, 0, 0)
    with open("/dev/null", "rb") as null:
        libc.recv(null.fileno(), None, 0, 0)
    same("errors: by name", rows(ns), {
        ("socket", *UDP): plain(3), ("connect", *UDP): plain(1), ("getsockname", *UDP): plain(2),
        ("bind", *UDP): (2, 1, 0, 0, {"EADDRINUSE": 1}), ("send", *UDP): (1, 1, 0, 0, {"EMSGSIZE": 1}),
        ("recv", *UDP): (10, 0, 0, 0, {"EAGAIN": 9, "EINTR": 1}),
        ("socket", "inet", "stream-17"): (1, 1, 0, 0, {"EPROTONOSUPPORT": 1}),
        ("socket", "60", "dgram"): (1, 1, 0, 0, {"EAFNOSUPPORT": 1})})
    for x in (server, c, other):
        x.close()


def test_compat(ns):
    """A call of 32 bits, getpid(): 20, which is writev() of 64 bits; its result would be taken for bytes."""
    if os.uname().machine != "x86_64":
        skip("compat", "for x86-64")
        return
    attach(ns, "-m", "sock")
    server, c = udp_pair(ns)
    code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    code.write(b"\x53\xb8\x14\0\0\0\xcd\x80\x5b\xc3")        # push rbx; mov eax, 20; int 0x80; pop rbx; ret
    child = os.fork()
    if not child:
        got = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))(c.fileno())
        os._exit(got != os.getpid())
    status = os.waitpid(child, 0)[1]
    if status == signal.SIGSEGV:
        skip("compat", "this kernel has no calls of 32 bits")
    else:
        same("compat: the call was made", status, 0)
        same("compat: and does not count", [k for k in rows(ns) if k[0] in ("send", "recv")], [])
    for x in (server, c):
        x.close()


def test_kinds(ns):
    """Families and protocols by their names."""
    attach(ns, "-m", "sock")
    made = [(socket.AF_INET6, socket.SOCK_DGRAM, 0, "inet6", "udp"), (socket.AF_INET, socket.SOCK_RAW, 1, "inet", "raw-1"),
            (socket.AF_NETLINK, socket.SOCK_RAW, 0, "netlink", "route"),
            (socket.AF_NETLINK, socket.SOCK_DGRAM, 16, "netlink", "generic"),
            (socket.AF_UNIX, socket.SOCK_SEQPACKET, 0, "unix", "seqpacket"),
            (socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3), "packet", "raw")]
    want = {}
    for n, (family, kind, protocol, *words) in enumerate(made, 1):
        for _ in range(n):
            make(ns, family, kind, protocol).close()
        want["socket", *words] = plain(n)
    same("kinds: by name", rows(ns), want)


def test_whose(ns, stranger):
    """A thread has its own name; what it does to sockets of another namespace is not counted."""
    attach(ns, "-m", "sock")
    ours, theirs = udp_pair(ns), udp_pair(stranger)

    def work():
        rename("sock-thread")
        for server, c in ours, theirs, ours:
            for _ in range(10):
                c.send(b"x" * 5)
                server.recv(10)
    t = threading.Thread(target=work)
    t.start()
    t.join()
    same("whose: the thread's", rows(ns, "sock-thread"), {("send", *UDP): moved(20, 100), ("recv", *UDP): moved(20, 100)})
    same("whose: the other's", {k: v[0] for k, v in rows(ns).items()},
         {("socket", *UDP): 2, ("bind", *UDP): 1, ("connect", *UDP): 1, ("getsockname", *UDP): 1})
    for x in (*ours, *theirs):
        x.close()


def test_threads(ns):
    """On all CPUs at once."""
    attach(ns, "-m", "sock")
    many = int(os.environ.get("CALLS", 500))

    def work():
        server, c = udp_pair(ns)
        for _ in range(many):
            c.send(b"x" * 3)
            server.recv(10)
        server.close()
        c.close()
    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    got = rows(ns)
    same("threads: all", (got["send", *UDP], got["recv", *UDP]), (moved(4 * many, 12 * many), moved(4 * many, 12 * many)))


def test_full(ns):
    """More names than there are rows: the others count together, and none is lost."""
    attach(ns, "-m", "sock")
    s = make(ns, kind=socket.SOCK_DGRAM)
    for i in range(ROWS + 100):
        rename(f"n{i}")
        s.getsockopt(socket.SOL_SOCKET, socket.SO_TYPE)
    rename(ME)
    doc = show(f"{ns}/host")
    same("full: nothing is lost", lost(doc), {})
    listed = [r for r in doc["meters"]["sock"] if r["call"] == "getsockopt" and r["process"].startswith("n")]
    others = [r for r in doc["meters"]["sock"] if r["call"] == "others"]
    check("full: each of its own has one", listed and {r["calls"] for r in listed} == {1}, len(listed))
    # others of this host have rows, too: the test's own name, and nicprobe
    total = sum(r["calls"] for r in doc["meters"]["sock"] if r["process"] not in (ME, "nicprobe"))
    check("full: all are there", len(others) == 1 and total - ROWS - 100 in range(5) and others[0]["calls"] >= 100,
          (total, others and others[0]["calls"]))
    s.close()


def test_said(ns):
    """What it costs is said, and it is not attached unasked."""
    attach(ns, "-m", "sock")
    text = " ".join(nicprobe("show", f"{ns}/host").stdout.split())
    check("said: that it runs for each system call", "each system call" in text, text)
    nicprobe("detach", f"{ns}/host")
    same("said: not unasked", "sock" in nicprobe("attach", f"{ns}/host").stdout.split("measures")[-1].split("\n")[0].split(), False)
    for meter in "sock", "fdpass":
        r = nicprobe("attach", f"{ns}/host", "-m", f"+{meter}", env={"NICPROBE_CANNOT": "sys_exit"}, check=False)
        check(f"said: {meter}, where system calls cannot be followed", r.returncode == 1 and f"{meter} cannot be had" in r.stderr, r.stderr)


need_root()
rename(ME)
one, two = Namespace("a"), Namespace("b")
each(test_udp, test_many, test_tcp, test_unix, test_errors, test_compat, test_kinds, test_whose, test_threads, test_full, test_said,
     ns=one, stranger=two, after=lambda: nicprobe("detach", f"{one}/host", check=False))
finish()

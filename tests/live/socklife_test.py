#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Lives of sockets: each that ends is counted once, with its kind, ends, bytes, messages, time and process."""
import ctypes
import errno
import os
import signal
import socket
import struct
import threading
import time

from lib.connections import attach
from lib.datagrams import DGRAM, INET, INET6, LO, LO6, PORT, RAW, STREAM, bound, connected, make, namespaces
from lib.lab import *
from lib.messages import Header, Message, Vector, rename
from lib.wire import inside, libc

ME = "socklife-test"
ROWS = 8192                     # REMOTES
ENDS = ROWS // 8 * 7            # SOCKLIFE_ENDS
MAPPED = "::ffff:127.0.0.1"
ECHOES = (10, 0, 200, 1400)     # bytes of datagrams


def document(ns):
    doc = show(f"{ns}/host")
    same("nothing is lost", lost(doc), {})
    return doc["meters"]["socklife"]


def rows(ns, process=ME):
    """{(family, protocol, remote, port): (sockets, bytes sent and received, messages sent and received)} of one process."""
    return {(r["family"], r["protocol"], r["remote"], r["port"]):
            (r["duration_seconds"]["count"], r["sent_bytes"], r["received_bytes"], r["sends_messages"], r["receives_messages"])
            for r in document(ns) if r["process"] == process and not r["older_sockets"]}


def older(ns, process=ME):
    return {(r["family"], r["protocol"], r["remote"], r["port"]): r["older_sockets"]
            for r in document(ns) if r["process"] == process and r["older_sockets"]}


def converse(server, c, sizes=ECHOES):
    """Datagrams of these sizes there, and twice the size back."""
    for size in sizes:
        assert c.send(b"x" * size) == size
        data, back = server.recvfrom(9000)
        server.sendto(data * 2, back)
        assert len(c.recv(9000)) == 2 * size


def client(n, sizes=ECHOES):
    return n, n * sum(sizes), n * 2 * sum(sizes), n * len(sizes), n * len(sizes)


def test_udp(ns):
    """Sockets that connect, of both families, and mapped addresses; a server that does not."""
    attach(ns, "-m", "socklife")
    n, ends = 20, {(INET, LO): LO, (INET6, LO6): LO6, (INET6, MAPPED): LO}
    want = {}
    for nr, ((family, address), remote) in enumerate(ends.items()):
        server = bound(ns, family, address, PORT + nr)
        for _ in range(n):
            c = connected(ns, (address, PORT + nr), family)
            converse(server, c)
            c.close()
        server.close()
        word = "inet6" if family == INET6 else "inet"
        want[word, "udp", remote, str(PORT + nr)] = client(n)
        want[word, "udp", "-", str(PORT + nr)] = (1, *(client(n)[i] for i in (2, 1, 4, 3)))
    same("udp: each socket, its bytes and datagrams", rows(ns), want)


def test_unconnected(ns):
    """Without remote, and without a port that bind() chose; once connected and not any more."""
    attach(ns, "-m", "socklife")
    server = bound(ns)
    for size in 1, 2, 3:
        s = make(ns)
        s.sendto(b"x" * size, (LO, PORT))
        server.recv(100)
        s.close()
    s = make(ns)
    s.bind((LO, 0))
    s.close()
    s = connected(ns, (LO, PORT))
    assert not libc.connect(s.fileno(), struct.pack("H14x", socket.AF_UNSPEC), 16)
    s.close()
    server.close()
    same("unconnected: by what is known", rows(ns), {
        ("inet", "udp", "-", "-"): (5, 6, 0, 3, 0), ("inet", "udp", "-", str(PORT)): (1, 0, 6, 0, 3)})


def test_calls(ns):
    """Each message of sendmmsg(); what is only looked at, fails, or comes back as an error is none."""
    attach(ns, "-m", "socklife")
    server, c = bound(ns), connected(ns, (LO, PORT))
    lengths = [10 * i for i in range(1, 31)]
    room = ctypes.create_string_buffer(1000)
    vectors = [Vector(ctypes.addressof(room), n) for n in lengths]
    made = (Message * len(lengths))(*(Message(Header(iov=ctypes.pointer(v), iovlen=1)) for v in vectors))
    same("calls: sendmmsg", libc.sendmmsg(c.fileno(), made, len(lengths), 0), len(lengths))
    for _ in range(5):
        assert len(server.recv(1000, socket.MSG_PEEK)) == lengths[0]
    vectors = [Vector(ctypes.addressof(room), 1000)] * len(lengths)
    into = (Message * len(lengths))(*(Message(Header(iov=ctypes.pointer(v), iovlen=1)) for v in vectors))
    same("calls: recvmmsg", libc.recvmmsg(server.fileno(), into, len(lengths), 0, None), len(lengths))
    os.write(c.fileno(), b"y" * 7)
    os.writev(c.fileno(), [b"y" * 8, b"z" * 9])
    assert (len(os.read(server.fileno(), 100)), os.readv(server.fileno(), [bytearray(10), bytearray(100)])) == (7, 17)
    c.send(b"x" * 500)
    same("calls: cut to the room", len(server.recv(100)), 100)
    server.setblocking(False)
    for fails in (lambda: c.send(b"x" * 70000)), (lambda: server.recv(10)):
        try:
            fails()
            not_ok("calls: failed", "it did not")
        except OSError as e:
            check("calls: failed", e.errno in (errno.EMSGSIZE, errno.EAGAIN), e)
    server.close()
    c.setsockopt(socket.IPPROTO_IP, 11, 1)      # IP_RECVERR
    c.send(b"x" * 40)                           # nobody is there any more
    time.sleep(.05)
    try:
        c.recv(100)
        not_ok("calls: refused", "it was not")
    except ConnectionRefusedError:
        pass
    same("calls: what was refused comes back", len(c.recvmsg(100, 100, socket.MSG_ERRQUEUE)[0]), 40)
    c.close()
    octets = sum(lengths) + 7 + 17
    same("calls: messages and bytes", rows(ns), {
        ("inet", "udp", LO, str(PORT)): (1, octets + 540, 0, len(lengths) + 4, 0),
        ("inet", "udp", "-", str(PORT)): (1, 0, octets + 100, 0, len(lengths) + 3)})


def test_ends(ns):
    """A socket ends with its last descriptor: a duplicate, one of a child, one on its way; or as its process does."""
    attach(ns, "-m", "socklife")
    s = connected(ns, (LO, PORT))
    again = s.dup()
    s.close()
    same("ends: not while there is a duplicate", rows(ns), {})
    again.close()
    key, one = ("inet", "udp", LO, str(PORT)), (1, 0, 0, 0, 0)
    same("ends: with it", rows(ns), {key: one})
    s = connected(ns, (LO, PORT))
    child = os.fork()
    if not child:
        signal.pause()
    s.close()
    same("ends: not while a child has it", rows(ns), {key: one})
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    until(lambda: rows(ns) != {key: one})
    same("ends: with the child", rows(ns), {key: (2, 0, 0, 0, 0)})
    a, b = socket.socketpair()
    s = connected(ns, (LO, PORT))
    socket.send_fds(a, [b"x"], [s.fileno()])
    s.close()
    same("ends: not on its way", rows(ns), {key: (2, 0, 0, 0, 0)})
    a.close()
    b.close()
    until(lambda: rows(ns)[key][0] == 3)
    same("ends: where nobody takes it", rows(ns), {key: (3, 0, 0, 0, 0)})
    child = os.fork()
    if not child:
        rename("socklife-child")
        kept = [connected(ns, (LO, PORT)) for _ in range(30)]
        kept[0].send(b"x" * 33)
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    until(lambda: rows(ns, "socklife-child").get(key, (0,))[0] == 30)
    same("ends: those of a process that is killed", rows(ns, "socklife-child"), {key: (30, 33, 0, 1, 0)})
    same("ends: and no other", rows(ns), {key: (3, 0, 0, 0, 0)})


def test_older(ns):
    """Of a socket from before attach only the end is counted; of one that is there afterwards nothing."""
    server, c, raw = bound(ns), connected(ns, (LO, PORT)), make(ns, kind=RAW, protocol=200)
    converse(server, c)
    attach(ns, "-m", "socklife")
    converse(server, c)
    late = connected(ns, (LO, PORT))
    for s in c, server, raw:
        s.close()
    same("older: they ended", older(ns), {("inet", "udp", LO, str(PORT)): 1, ("inet", "udp", "-", str(PORT)): 1,
                                          ("inet", "raw-200", "-", "-"): 1})
    same("older: no other figure", rows(ns), {})
    nicprobe("detach", f"{ns}/host")
    attach(ns, "-m", "socklife")
    late.close()
    same("older: followed by an earlier attach", older(ns), {("inet", "udp", LO, str(PORT)): 1})


def test_stranger(ns, stranger):
    """Sockets of another namespace are none of ours."""
    attach(ns, "-m", "socklife")
    server, c = bound(stranger), connected(stranger, (LO, PORT))
    converse(server, c)
    server.close()
    c.close()
    same("stranger: nothing", rows(ns), {})
    make(ns).close()
    same("stranger: ours", rows(ns), {("inet", "udp", "-", "-"): (1, 0, 0, 0, 0)})


def test_time(ns):
    """From socket() to close(), by the clock."""
    attach(ns, "-m", "socklife")
    begun = time.monotonic()
    kept = [make(ns) for _ in range(10)]
    made = time.monotonic()
    time.sleep(.3)
    last = time.monotonic()
    for s in kept:
        s.close()
    ended = time.monotonic()
    d = next(r["duration_seconds"] for r in document(ns) if r["process"] == ME)
    check("time: of all", 10 * (last - made) - .001 <= d["sum"] <= 10 * (ended - begun) + .001, (d["sum"], last - made, ended - begun))
    check("time: the median", .29 <= d["p50"] <= (ended - begun) * 1.13, d["p50"])
    same("time: of ten", d["count"], 10)


def test_tcp(ns):
    """TCP counts where it never became a connection: those are the meter session's, at both ends."""
    attach(ns, "-m", "socklife,session")
    listener, c = make(ns, kind=STREAM), make(ns, kind=STREAM)
    listener.bind((LO, PORT))
    listener.listen()
    c.connect((LO, PORT))
    s = listener.accept()[0]
    c.send(b"x" * 10)
    s.close()                   # by RST
    c.close()
    refused, late = make(ns, kind=STREAM), make(ns, kind=STREAM)
    same("tcp: refused", refused.connect_ex((LO, 1)), errno.ECONNREFUSED)
    late.setblocking(False)
    late.connect_ex((LO, 2))
    refused.close()
    late.close()
    make(ns, INET6, STREAM).close()
    listener.close()
    same("tcp: a listener, one refused, one unused", rows(ns), {
        ("inet", "tcp", "-", str(PORT)): (1, 0, 0, 0, 0), ("inet", "tcp", "-", "-"): (1, 0, 0, 0, 0),
        ("inet", "tcp", LO, "2"): (1, 0, 0, 0, 0), ("inet6", "tcp", "-", "-"): (1, 0, 0, 0, 0)})
    got = show(f"{ns}/host")["meters"]["session"]
    same("tcp: both ends of the connection are sessions", sorted((r["side"], sum(r["sessions"].values())) for r in got),
         [("client", 1), ("server", 1)])
    same("tcp: none is older", older(ns), {})


def test_raw(ns):
    """Raw sockets, of which those of IPv4 receive the header, too; and those that ping."""
    ns.run("sysctl -qw 'net.ipv4.ping_group_range=0 0'")
    attach(ns, "-m", "socklife")
    for family, address in (INET, LO), (INET6, LO6):
        s = make(ns, family, RAW, 200)
        for size in 50, 60:
            s.sendto(b"x" * size, (address, 0))
            s.recv(1000)
        s.close()
    ping = make(ns, INET, DGRAM, socket.IPPROTO_ICMP)
    ping.sendto(b"\x08\0\0\0\0\0\0\1" + b"x" * 20, (LO, 0))
    same("raw: an echo", len(ping.recv(100)), 28)
    ping.close()
    c = make(ns, INET, RAW, 201)
    c.connect((LO, 0))
    c.close()
    same("raw: by protocol", rows(ns), {
        ("inet", "raw-200", "-", "-"): (1, 110, 150, 2, 2), ("inet6", "raw-200", "-", "-"): (1, 110, 110, 2, 2),
        ("inet", "ping", "-", "-"): (1, 28, 28, 1, 1), ("inet", "raw-201", LO, "-"): (1, 0, 0, 0, 0)})


def test_threads(ns):
    """On all CPUs at once; and several threads that use one socket."""
    attach(ns, "-m", "socklife")
    many, nr = int(os.environ.get("CALLS", 500)), 4
    shared = connected(ns, (LO, PORT + 9))

    def work(port):
        server = bound(ns, port=port)
        for _ in range(many):
            c = connected(ns, (LO, port))
            converse(server, c, (30,))
            c.close()
            try:
                shared.send(b"x" * 3)
            except ConnectionRefusedError:
                shared.send(b"x" * 3)
        server.close()
    sink = bound(ns, port=PORT + 9)
    sink.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 24)
    threads = [threading.Thread(target=work, args=(PORT + i,)) for i in range(nr)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    shared.close()
    sink.close()
    want = {("inet", "udp", LO, str(PORT + 9)): (1, 3 * many * nr, 0, many * nr, 0), ("inet", "udp", "-", str(PORT + 9)): (1, 0, 0, 0, 0)}
    for i in range(nr):
        want["inet", "udp", LO, str(PORT + i)] = client(many, (30,))
        want["inet", "udp", "-", str(PORT + i)] = (1, 60 * many, 30 * many, many, many)
    same("threads: all", rows(ns), want)


def test_full(ns):
    """More remote hosts than may have rows: further ones count by process, and none is lost."""
    attach(ns, "-m", "socklife")
    for i in range(ROWS + 100):
        connected(ns, (f"127.1.{i >> 8}.{i & 255}", PORT)).close()
    got = {k: v[0] for k, v in rows(ns).items()}
    more = got.pop(("inet", "udp", "-", "-"), 0)
    same("full: all are there", sum(got.values()) + more, ROWS + 100)
    # nicprobe's own sockets end here, too
    check("full: so many have a row, and the others count by process", set(got.values()) == {1} and ENDS - 20 <= len(got) <= ENDS, len(got))
    same("full: there is room for others still", [r["duration_seconds"]["count"] for r in document(ns) if r["family"] == "others"], [])


def test_families(ns):
    """Sockets of unix, netlink and packet, where functions show them; else it is said that they are not seen."""
    text = " ".join(nicprobe("attach", "-m", "socklife", f"{ns}/host").stdout.split())
    server, c = make(ns, socket.AF_UNIX, STREAM), make(ns, socket.AF_UNIX, STREAM)
    server.bind(f"\0{ns}-socklife")
    server.listen()
    c.connect(f"\0{ns}-socklife")
    s = server.accept()[0]
    for size in 10, 20:
        c.send(b"x" * size)
        s.recv(100)
    a, b = inside(ns, lambda: socket.socketpair(socket.AF_UNIX, DGRAM))
    a.send(b"y" * 33)
    b.recv(100, socket.MSG_PEEK)
    b.recv(100)
    link = make(ns, socket.AF_NETLINK, RAW, 0)
    packet = make(ns, socket.AF_PACKET, RAW, 0)
    c.close()
    same("families: the end of a stream, which is no message", s.recv(100), b"")
    for x in server, s, a, b, link, packet:
        x.close()
    want = {("unix", "stream", "-", "-"): (3, 30, 30, 2, 2), ("unix", "dgram", "-", "-"): (2, 33, 33, 1, 1),
            ("netlink", "route", "-", "-"): (1, 0, 0, 0, 0), ("packet", "raw", "-", "-"): (1, 0, 0, 0, 0)}
    same("families: each socket and its bytes", rows(ns), {} if "IPv4 and IPv6 only" in text else want)
    same("families: none is older", older(ns), {})


def test_said(ns):
    """What it costs is said, and it is not attached unasked."""
    attach(ns, "-m", "socklife")
    text = " ".join(nicprobe("show", f"{ns}/host").stdout.split())
    check("said: that it runs for each message", "each message" in text, text)
    nicprobe("detach", f"{ns}/host")
    same("said: not unasked", "socklife" in nicprobe("attach", f"{ns}/host").stdout, False)
    nicprobe("detach", f"{ns}/host")
    for word in "cgroup", "tp_btf,fentry":
        got = nicprobe("attach", "-m", "socklife", f"{ns}/host", env={**os.environ, "NICPROBE_CANNOT": word}, check=False)
        check(f"said: why it cannot without {word}", got.returncode == 1 and "socklife" in got.stderr, got.stderr)


need_root()
rename(ME)
one, two = namespaces()
each(test_udp, test_unconnected, test_calls, test_ends, test_older, test_stranger, test_time, test_tcp, test_raw, test_threads,
     test_full, test_families, test_said,
     ns=one, stranger=two, after=lambda: nicprobe("detach", f"{one}/host", check=False))
finish()

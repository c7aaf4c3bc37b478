#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Conversations between sockets of known content, for the tests of probes: `talk.py KIND ARGUMENTS`, in a namespace."""
import socket
import struct
import sys
import time

SERVER, CLIENT = 20080, 20081


def family(address):
    return socket.AF_INET6 if ":" in address else socket.AF_INET


def tcp(address, kind=socket.SOCK_STREAM):
    s = socket.socket(family(address), kind)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    return s


def listener(address, port=SERVER):
    s = tcp(address)
    s.bind((address, port))
    s.listen(8)
    return s


def connected(address, server=None, port=SERVER):
    """(client, server's side)"""
    c = tcp(address)
    c.bind((address, CLIENT))
    c.connect((address, port))
    return c, server.accept()[0]


def acked(sock):
    """Waits until the other end has acknowledged all, which it does after 40 ms, or later if it is busy."""
    end = time.monotonic() + 5
    time.sleep(.06)
    while struct.unpack_from("=I", sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104), 24)[0]:     # tcpi_unacked
        assert time.monotonic() < end
        time.sleep(.005)


def orderly(address):
    """11 bytes there, 5 back; the client closes first: 11 segments, none combined."""
    server = listener(address)
    c, s = connected(address, server)
    for one in (c, s):
        one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    c.send(b"hello there")
    acked(c)
    assert s.recv(100) == b"hello there"
    s.send(b"hello")
    acked(s)
    assert c.recv(100) == b"hello"
    c.close()
    fin_acked()
    s.close()
    server.close()
    time.sleep(.06)


def refused(address, port="20007"):
    s = tcp(address)
    try:
        s.connect((address, int(port)))
    except ConnectionRefusedError:
        return
    raise SystemExit("it was not refused")


def reset(address):
    """Established, then a reset instead of a FIN."""
    server = listener(address)
    c, s = connected(address, server)
    c.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    c.close()
    time.sleep(.05)
    s.close()


def half_close(address, first):
    """One side closes its half, the other follows: `client` first, or `server`."""
    server = listener(address)
    c, s = connected(address, server)
    one, other = (c, s) if first == "client" else (s, c)
    one.shutdown(socket.SHUT_WR)
    time.sleep(.05)
    other.close()
    time.sleep(.05)
    one.close()


def udp(address):
    """11 bytes there and back."""
    a, b = (socket.socket(family(address), socket.SOCK_DGRAM) for _ in range(2))
    a.bind((address, 20053))
    b.bind((address, 20054))
    b.sendto(b"hello there", (address, 20053))
    data, back = a.recvfrom(100)
    a.sendto(data, back)
    b.recv(100)


def udp_closed(address, port="20099"):
    s = socket.socket(family(address), socket.SOCK_DGRAM)
    s.connect((address, int(port)))
    s.send(b"hello there!!")
    time.sleep(.05)
    try:
        s.recv(10)
    except ConnectionRefusedError:
        return
    raise SystemExit("it was not refused")


def datagram(address, port, size="11"):
    s = socket.socket(family(address), socket.SOCK_DGRAM)
    try:
        s.sendto(b"x" * int(size), (address, int(port)))
    except OSError as e:
        print(e.errno)


def unread(address):
    """6 datagrams of 1000 bytes to a socket that nobody reads, with room for two."""
    r = socket.socket(family(address), socket.SOCK_DGRAM)
    r.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2304)
    r.bind((address, 20053))
    s = socket.socket(family(address), socket.SOCK_DGRAM)
    for _ in range(6):
        s.sendto(b"x" * 1000, (address, 20053))
    time.sleep(.05)
    r.setblocking(False)
    got = 0
    try:
        while r.recv(2000):
            got += 1
    except BlockingIOError:
        print(got)


def echo(address, port, size):
    """Receives one datagram and sends it back."""
    s = socket.socket(family(address), socket.SOCK_DGRAM)
    s.bind((address, int(port)))
    print("ready", flush=True)
    data, back = s.recvfrom(int(size) + 1)
    s.sendto(data, back)


def ask(address, port, size):
    s = socket.socket(family(address), socket.SOCK_DGRAM)
    s.settimeout(5)
    s.sendto(b"x" * int(size), (address, int(port)))
    s.recv(int(size) + 1)


def serve(address, times="1", port=SERVER):
    """Accepts connections and closes each when the other side has."""
    server = listener(address, int(port))
    print("ready", flush=True)
    for _ in range(int(times)):
        s = server.accept()[0]
        while s.recv(65536):
            pass
        s.close()


def visit(address, times="1"):
    for _ in range(int(times)):
        s = tcp(address)
        s.connect((address, SERVER))
        s.close()
        time.sleep(.05)


def connect_to(address, seconds):
    """A connection that nobody answers."""
    s = tcp(address)
    s.settimeout(float(seconds))
    try:
        s.connect((address, SERVER))
    except (TimeoutError, OSError):
        pass


def talk_later(address, seconds):
    """Connects, waits for a line on stdin, sends 10 bytes and waits."""
    s = tcp(address)
    s.connect((address, SERVER))
    print("connected", flush=True)
    sys.stdin.readline()
    s.send(b"0123456789")
    time.sleep(float(seconds))


def bulk(address, size):
    server = listener(address)
    c, s = connected(address, server)
    import threading
    t = threading.Thread(target=lambda: (c.sendall(b"x" * int(size)), c.close()))
    t.start()
    got = 0
    while data := s.recv(1 << 20):
        got += len(data)
    t.join()
    time.sleep(.05)
    print(got)


def many(address, times):
    server = listener(address)
    for _ in range(int(times)):
        c = tcp(address)
        c.connect((address, SERVER))
        s = server.accept()[0]
        c.send(b"hello there")
        s.recv(100)
        s.send(b"hello")
        c.recv(100)
        c.close()
        s.recv(1)
        s.close()


def sends(times):
    """`send` of 11 bytes, by sendto(2)."""
    a, b = socket.socketpair()
    for _ in range(int(times)):
        a.send(b"hello there")


def named(address, name):
    """11 bytes there and back, by a process that calls itself so."""
    import ctypes
    ctypes.CDLL(None).prctl(15, bytes.fromhex(name), 0, 0, 0)      # PR_SET_NAME
    udp(address)


def flood(address, port, times):
    s = socket.socket(family(address), socket.SOCK_DGRAM)
    s.connect((address, int(port)))
    for _ in range(int(times)):
        try:
            s.send(b"x" * 100)
        except ConnectionRefusedError:
            pass


def sctp(address, times="1"):
    """Packets of SCTP with the head of an INIT: ports 3000 and 4000, verification tag 0x01020304."""
    s = socket.socket(family(address), socket.SOCK_RAW, 132)
    for _ in range(int(times)):
        s.sendto(struct.pack(">HHIIBBH16x", 3000, 4000, 0x01020304, 0xa0b0c0d0, 1, 0, 20), (address, 0))
    time.sleep(.05)


def read(address, times="1"):
    """Datagrams of 11 bytes that a socket reads."""
    a, b = (socket.socket(family(address), socket.SOCK_DGRAM) for _ in range(2))
    a.bind((address, 20053))
    for _ in range(int(times)):
        b.sendto(b"hello there", (address, 20053))
        a.recv(100)


def left_open(address):
    """One side closes, and half a second later the other has not."""
    server = listener(address)
    c, s = connected(address, server)
    c.close()
    time.sleep(.5)
    print("closed", flush=True)
    sys.stdin.readline()
    s.close()


def tcp_counters(*names):
    """What the kernel counts in this namespace, of TcpExt."""
    with open("/proc/net/netstat", encoding="ascii") as f:
        words = [line.split() for line in f if line.startswith("TcpExt:")]
    known = dict(zip(*words))
    return [int(known[name]) for name in names]


def timers(address, counter, seconds="0"):
    """Lets a timer of TCP run out some times; prints how often by the kernel's own count."""
    before, = tcp_counters(counter)
    server = listener(address)
    c, s = connected(address, server)
    {"TCPKeepAlive": kept_alive, "TCPWinProbe": window_closed, "DelayedACKs": acked_late}[counter](c, s, float(seconds))
    print(tcp_counters(counter)[0] - before)


def kept_alive(c, s, seconds):
    c.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    c.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 1)
    c.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, 1)
    time.sleep(seconds)


def fin_acked(port=CLIENT):
    """Waits until the other end has acknowledged the FIN of this closed socket: it is in FIN_WAIT2, or TIME_WAIT for it."""
    end = time.monotonic() + 5
    while not any(line.split()[1].endswith(f":{port:04X}") and line.split()[3] == "05"
                  for name in ("tcp", "tcp6") for line in open(f"/proc/net/{name}")):
        assert time.monotonic() < end
        time.sleep(.005)


def window_closed(c, s, seconds):
    c.setblocking(False)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            c.send(b"x" * 65536)
        except BlockingIOError:
            time.sleep(.01)


def acked_late(c, s, seconds):
    """Four segments that nobody answers, each acknowledged by itself."""
    for _ in range(4):
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 0)
        c.send(b"hello there")
        time.sleep(.3)


def sequenced(times="1"):
    """11 bytes there and back by Unix sockets that keep packets apart, and by others."""
    for kind in socket.SOCK_SEQPACKET, socket.SOCK_STREAM, socket.SOCK_DGRAM:
        a, b = socket.socketpair(socket.AF_UNIX, kind)
        for _ in range(int(times)):
            a.send(b"hello there")
            b.send(b.recv(100))
            a.recv(100)


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])

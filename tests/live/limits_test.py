#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""What held TCP connections back, as the meter tcp tells when they end: the kernel's own account of each, TCP_INFO, agrees."""
import select
import socket
import struct
import time

from lib.connections import attach, sessions, tcp_of
from lib.lab import *
from lib.peer import ACK, FIN, ISN, MSS, Peer, RST, sack
from lib.wire import THERE

TICK = time.clock_getres(6)      # CLOCK_MONOTONIC_COARSE


def account(s):
    """Seconds with data to send, of these by the window; segments out of order, and duplicates."""
    info = s.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256)
    return *(us * 1e-6 for us in struct.unpack_from("QQ", info, 168)), *struct.unpack_from("I4xI", info, 216)[::-1]


def told(ns, nr):
    """The same of all connections that ended, once these are `nr`."""
    until(lambda: sum(sum(x[0].values()) for x in sessions(ns).values()) == nr)
    row = tcp_of(ns, THERE)
    spans = (row[name]["sum"] for name in ("busy_seconds", "limited_by_receiver_seconds"))
    return *(round(s, 6) for s in spans), row["out_of_order_segments"], row["duplicates_segments"]


def by_buffer(s):
    """Seconds with a full send buffer, all of it on its way."""
    return struct.unpack_from("Q", s.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256), 184)[0] * 1e-6


def opened(peer, port=80, window=65535):
    s, syn = peer.connect(port)
    peer.accept(syn, window)
    return s


def closed(peer, s, seq=ISN + 1):
    """By a FIN of both sides; the account just before that, and when it was."""
    last = account(s)
    began = time.monotonic()
    s.close()
    fin = peer.next(FIN)
    peer.send(fin, FIN | ACK, seq=seq)
    return last, began


def agree(name, got, last, began):
    """A FIN is data to send: the first figure may be larger by the time it took, since `began`."""
    most = last[0] + time.monotonic() - began + 2 * TICK
    same(f"{name}: the kernel's own account", tuple(round(x, 6) for x in got[1:]), tuple(round(x, 6) for x in last[1:]))
    check(f"{name}: and of all time", last[0] - 1e-6 <= got[0] < most, f"{got[0]}, {last[0]}")


def test_window(ns, peer):
    """A receiver takes two segments of ten, and the others 300 ms later."""
    attach(ns)
    s = opened(peer, window=2 * MSS)
    began = time.monotonic()
    s.send(b"x" * 10 * MSS)
    got = peer.data(2 * MSS)
    peer.send(got[-1], ACK, window=0)
    time.sleep(.3)
    peer.send(got[-1], ACK)
    rest = peer.data(8 * MSS)
    most = time.monotonic() - began + 2 * TICK
    peer.send(rest[-1], ACK)
    until(lambda: account(s)[1] > 0)
    time.sleep(.05)
    last, closing = closed(peer, s)
    got = told(ns, 1)
    agree("limits: a full window", got, last, closing)
    check("limits: for as long as it was", .3 - 2 * TICK <= got[1] <= most, f"{got[1]} of {most}")
    same("limits: nothing was out of order, or in vain", got[2:], (0, 0))


def test_idle(ns, peer):
    """Half a second without data is nobody's limit; two segments come in the wrong order; one is sent again in vain."""
    attach(ns)
    s = opened(peer)
    s.send(b"x" * 10)
    first = peer.data(10)[0]
    peer.send(first, ACK)
    time.sleep(.5)
    peer.send(first, ACK, seq=ISN + 6, data=b"world")
    peer.send(first, ACK, data=b"hello")
    until(lambda: account(s)[2] == 1)
    same("limits: idle: both have come", s.recv(100), b"helloworld")
    s.send(b"y" * 10)
    lost = peer.data(10)[0]
    again = peer.next(ACK)
    while not again.data:
        again = peer.next(ACK)
    peer.send(again, ACK, seq=ISN + 11, options=sack((lost.seq, lost.end)))
    until(lambda: account(s)[3] == 1)
    last, closing = closed(peer, s, ISN + 11)
    got = told(ns, 1)
    agree("limits: idle", got, last, closing)
    same("limits: idle: by nothing; one out of order, one in vain", got[1:], (0, 1, 1))


def full(ns, peer, name, room, metric):
    """A send buffer is full, and all of it goes as the receiver's window opens; it is acknowledged 300 ms later. `room`:
    SO_SNDBUF, or None. The kernel sees a buffer as full where it sends some of it after the program has found no room."""
    attach(ns)
    ns.ip(f"route add {THERE}/32 dev tap0 initcwnd 100")
    s, syn = peer.connect()
    peer.accept(syn, window=2 * MSS)
    if room:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, room)
    octets = s.send(b"x" * 80 * MSS)
    check(f"{name}: it takes more than the window, and not all", 2 * MSS < octets < 80 * MSS, octets)
    first = peer.data(2 * MSS)[0]
    began = time.monotonic()
    peer.send(first, ACK, ack=first.seq)
    got = peer.data(octets - 2 * MSS)
    time.sleep(.3)
    peer.send(got[-1], ACK)
    most = time.monotonic() - began + 2 * TICK
    until(lambda: select.select([], [s], [], 0)[1])
    time.sleep(.05)
    last, buffer = account(s), by_buffer(s)
    closed(peer, s)
    told(ns, 1)
    row = tcp_of(ns, THERE)
    seconds = {what: round(row[f"limited_by_{what}_seconds"]["sum"], 6) for what in ("receiver", "sndbuf", "wmem")}
    same(f"{name}: the kernel's own account, and nothing else", seconds,
         {"sndbuf": 0, "wmem": 0, "receiver": round(last[1], 6), metric: round(buffer, 6)})
    check(f"{name}: for as long as it was", .3 - 2 * TICK <= buffer <= most, f"{buffer} of {most}")
    ns.ip(f"route del {THERE}/32 dev tap0")


def test_sndbuf(ns, peer):
    """A program has set its size."""
    full(ns, peer, "limits: a buffer that a program has set", 4096, "sndbuf")


def test_wmem(ns, peer):
    """tcp_wmem lets it not grow."""
    before = ns.run("sysctl -n net.ipv4.tcp_wmem").strip()
    ns.run("sysctl -qw net.ipv4.tcp_wmem='4096 8192 8192'")
    full(ns, peer, "limits: a buffer that may not grow", None, "wmem")
    ns.run(f"sysctl -qw net.ipv4.tcp_wmem='{before}'")


def test_sum(ns, peer):
    """Two connections, one of which is reset with its window full: what was under way then counts."""
    attach(ns)
    s = opened(peer, 80, 2 * MSS)
    r = opened(peer, 81, 2 * MSS)
    for x in (s, r):
        x.send(b"x" * 10 * MSS)
    got = peer.data(4 * MSS)
    time.sleep(.25)
    last = [account(x) for x in (s, r)]
    began = time.monotonic()
    for seg in {g.sport: g for g in got}.values():
        peer.send(seg, RST | ACK, ack=seg.seq)
    now = told(ns, 2)
    most = 2 * (time.monotonic() - began + 2 * TICK)
    check("limits: resets: the window held both back", now[1] >= 2 * (.25 - 2 * TICK), now[1])
    check("limits: resets: as long as the kernel says, or until the reset came", -1e-6 <= now[1] - sum(x[1] for x in last) < most,
          f"{now[1]}: {last}")
    row = tcp_of(ns, THERE)
    same("limits: resets: two connections", (row["busy_seconds"]["count"], row["limited_by_receiver_seconds"]["count"]), (2, 2))
    s.close()
    r.close()


def main():
    need_root()
    ns = Namespace("peer")
    peer = Peer(ns)

    def after():
        nicprobe("detach", f"{ns}/host", check=False)
        peer.wire.drain()
    each(test_window, test_idle, test_sndbuf, test_wmem, test_sum, after=after, ns=ns, peer=peer)
    finish()


main()

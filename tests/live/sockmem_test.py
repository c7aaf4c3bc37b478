#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Buffers of sockets: as full as getsockopt(SO_MEMINFO) says, and each datagram that found one full is counted."""
import os
import socket
import struct

from lib.connections import attach, client, kernel, listen, pair, rows
from lib.lab import *
from lib.peer import ACK, ISN, Peer
from lib.wire import THERE, inside

ME = "sockmem-test"
SO_MEMINFO = 55
HELD, ROOM, SENDING, SEND_ROOM, QUEUED, DROPS = 0, 1, 2, 3, 5, 8        # SK_MEMINFO_…
ALL = "all"
LAST_SENT, LAST_RECEIVED = 44, 52       # in struct tcp_info: tcpi_last_data_sent, tcpi_last_data_recv
with open("/proc/self/comm", "w", encoding="ascii") as comm:
    comm.write(ME)


def meminfo(s):
    return struct.unpack("9I", s.getsockopt(socket.SOL_SOCKET, SO_MEMINFO, 36))


def look(ns):
    """{(protocol, buffer, local, socket): row}"""
    return {(r["protocol"], r["buffer"], r["local"], r["socket"]): r for r in rows(ns, "sockmem")}


def everything(ns, protocol, buffer):
    return look(ns).get((protocol, buffer, ALL, None)) or {"packets": 0, "dropped": {}, "sockets": 0}


def row_of(ns, s, buffer):
    """The row of one socket; None: it has none."""
    inode = os.fstat(s.fileno()).st_ino
    return next((r for k, r in look(ns).items() if k[1] == buffer and k[3] == inode), None)


def level(row):
    return {k: row[k] for k in ("fill_percent", "held_bytes", "limit_bytes", "sockets", "full_sockets")}


def full(held, limit, sockets=1):
    percent = held * 100 // limit
    return {"fill_percent": percent, "held_bytes": held, "limit_bytes": limit, "sockets": sockets,
            "full_sockets": int(percent >= 80)}


def bound(ns, address, room, port=9):
    def make():
        s = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_DGRAM)
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, room)
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        s.bind((address, port))
        s.setblocking(False)
        return s
    return inside(ns, make)


def send(ns, address, nr, size=1000, port=9):
    with inside(ns, lambda: socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_DGRAM)) as s:
        for _ in range(nr):
            s.sendto(bytes(size), (address, port))


def dropped(s):
    """What found no room in the socket, once all have come."""
    steady = None
    while steady != meminfo(s):
        steady = meminfo(s)
        time.sleep(.05)
    return steady[DROPS]


def emptied(s):
    got = 0
    try:
        while s.recv(2000):
            got += 1
    except BlockingIOError:
        return got


def test_udp(here, there):
    """Of fifty datagrams some find a small buffer full, over both families; those of before are not counted."""
    for name, address, host in (("IPv4", "10.9.0.1", "10.9.0.1:9"), ("IPv6", "fd09::1", "[fd09::1]:9")):
        s = bound(here, address, 10000)
        send(there, address, 40)
        before = dropped(s)
        same(f"{name}: before: all are accounted for", before + emptied(s), 40)
        attach(here)
        attach(there)
        same(f"{name}: what was before does not count", (row_of(here, s, "receive") or {}).get("socket_drops", 0), 0)
        send(there, address, 50)
        lost = dropped(s) - before
        held = meminfo(s)[HELD]
        row, more = row_of(here, s, "receive"), everything(here, "udp", "receive")
        check(f"{name}: some find it full, and some do not # {lost}", 0 < lost < 50, lost)
        same(f"{name}: the buffer is as full as the socket says", level(row), full(held, 20000))
        same(f"{name}: whose it is", (row["local"], row["remote"], row["process"]), (host, "-", ME))
        same(f"{name}: and what it lost", row["socket_drops"], lost)
        same(f"{name}: it is the only one", level(more), full(held, 20000))
        same(f"{name}: what all lost", nonzero(more["dropped"]), {"buffer": lost})
        same(f"{name}: the others are read", (emptied(s), everything(here, "udp", "receive")["packets"]), (50 - lost, 50 - lost))
        same(f"{name}: it is empty", (row_of(here, s, "receive")["fill_percent"], meminfo(s)[HELD]), (0, 0))
        same(f"{name}: the sender sent them, and lost none", (everything(there, "udp", "send")["packets"],
             nonzero(everything(there, "udp", "receive")["dropped"])), (50, {}))
        s.close()
        gone = [r for k, r in look(here).items() if k[0] == "udp" and k[2] != ALL]
        more = everything(here, "udp", "receive")
        same(f"{name}: closed, it has no row, and its loss stays", (gone, more["sockets"], nonzero(more["dropped"])),
             ([], 0, {"buffer": lost}))
        for ns in (here, there):
            nicprobe("detach", f"{ns}/host")


def test_fullest(here, there):
    """Of eight sockets the five fullest have a row, in the order of ports; one that has lost something has one, too."""
    attach(here)
    ss = [bound(here, "10.9.0.1", 100000, 100 + i) for i in range(8)]
    lossy = bound(here, "10.9.0.1", 3000, 99)
    for i, s in enumerate(ss):
        send(there, "10.9.0.1", 20 + 2 * i, port=100 + i)
        until(lambda: meminfo(s)[HELD] >= 1000 * (20 + 2 * i))      # pylint: disable=cell-var-from-loop
    send(there, "10.9.0.1", 20, port=99)
    dropped(lossy)
    emptied(lossy)
    fills = {f"10.9.0.1:{100 + i}": 100 * meminfo(s)[HELD] // 200000 for i, s in enumerate(ss)}
    got = {k[2]: r["fill_percent"] for k, r in look(here).items() if k[1] == "receive" and k[0] == "udp" and k[2] != ALL}
    want = {k: v for k, v in fills.items() if int(k.split(":")[1]) >= 103 and v >= 25}
    same(f"five of eight # {fills}", got, want | {"10.9.0.1:99": 0})
    same("five they are", len(want), 5)
    more = everything(here, "udp", "receive")
    same("all of them together", (more["sockets"], more["held_bytes"], more["limit_bytes"], more["fill_percent"]),
         (9, sum(meminfo(s)[HELD] for s in ss), 8 * 200000 + 6000, max(fills.values())))
    same("how many are full", more["full_sockets"], sum(v >= 80 for v in fills.values()))
    for s in [*ss, lossy]:
        s.close()


def ago(s, at):
    """Milliseconds, of TCP_INFO."""
    return struct.unpack_from("I", s.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104), at)[0]


def is_shut(here, s, there, c):
    """The window of s, and as c sees it, for some seconds: nothing came since, and it was asked for with doubling times."""
    told = tuple(map(int, os.uname().release.split(".")[:2])) >= (6, 2)     # tcpi_rcv_wnd
    until(lambda: row_of(there, c, "send")["shut_seconds"] >= 2, 20)
    least = ago(s, LAST_RECEIVED) // 1000
    got = row_of(here, s, "receive")["shut_seconds"]
    check("tcp: a closed window: since the last data", (least if told else 0) <= got <= (ago(s, LAST_RECEIVED) // 1000 if told else 0), got)
    got = row_of(there, c, "send")["shut_seconds"]
    check("tcp: at the other end: at most that, and half of it", 2 <= got <= ago(c, LAST_SENT) / 1000 < 2 * (got + 1) + 1, got)
    same("tcp: all sockets: the longest", everything(there, "tcp", "send")["shut_seconds"], row_of(there, c, "send")["shut_seconds"])


def test_tcp(here, there):
    """A program does not read: its buffer fills, and then that of the sender; then it reads all."""
    attach(here)
    attach(there)
    server, before = listen(here), kernel(here)
    c = client(there, "10.9.0.1")
    s = server.accept()[0]
    c.setblocking(False)
    sent = 0
    for _ in range(200):
        try:
            sent += c.send(bytes(65536))
        except BlockingIOError:
            time.sleep(.01)
    check("tcp: it can send no more", until(lambda: row_of(there, c, "send") and row_of(there, c, "send")["full_sockets"]), sent)
    mine, theirs = meminfo(s), meminfo(c)
    same("tcp: the receiver's is as full as it says", level(row_of(here, s, "receive")), full(mine[HELD], mine[ROOM]))
    same("tcp: the sender's, too", level(row_of(there, c, "send")), full(theirs[QUEUED], theirs[SEND_ROOM]))
    row = row_of(there, c, "send")
    same("tcp: whose", (row["local"], row["remote"], row["process"]), (f"10.9.0.2:{c.getsockname()[1]}", "10.9.0.1:8000", ME))
    same("tcp: neither has anything the other way", (row_of(here, s, "send"), row_of(there, c, "receive")), (None, None))
    is_shut(here, s, there, c)
    got = 0
    s.setblocking(False)

    def drained():
        nonlocal got
        try:
            got += len(s.recv(1 << 20))
        except BlockingIOError:
            pass
        return got == sent
    check("tcp: it reads all", until(drained, 20), f"{got} of {sent}")
    until(lambda: not meminfo(c)[QUEUED])
    same("tcp: both are empty", (row_of(here, s, "receive"), row_of(there, c, "send")), (None, None))
    row, now = everything(here, "tcp", "receive"), kernel(here)
    closed = now["TCPToZeroWindowAdv"] - before["TCPToZeroWindowAdv"]
    check("tcp: its window was closed", closed > 0, closed)
    same("tcp: as often as the kernel says, and it received as many segments", (row["windows_closed_events"], row["packets"]),
         (closed, now["InSegs"] - before["InSegs"]))
    for x in (s, c, server):
        x.close()


def test_pruned(here, there):
    """Segments of a few bytes: their buffers take more memory than the window has foreseen."""
    peer = Peer(there)
    attach(there)
    before = kernel(there)
    s = peer.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4000)
    s.connect_ex((THERE, 80))
    ack = peer.accept(peer.next())
    for i in range(100):
        peer.send(ack, ACK, seq=ISN + 1 + 10 * i + (0 if i < 50 else 10), data=b"0123456789")
    until(lambda: kernel(there)["PruneCalled"] > before["PruneCalled"])
    time.sleep(.2)
    row, now = everything(there, "tcp", "receive"), kernel(there)
    names = {"buffer": "TCPRcvQDrop", "backlog": "TCPBacklogDrop", "out-of-order": "TCPOFODrop"}
    check("pruned: room was made", row["pruned_events"] > 0, row)
    same("pruned: as the kernel counts", (row["pruned_events"], row["collapsed_buffers"], nonzero(row["dropped"])),
         (now["PruneCalled"] - before["PruneCalled"], now["TCPRcvCollapsed"] - before["TCPRcvCollapsed"],
          {k: now[n] - before[n] for k, n in names.items() if now[n] != before[n]}))
    s.close()
    peer.close()


def test_lossy(here, there):
    """Anybody may open sockets that lose datagrams: a hundred have a row, and all of them count together."""
    attach(here)
    ss = [bound(here, "10.9.0.1", 1, 1000 + i) for i in range(120)]
    for i in range(len(ss)):
        send(there, "10.9.0.1", 8, port=1000 + i)
    dropped(ss[-1])
    lost = sum(meminfo(s)[DROPS] for s in ss)
    found = look(here)
    named = [r for k, r in found.items() if k[:2] == ("udp", "receive") and k[2] != ALL and r["socket_drops"]]
    check("lossy: each has lost some", min(meminfo(s)[DROPS] for s in ss) > 0, lost)
    same("lossy: a hundred have a row, and of the others the five fullest", len(named), 105)
    same("lossy: all are counted", nonzero(found["udp", "receive", ALL, None]["dropped"]), {"buffer": lost})
    for s in ss:
        s.close()


def stuck(server, there, nr):
    """Both ends of connections that are written to until none takes more, as nobody reads."""
    pairs = [(client(there, "10.9.0.1"), server.accept()[0]) for _ in range(nr)]
    for c, _ in pairs:
        c.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 16384)
        c.setblocking(False)
    taken = []

    def more():
        taken.append(0)
        for c, _ in pairs:
            try:
                taken[-1] += c.send(bytes(65536))
            except BlockingIOError:
                pass
        time.sleep(.05)
        return not any(taken[-4:])
    check(f"shut: {nr} can send no more", until(more, 30), taken)
    return pairs


def test_many_shut(here, there):
    """Windows of 300 connections are closed, one of them for some seconds more: not all have a row, but that one has."""
    attach(there)
    server = listen(here)

    def shut(found):
        return [r["shut_seconds"] for k, r in found.items() if k[1] == "send" and k[2] != ALL and r["shut_seconds"]]
    pairs = stuck(server, there, 1)
    check("shut: one for three seconds", until(lambda: max(shut(look(there)), default=0) >= 3, 20))
    pairs += stuck(server, there, 300)
    until(lambda: len(shut(look(there))) == 106, 20)
    found = look(there)
    same("shut: a hundred have a row, that which is shut longest, and of the others the five fullest", len(shut(found)), 106)
    same("shut: the longest", max(shut(found), default=0), found["tcp", "send", ALL, None]["shut_seconds"])
    for s in (server, *sum(pairs, ())):
        s.close()


def test_time_wait(here, there):
    """Room for three: eight connections that this host closes first; five are forgotten."""
    server = listen(there)
    usual = here.run("sysctl -n net.ipv4.tcp_max_tw_buckets").strip()
    attach(here)
    here.run("sysctl -qw net.ipv4.tcp_max_tw_buckets=3")
    for _ in range(8):
        s = client(here, "10.9.0.2")
        other = server.accept()[0]
        s.close()
        same("time-wait: the other end closes, too", other.recv(1), b"")
        other.close()
    until(lambda: kernel(here)["TCPTimeWaitOverflow"] >= 5)
    row = everything(here, "tcp", "time-wait")
    same("time-wait: three are remembered, five forgotten", (row["sockets"], row["fill_percent"], row["forgotten_connections"]),
         (3, 100, 5))
    here.run(f"sysctl -qw net.ipv4.tcp_max_tw_buckets={usual}")
    server.close()


def main():
    need_root()
    here, there = pair()

    def after():
        for ns in (here, there):
            nicprobe("detach", f"{ns}/host", check=False)
    each(test_time_wait, test_udp, test_fullest, test_lossy, test_tcp, test_pruned, test_many_shut, after=after, here=here, there=there)
    finish()


main()

#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""The meters of listeners: each connection with the queue that it found, and each SYN and ACK that found a queue full."""
import os
import socket
import time

from lib.connections import PORT, attach, client, kernel, listen, pair, rows
from lib.lab import *
from lib.peer import ACK, FIN, Peer, SYN
from lib.wire import THERE, inside, tcp

ME = "accept-test"
WAITS = " register_kprobe\n" in open("/proc/kallsyms", encoding="ascii").read()     # where a program may be put at functions
NSTAT = {"overflows_segments": "ListenOverflows", "drops_segments": "ListenDrops", "cookies_sent_segments": "SyncookiesSent",
         "cookies_received_segments": "SyncookiesRecv", "cookies_failed_segments": "SyncookiesFailed"}
with open("/proc/self/comm", "w", encoding="ascii") as comm:
    comm.write(ME)


def queued(ns):
    """{(port, process, limit): (connections, those that took the last place, the sum of their depths)}"""
    return {(r["port"], r["process"], int(r["limit"])): (r["connections"], r["filled_connections"], r["depth_connections"]["sum"])
            for r in rows(ns, "accept") if r["connections"]}


def listens(ns):
    """What the namespace counts, and {port: drops} of its listeners."""
    found = rows(ns, "backlog")
    everything = next((r for r in found if r["address"] == "all"), None)
    return everything, {r["port"]: r["socket_drops_segments"] for r in found if r["address"] != "all"}


def half_open(ns):
    """{how many handshakes were not complete: connections that came then}"""
    got = {}
    for row in rows(ns, "accept"):
        for n, nr in nonzero(row["syn_depth_connections"]["le"]).items():
            got[int(n)] = got.get(int(n), 0) + nr
    return got


def waited(ns):
    """Number and seconds of the waits for accept()."""
    spans = [r["wait_seconds"] for r in rows(ns, "accept")]
    return sum(s["count"] for s in spans), sum(s["sum"] for s in spans)


def arrived(ns, nr):
    until(lambda: sum(row[0] for row in queued(ns).values()) == nr)


def queue(ns, port):
    """Connections that wait at the listeners of a port, as the kernel lists them."""
    return sum(int(line.split()[1]) for line in ns.run(f"ss -ltnH sport = :{port}").splitlines())


def come(here, there, nr, address="10.9.0.1", port=PORT):
    """So many connections of `there` to `here`, one after the other: each is in its queue before the next one comes."""
    cs = []
    for _ in range(nr):
        before = queue(here, port)
        cs.append(client(there, address, port))
        until(lambda: queue(here, port) == before + 1)      # pylint: disable=cell-var-from-loop
    return cs


def knocks(ns, address, port=PORT):
    """A socket that has sent its SYN, and waits for nothing."""
    def make():
        s = socket.socket()
        s.setblocking(False)
        s.connect_ex((address, port))
        return s
    return inside(ns, make)


def agrees(name, ns, before, want):
    """The row of the namespace has what the test caused, and what the kernel counts."""
    until(lambda: kernel(ns)["ListenDrops"] - before["ListenDrops"] >= want["drops_segments"])
    everything, now = listens(ns)[0], kernel(ns)
    same(f"{name}: as caused", {k: everything[k] for k in want}, want)
    same(f"{name}: as the kernel counts", {k: everything[k] for k in NSTAT}, {k: now[n] - before[n] for k, n in NSTAT.items()})


def test_depth(here, there):
    """A queue with room for five is filled and emptied, and two more come."""
    attach(here)
    attach(there)
    server, before = listen(here, backlog=4), kernel(here)
    cs = come(here, there, 5)
    arrived(here, 5)
    same("accept: five found 0 to 4 before them", queued(here), {(str(PORT), ME, 4): (5, 1, 10)})
    row = next(r for r in rows(here, "accept") if r["connections"])
    same("accept: the depth that each found", nonzero(row["depth_connections"]["le"]), {str(n): 1 for n in range(5)})
    served = [server.accept()[0] for _ in range(5)]
    cs += come(here, there, 2)
    arrived(here, 7)
    same("accept: two find room again", queued(here), {(str(PORT), ME, 4): (7, 1, 11)})
    same("accept: the kernel accepted as many", kernel(here)["PassiveOpens"] - before["PassiveOpens"], 7)
    served += [server.accept()[0] for _ in range(2)]
    same("accept: the other side has no part in it", (queued(there), listens(there)[1]), ({}, {}))
    for s in [*cs, *served, server]:
        s.close()


def test_wait(here, there):
    """Three connections are accepted after 200 ms, one at once."""
    attach(here)
    server, began = listen(here), time.monotonic()
    cs = [client(there, "10.9.0.1") for _ in range(3)]
    arrived(here, 3)
    time.sleep(.2)
    served = [server.accept()[0] for _ in range(3)]
    most = 3 * (time.monotonic() - began)
    count, took = waited(here)
    cs.append(client(there, "10.9.0.1"))
    served.append(server.accept()[0])
    doc = show(f"{here}/host")
    if WAITS:
        check("accept: three waited for 200 ms", count == 3 and .6 <= took < most, f"{count}: {took} s")
        same("accept: one more", waited(here)[0], 4)
    else:
        check("accept: no wait is shown, and why", waited(here) == (0, 0) and "without the wait" in doc["remarks"]["accept"])
    for s in [*cs, *served, server]:
        s.close()


def test_listeners(here, there):
    """IPv4, IPv6 and both; several sockets of a port; a limit that changes; one that was there before."""
    old = listen(here, port=PORT + 9, backlog=7)
    attach(here)

    def shared():
        s = socket.socket()
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        s.bind(("10.9.0.1", PORT + 1))
        s.listen(8)
        return s
    both, four, several = listen(here, "::", backlog=5), listen(here, port=PORT + 2, backlog=3), [inside(here, shared) for _ in range(4)]
    six = listen(here, "fd09::1", port=PORT + 3, backlog=6)
    cs = [c for a, p in (("fd09::1", PORT), ("10.9.0.1", PORT), ("10.9.0.1", PORT + 2), ("fd09::1", PORT + 3), ("10.9.0.1", PORT + 9))
          for c in come(here, there, 1, a, p)]
    cs += come(here, there, 12, port=PORT + 1)
    four.listen(30)
    cs += come(here, there, 1, port=PORT + 2)
    arrived(here, 18)
    got = queued(here)
    depths = got.pop((str(PORT + 1), ME, 8))
    same("accept: by port, process and limit", got, {
        (str(PORT), ME, 5): (2, 0, 1), (str(PORT + 2), ME, 3): (1, 0, 0), (str(PORT + 2), ME, 30): (1, 0, 1),
        (str(PORT + 3), ME, 6): (1, 0, 0), (str(PORT + 9), "unknown", 7): (1, 0, 0)})
    held = []
    for s in several:
        s.setblocking(False)
        while len(held) < 12:
            try:
                held.append((s, s.accept()[0]))
            except BlockingIOError:
                break
    each_had = [sum(s is one for s, _ in held) for one in several]
    same("accept: no handshake was left, at whichever listener", half_open(here), {0: 18})
    same("accept: each of a port's sockets has a queue of its own", (depths[0], depths[2]), (12, sum(n * (n - 1) // 2 for n in each_had)))
    for s in [*cs, *(c for _, c in held), *several, both, four, six, old]:
        s.close()


def test_full(ns, peer):
    """Three handshakes are begun while there is room for one connection: the last ACKs of two find none, and then two SYNs."""
    attach(ns)
    server, before = listen(ns, backlog=0), kernel(ns)
    half = []
    for sport in (1001, 1002, 1003):
        peer.wire.write(0, peer.wire.eth(tcp(PORT, sport=sport)))
        half.append(peer.next(SYN | ACK))
    acks = [tcp(PORT, ACK, sport=s.dport, seq=2, ack=s.seq + 1) for s in half]
    for a in acks:
        peer.wire.write(0, peer.wire.eth(a))
    agrees("accept: two ACKs find no room", ns, before, {"overflows_segments": 2, "drops_segments": 2})
    same("accept: one had", queued(ns), {(str(PORT), ME, 0): (1, 1, 0)})
    same("accept: two are not enough to speak of", found(show(f"{ns}/host")), [])
    for sport in (1004, 1005):
        peer.wire.write(0, peer.wire.eth(tcp(PORT, sport=sport)))
    agrees("accept: nor do two SYNs", ns, before, {"overflows_segments": 4, "drops_segments": 4})
    same("accept: all by this listener", listens(ns)[1], {str(PORT): 4})
    doc = show(f"{ns}/host")
    same("accept: full: found", found(doc), ["listen-overflow"])
    check("accept: full: whose", f"queue of {ME} at port {PORT} full, which has room for 1" in doc["findings"][0]["what"], doc["findings"][0]["what"])
    server.accept()[0].close()
    peer.wire.write(0, peer.wire.eth(acks[1]))
    arrived(ns, 2)
    same("accept: one comes again, and has room", queued(ns), {(str(PORT), ME, 0): (2, 2, 0)})
    server.accept()[0].close()
    server.close()


def test_half_open(ns, peer):
    """Three SYNs, and then five, are never answered; a listener beside it has two. One that was begun first ends last."""
    server, beside = listen(ns, backlog=16), listen(ns, port=PORT + 1, backlog=16)
    attach(ns)

    def forged(first, nr, port=PORT):
        for i in range(first, first + nr):
            peer.wire.write(0, peer.wire.eth(tcp(port, src=f"198.18.1.{i}")))

    def begun(sport, port=PORT):
        peer.wire.write(0, peer.wire.eth(tcp(port, sport=sport)))
        answer = peer.next(SYN | ACK)
        while answer.dport != sport:
            answer = peer.next(SYN | ACK)
        return tcp(port, ACK, sport=sport, seq=2, ack=answer.seq + 1)

    def ended(ack, nr):
        peer.wire.write(0, peer.wire.eth(ack))
        arrived(ns, nr)
    early = begun(1301)
    ended(begun(1302), 1)
    same("accept: half-open: one besides itself", half_open(ns), {1: 1})
    forged(1, 3)
    forged(11, 2, port=PORT + 1)
    ended(begun(1303), 2)
    same("accept: half-open: three more", half_open(ns), {1: 1, 4: 1})
    forged(4, 2)
    ended(begun(1304), 3)
    ended(begun(1305, PORT + 1), 4)
    same("accept: half-open: two more, and two of the other listener", half_open(ns), {1: 1, 2: 1, 4: 1, 6: 1})
    ended(early, 5)
    same("accept: half-open: the first one is no more", half_open(ns), {1: 1, 2: 1, 4: 1, 5: 1, 6: 1})
    same("accept: half-open: by port", {r["port"]: r["syn_depth_connections"]["sum"] for r in rows(ns, "accept") if r["connections"]},
         {str(PORT): 1 + 4 + 6 + 5, str(PORT + 1): 2})
    server.close()
    beside.close()


def test_cookies(ns, peer):
    """Forged SYNs fill a SYN queue of three or four; the others are answered with cookies, or dropped where there are none."""
    ns.run("sysctl -qw net.ipv4.tcp_syncookies=1")
    attach(ns)
    server, before = listen(ns, backlog=3), kernel(ns)

    def forged(first, nr):
        for i in range(first, first + nr):
            peer.wire.write(0, peer.wire.eth(tcp(PORT, src=f"198.18.1.{i}")))

    def cookies(what="Sent"):
        return kernel(ns)["Syncookies" + what] - before["Syncookies" + what]
    forged(1, 24)
    until(lambda: cookies() >= 20)
    room = 24 - cookies()
    check("accept: the SYN queue has as much room as the backlog, or one more (6.18)", room in (3, 4), room)
    peer.wire.drain()
    peer.wire.write(0, peer.wire.eth(tcp(PORT, sport=1101)))
    answer = peer.next(SYN | ACK)
    while answer.dport != 1101:     # those in the queue are answered again
        answer = peer.next(SYN | ACK)
    peer.wire.write(0, peer.wire.eth(tcp(PORT, ACK, sport=1101, seq=2, ack=answer.seq + 1)))
    peer.wire.write(0, peer.wire.eth(tcp(PORT, ACK, sport=1102, seq=2, ack=77)))
    arrived(ns, 1)
    until(lambda: cookies("Failed") == 1)
    agrees("accept: cookies", ns, before, {"cookies_sent_segments": 25 - room, "cookies_received_segments": 1, "cookies_failed_segments": 1,
                                           "overflows_segments": 0, "drops_segments": 0,
                                           "syn_queue_full_segments": {"cookie": 25 - room, "dropped": 0}})
    same("accept: one comes with a cookie", queued(ns), {(str(PORT), ME, 3): (1, 0, 0)})
    same("accept: and finds the SYN queue full", half_open(ns), {room: 1})
    same("accept: cookies: found", found(show(f"{ns}/host")), ["listen-cookies"])
    ns.run("sysctl -qw net.ipv4.tcp_syncookies=0")
    forged(31, 15)
    agrees("accept: no cookies", ns, before, {"drops_segments": 15, "syn_queue_full_segments": {"cookie": 25 - room, "dropped": 15}})
    check("accept: no cookies: found", "listen-syns-dropped" in found(show(f"{ns}/host")))
    ns.run("sysctl -qw net.ipv4.tcp_syncookies=1")
    server.close()


def test_fast_open(ns, peer):
    """A SYN with data: the program has the connection at once, answers and closes it before the last ACK comes."""
    ns.run("sysctl -qw net.ipv4.tcp_fastopen=1538")     # servers, of any socket, without a cookie
    attach(ns)
    server = listen(ns)
    for sport in 1201, 1202:
        peer.wire.write(0, peer.wire.eth(tcp(PORT, sport=sport, payload=b"hello")))
        answer = peer.next(SYN | ACK)
        s = server.accept()[0]
        if sport == 1201:
            same("accept: fast open: the data is there", s.recv(100), b"hello")
            s.close()
            peer.next(FIN)
        peer.wire.write(0, peer.wire.eth(tcp(PORT, ACK, sport=sport, seq=7, ack=answer.seq + 1)))
        if sport == 1202:
            arrived(ns, 2)
            s.close()
    same("accept: fast open: both count, once", queued(ns), {(str(PORT), ME, 64): (2, 0, 0)})
    same("accept: fast open: neither was in the SYN queue", half_open(ns), {0: 2})
    server.close()
    ns.run("sysctl -qw net.ipv4.tcp_fastopen=1")


def test_stranger(here, there):
    """Another namespace's listeners are not ours."""
    attach(there)
    server = listen(here, backlog=0)
    cs = [client(here, "127.0.0.1"), knocks(here, "127.0.0.1")]
    until(lambda: kernel(here)["ListenOverflows"] > 0)
    same("accept: nothing of another namespace", (queued(there), listens(there)[1]), ({}, {}))
    for s in [*cs, server]:
        s.close()


def main():
    need_root()
    here, there = pair()
    ns = Namespace("peer")
    peer = Peer(ns)
    ns.ip(f"route add 198.18.1.0/24 via {THERE}")       # of forged SYNs

    def after():
        for one in (here, there, ns):
            nicprobe("detach", f"{one}/host", check=False)
        peer.wire.drain()
    each(test_depth, test_wait, test_listeners, test_full, test_half_open, test_cookies, test_fast_open, test_stranger, after=after, here=here, there=there, ns=ns, peer=peer)
    finish()


main()

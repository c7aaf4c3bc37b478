#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Connections while they are open: bytes both ways since attach and by the second, what waits, round trip and window of a peer
that is answered by hand, and more connections than have rows."""
import os
import resource
import socket

from lib.connections import PORT, attach, client, kernel, listen, pair, read, rows, sessions
from lib.lab import *
from lib.peer import ACK, MSS, Peer

ROWS = 1000     # OPEN_ROWS
SLOW = os.environ.get("VM") == ""       # a guest, in which a command may need a second to begin
ME = "open-test"
with open("/proc/self/comm", "w", encoding="ascii") as comm:
    comm.write(ME)


def ends(s):
    def text(address):
        host, port = address[0].removeprefix("::ffff:"), address[1]
        return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    return text(s.getsockname()), text(s.getpeername())


def opened(ns, doc=None):
    """{(local, remote): (received, sent)}"""
    return {(r["local"], r["remote"]): (r["received_bytes"], r["sent_bytes"])
            for r in (doc["meters"]["open"] if doc else rows(ns, "open"))}


def accepted(server, address):
    c = client(server[0], address)
    return c, server[1].accept()[0]


def send(a, b, octets):
    a.sendall(bytes(octets))
    same("open: all arrived", read(b, octets), octets)
    until(lambda: not a.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 232)[24:28].strip(b"\0"))      # tcpi_unacked


def test_bytes(here, there):
    """Before attach, after it, in a window; IPv6 and mapped; who; the FIN is no byte."""
    server = here, listen(there, "::")
    old, old_peer = accepted(server, "10.9.0.2")
    send(old, old_peer, 5000)
    attach(here, "-m", "open")
    attach(there, "-m", "open")
    same("open: one from before has carried nothing since", opened(here), {ends(old): (0, 0)})
    six, six_peer = accepted(server, "fd09::2")
    send(old, old_peer, 300)
    send(old_peer, old, 70000)
    send(six, six_peer, 1)
    want = {ends(old): (70000, 300), ends(six): (0, 1)}
    same("open: bytes since attach", opened(here), want)
    same("open: at the other end, too, which is mapped", opened(there), {k[::-1]: v[::-1] for k, v in want.items()})
    row = next(r for r in rows(here, "open") if r["carried_bytes"] == 70300)
    same("open: both ways, by whom", (row["process"], row["socket"]), (ME, os.stat(f"/proc/self/fd/{old.fileno()}").st_ino))
    watch = subprocess.Popen([NICPROBE, "show", "-j", "-w", "8" if SLOW else "2", f"{here}/host", "open"], stdout=subprocess.PIPE, text=True)
    time.sleep(4 if SLOW else .7)
    send(six, six_peer, 12345)
    doc = json.loads(watch.communicate(timeout=40)[0])
    same("open: in a window, the busiest first", [(r["local"], r["sent_bytes"]) for r in doc["meters"]["open"]],
         [(ends(six)[0], 12345), (ends(old)[0], 0)])
    old.shutdown(socket.SHUT_WR)
    same("open: its end has arrived", old_peer.recv(1), b"")
    same("open: the FIN is no byte", (opened(there)[ends(old)[::-1]], opened(here)[ends(old)]), ((300, 70000), (70000, 300)))
    gone = ends(old)
    old_peer.close()
    old.close()
    until(lambda: gone not in opened(here))
    same("open: what has ended has no row", list(opened(here)), [ends(six)])
    for x in (six, six_peer, server[1]):
        x.close()


def test_peer(ns, peer):
    """A handshake of 200 ms; 15 segments at once, of which the first window takes 10; nothing is acknowledged for a while."""
    attach(ns, "-m", "open")
    before = kernel(ns)
    s, syn = peer.connect()
    time.sleep(.2)
    peer.accept(syn)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 18)
    s.send(b"x" * 15 * MSS)
    got = peer.data(10 * MSS)
    row, = rows(ns, "open")
    trip = int.from_bytes(s.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 232)[68:72], "little")      # tcpi_rtt
    same("open: the round trip is that of the handshake", row["round_trip_microseconds"], trip)
    check("open: which took 200 ms", trip >= 200000, trip)
    same("open: the first window", row["window_segments"], 10)
    same("open: sent, and not sent yet", row["sent_bytes"] + row["unsent_bytes"], 15 * MSS)
    check("open: the window's ten, and a probe where the peer is slow", row["sent_bytes"] in (10 * MSS, 11 * MSS), row["sent_bytes"])
    until(lambda: kernel(ns)["RetransSegs"] > before["RetransSegs"])
    peer.send(got[-1], ACK)
    peer.send(peer.data(5 * MSS)[-1], ACK)      # from here on nothing is sent again
    row, now = rows(ns, "open")[0], kernel(ns)
    same("open: what is sent again is counted, and is no further byte", (row["retransmits_segments"], row["sent_bytes"], row["unsent_bytes"]),
         (now["RetransSegs"] - before["RetransSegs"], 15 * MSS, 0))
    s.close()


def test_many(here, there):
    """More than have a row: those that carried most have one, and the others are counted."""
    server = listen(there, backlog=4096)
    made = [(client(here, "10.9.0.2"), server.accept()[0]) for _ in range(ROWS + 200)]
    for n, (a, b) in enumerate(made):
        a.sendall(bytes(1000 + n % 2))
        read(b, 1000 + n % 2)
    attach(here, "-m", "open")
    busy = made[1]      # one of those that have a row
    send(*busy, 4000)
    found = rows(here, "open")
    same("open: rows, and one for the others", len(found), ROWS + 1)
    same("open: connections without one", [(r["local"], r["without_row_connections"]) for r in found if r["without_row_connections"]],
         [("others", 200)])
    same("open: the busy one", {k: v for k, v in opened(here).items() if v != (0, 0)}, {ends(busy[0]): (0, 4000)})
    for pair_ in made:
        for x in pair_:
            x.close()
    until(lambda: not rows(here, "open"))
    same("open: none is left", rows(here, "open"), [])
    new = client(here, "10.9.0.2"), server.accept()[0]
    send(*new, 50)
    same("open: one that came later has its row", opened(here), {ends(new[0]): (0, 50)})
    for x in (*new, server):
        x.close()


def test_closing(ns, peer):
    """Closed while the peer acknowledges nothing: what it carried before attach does not come back."""
    s, syn = peer.connect()
    peer.accept(syn)
    s.send(b"x" * 5 * MSS)
    peer.send(peer.data(5 * MSS)[-1], ACK)
    attach(ns, "-m", "open")
    s.send(b"y" * 100)
    until(lambda: rows(ns, "open")[0]["sent_bytes"] == 100)
    same("open: since attach", [r["sent_bytes"] for r in rows(ns, "open")], [100])
    port = s.getsockname()[1]
    s.close()
    states = ns.run(f"ss -Htan state fin-wait-1 sport = :{port}")
    same("open: it is closing, and no program has it", (len(states.splitlines()), rows(ns, "open")), (1, []))


def test_beside(here, there):
    """What session says at the end is what open said last."""
    server = here, listen(there)
    attach(here, "-m", "open,session")
    a, b = accepted(server, "10.9.0.2")
    send(a, b, 777)
    send(b, a, 88)
    same("open: while it lasts", list(opened(here).values()), [(88, 777)])
    a.close()
    b.close()
    until(lambda: sessions(here))
    same("open: and session at its end", sessions(here), {("10.9.0.2", PORT, "client"): ({"closed": 1}, 88, 777)})
    server[1].close()


def main():
    need_root()
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    here, there = pair()
    ns = Namespace("peer")
    peer = Peer(ns)

    def after():
        for one in (here, there, ns):
            nicprobe("detach", f"{one}/host", check=False)
        peer.wire.drain()
    each(test_bytes, test_peer, test_closing, test_many, test_beside, after=after, here=here, there=there, ns=ns, peer=peer)
    finish()


main()

#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""The host's meters of TCP: every connection, byte and segment that the test makes is counted, and no other."""
import os
import socket
import struct
import time

from lib.connections import PORT, attach, client, connects, converse, kernel, listen, pair, read, rows, sessions, tcp_of
from lib.lab import *
from lib.peer import ACK, FIN, ISN, MSS, Peer, RST, SYN, sack
from lib.wire import inside, tcp

CLOSED = 8001
ME = "host-test"
CONNECTIONS = int(os.environ.get("CONNECTIONS", 30000))
CONNS = os.path.join(os.path.dirname(NIC), "conns")
with open("/proc/self/comm", "w", encoding="ascii") as comm:
    comm.write(ME)


def test_conversations(here, there):
    """Sizes differ, so that no two sums can be mistaken; each side counts its own."""
    server = listen(there)
    attach(here)
    attach(there)
    base = kernel(here), kernel(there)
    for i in range(20):
        converse(server, client(here, "10.9.0.2"), 1000 + i, 300000 + i)
    n, out, back = 20, sum(range(1000, 1020)), sum(range(300000, 300020))
    until(lambda: ("10.9.0.2", PORT, "client") in sessions(here) and
          sessions(here)["10.9.0.2", PORT, "client"][0]["closed"] == n)
    same("host: the client's sessions", sessions(here), {("10.9.0.2", PORT, "client"): ({"closed": n}, back, out)})
    same("host: the server's sessions", sessions(there), {("10.9.0.1", PORT, "server"): ({"closed": n}, out, back)})
    same("host: attempts of the client", connects(here), {("10.9.0.2", PORT): {"established": n}})
    same("host: the server made none", connects(there), {})
    for ns, before, remote in ((here, base[0], "10.9.0.2"), (there, base[1], "10.9.0.1")):
        now, row = kernel(ns), tcp_of(ns, remote)
        same(f"host: what was sent again to {remote}, as the kernel counts it", sum(row["retransmits_segments"].values()),
             now["RetransSegs"] - before["RetransSegs"])
        same(f"host: round trips of the sessions with {remote}", row["rtt_seconds"]["count"], n)
    who = [{r["process"] for r in rows(ns, "session") if any(r["sessions"].values())} for ns in (here, there)]
    same("host: who connects; who listens, which is named as it closes, as it listened before", who, [{ME}, {ME}])
    server.close()


def test_families(here, there):
    """IPv6, and IPv4 of a socket of IPv6: a remote host has one name."""
    attach(here)
    attach(there)
    server = listen(there, "::")
    for address in ("fd09::2", "::ffff:10.9.0.2", "10.9.0.2"):
        converse(server, client(here, address), 500, 70)
    until(lambda: sum(x[0].get("closed", 0) for x in sessions(here).values()) == 3)
    same("host: two families at the client", sessions(here), {
        ("fd09::2", PORT, "client"): ({"closed": 1}, 70, 500), ("10.9.0.2", PORT, "client"): ({"closed": 2}, 140, 1000)})
    same("host: two families at the server", sessions(there), {
        ("fd09::1", PORT, "server"): ({"closed": 1}, 500, 70), ("10.9.0.1", PORT, "server"): ({"closed": 2}, 1000, 140)})
    server.close()


def test_ends(here, there):
    """A reset from either side, and a FIN that is answered by a reset."""
    attach(here)
    attach(there)
    server = listen(there)
    before = kernel(here), kernel(there)
    for _ in range(3):
        c = client(here, "10.9.0.2")
        s = server.accept()[0]
        c.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        c.close()
        until(lambda: s.fileno() < 0 or s.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR))
        s.close()
    same("host: aborted here, reset there", [next(iter(x.values()))[0] for x in (sessions(here), sessions(there))],
         [{"aborted": 3}, {"reset": 3}])
    now = kernel(here)
    got = tcp_of(here, "10.9.0.2"), tcp_of(there, "10.9.0.1")
    same("host: resets sent and received, as the kernel counts them",
         (got[0]["resets_sent_segments"], got[1]["resets_received_segments"]), (now["OutRsts"] - before[0]["OutRsts"],) * 2)
    server.close()
    for _ in range(4):
        try:
            client(here, "10.9.0.2", CLOSED)
            not_ok("host: refused", "it was not")
        except ConnectionRefusedError:
            pass
    same("host: refused", connects(here)["10.9.0.2", CLOSED], {"refused": 4})
    sent = kernel(there)["OutRsts"] - before[1]["OutRsts"]
    if KERNEL >= (6, 10):
        same("host: a reset without a socket is counted", tcp_of(there, "10.9.0.1")["resets_sent_segments"], sent)
    doc = show(f"{here}/host")
    same("host: refusals are found", found(doc), ["connect-refused"])


def test_attempts(ns, peer):
    """An answer after 200 ms, one to the second SYN, none at all, one that is given up, none for lack of a port."""
    attach(ns)
    ns.run("sysctl -qw net.ipv4.tcp_syn_retries=1")
    before = kernel(ns)
    s, syn = peer.connect()
    time.sleep(.2)
    peer.accept(syn)
    until(lambda: connects(ns))
    row, = rows(ns, "connect")
    same("host: an answer after 200 ms", nonzero(row["ends_attempts"]), {"established": 1})
    took = row["latency_seconds"]["sum"]
    check("host: it took as long as it did", .2 <= took < .3, took)
    late, _ = peer.connect(81)
    peer.accept(peer.next(SYN))
    until(lambda: ("198.18.0.1", 81) in connects(ns))
    row = next(r for r in rows(ns, "connect") if r["port"] == "81")
    check("host: a lost SYN makes a connection a second late", .99 < row["latency_seconds"]["sum"] < 1.5, row["latency_seconds"]["sum"])
    same("host: and is sent again", row["syns_again_segments"], 1)
    dead, _ = peer.connect(82)
    gone, _ = peer.connect(83)
    gone.close()
    until(lambda: ("198.18.0.1", 82) in connects(ns), 10)
    same("host: no answer at all; and given up before one came", (connects(ns)["198.18.0.1", 82], connects(ns)["198.18.0.1", 83]),
         ({"unanswered": 1}, {"given-up": 1}))
    now, row = kernel(ns), tcp_of(ns, "198.18.0.1")
    same("host: SYNs sent again, as the kernel counts them", row["retransmits_segments"]["syn"],
         now["TCPSynRetrans"] - before["TCPSynRetrans"])
    ns.run("sysctl -qw net.ipv4.ip_local_port_range='40000 40000'")
    one, syn = peer.connect(84)
    other = peer.socket()
    check("host: no port is left", other.connect_ex(("198.18.0.1", 84)) == 99)
    same("host: no port is left: counted", connects(ns)["198.18.0.1", 84], {"no-port": 1})
    same("host: no port is left: found", found(show(f"{ns}/host"))[0], "connect-no-port")
    ns.run("sysctl -qw net.ipv4.ip_local_port_range='32768 60999' net.ipv4.tcp_syn_retries=6")
    for x in (s, late, dead, one, other):
        x.close()


def test_unreachable(ns, peer):
    """The neighbour is silent."""
    attach(ns)
    s = peer.socket()
    s.connect_ex(("198.18.0.77", 80))
    until(lambda: connects(ns), 10)
    same("host: a silent neighbour", connects(ns), {("198.18.0.77", 80): {"unreachable": 1}})
    s.close()


def test_again(ns, peer):
    """One segment lost of ten: told by selective acknowledgements. Two that nobody acknowledges: a probe, then the timer."""
    attach(ns)
    before = kernel(ns)
    s, syn = peer.connect()
    time.sleep(.2)      # a long round trip, so that no probe comes before a peer that is slow has answered
    peer.accept(syn)
    s.send(b"x" * 10 * MSS)
    got = peer.data(10 * MSS)
    first, last = got[0], got[-1]
    peer.send(last, ACK, ack=first.seq, options=sack((first.end, last.end)))
    again = peer.next(ACK)
    same("host: the peer sees the lost segment once more", (again.seq, len(again.data)), (first.seq, len(first.data)))
    peer.send(last, ACK)
    row = tcp_of(ns, "198.18.0.1")
    same("host: sent again fast", nonzero(row["retransmits_segments"]), {"fast": 1})
    same("host: of so many segments, each time it was sent", row["segments"], len(got) + 1)
    now = kernel(ns)
    same("host: so the kernel counts", (now["TCPFastRetrans"] - before["TCPFastRetrans"], now["RetransSegs"] - before["RetransSegs"]), (1, 1))
    s.send(b"y" * 100)
    tails = []
    while len(tails) < 3:
        tails += [t for t in [peer.next(ACK)] if t.data and t.sport == syn.sport]
    tail = tails[0]
    peer.send(tail, ACK)
    now, row = kernel(ns), tcp_of(ns, "198.18.0.1")
    again = now["RetransSegs"] - before["RetransSegs"]     # 3, or more if the peer has to wait for a CPU
    check("host: all three are sent again", again >= 3, again)
    same("host: a probe, then the timer, as the kernel counts them", nonzero(row["retransmits_segments"]),
         {"fast": 1, "probe": 1, "timeout": again - 2})
    same("host: and the probe", now["TCPLossProbes"] - before["TCPLossProbes"], 1)
    time.sleep(.05)
    s.close()
    fin = peer.next(FIN)
    peer.send(fin, FIN | ACK)
    until(lambda: sessions(ns))
    same("host: its session has each byte once", sessions(ns), {("198.18.0.1", 80, "client"): ({"closed": 1}, 0, 10 * MSS + 100)})
    same("host: and what was sent again", [r["retransmits_segments"] for r in rows(ns, "session") if r["sent_bytes"]], [again])
    r, syn = peer.connect()
    peer.accept(syn)
    peer.send(syn, RST | ACK, seq=ISN + 1)
    until(lambda: tcp_of(ns, "198.18.0.1")["resets_received_segments"])
    same("host: a reset by hand", tcp_of(ns, "198.18.0.1")["resets_received_segments"], 1)
    r.close()


def test_forged(ns, peer):
    """SYNs to a closed port, from fifty addresses that somebody made up: they take no rows."""
    attach(ns)
    before = kernel(ns)
    for i in range(50):
        peer.wire.write(0, peer.wire.eth(tcp(CLOSED, src=f"198.18.0.{100 + i}")))
    until(lambda: kernel(ns)["OutRsts"] - before["OutRsts"] == 50)
    sent = {r["remote"]: r["resets_sent_segments"] for r in rows(ns, "tcp") if r["resets_sent_segments"]}
    same("host: forged packets", sent, {"others": 50} if KERNEL >= (6, 10) else {})


def test_older(here, there):
    """What was there before attach: its number is known, no more."""
    server = listen(there)
    c = client(here, "10.9.0.2")
    s = server.accept()[0]
    c.sendall(b"x" * 1000)
    attach(here)
    c.sendall(b"x" * 1000)
    c.close()
    read(s, 3000)
    s.close()
    until(lambda: rows(here, "session") and any(r["older_sessions"] for r in rows(here, "session")))
    got = [(r["remote"], r["older_sessions"], sum(r["sessions"].values()), r["sent_bytes"]) for r in rows(here, "session") if r["older_sessions"]]
    same("host: a connection that was there before", got, [("10.9.0.2", 1, 0, 0)])
    server.close()


def test_stranger(here, there):
    """Another namespace's connections are not ours; each has its own host."""
    attach(there)
    server = listen(here, port=PORT)
    converse(server, client(here, "127.0.0.1"), 10, 10)
    same("host: nothing of another namespace", (sessions(there), connects(there)), ({}, {}))
    server.close()


def test_others(here, there):
    """More remote hosts than a map has keys: they are counted together, and none is lost."""
    nr = 8192 + 300
    if CONNECTIONS < nr:
        skip("host: more remote hosts than keys", f"{CONNECTIONS} connections were asked for")
        return
    attach(here, "-m", "session")
    server = listen(here, port=PORT, backlog=1024)

    def make(i):
        s = socket.socket()
        s.bind((f"127.{1 + (i >> 16)}.{i >> 8 & 255}.{i & 255}", 0))
        s.connect(("127.0.0.1", PORT))
        return s
    for i in range(nr):
        c = inside(here, lambda: make(i))           # pylint: disable=cell-var-from-loop
        s = server.accept()[0]
        s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        c.send(b"1234")
        s.recv(4)
        s.close()
        c.close()
    doc = show(f"{here}/host")
    all_rows = doc["meters"]["session"]
    by_side = {side: [r for r in all_rows if r["side"] == side] for side in ("client", "server")}
    same("host: sessions of each side", {k: sum(sum(r["sessions"].values()) for r in v) for k, v in by_side.items()},
         {"client": nr, "server": nr})
    same("host: bytes of each side", {k: sum(r["received_bytes"] for r in v) for k, v in by_side.items()},
         {"client": 0, "server": 4 * nr})
    check("host: others are named so", any(r["remote"] == "others" and any(r["sessions"].values()) for r in all_rows))
    same("host: nothing is lost", lost(doc), {})
    server.close()


def test_itself(here):
    """A socket that connects to itself asks, as do both ends that ask at once: nothing was accepted."""
    attach(here)

    def make():
        s = socket.socket()
        s.settimeout(10)
        s.bind(("127.0.0.1", PORT + 2))
        s.connect(("127.0.0.1", PORT + 2))
        return s
    s = inside(here, make)
    s.sendall(b"x" * 33)
    read(s, 33)
    s.close()
    same("host: connected to itself", connects(here), {("127.0.0.1", PORT + 2): {"established": 1}})
    row = next((r for r in rows(here, "connect") if r["attempts"]), None)
    check("host: it took its time", row and row["latency_seconds"]["count"] == 1, str(row))
    same("host: it is a session of a client", sessions(here), {("127.0.0.1", PORT + 2, "client"): ({"closed": 1}, 33, 33)})
    same("host: it was not accepted", [r for r in rows(here, "accept") if r["connections"]], [])


def test_many(here):
    """Ten thousand connections a second, or what the machine can: none of CONNECTIONS is missed (600000 by hand)."""
    attach(here)
    again = CONNECTIONS > 50000     # than there are ports
    here.run(f"sysctl -qw net.ipv4.ip_local_port_range='1024 65535' net.ipv4.tcp_tw_reuse={int(again)}")
    before = kernel(here)
    made, took = here.run(f"{CONNS} 10000 {CONNECTIONS / 10000}", timeout=900).split()
    made = int(made)
    until(lambda: sum(sum(x[0].values()) for x in sessions(here).values()) == 2 * made)
    same("host: many connections", connects(here), {("127.0.0.1", PORT): {"established": made}})
    got = {key: (sum(ends.values()), *octets) for key, (ends, *octets) in sessions(here).items()}
    same("host: many sessions, of both sides", got, {("127.0.0.1", PORT, side): (made, 8 * made, 8 * made) for side in ("client", "server")})
    ends = [nonzero(ends) for ends, *_ in sessions(here).values()]
    check("host: and they end well, but where a port comes again while its last connection is not done",
          sum(e["closed"] for e in ends) >= 2 * made - made // 1000 if again else ends == [{"closed": made}] * 2, str(ends))
    doc, now = show(f"{here}/host"), kernel(here)
    same("host: the kernel counts as many", [now[k] - before[k] for k in ("ActiveOpens", "PassiveOpens")], [made, made])
    same("host: none lost", (lost(doc), doc["missed"]["events"] if "missed" in doc else 0), ({}, 0))
    print(f"# {made} connections in {took} s")


def test_commands(here, there):
    """Wrong requests say so; detach leaves nothing; what is attached for a command is not there afterwards."""
    def fails(*args):
        return nicprobe(*args, check=False).stderr
    said = fails("attach", f"{here}/host", "-m", "qdisc")
    check("host: a meter of an interface", "it is a meter of an interface" in said, said)
    said = fails("attach", f"{here}/eth0", "-m", "session")
    check("host: a meter of the host", "it is a meter of the host: nicprobe attach host" in said, said)
    attach(here, "-m", "all")
    doc = show(f"{here}/host")
    same("host: all meters of the host, and no other", sorted(doc["meters"]), sorted(json.loads(
        nicprobe("list", "-j").stdout)[0]["meters"]))
    check("host: an interface's default has none", "session" not in nicprobe("run", f"{here}/lo", "-j", "--", "true").stdout)
    nicprobe("attach", f"{here}/host", "-m", "-session")
    check("host: a meter is removed", "session" not in show(f"{here}/host")["meters"])
    nicprobe("attach", f"{here}/host", "-m", "+session")
    server = listen(here)
    converse(server, client(here, "127.0.0.1"), 10, 10)
    until(lambda: len(sessions(here)) == 2)
    same("host: and added again", len(sessions(here)), 2)
    server.close()
    nicprobe("detach", f"{here}/host")
    inode = os.stat(f"/run/netns/{here}").st_ino
    check("host: detach leaves nothing", not os.path.exists(f"/sys/fs/bpf/nicprobe/{inode}"))
    doc = nicprobe("doctor", f"{here}/host", "--for", "1", "-j", check=False)
    same("host: doctor says well", doc.returncode, 0)
    attach(here)
    doc = json.loads(nicprobe("cost", f"{here}/host", "-j").stdout)
    check("host: its cost is measured", doc["first_program_seconds"] > 0 and doc["events"], str(doc))


def main():
    need_root()
    here, there = pair()
    ns = Namespace("peer")
    peer = Peer(ns)

    def after():
        for one in (here, there, ns):
            nicprobe("detach", f"{one}/host", check=False)
        peer.wire.drain()
    each(test_conversations, test_families, test_ends, test_again, test_attempts, test_unreachable, test_forged, test_older, test_stranger,
         test_others, test_itself, test_many, test_commands, after=after, here=here, there=there, ns=ns, peer=peer)
    finish()


main()

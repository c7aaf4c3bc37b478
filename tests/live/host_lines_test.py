#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""nicprobe host: a line for each event of sockets that the test causes, with what it knows of it, and no other."""
import os
import re
import signal
import socket
import struct
import time

from lib.connections import PORT, client, converse, kernel, listen, pair, read
from lib.host_lines import ME, PID, Host, line, sure
from lib.lab import *
from lib.peer import ACK, FIN, ISN, MSS, Peer, RST, SYN, sack
from lib.wire import inside, tcp

CLOSED = 8001
CONNECTIONS = int(os.environ.get("CONNECTIONS", 30000))
FLOOD = 26000       # each has two lines, and there is room for 38836
CONNS = os.path.join(os.path.dirname(NIC), "conns")


def linger(s):
    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def forget(peer):
    """What connections of before still send it."""
    while peer.wire.read(0) is not None:
        pass


def test_connect(here, there):
    server, host = listen(there), Host("connect", here)
    made = [client(here, a) for a in ("10.9.0.2", "fd09::2")[:1] * 2]
    want = [line("connect", c.getsockname(), ("10.9.0.2", PORT), end="established") for c in made]
    try:
        client(here, "10.9.0.2", CLOSED)
        not_ok("lines: refused", "it was not")
    except ConnectionRefusedError:
        pass
    got = host.stop()
    refused = got[-1]
    want.append(line("connect", ("10.9.0.1", refused["local_port"]), ("10.9.0.2", CLOSED), end="refused"))
    same("lines: attempts to connect", sure(got), want)
    check("lines: each took its time", all(0 < x["seconds"] < 1 for x in got), str(got))
    check("lines: to the queue that sends", all(x["tx_queue"] in range(4) for x in got), str(got))
    same("lines: Ctrl-C is a good end", host.p.returncode, 0)
    for s in (*made, server):
        s.close()


def test_attempts(ns, peer):
    """An answer after 200 ms; none at all; a neighbour that is silent; given up."""
    ns.run("sysctl -qw net.ipv4.tcp_syn_retries=1 net.ipv4.neigh.tap0.retrans_time_ms=200")
    host = Host("connect", ns)
    s, syn = peer.connect()
    time.sleep(.2)
    peer.accept(syn)
    slow = host.next()
    same("lines: an answer after 200 ms", (slow["end"], slow["remote_port"]), ("established", 80))
    check("lines: it took as long", .2 <= slow["seconds"] < 1, str(slow["seconds"]))
    gone, _ = peer.connect(83)
    port = gone.getsockname()[1]
    gone.close()
    same("lines: given up before an answer", sure([host.next()]), [line("connect", (slow["local"], port), ("198.18.0.1", 83),
                                                                        end="given-up", interface="tap0")])
    dead, _ = peer.connect(82)
    silent = peer.socket()
    silent.connect_ex(("198.18.0.77", 80))
    ends = sorted((x["remote"], x["end"]) for x in (host.next(), host.next()))
    same("lines: nobody answers; the neighbour is silent", ends, [("198.18.0.1", "unanswered"), ("198.18.0.77", "unreachable")])
    same("lines: no others", host.stop(), [])
    ns.run("sysctl -qw net.ipv4.tcp_syn_retries=6")
    for x in (s, dead, silent):
        linger(x)
        x.close()


def test_accept(here, there):
    """Whose the listener is, which was there before; how many wait; and of one that comes later."""
    server, host = listen(there, backlog=5), Host("accept", there)
    made = [client(here, "10.9.0.2") for _ in range(3)]
    later = listen(there, "::", port=CLOSED, backlog=9)
    made.append(client(here, "fd09::2", CLOSED))
    time.sleep(.2)
    got = host.stop()
    want = [line("accept", ("10.9.0.2", PORT), c.getsockname(), waiting=i, half_open=0, backlog=5) for i, c in enumerate(made[:3])]
    want.append(line("accept", ("fd09::2", CLOSED), made[3].getsockname()[:2], waiting=0, half_open=0, backlog=9))
    same("lines: connections that are accepted", sure(got), want)
    for s in (*made, server, later):
        s.close()


def test_half_open(ns, peer):
    """A handshake ends while two others go on."""
    server, host = listen(ns, port=CLOSED, backlog=5), Host("accept", ns)
    for sport in (1501, 1502, 1503):
        peer.wire.write(0, peer.wire.eth(tcp(CLOSED, sport=sport)))
        answer = peer.next(SYN | ACK)
    peer.send(answer, ACK, seq=2)
    got = host.stop()
    same("lines: two are half-open", [(x["remote_port"], x["waiting"], x["half_open"]) for x in got], [(1503, 0, 2)])
    server.close()


def test_sessions(here, there):
    """At both ends, by two that run at once; one that was there before; and how they end."""
    server = listen(there)
    old = client(here, "10.9.0.2")
    other = server.accept()[0]
    old.sendall(b"x" * 1000)
    hosts, before = [Host("sessions", ns) for ns in (here, there)], [kernel(ns) for ns in (here, there)]
    old.sendall(b"x" * 1000)
    read(other, 2000)
    ends = [old.getsockname()]
    old.close()
    other.close()
    for i in range(3):
        c = client(here, "10.9.0.2")
        ends.append(c.getsockname())
        time.sleep(.1)
        converse(server, c, 1000 + i, 300000 + i)
    c = client(here, "10.9.0.2")
    ends.append(c.getsockname())
    s = server.accept()[0]
    linger(c)
    c.close()
    until(lambda: s.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR))
    s.close()
    time.sleep(.3)
    got = [host.stop() for host in hosts]
    sizes = [(2000, 0), *((1000 + i, 300000 + i) for i in range(3)), (0, 0)]
    for at, lines in enumerate(got):
        want = []
        for i, (end, (there_, back)) in enumerate(zip(ends, sizes)):
            far = ("10.9.0.2", PORT)
            want.append(line("sessions", *((far, end) if at else (end, far)), side=None if not i else ("client", "server")[at],
                             end="closed" if i < 4 else ("aborted", "reset")[at],
                             sent_bytes=back if at else there_, received_bytes=there_ if at else back))
        port = (lambda x: x["remote_port"]) if at else (lambda x: x["local_port"])
        order = {end[1]: i for i, end in enumerate(ends)}
        same(f"lines: sessions of the {('client', 'server')[at]}", sorted(sure(lines), key=lambda x, p=port: order.get(p(x), -1)), want)
        again = kernel((here, there)[at])["RetransSegs"] - before[at]["RetransSegs"]
        same("lines: what they sent again, as the kernel counts it", sum(x["retransmits"] for x in lines), again)
        spans = [x["seconds"] for x in sorted(lines, key=lambda x, p=port: order.get(p(x), -1))]
        check("lines: they lasted so long; of an older one nobody knows", spans[0] is None and
              all(.1 <= x < 5 for x in spans[1:4]), str(spans))
    server.close()


def test_queues(here, there, ns, peer):
    """The queue of a veth that carries what is sent; the one of a tap from which it comes."""
    def sent():
        return {int(q["parent"].split(":")[1], 16) - 1: q["bytes"] for q in json.loads(here.run("tc -s -j qdisc show dev eth0"))
                if "parent" in q}
    here.run("tc qdisc replace dev eth0 root handle 1: mq")
    server, host, before = listen(there), Host("sessions", here), sent()
    converse(server, client(here, "10.9.0.2"), 1000000, 1)
    got, now = host.stop(), sent()
    here.run("tc qdisc del dev eth0 root")
    same("lines: the queue to which it sent", [x["tx_queue"] for x in got], [max(now, key=lambda q: now[q] - before[q])])
    forget(peer)
    host = Host("sessions", ns)
    s, syn = peer.connect()
    peer.accept(syn)
    peer.send(syn, RST | ACK, seq=ISN + 1)
    got = host.next()
    same("lines: the queue from which it received", (got["end"], got["interface"], got["rx_queue"]), ("reset", "tap0", 0))
    host.stop()
    s.close()
    server.close()


def test_retransmits(ns, peer):
    """One segment of ten is lost; two are not acknowledged; a SYN has no answer; nor has a SYN-ACK."""
    forget(peer)
    host = Host("retransmits", ns)
    s, syn = peer.connect()
    peer.accept(syn)
    s.send(b"x" * 10 * MSS)
    got = peer.data(10 * MSS)
    first, last = got[0], got[-1]
    peer.send(last, ACK, ack=first.seq, options=sack((first.end, last.end)))
    peer.next(ACK)
    peer.send(last, ACK)
    s.send(b"y" * 100)
    tail = peer.next(ACK)
    while not tail.data:
        tail = peer.next(ACK)
    peer.next(ACK), peer.next(ACK)
    peer.send(tail, ACK)
    lost, _ = peer.connect(81)
    peer.accept(peer.next(SYN))
    server = listen(ns)
    peer.wire.write(0, peer.wire.eth(tcp(PORT)))
    time.sleep(1.5)
    lines = host.stop()
    ends = [x.getsockname() for x in (s, lost)]
    want = [line("retransmits", ends[0], ("198.18.0.1", 80), kind=kind, segments=1, state="established", interface="tap0")
            for kind in ("fast", "probe", "timeout")]
    want.append(line("retransmits", ends[1], ("198.18.0.1", 81), kind="syn", segments=1, state="syn-sent", interface="tap0"))
    synack = next((x for x in lines if x["kind"] == "syn-ack"), {})
    same("lines: segments sent again", sure(x for x in lines if x["kind"] != "syn-ack"), want)
    same("lines: a SYN-ACK, of who listens", {k: synack.get(k) for k in ("process", "pid", "local_port", "remote", "state")},
         {"process": ME, "pid": PID, "local_port": PORT, "remote": "198.18.0.1", "state": "syn-received"})
    server.close()
    s.close()
    fin = peer.next(FIN)
    peer.send(fin, FIN | ACK)
    lost.close()


def test_states(here, there):
    server = listen(there, port=CLOSED)     # there before
    hosts = [Host("states", ns) for ns in (here, there)]
    c = client(here, "10.9.0.2", CLOSED)
    port = c.getsockname()[1]
    time.sleep(.2)
    converse(server, c, 10, 20)
    time.sleep(.2)
    ours, theirs = (host.stop() for host in hosts)
    mine = ["closed", "syn-sent", "established", "fin-wait-1", "fin-wait-2", "closed"]
    want = [line("states", ("10.9.0.1", port), ("10.9.0.2", CLOSED), **{"from": a, "to": b}) for a, b in zip(mine, mine[1:])]
    want[0] = {**want[0], **{k: sure(ours)[0].get(k) for k in ("local", "local_port")}}     # it has no port yet
    same("lines: the states of a client", sure(ours), want)
    check("lines: it was established so long", .2 <= ours[2]["seconds"] < 5, str(ours[2]))
    same("lines: how long it was closed, nobody knows", ours[0]["seconds"], None)
    mine = ["listen", "syn-received", "established", "close-wait", "last-ack", "closed"]
    want = [line("states", ("10.9.0.2", CLOSED), ("10.9.0.1", port), **{"from": a, "to": b}) for a, b in zip(mine, mine[1:])]
    if KERNEL < (6, 14):        # the first is told before it has ends
        want[0].update(local="0.0.0.0", remote=None, remote_port=None)
    same("lines: the states of a server's end", sure(theirs), want)
    host = Host("states", there)
    server.close()
    same("lines: it listens no more", sure(host.stop()), [line("states", ("0.0.0.0", CLOSED), **{"from": "listen", "to": "closed"})])


def test_listen(here):
    here.run("sysctl -qw net.core.somaxconn=300")
    host = Host("listen", here)
    made = [listen(here, backlog=5), listen(here, "::", port=CLOSED, backlog=1000)]
    same("lines: who listens, with which backlog", sure(host.stop()), [
        line("listen", ("0.0.0.0", PORT), backlog=5), line("listen", ("::", CLOSED), backlog=300)])
    for s in made:
        s.close()


def test_bind(here):
    def make(kind, address, family=socket.AF_INET):
        s = inside(here, lambda: socket.socket(family, kind))
        try:
            s.bind(address)
        except OSError:
            pass
        return s
    unix = socket.socket(socket.AF_UNIX)
    host = Host("bind", here)
    made = [make(socket.SOCK_STREAM, ("127.0.0.1", PORT)), make(socket.SOCK_STREAM, ("127.0.0.1", PORT)),
            make(socket.SOCK_DGRAM, ("0.0.0.0", 0)), make(socket.SOCK_STREAM, ("192.0.2.9", 90))]
    inside(here, lambda: unix.bind(f"\0{ME}"))
    port = made[2].getsockname()[1]
    same("lines: who binds what", sure(host.stop()), [
        line("bind", ("127.0.0.1", PORT), protocol="tcp", error=None),
        line("bind", ("127.0.0.1", PORT), protocol="tcp", error="EADDRINUSE"),
        line("bind", ("0.0.0.0", port), protocol="udp", error=None),
        line("bind", ("192.0.2.9", 90), protocol="tcp", error="EADDRNOTAVAIL")])
    for s in (*made, unix):
        s.close()


def test_udp(here):
    host = Host("udp", here)
    made = [inside(here, lambda f=f: socket.socket(f, socket.SOCK_DGRAM)) for f in (socket.AF_INET, socket.AF_INET6)]
    made[0].connect(("10.9.0.2", 53))
    made[1].connect_ex(("2001:db8::1", 53))
    stream = inside(here, socket.socket)
    stream.connect_ex(("10.9.0.2", CLOSED))     # TCP is no UDP
    got = host.stop()
    same("lines: where UDP is connected to", sure(got), [
        line("udp", made[0].getsockname(), ("10.9.0.2", 53), error=None),
        line("udp", made[1].getsockname(), ("2001:db8::1", 53), error="ENETUNREACH")])
    for s in (*made, stream):
        s.close()


def test_filters(here, there):
    """By port, host and process; a number of events; a time; a command, whose exit status it has."""
    server, other = listen(there), listen(there, "::", port=CLOSED)
    def run(*args, **more):
        host = Host("connect", here, *args, **more)
        made = [client(here, "10.9.0.2"), client(here, "fd09::2", CLOSED), client(here, "10.9.0.2", CLOSED)]
        got = [(x["remote"], x["remote_port"]) for x in host.stop()]
        for s in made:
            s.close()
        return got
    every = [("10.9.0.2", PORT), ("fd09::2", CLOSED), ("10.9.0.2", CLOSED)]
    for args, want in ((("--port", str(PORT)), every[:1]), (("--remote", "fd09::2"), every[1:2]), (("--process", ME), every),
                       (("--process", str(PID)), every), (("--process", "other"), []), (("-c", "2"), every[:2]),
                       (("--port", str(CLOSED), "--remote", "10.9.0.2"), every[2:])):
        same(f"lines: {' '.join(args)}", run(*args), want)
    begun = time.monotonic()
    same("lines: --for", (Host("connect", here, "--for", "500ms").end(), .4 < time.monotonic() - begun < 3), ([], True))
    host = Host("connect", here, "--for", "300ms", "-c", "2")
    host.end()
    check("lines: it says when it ends", "until Ctrl-C, for 0.3 s at most, 2 events at most" in host.said, host.said)
    r = nicprobe("host", "connect", f"{here}/host", "-j", "--", "sh", "-c",
                 f"{sys.executable} -c 'import socket; socket.create_connection((\"10.9.0.2\", {PORT}))'; exit 5", check=False)
    got = [json.loads(x) for x in r.stdout.splitlines()]
    same("lines: a command, in the namespace", (r.returncode, [(x["remote_port"], x["end"]) for x in got]), (5, [(PORT, "established")]))
    host = Host("connect", there)
    client(here, "10.9.0.2").close()
    same("lines: nothing of another namespace", host.stop(), [])
    server.close()
    other.close()


def test_text(here, there):
    """Columns that fit; a pipe has all; its reader may leave."""
    server = listen(there)
    for width in (40, 80, None):
        host = Host("sessions", here, json_lines=False, env={"COLUMNS": str(width)} if width else None)
        c = client(here, "10.9.0.2")
        converse(server, c, 1000, 2000)
        heads, *lines = host.stop()
        for text in (heads, *lines):
            check(f"lines: {width or 'a pipe'}: it fits", len(text) <= (width or 200), text)
        check(f"lines: {width or 'a pipe'}: who, and how it ended", len(lines) == 1 and "10.9.0.2:8000" in lines[0] and
              "closed" in lines[0], str(lines))
    same("lines: all columns", heads.split(), "time process pid side local remote end lasted sent received again interface rx/tx".split())
    got = re.split("  +", lines[0])
    same("lines: and what they say", (got[1:4], got[5:7], got[8:11], got[11]), (
        [ME, str(PID), "client"], ["10.9.0.2:8000", "closed"], ["1000 B", "2000 B", "0"], "eth0"))
    with subprocess.Popen(f"{NICPROBE} host connect {here}/host 2>/dev/null | head -1", shell=True, stdout=subprocess.PIPE) as p:
        begun = time.monotonic()
        p.communicate(timeout=20)
        check("lines: its reader leaves", time.monotonic() - begun < 15)
    server.close()


def test_dot(here, there):
    server = listen(there)
    hosts = [Host("sessions", ns, "--dot", json_lines=False) for ns in (here, there)]
    for _ in range(2):
        converse(server, client(here, "10.9.0.2"), 1000, 2000)
    ours, theirs = (" ".join("\n".join(host.stop()).split()) for host in hosts)
    label = r'[label="2 sessions to port 8000\n2000 B there, 4000 B back"]'
    graph = "digraph sessions {{ rankdir=LR \"%s\" [shape=box] {} %s }}" % (ME, label)
    same("lines: a graph of the client", ours, graph.format(f'"{ME}" -> "10.9.0.2"'))
    same("lines: a graph of the server", theirs, graph.format(f'"10.9.0.1" -> "{ME}"'))
    server.close()


def test_wrong(here):
    for args, says in ((["host"], "host needs an event"), (["host", "conect"], 'no event "conect"'),
                       (["host", "connect", "--dot"], "--dot is of sessions"), (["host", "sessions", "--dot", "-j"], "exclude each other"),
                       (["host", "connect", "--remote", "x"], "--remote takes an address"),
                       (["host", "connect", "--port", "70000"], "--port takes a whole number")):
        r = nicprobe(*args, check=False)
        same(f"lines: {' '.join(args)}", (r.returncode, r.stdout, says in r.stderr), (2, "", True))
    r = nicprobe("host", "connect", "nosuch/host", check=False)
    same("lines: no such namespace", (r.returncode, "nosuch" in r.stderr), (1, True))
    r = nicprobe("host", "connect", f"{here}/host", "--", "/nosuch", check=False)
    same("lines: no such command", r.returncode, 127)


def test_flood(here):
    """More than it can print, as it stands still: what is not shown is counted."""
    if CONNECTIONS < FLOOD:
        skip("lines: a flood", f"{CONNECTIONS} connections were asked for")
        return
    here.run("sysctl -qw net.ipv4.ip_local_port_range='1024 65535'")
    host = Host("sessions", here)
    host.p.send_signal(signal.SIGSTOP)
    made = int(here.run(f"{CONNS} 10000 {FLOOD / 10000}", timeout=900).split()[0])
    host.p.send_signal(signal.SIGCONT)
    got = host.stop()
    lost = re.search(r"lost: (\d+) events are not shown", host.said)
    check("lines: a flood: some are lost", lost, host.said)
    same("lines: and each is shown, or counted", len(got) + int(lost[1] if lost else 0), 2 * made)
    print(f"# {made} connections, {len(got)} lines, {lost[1] if lost else 0} lost")
    host = Host("sessions", here)
    made = int(here.run(f"{CONNS} 10000 .3", timeout=900).split()[0])
    same("lines: ten thousand a second are shown", (len(host.stop()), "lost" in host.said), (2 * made, False))


def main():
    need_root()
    here, there = pair()
    ns = Namespace("peer")
    peer = Peer(ns)
    each(test_connect, test_attempts, test_accept, test_half_open, test_sessions, test_queues, test_retransmits, test_states, test_listen, test_bind, test_udp,
         test_filters, test_text, test_dot, test_wrong, test_flood, here=here, there=there, ns=ns, peer=peer)
    finish()


main()

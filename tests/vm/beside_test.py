#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""In a guest: bpftrace's scripts for sockets and TCP beside the host's meters and lines, on the same traffic. Ours must
be what the test made; theirs must be that, too, or differ as it is said of them."""
import json
import os
import signal
import socket
import subprocess
import time
from collections import Counter

import scripts
from cards import lab
from lib import bpftrace
from lib.connections import pair
from lib.host_lines import ME, Host
from lib.lab import Namespace, check, finish, need_root, same
from lib.peer import Peer
from lib.wire import THERE
from sockets import (AFTER, AGAIN, BEFORE, CLIENT, CLOSED, DUAL, FAILED, FIRST, FULL, KB, LATE, LEAVES, LIMITS, LISTENED, MADE, NAGLE,
                     PLAIN, SLOW, SOCK, SYNS, THREADS, UNREACHABLE, WAITED, WINDOW, Traffic)

METERS = ("connect,session,socklife,sock,icmp,fdpass,firstbyte", "accept,backlog,session,sockmem,sock", "connect,session,tcp,tcpwait")
DEBIAN = "tcpconnect", "tcpaccept", "tcplife", "tcpretrans", "tcpdrop", "tcpsynbl"
STATES = ["", "established", "syn-sent", "syn-received", "fin-wait-1", "fin-wait-2", "time-wait", "closed", "close-wait", "last-ack",
          "listen", "closing", "new-syn-received"]


class Tools:
    """All of them, from before the traffic until after it: `printed` has what Debian's scripts printed, `maps` what the others counted,
    `lines` our lines, `meters` our meters."""
    def __init__(self, here, there, ns):
        inum = os.stat(f"/run/netns/{here}").st_ino
        ours = scripts.OURS % {"calls": SOCK, "late": LATE, "first": FIRST, "me": ME, "here": inum, "nagle": socket.htons(NAGLE),
                               "window": socket.htons(WINDOW)}
        self.scripts = [scripts.Script("Debian's", bpftrace.script(*DEBIAN)), scripts.Script("ours", ours, "-f", "json")]
        self.where = here, there, ns
        for where, meters in zip(self.where, METERS):
            lab.nicprobe("attach", f"{where}/host", "-m", meters)
        self.hosts = {(event, where): Host(event, where, *more) for event, where, *more in (
            ("connect", here), ("accept", there), ("sessions", here), ("sessions", there), ("retransmits", ns),
            ("states", here), ("listen", here), ("bind", here), ("udp", here), ("window", here, "--port", str(WINDOW)))}
        self.trace = subprocess.Popen([lab.NICPROBE, "trace", "@tcpdrop", "-j", "--netns", "all"], stdout=subprocess.PIPE,
                                      stderr=subprocess.PIPE, text=True)
        self.trace.stderr.readline()
        began = time.monotonic()
        why = scripts.until_attached(self.scripts)
        if not check(f"scripts are attached # after {time.monotonic() - began:.0f} s more", not why, str(why)):
            finish()

    def stop(self):
        self.lines = {key: host.stop() for key, host in self.hosts.items()}
        for key, host in self.hosts.items():
            same(f"{key[0]}: nothing is lost", "lost" in host.said, False)
        self.trace.send_signal(signal.SIGINT)
        self.drops = [json.loads(x) for x in self.trace.communicate(timeout=60)[0].splitlines()]
        self.printed, ours = (s.stop() for s in self.scripts)
        self.meters = {str(ns): lab.show(f"{ns}/host")["meters"] for ns in self.where}
        self.maps, self.windows = scripts.maps(ours)

    def rows(self, ns, meter):
        return self.meters[str(ns)][meter]


def ports(lines, port="remote_port"):
    return Counter(x[port] for x in lines)


def total(rows, key, value):
    """{key: the sum of the values}"""
    got = Counter()
    for r in rows:
        got[int(r[key])] += value(r)
    return +got


def theirs(name, got, want):
    """A script is right to the event, but for at most two: what comes in an interrupt, while another program of bpftrace's
    runs on the CPU, the kernel does not show it."""
    lacks, more = Counter(want) - Counter(got), Counter(got) - Counter(want)
    check(f"{name} # lacks {sum(lacks.values())}", not more and sum(lacks.values()) <= 2, f"lacks {lacks}, has {more} too many")


def connecting(t, tools, here):
    ours, them = tools.lines["connect", here], scripts.connects(tools.printed)
    ends = Counter((x["remote_port"], x["end"]) for x in ours)
    same("connect: attempts, and how they ended", ends, Counter({(p, "established"): n for p, n in MADE.items()}) +
         Counter({(CLOSED, "refused"): 1, (FULL, "given-up"): 2}))
    same("connect: the meter says the same", total(tools.rows(here, "connect"), "port", lambda r: r["attempts"]), MADE + FAILED)
    mine = Counter(x[4] for x in them if x[3] in ("10.9.0.2", "fd09::2"))
    same("tcpconnect: the same attempts, and not that three of them failed", mine, MADE + FAILED)
    same("tcpconnect: it follows all namespaces", {x[4] for x in them if x[3] == THERE}, {AGAIN, SYNS, SLOW, NAGLE})


def latency(t, tools, ns):
    ours = next(r for r in tools.rows(ns, "connect") if r["port"] == str(SLOW))["latency_seconds"]
    check(f"connect: an answer after 200 ms took so long # {ours['sum']:.3f} s", ours["count"] == 1 and .2 <= ours["sum"] < .8, str(ours))
    check(f"soconnlat: until the next poll(), of one that does not wait # {tools.maps.get('@connect_ms')} ms",
          tools.maps.get("@connect_ms", 0) >= 1000, str(tools.maps.get("@connect_ms")))


def accepting(t, tools, there):
    ours, them = tools.lines["accept", there], scripts.accepts(tools.printed)
    same("accept: connections by port", ports(ours, "local_port"), MADE)
    depth = lambda port: [x["waiting"] for x in ours if x["local_port"] == port]
    same("accept: how many waited", depth(FULL), [0, 1, 2])
    meter = {int(r["port"]): (r["connections"], int(r["limit"])) for r in tools.rows(there, "accept") if r["connections"]}
    same("accept: the meter says the same", meter, {p: (MADE[p], LIMITS[p]) for p in MADE})
    mine = Counter(x[4] for x in them)
    rest = MADE - Counter({WAITED: BEFORE, THREADS: AFTER})
    same("tcpaccept: connections", Counter({p: n for p, n in mine.items() if p in rest}), rest)
    same("tcpaccept: not those for which accept() waited when it began", mine[WAITED], 0)
    check(f"tcpaccept: nor all, where more than ten threads wait # {mine[THREADS]} of {AFTER}", 0 < mine[THREADS] < AFTER, str(mine))
    same("tcpaccept: the queue", [x[5:] for x in them if x[4] == FULL], [(0, 2), (1, 2), (2, 2)])
    same("soaccept: calls that return a socket", tools.maps.get("@accepts"), t.accepted)
    calls = [r for r in tools.rows(there, "sock") if r["process"] == ME and r["call"].startswith("accept")]
    same("sock: the same", sum(r["calls"] for r in calls), t.accepted)


def overflowing(t, tools, there):
    backlog = tools.rows(there, "backlog")
    same("backlog: SYNs that found the queue full, as the kernel counts them # " + str(t.overflows),
         (sum(r["overflows_segments"] for r in backlog), t.overflows >= 2), (t.overflows, True))
    handshakes, says = scripts.backlogs(tools.printed)
    want = {LIMITS[p]: n for p, n in MADE.items()}
    theirs("tcpsynbl: IPv4 connections to a listener of both families count twice", handshakes, {**want, LIMITS[DUAL]: want[LIMITS[DUAL]] + 2})
    same("tcpsynbl: of the SYNs that are dropped it knows nothing", says, 0)


def living(t, tools, here, there, ns):
    them = scripts.lives(tools.printed)
    for where, side, mine in ((here, "client", lambda k: (k[0] in ("10.9.0.1", "fd09::1"), k[3])),
                              (there, "server", lambda k: (k[0] in ("10.9.0.2", "fd09::2"), k[1]))):
        port = "remote_port" if where is here else "local_port"
        same(f"sessions: of the {side}, and one of before", ports(tools.lines["sessions", where], port), MADE + Counter({PLAIN: 1}))
        meter = total(tools.rows(where, "session"), "port", lambda r: sum(r["sessions"].values()))
        same(f"session: the meter, of the {side}", meter, MADE)
        same(f"session: of the {side} one that was there before", sum(r["older_sessions"] for r in tools.rows(where, "session")), 1)
        got = Counter(mine(k)[1] for k in them if mine(k)[0])
        theirs(f"tcplife: of the {side}: without the one of before" + (", and with attempts that failed" if where is here else ""),
             got, MADE + (FAILED if where is here else Counter()))
    sizes = sorted((x["sent_bytes"], x["received_bytes"]) for x in tools.lines["sessions", here] if x["remote_port"] in (PLAIN, WINDOW))
    same("sessions: bytes", sizes, [(0, 0), (1, 5), (KB - 2, 1), *[(3000, 100 * KB)] * 3, (300 * KB, 1)])
    sizes = sorted(v[1:3] for k, v in them.items() if k[3] in (PLAIN, WINDOW) and k[0] == "10.9.0.1")
    theirs("tcplife: whole KB, with SYN and FIN among what is sent: 1022 bytes are one", sizes, [(0, 0), (1, 0), *[(2, 100)] * 3, (300, 0)])
    whose = [x["process"] for x in tools.lines["sessions", there] if x["local_port"] == LEAVES]
    same("sessions: whose a server's end is that closes first", whose, [ME] * 2)
    whose = [v[0] for k, v in them.items() if k[1] == LEAVES]
    check(f"tcplife: then it names whoever runs # {whose}", whose and set(whose) != {ME}, str(whose))
    ours = next(r for r in tools.rows(ns, "session") if r["port"] == str(SLOW))["duration_seconds"]["sum"]
    ms = next(v[3] for k, v in them.items() if k[3] == SLOW)
    check(f"tcplife: the handshake of 200 ms is part of the life # {ms} ms, {1e3 * ours:.0f} ms", ms >= 1e3 * ours + 190, "")


def repeating(t, tools, ns):
    ours, them = tools.lines["retransmits", ns], scripts.retransmits(tools.printed)
    kinds = Counter()
    for x in ours:
        kinds[x["kind"]] += x["segments"]
    same(f"retransmits: as many segments as the kernel counts # {t.retransmits}", sum(x["segments"] for x in ours if
         x["remote_port"] in (AGAIN, SYNS) or x["kind"] == "syn-ack"), t.retransmits)
    same("retransmits: of each kind", set(kinds), {"fast", "probe", "timeout", "syn", "syn-ack"})
    want = Counter((x["remote_port"], x["state"]) for x in ours if x["kind"] in ("fast", "timeout", "syn"))
    got = Counter((x[3], x[4].lower().replace("_", "-")) for x in them if x[2] == THERE)
    theirs("tcpretrans: the same, without probes and SYN-ACKs", got, want)
    meter = Counter()
    for r in tools.rows(ns, "tcp"):
        meter += Counter(r["retransmits_segments"])
    same("tcp: the meter says the same", +meter, kinds)


def dropping(t, tools):
    them = scripts.drops(tools.printed)
    ours = [x for x in tools.drops if x.get("tcp_dport") == CLOSED]
    same("trace @tcpdrop: a SYN to a closed port", [x["drop_reason"] for x in ours], ["NO_SOCKET"])
    same("tcpdrop: nothing of it, as there is no socket", [x for x in them if x[1] == CLOSED], [])
    same("trace @tcpdrop: no UDP", [x for x in tools.drops if x.get("ip_daddr") == UNREACHABLE], [])
    same("tcpdrop: a datagram that finds no neighbour is one", [x[4] for x in them if x[2] == UNREACHABLE], ["ESTABLISHED"])


def receiving(t, tools, here, there):
    first = [r for r in tools.rows(here, "firstbyte") if r["process"] == FIRST]
    same("firstbyte: one", sum(r["answered_connections"] for r in first), 1)
    took, ms = sum(r["latency_seconds"]["sum"] for r in first), tools.maps.get("@first_ms", 0)
    same("so1stbyte: one", tools.maps.get("@first_bytes"), 1)
    check(f"so1stbyte: and as long # {1e3 * took:.1f} ms, {ms} ms", .3 <= took and abs(1e3 * took - ms) < 50, "")
    row = next(r for r in tools.rows(there, "sockmem") if (r["protocol"], r["buffer"], r["local"]) == ("udp", "receive", "all"))
    same(f"sockmem: datagrams that found no room # {t.dropped}", (row["dropped"]["buffer"], t.dropped > 0), (t.dropped, True))
    same("sormem: for UDP the tracepoint is silent", tools.maps.get("@queue_full", 0), 0)


def calling(t, tools, here):
    ours = {r["call"]: (r["calls"], r["bytes"]) for r in tools.rows(here, "sock") if r["process"] == SOCK and r["calls"]}
    same("sock: calls and bytes", ours, {"socket": (2, 0), "bind": (1, 0), "connect": (1, 0), "send": (40, 4000), "recv": (40, 4000)})
    calls = {k.split("sys_enter_")[1]: n for k, n in tools.maps.get("@calls", {}).items()}
    same("sockstat: calls", calls, {"socket": 2, "bind": 1, "connect": 1})
    # __sys_sendto() has its own copy of sock_sendmsg()
    same("sockstat: what is received, and nothing that is sent", tools.maps.get("@messages"), {"sock_recvmsg": 40})


def ending(t, tools, here):
    lives = [r for r in tools.rows(here, "socklife") if r["process"] == SOCK and r["protocol"] == "udp"]
    same("socklife: sockets, and bytes both ways", tuple(sum(f(r) for r in lives) for f in (
        lambda r: r["duration_seconds"]["count"], lambda r: r["sent_bytes"], lambda r: r["received_bytes"])), (2, 4000, 4000))
    same("udplife: the same", tuple(tools.maps.get(f"@udp_{x}") for x in ("lives", "sent", "received")), (2, 4000, 4000))
    ms, theirs_ms = sum(1e3 * r["duration_seconds"]["sum"] for r in lives), tools.maps.get("@udp_ms", 0)
    check(f"socklife: as long as udplife says # {ms:.0f} ms, {theirs_ms} ms", abs(ms - theirs_ms) <= 10 + ms / 10, "")


def rest(t, tools, here, ns):
    listens = [(x["local_port"], x["backlog"]) for x in tools.lines["listen", here]]
    same("listen: with the backlog that it gets", listens, [(LISTENED, 300)])
    same("solisten: the same, and once more for the same socket; and another namespace's", tools.maps.get("@listens"),
         {f"{LISTENED},300": 1, f"{LISTENED},7": 1, f"{PLAIN},64": 1})
    same("bind: both, and the error", [x["error"] for x in tools.lines["bind", here] if x["process"] == ME], [None, "EADDRINUSE"])
    same("binds: both, and another namespace's", tools.maps.get("@binds"), 3)
    same("udp: UDP, and the error", [x["error"] for x in tools.lines["udp", here] if x["process"] == ME], [None, None, "ENETUNREACH"])
    same("udpconnect: a raw socket, too, and no error", tools.maps.get("@datagram"), {"ip4_datagram_connect": 2, "ip6_datagram_connect": 2})
    states = Counter((x["from"], x["to"]) for x in tools.lines["states", here])
    them = {tuple(STATES[int(n)] for n in k.split(",")): v for k, v in tools.maps.get("@states", {}).items()}
    theirs("states: the same changes", them, states)
    cwnd = lambda values: [v for i, v in enumerate(values) if not i or v != values[i - 1]]
    ours = cwnd([x["cwnd"] for x in tools.lines["window", here]])
    read_ = cwnd([int(x.split()[1]) for x in tools.windows if x.startswith("window")])
    check(f"window: the congestion windows of tcpwin # {len(ours)}, of {len(tools.windows)} lines", ours == read_ and ours, f"{ours} {read_}")
    held = {r["cause"]: r["held_seconds"] for r in tools.rows(ns, "tcpwait")}.get("nagle", {"count": 0, "sum": 0})
    check(f"tcpwait: Nagle held once, for 150 ms # {held['sum']:.3f} s", held["count"] == 1 and .15 <= held["sum"] < .6, str(held))
    same("tcpnagle: none of its calls to write says so", (tools.maps.get("@blocked", 0), tools.maps.get("@writes", 0) >= 3), (0, True))
    icmp = {r["remote"]: r["answered_requests"] for r in tools.rows(here, "icmp") if r["process"] == "ping"}
    same("icmp: echoes of both families", icmp, {"10.9.0.2": 3, "fd09::2": 2})
    # ip_push_pending_frames() has its own copy of ip_send_skb(); datagrams of UDP pass the function
    same("superping: none, as echoes do not pass the function that it follows", (tools.maps.get("@echoes", 0),
         tools.maps.get("@ip_sends", 0) >= 70), (0, True))
    fds = [r for r in tools.rows(here, "fdpass") if r["from"] == ME]
    same("fdpass: sent, and received", (sum(r["sent_descriptors"] for r in fds), sum(r["received_descriptors"] for r in fds)), (10, 7))
    same("sofdsnoop: those for which the receiver has no room, too", (tools.maps.get("@passed"), tools.maps.get("@taken")), (10, 10))


def main():
    need_root()
    os.sched_setaffinity(0, {0})        # a script prints a line in parts, each by way of the CPU's own buffer
    here, there = pair()
    ns = Namespace("peer")
    peer = Peer(ns)
    t = Traffic(here, there, ns, peer)
    began = time.monotonic()
    tools = Tools(here, there, ns)
    between = time.monotonic()
    t.make()
    after = time.monotonic()
    tools.stop()
    lab.each(connecting, latency, accepting, overflowing, living, repeating, dropping, receiving, calling, ending, rest,
             t=t, tools=tools, here=here, there=there, ns=ns)
    print(f"# {between - began:.0f} s until all tools are attached, {after - between:.0f} s of traffic, {time.monotonic() - after:.0f} s after")
    peer.close()
    finish()


main()

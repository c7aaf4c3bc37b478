#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Stable probes of TCP: every count is that of a conversation whose segments are known. The numbers are those of
dtrace-utils' tests, made exact."""
import time

from lib.asking import Trace, bulk_bytes, counted, seen_by, talk, talker
from lib.lab import *

EVERY = "tcp:::"


def states(events):
    """Of full sockets: TIME_WAIT is that of another one."""
    return [(e["tcpls_state"], e["tcps_state"]) for e in events if e["tcps_state"] != "time-wait"]


def test_orderly(ns, address, name):
    """Eleven segments: SYN, SYN-ACK, ACK, data, ACK, data, ACK, FIN, ACK, FIN, ACK."""
    for kind in seen_by("tcp:::receive"):
        received = 10 if kind == "cgroup" else 11
        got = counted(ns, "tcp:::receive", lambda: talk(ns, "orderly", address), more=["--source", kind])
        same(f"tcp {name} {kind}: receive", got, {"tcp:::receive": received})
        if kind == "cgroup":
            continue
        got = counted(ns, "tcp:::send", lambda: talk(ns, "orderly", address), more=["--source", kind])
        same(f"tcp {name} {kind}: send", got, {"tcp:::send": 11})
    t = Trace(ns, "tcp:::send", "--by", "tcp_flags")
    talk(ns, "orderly", address)
    same(f"tcp {name}: flags of the segments sent", t.counts("tcp_flags"),
         {"SYN": 1, "SYN|ACK": 1, "ACK": 5, "PSH|ACK": 2, "FIN|ACK": 2})
    t = Trace(ns, "tcp:::send,tcp:::receive", "--by", "probename", "--sum", "tcp_plength")
    talk(ns, "orderly", address)
    same(f"tcp {name}: bytes", {r["probename"]: r["sum"] for r in t.rows()}, {"tcp:::send": 16, "tcp:::receive": 16})


def test_states(ns, address, name):
    t = Trace(ns, "tcp:::state-change", "--print",
              "cs_cid,tcpls_state,tcps_state,tcpls_inferred,tcps_lport,tcps_rport,sk_err")
    talk(ns, "orderly", address)
    events = t.events()
    by = {}
    for e in events:
        by.setdefault(e["cs_cid"], []).append(e)
    want = sorted([
        ["closed", "listen", "closed"],
        ["closed", "syn-sent", "established", "fin-wait-1", "fin-wait-2", "closed"],
        *([["listen", "syn-received", "established", "close-wait", "last-ack", "closed"]] if KERNEL >= (6, 14) else
          # before, a child is told before it has addresses, and with the cookie of its parent
          [["listen", "syn-received"], ["syn-received", "established", "close-wait", "last-ack", "closed"]])])
    chains = {cid: [states(es)[0][0], *[s[1] for s in states(es)]] for cid, es in by.items()}
    same(f"tcp {name}: states of the three sockets", sorted(chains.values()), want)
    same(f"tcp {name}: each state begins where the last one ended",
         [a[1] == b[0] for es in by.values() for a, b in zip(states(es), states(es)[1:])], [True] * (9 if KERNEL >= (6, 14) else 8))
    same(f"tcp {name}: one TIME_WAIT, which is seen or inferred",
         [e["tcpls_inferred"] for e in events if e["tcps_state"] == "time-wait"], [int("function" not in seen_by("tcp:::state-change"))])
    closed = [e for e in events if e["tcps_state"] == "closed" and e["tcpls_state"] in ("fin-wait-2", "last-ack")]
    same(f"tcp {name}: ports are kept when a socket is closed", sorted((e["tcps_lport"], e["tcps_rport"]) for e in closed),
         [(20080, 20081), (20081, 20080)])


def test_connections(ns, address, name):
    probes = "tcp:::connect-*,tcp:::accept-*"
    got = counted(ns, probes, lambda: talk(ns, "orderly", address))
    same(f"tcp {name}: connections", got, {"tcp:::connect-request": 1, "tcp:::connect-established": 1, "tcp:::accept-established": 1})
    t = Trace(ns, "tcp:::connect-established,tcp:::accept-established", "--print", "probename,tcp_sport,tcp_dport,tcp_flags,ip_saddr")
    talk(ns, "orderly", address)
    same(f"tcp {name}: the segments that establish", sorted(map(tuple, (e.values() for e in t.events()))), [
        ("tcp:::accept-established", 20081, 20080, "ACK", address),
        ("tcp:::connect-established", 20080, 20081, "SYN|ACK", address)])


def test_refused(ns, address, name):
    """A SYN to a closed port: refused at both ends."""
    got = counted(ns, "tcp:::connect-*,tcp:::accept-*,ip:::drop-in", lambda: talk(ns, "refused", address))
    same(f"tcp {name}: a refusal", got, {"tcp:::connect-request": 1, "tcp:::connect-refused": 1, "tcp:::accept-refused": 1,
                                        "ip:::drop-in": 1})
    t = Trace(ns, "tcp:::accept-refused", "--by", "ip_daddr,tcp_sport,tcp_flags")
    talk(ns, "refused", address)
    same(f"tcp {name}: who is refused", t.counts("ip_daddr", "tcp_sport", "tcp_flags"), {(address, 20007, "RST|ACK"): 1})
    t = Trace(ns, "tcp:::connect-refused", "--by", "ip_saddr,tcp_sport")
    talk(ns, "refused", address)
    same(f"tcp {name}: who refuses", t.counts("ip_saddr", "tcp_sport"), {(address, 20007): 1})
    t = Trace(ns, "tcp:::send,tcp:::receive", "--by", "probename,tcp_flags")
    talk(ns, "refused", address)
    same(f"tcp {name}: segments of a refusal", t.counts("probename", "tcp_flags"),
         {(p, f): 1 for p in ("tcp:::send", "tcp:::receive") for f in ("SYN", "RST|ACK")})
    t = Trace(ns, "tcp:::state-change", "--print", "tcpls_state,tcps_state,sk_err")
    talk(ns, "refused", address)
    same(f"tcp {name}: states of a refusal", [tuple(e.values()) for e in t.events()],
         [("closed", "syn-sent", "0"), ("syn-sent", "closed", "ECONNREFUSED")])
    t = Trace(ns, "ip:::drop-in", "--by", "drop_reason")
    talk(ns, "refused", address)
    same(f"tcp {name}: why the SYN was dropped", t.counts("drop_reason"), {"NO_SOCKET": 1})


def test_reset(ns, address, name):
    """A reset of an established connection is no refusal."""
    got = counted(ns, "tcp:::accept-refused,tcp:::connect-refused,tcp:::accept-established",
                  lambda: talk(ns, "reset", address))
    same(f"tcp {name}: a reset is no refusal", got, {"tcp:::accept-established": 1})
    t = Trace(ns, "tcp:::state-change", "--print", "tcpls_state,tcps_state,sk_err", "--where", "sk_err != 0")
    talk(ns, "reset", address)
    same(f"tcp {name}: a reset ends a socket with its error", [tuple(e.values()) for e in t.events()],
         [("established", "closed", "ECONNRESET")])


def test_half_close(ns, address, name):
    for first in ("client", "server"):
        t = Trace(ns, "tcp:::state-change", "--by", "tcps_state", "--where", "tcps_state == time-wait")
        talk(ns, "half_close", address, first)
        same(f"tcp {name}: TIME_WAIT where the {first} closes first", [r["count"] for r in t.rows()], [1])


def test_bulk(ns, address, name):
    same(f"tcp {name}: bytes of a million, in GSO buffers", bulk_bytes(ns, address),
         {"tcp:::send": 1000000, "tcp:::receive": 1000000})


def test_latency(ns, address, name):
    """Times between probes: one for each connection, and below what the whole took."""
    t = Trace(ns, "tcp:::connect-established", "--since", "tcp:::connect-request", "--on", "cs_cid", "--quantize", "delta_ns")
    begin = time.monotonic()
    talk(ns, "many", address, 10)
    took = (time.monotonic() - begin) * 1e9
    row, = t.rows()
    same(f"tcp {name}: connect latency: one for each connection", row["count"], 10)
    check(f"tcp {name}: connect latency: it is a time", 0 < row["sum"] < took, row)
    t = Trace(ns, "tcp:::state-change", "--delta", "cs_cid", "--print", "delta_ns,tcpls_state,tcps_state,tcps_lport")
    talk(ns, "orderly", address)
    waits = [e["delta_ns"] for e in t.events() if e["tcpls_state"] == "established" and e["tcps_lport"] == 20081]
    check(f"tcp {name}: an established state lasts as long as its socket lived", len(waits) == 1 and .1e9 < waits[0] < 3e9, waits)


def test_unanswered(ns):
    """SYNs to a neighbour that is not there: the first is a request, the others are retransmits."""
    far = Namespace("far")
    veth(ns, far, name="v0")
    ns.ip("addr add 10.9.0.1/24 dev v0")
    ns.ip("neigh replace 10.9.0.77 lladdr 02:00:00:00:00:77 dev v0 nud permanent")
    syns = 4 if KERNEL >= (6, 5) else 3     # 1, 2, 3 s (tcp_syn_linear_timeouts); before: 1, 3 s
    got = counted(ns, "tcp:::connect-request,tcp:::send,tcp:::retransmit,tcp:::timeout-rto",
                  lambda: talk(ns, "connect_to", "10.9.0.77", 3.3))
    same("tcp: SYNs without an answer", got, {"tcp:::connect-request": 1, "tcp:::send": syns, "tcp:::retransmit": syns - 1,
                                              "tcp:::timeout-rto": syns - 1})
    t = Trace(ns, "tcp:::retransmit", "--by", "pid,tcps_raddr")
    talk(ns, "connect_to", "10.9.0.77", 1.3)
    same("tcp: a retransmit is nobody's doing", t.counts("pid", "tcps_raddr"), {(None, "10.9.0.77"): 1})
    ns.ip("link del v0")


def test_lost_data(ns):
    """Data to an address that went away: a tail loss probe, then timeouts."""
    far = Namespace("gone")
    veth(ns, far, name="v0")
    ns.ip("addr add 10.9.0.1/24 dev v0")
    far.ip("addr add 10.9.0.2/24 dev v0")
    server = talker(far, "serve", "10.9.0.2")
    client = talker(ns, "talk_later", "10.9.0.2", 1.5)
    far.ip("addr del 10.9.0.2/24 dev v0")
    t = Trace(ns, "tcp:::retransmit", "--print", "tcps_ca_state,tcps_rport")
    client.stdin.write("go\n")
    client.stdin.close()
    client.wait()
    events = t.events()
    server.kill()
    server.wait()
    check("tcp: lost data is sent again, first by a probe, then after timeouts",
          len(events) >= 3 and events[0]["tcps_ca_state"] == 0 and {e["tcps_ca_state"] for e in events[1:]} == {4} and
          {e["tcps_rport"] for e in events} == {20080}, events)


def test_many(ns):
    """200 connections under all probes: each count is a multiple of what one makes, and nothing is lost."""
    t = Trace(ns, EVERY, "--by", "probename", "--where", "ip_saddr == 127.0.0.1")
    talk(ns, "many", "127.0.0.1", 200)
    got = t.counts("probename")
    same("tcp: 200 connections", {p: got.get(p) for p in (
        "tcp:::connect-request", "tcp:::connect-established", "tcp:::accept-established")},
         dict.fromkeys(("tcp:::connect-request", "tcp:::connect-established", "tcp:::accept-established"), 200))
    same("tcp: all segments that are sent are received", got.get("tcp:::receive"), got.get("tcp:::send"))


need_root()
ns = Namespace("probes")
ns.run("sysctl -qw net.ipv6.conf.all.disable_ipv6=0 net.ipv6.conf.default.disable_ipv6=1 net.ipv6.conf.lo.disable_ipv6=0")
both = [("127.0.0.1", "v4"), ("::1", "v6")]
for address, name in both:
    each(test_orderly, test_states, test_connections, test_refused, test_reset, test_half_close, test_bulk, test_latency,
         ns=ns, address=address, name=name)
each(test_many, test_unanswered, test_lost_data, ns=ns)
finish()

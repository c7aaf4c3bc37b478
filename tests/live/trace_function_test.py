#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Stable probes that functions of the kernel show (fentry), beside their other sources: each has its number. What this kernel
lets no program be attached to is said, and served by the next source."""
from lib.asking import Trace, bulk_bytes, counted, seen_by, talk, talker
from lib.lab import *

TIMERS = (("tcp:::timeout-keepalive", "TCPKeepAlive", 3.5), ("tcp:::timeout-probe", "TCPWinProbe", 3), ("tcp:::timeout-delack", "DelayedACKs", 0))
FUNCTIONS = "function" in seen_by("tcp:::timeout-delack")
SHORT = os.environ.get("VM") == ""      # in a guest, which is slow: VM=long asks the other sources there, too


def sources(probe):
    """What --source calls those of a probe that are asked here."""
    found = seen_by(probe)
    return ["function"] if SHORT and "function" in found else list(found)


def timers(ns, address, name):
    """As often as the kernel counts by itself, on each source."""
    for probe, counter, seconds in TIMERS:
        for kind in sources(probe):
            t = Trace(ns, probe, "--by", "probename,tcps_rport" if counter == "DelayedACKs" else "probename,tcps_lport", "--source", kind)
            times = int(talk(ns, "timers", address, counter, seconds))
            got = t.counts(*("probename", "tcps_rport" if counter == "DelayedACKs" else "tcps_lport"))
            same(f"timers {name}: {probe} by {kind} # {times}", got, {(probe, 20081): times})
            check(f"timers {name}: {probe} by {kind}: there were some", times >= (4 if counter == "DelayedACKs" else 3), times)


def time_wait(ns, address, name):
    """Both sides' last states, on each source: exact, or inferred."""
    for kind in sources("tcp:::state-change"):
        for first in ("client", "server"):
            t = Trace(ns, "tcp:::state-change", "--source", kind, "--print", "tcpls_state,tcps_state,tcpls_inferred,tcps_lport,tcps_rport",
                      "--where", "tcps_state == time-wait")
            talk(ns, "half_close", address, first)
            ends = (20081, 20080) if first == "client" else (20080, 20081)
            same(f"time-wait {name}: the {first} closes first, by {kind}", [tuple(e.values()) for e in t.events()],
                 [("fin-wait-2", "time-wait", int(kind == "tp"), *ends)])


def no_time_wait(ns):
    """The other end closes nothing: FIN_WAIT2 goes on in a small socket, and TIME_WAIT does not begin."""
    for kind in sources("tcp:::state-change"):
        t = Trace(ns, "tcp:::state-change", "--source", kind, "--by", "tcps_state", "--where", "tcps_state == time-wait")
        open_end = talker(ns, "left_open", "127.0.0.1")
        same(f"time-wait: the other end stays open, by {kind}", t.counts("tcps_state"), {} if kind == "function" else {"time-wait": 1})
        open_end.communicate("go on\n")


def packets(ns, address, name):
    """Both ways of a conversation and of an echo, on each source that has all of them."""
    for kind in ("nf", "function", "tp"):
        if not all(kind in sources(p) for p in ("tcp:::send", "tcp:::receive", "ip:::send", "ip:::receive", "icmp:::send", "icmp:::receive")):
            continue
        got = counted(ns, "tcp:::send,tcp:::receive,ip:::send,ip:::receive", lambda: talk(ns, "orderly", address), where="ip_proto == tcp",
                      more=["--source", kind])
        same(f"packets {name}: eleven segments by {kind}", got, {f"{p}:::{d}": 11 for p in ("tcp", "ip") for d in ("send", "receive")})
        t = Trace(ns, "icmp:::send,icmp:::receive", "--source", kind, "--by", "probename,icmp_type,if_name,ip_plength,pkt_len")
        ns.run(f"ping -qc2 -i.1 {address}")
        types = (8, 0) if name == "v4" else (128, 129)
        same(f"packets {name}: a ping by {kind}", t.counts("probename", "icmp_type", "if_name", "ip_plength", "pkt_len"),
             {(f"icmp:::{d}", t, "lo", 64, 98 if name == "v4" else 118): 2 for d in ("send", "receive") for t in types})
        same(f"packets {name}: bytes of a million by {kind}", bulk_bytes(ns, address, "--source", kind),
             {"tcp:::send": 1000000, "tcp:::receive": 1000000})
    for kind in sources("udp:::receive"):
        closed = {"tp": 1, "nf": 1}.get(kind, 0)
        got = counted(ns, "udp:::receive", lambda: talk(ns, "udp_closed", address), more=["--source", kind])
        same(f"packets {name}: a closed port, by {kind}", got, {"udp:::receive": closed} if closed else {})
        got = counted(ns, "udp:::receive", lambda: talk(ns, "udp", address), by="udp_dport,udp_length", more=["--source", kind])
        same(f"packets {name}: an echo by {kind}", got, {(20053, 19): 1, (20054, 19): 1})
        if kind in ("cgroup", "function"):
            t = Trace(ns, "udp:::receive", "--by", "udps_lport", "--source", kind)
            talk(ns, "udp", address)
            same(f"packets {name}: whose sockets they are for, by {kind}", t.counts("udps_lport"), {20053: 1, 20054: 1})


def datagrams(ns, far, address, there, name):
    """A datagram in three fragments there, and as many back: one, once it is put together."""
    for kind in ("nf", "function", "tp"):
        if kind not in sources("ip:::receive"):
            continue
        server = talker(far, "echo", there, 20053, 4000)
        t = Trace(ns, "ip:::send,ip:::receive", "--source", kind, "--by", "probename,ip_plength", "--where",
                  f"ip_saddr == {address} || ip_saddr == {there}")
        talk(ns, "ask", there, 20053, 4000)
        server.wait()
        whole = {("ip:::send", 4008): 1, ("ip:::receive", 4008): 1}
        got = {k: n for k, n in t.counts("probename", "ip_plength").items() if k[1] > 100}
        if kind == "function" or (kind == "nf" and name == "v4"):
            same(f"fragments {name}: by {kind}", got, whole)
        else:       # one by one; IPv6 puts them together behind netfilter
            same(f"fragments {name}: by {kind}", {p: sum(n for (q, _), n in got.items() if q == p) for p in ("ip:::send", "ip:::receive")},
                 {"ip:::send": 3 if kind == "tp" else 1, "ip:::receive": 3})


def forwarded(ns, far):
    """What this host passes on is sent by IP, but not received."""
    beyond = Namespace("beyond")
    veth(ns, beyond, name="v1")
    ns.ip("addr add 10.7.0.1/24 dev v1")
    beyond.ip("addr add 10.7.0.2/24 dev v1")
    beyond.ip("route add default via 10.7.0.1")
    far.ip("route add 10.7.0.0/24 via 10.9.0.1")
    ns.run("sysctl -qw net.ipv4.ip_forward=1")
    for kind in ("nf", "function", "tp"):
        if kind not in sources("ip:::receive"):
            continue
        t = Trace(ns, "ip:::send,ip:::receive,icmp:::send,icmp:::receive", "--by", "probename", "--source", kind, "--where", "ip_proto == icmp")
        far.run("ping -qc3 -i.1 10.7.0.2")
        same(f"forwarded: three pings and their answers, by {kind}", t.counts("probename"),
             {"ip:::send": 6} | ({"ip:::receive": 6, "icmp:::receive": 6} if kind == "tp" else {}))
    ns.run("sysctl -qw net.ipv4.ip_forward=0")
    ns.ip("link del v1")


def transfers(ns, address, name):
    """Calls of an echo, their bytes, and what fails."""
    for kind in sources("socket:::send"):
        by = ("probename", "execname", "so_ret")
        t = Trace(ns, "socket:::send,socket:::receive", "--by", ",".join(by), "--where", "so_protocol == udp", "--source", kind)
        talk(ns, "udp", address)
        same(f"sockets {name}: an echo by {kind}", t.counts(*by), {(f"socket:::{d}", "python3", 11): 2 for d in ("send", "receive")})
        t = Trace(ns, "socket:::send,socket:::receive", "--by", "probename,so_ret", "--where", "so_ret < 0", "--source", kind)
        talk(ns, "udp_closed", address)
        same(f"sockets {name}: what fails by {kind}", t.counts("probename", "so_ret"), {("socket:::receive", -111): 1})
        t = Trace(ns, "socket:::send", "--by", "so_protocol", "--sum", "so_ret", "--source", kind, "--where", "so_protocol == tcp")
        talk(ns, "bulk", address, 1000000)
        same(f"sockets {name}: bytes of a million by {kind}", [r["sum"] for r in t.rows()], [1000000])


def families(ns):
    """Unix sockets of three kinds: each call once."""
    for kind in sources("socket:::send"):
        by = ("probename", "so_family", "so_type", "so_ret")
        t = Trace(ns, "socket:::send,socket:::receive", "--by", ",".join(by), "--source", kind, "--where", "so_family == unix && execname == python3")
        talk(ns, "sequenced", 3)
        same(f"sockets: Unix, by {kind}", t.counts(*by), {(f"socket:::{d}", "unix", type, 11): 6 for d in ("send", "receive")
                                                          for type in ("seqpacket", "stream", "dgram")})
    for kind in sources("socket:::close"):
        t = Trace(ns, "socket:::close", "--by", "so_family,so_type", "--source", kind, "--where", "execname == python3 && so_family == unix")
        talk(ns, "sequenced", 1)
        same(f"sockets: Unix are closed, by {kind}", t.counts("so_family", "so_type"),
             {("unix", t): 2 for t in ("seqpacket", "stream", "dgram")} if kind == "function" else {})


def refused(ns):
    """What cannot be had is said, with what to ask instead."""
    for pattern in "udp:::stream-start", "udp:::stream-end", "udp:::stream-*":
        r = nicprobe("trace", pattern, check=False)
        check(f"refused: {pattern}", r.returncode == 1 and "datagrams have no stream" in r.stderr and "try: nicprobe trace udp:::receive" in r.stderr, r.stderr)
    if FUNCTIONS:
        return
    for probe in "tcp:::timeout-delack", "ip:::receive", "socket:::send":
        r = nicprobe("trace", probe, "--source", "function", "-d", ".1", check=False)
        check(f"refused: {probe} by functions", r.returncode == 1 and "no program can be attached to functions" in r.stderr, r.stderr)


need_root()
ns, far = Namespace("near"), Namespace("far")
ns.run("sysctl -qw net.ipv6.conf.all.disable_ipv6=0 net.ipv6.conf.default.disable_ipv6=1 net.ipv6.conf.lo.disable_ipv6=0")
veth(ns, far, name="v0", mtu=1500)
for one, number in (ns, 1), (far, 2):
    one.run("sysctl -qw net.ipv6.conf.v0.disable_ipv6=0")
    one.ip(f"addr add 10.9.0.{number}/24 dev v0")
    one.ip(f"addr add fd00:9::{number}/64 dev v0 nodad")
each(timers, time_wait, ns=ns, address="127.0.0.1", name="v4")     # the same functions serve both families
for address, name in ("127.0.0.1", "v4"), ("::1", "v6"):
    each(packets, transfers, ns=ns, address=address, name=name)
for address, there, name in ("10.9.0.1", "10.9.0.2", "v4"), ("fd00:9::1", "fd00:9::2", "v6"):
    each(datagrams, ns=ns, far=far, address=address, there=there, name=name)
each(no_time_wait, forwarded, families, refused, ns=ns, far=far)
finish()

#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""What processes do with sockets, to the call: socket:::connect, accept, bind, listen and close."""
import os
import subprocess

from lib.asking import Trace, counted, seen_by, talk
from lib.lab import *

CALLING = os.path.join(ROOT, "tests", "live", "lib", "calling.py")
CALLS = "socket:::connect,socket:::accept,socket:::bind,socket:::listen"
CLOSES = seen_by("socket:::close")


def calls(ns, *args):
    return ns.run(f"python3 {CALLING} {' '.join(map(str, args))}")


def conversation(ns, address, family):
    ends = "so_laddr,so_lport,so_raddr,so_rport"
    t = Trace(ns, CALLS, "--by", f"probename,so_family,so_protocol,errno,{ends}")
    talk(ns, "orderly", address)
    here, there = (address, 20081), (address, 20080)
    want = {("socket:::bind", *here, None, None): 1, ("socket:::bind", *there, None, None): 1, ("socket:::listen", *there, None, None): 1,
            ("socket:::connect", *here, *there): 1, ("socket:::accept", *there, *here): 1}
    rows = t.rows()
    same(f"{family}: the calls of a connection, and both ends",
         {(r["probename"], *(r[f] for f in ends.split(","))): r["count"] for r in rows}, want)
    same(f"{family}: of what kind", {tuple(r[f] for f in ("so_family", "so_protocol", "errno")) for r in rows}, {(family, "tcp", "0")})


def conversations(ns):
    conversation(ns, "127.0.0.1", "inet")
    conversation(ns, "::1", "inet6")


def closed(ns):
    if not CLOSES:
        return skip("socket:::close", "no program sees a socket that is closed before Linux 6.2, but where functions can be traced")
    ends = ("so_lport", "so_rport", "so_protocol")
    t = Trace(ns, "socket:::close", "--by", ",".join(ends))
    talk(ns, "orderly", "127.0.0.1")
    same("close: both ends of a connection, and the socket that listened", t.counts(*ends),
         {(20081, 20080, "tcp"): 1, (20080, 20081, "tcp"): 1, (20080, None, "tcp"): 1})
    t = Trace(ns, "socket:::close", "--by", "so_type,execname")
    calls(ns, "shared", 7)
    same("close: once for a socket, not for each of its descriptors", t.counts("so_type", "execname"), {("dgram", "python3"): 7})
    t = Trace(ns, "socket:::connect,socket:::close", "--print", "probename,cs_cid,pid")
    talk(ns, "udp_closed", "127.0.0.1")
    events = t.events()
    same("close: of the socket that was connected", [[e["probename"] for e in events], len({(e["cs_cid"], e["pid"]) for e in events})],
         [["socket:::connect", "socket:::close"], 1])


def failing(ns):
    """Each call with its error. What is named is what was asked for, and calls on what is no socket do not count."""
    fields = ("probename", "so_protocol", "errno", "so_lport", "so_rport")
    t = Trace(ns, CALLS, "--by", ",".join(fields))
    port = int(calls(ns, "failures"))
    rows = t.counts(*fields)
    free = [k[3] for k in rows if k[:3] == ("socket:::listen", "udp", "EOPNOTSUPP")]
    refused = [k[3] for k in rows if k[2] == "ECONNREFUSED"]
    connected = [k[3] for k in rows if k[:3] == ("socket:::connect", "udp", "0")]
    if not check("errors: ports that the kernel chose", all(len(ports) == 1 and ports[0] for ports in (refused, connected)), rows):
        return
    same("errors: a call each", rows, {
        ("socket:::bind", "tcp", "0", port, None): 1, ("socket:::bind", "tcp", "EADDRINUSE", port, None): 1,
        ("socket:::listen", "tcp", "0", port, None): 1, ("socket:::accept", "tcp", "EAGAIN", port, None): 1,
        ("socket:::listen", "udp", "EOPNOTSUPP", free[0] if free else None, None): 1,
        ("socket:::connect", "tcp", "ECONNREFUSED", refused[0], 20007): 1, ("socket:::connect", "udp", "0", connected[0], 20009): 1})
    t = Trace(ns, "socket:::connect", "--by", "so_ret,retval")
    talk(ns, "refused", "::1")
    same("errors: the number, too", t.counts("so_ret", "retval"), {(-111, -111): 1})


def unix(ns):
    fields = ("probename", "so_family", "so_type", "so_protocol", "so_lport", "so_rport", "tcps_state", "errno")
    t = Trace(ns, CALLS, "--by", ",".join(fields))
    calls(ns, "unix", "a-test")
    same("unix: calls of sockets without ports", t.counts(*fields),
         {(f"socket:::{p}", "unix", "stream", "0", None, None, None, "0"): 1 for p in ("bind", "listen", "connect", "accept")})


def under_way(ns):
    """A call that began before it was traced counts with what it gives."""
    p = subprocess.Popen(["ip", "netns", "exec", str(ns), "python3", CALLING, "waits"], stdout=subprocess.PIPE, text=True)
    p.stdout.readline()
    until(lambda: "accept" in open(f"/proc/{p.pid}/wchan", encoding="utf-8").read())
    t = Trace(ns, "socket:::accept", "--print", "so_family,so_lport,so_ret,pid")
    for _ in range(2):
        ns.run("python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", 20080))'")
    p.wait()
    same("accept: begun before, and after", [(e["so_family"], e["so_lport"], e["so_ret"] > 2, e["pid"]) for e in t.events()],
         [("inet", 20080, True, p.pid)] * 2)


def elsewhere(ns):
    """Only this namespace counts, unless all are asked for."""
    other = Namespace("other")
    other.run("ip link set lo up")
    t = Trace(ns, "socket:::connect", "--by", "so_rport")
    everywhere = Trace(ns, "socket:::connect", "--by", "so_rport", "--netns", "all", "--where", "so_rport == 20013")
    talk(other, "refused", "127.0.0.1", 20013)
    same("netns: not this one", t.rows(), [])
    same("netns: all", everywhere.counts("so_rport"), {20013: 1})


def busy(ns):
    """Threads on all CPUs at once."""
    probes = "socket:::connect,socket:::accept" + (",socket:::close" if CLOSES else "")
    t = Trace(ns, probes, "--by", "probename,errno", may_miss=True)
    calls(ns, "many", 500)
    want = {("socket:::connect", "0"): 2000, ("socket:::accept", "0"): 2000, **({("socket:::close", None): 4001} if CLOSES else {})}
    got = t.counts("probename", "errno")
    check(f"busy: four threads # missed: {t.missed}", t.short(got, want), (got, want))


def refused():
    """What a source cannot tell is refused before anything is attached."""
    for words, said in ((("socket:::connect", "--by", "so_flags"), "events of socket:::connect have no so_flags"),
                        (("socket:::close", "--by", "so_ret"), "events of socket:::close have no so_ret"),
                        (("socket:::accept", "--source", "nf"), "has no such source"),
                        (("socket:::connect", "--dev", "lo"), "does not know the interface here")):
        err = nicprobe("trace", *words, "-d", ".1", check=False).stderr
        check(f"refused: {' '.join(words)}", said in err and "tracing " not in err, err)


def stopped(ns):
    """A condition on a field that one of the probes lacks says so; where || gives it a way, it does not."""
    if not CLOSES:
        return skip("where: a field that one probe lacks", "no program sees a socket that is closed before Linux 6.2, but where functions can be traced")
    said = "no event of socket:::close passes the condition: they have no so_ret\n"
    for where, count, tells in (("so_ret == 0", {"socket:::connect": 1}, True),
                                ("so_ret == 0 || so_family == inet", {"socket:::connect": 1, "socket:::close": 1}, False)):
        t = Trace(ns, "socket:::connect,socket:::close", "--by", "probename", "--where", where)
        talk(ns, "udp_closed", "127.0.0.1")
        same(f"where: {where}", [t.counts("probename"), said in t.said], [count, tells])


need_root()
ns = Namespace("socket")
ns.run("ip link set lo up")
ns.run("sysctl -qw net.ipv6.conf.lo.disable_ipv6=0")
each(conversations, closed, failing, unix, under_way, elsewhere, busy, refused, stopped, ns=ns)
finish()

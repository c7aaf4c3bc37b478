#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Stable probes of ip, icmp, udp, arp, nic, sockets and system calls, each with the numbers of known traffic; and what
`trace` refuses."""
import json
import time

from lib import left
from lib.asking import TALK, Trace, counted, seen_by, talk, talker
from lib.lab import *


EXACT = {"nf", "function"} & seen_by("ip:::receive").keys()     # they see whole packets, and before these wait for a neighbour


def local_ping(ns):
    t = Trace(ns, "ip:::send,ip:::receive", "--by", "probename,ip_ver,ip_plength,ipv4_length,ipv4_flags,ipv4_offset,ipv4_ttl")
    ns.run("ping -qc1 127.0.0.1")
    rows = t.counts("probename", "ip_ver", "ip_plength", "ipv4_length", "ipv4_flags", "ipv4_offset", "ipv4_ttl")
    same("ip: a ping to this host", rows, {(p, 4, 64, 84, flags, 0, 64): 1 for p in ("ip:::send", "ip:::receive")
                                          for flags in (4, 0)})
    t = Trace(ns, "icmp:::send,icmp:::receive", "--by", "probename,icmp_type")
    ns.run("ping -qc1 127.0.0.1")
    same("icmp: request and reply", t.counts("probename", "icmp_type"),
         {(f"icmp:::{p}", t): 1 for p in ("send", "receive") for t in (8, 0)})


def remote_ping(ns, far):
    ns.ip("neigh flush dev v0")
    t = Trace(ns, "ip:::send,ip:::receive,arp:::send,arp:::receive", "--by", "probename,ip_saddr,ip_daddr,if_name")
    ns.run("ping -qc1 10.9.0.2")
    rows = t.counts("probename", "ip_saddr", "ip_daddr", "if_name")
    same("ip: a ping to another host", {k: n for k, n in rows.items() if k[0].startswith("ip:")}, {
        ("ip:::send", "10.9.0.1", "10.9.0.2", "v0"): 1, ("ip:::receive", "10.9.0.2", "10.9.0.1", "v0"): 1})
    same("arp: its question and answer", {k[0]: n for k, n in rows.items() if k[0].startswith("arp:")},
         {"arp:::send": 1, "arp:::receive": 1})


def local_ping6(ns):
    t = Trace(ns, "ip:::send,ip:::receive", "--by", "probename,ip_ver,ip_plength,ipv6_nexthdr,ipv6_hlim")
    ns.run("ping -6 -i .01 -qc3 ::1")
    same("ip: a ping to this host by IPv6", t.counts("probename", "ip_ver", "ip_plength", "ipv6_nexthdr", "ipv6_hlim"),
         {(p, 6, 64, "ipv6-icmp", 64): 6 for p in ("ip:::send", "ip:::receive")})
    t = Trace(ns, "icmp:::send,icmp:::receive", "--by", "probename,icmp_type")
    ns.run("ping -6 -i .01 -qc3 ::1")
    same("icmp: request and reply by IPv6", t.counts("probename", "icmp_type"),
         {(f"icmp:::{p}", t): 3 for p in ("send", "receive") for t in (128, 129)})


def udp(ns, address, name):
    got = counted(ns, "udp:::send,udp:::receive,ip:::send,ip:::receive", lambda: talk(ns, "udp", address))
    same(f"udp {name}: an echo", got, dict.fromkeys(("udp:::send", "udp:::receive", "ip:::send", "ip:::receive"), 2))
    got = counted(ns, "udp:::send", lambda: talk(ns, "udp", address), by="udp_dport,udp_length")
    same(f"udp {name}: ports and lengths", got, {(20053, 19): 1, (20054, 19): 1})
    got = counted(ns, "socket:::send,socket:::receive", lambda: talk(ns, "udp", address), by="probename,execname,so_ret",
                  where="so_protocol == udp")
    same(f"socket {name}: calls of an echo", got, {("socket:::send", "python3", 11): 2, ("socket:::receive", "python3", 11): 2})


def closed_port(ns):
    got = counted(ns, "udp:::send,udp:::receive,icmp:::send,icmp:::receive,ip:::drop-in", lambda: talk(ns, "udp_closed", "127.0.0.1"))
    want = {"udp:::send": 1, "icmp:::send": 1, "icmp:::receive": 1, "ip:::drop-in": 1}
    if not {"cgroup", "function"} & seen_by("udp:::receive").keys():
        want["udp:::receive"] = 1       # the others do not know whether there was a socket
    same("udp: a datagram to a closed port", got, want)
    t = Trace(ns, "icmp:::send", "--by", "icmp_type,icmp_code,ip_plength")
    talk(ns, "udp_closed", "127.0.0.1")
    same("icmp: port unreachable", t.counts("icmp_type", "icmp_code", "ip_plength"), {(3, 3, 8 + 20 + 8 + 13): 1})


def failures(ns):
    """What a call on a socket returns when the network says no."""
    t = Trace(ns, "socket:::send,socket:::receive", "--by", "probename,so_ret", "--where", "so_ret < 0")
    talk(ns, "udp_closed", "127.0.0.1")
    talk(ns, "datagram", "192.0.2.1", 9)
    same("socket: a closed port, and no route", t.counts("probename", "so_ret"),
         {("socket:::receive", -111): 1, ("socket:::send", -101): 1})


def full_socket(ns):
    t = Trace(ns, "udp:::send,udp:::drop,ip:::drop-in", "--by", "probename,drop_reason,rc")
    delivered = int(talk(ns, "unread", "127.0.0.1"))
    rows = t.counts("probename", "drop_reason", "rc")
    dropped = 6 - delivered
    check("udp: some of six datagrams found no room", 0 < delivered < 6, delivered)
    same("udp: drops and their reason", rows, {("udp:::send", None, None): 6, ("udp:::drop", None, "ENOMEM"): dropped,
                                               ("ip:::drop-in", "SOCKET_RCVBUFF", None): dropped})


def fragments(ns, far):
    """A datagram of 4000 bytes in three fragments there, and as many back."""
    server = talker(far, "echo", "10.9.0.2", 20053, 4000)
    exact = EXACT       # others see each fragment
    got = counted(ns, "ip:::send,ip:::receive,gld:::send,gld:::receive", lambda: talk(ns, "ask", "10.9.0.2", 20053, 4000),
                  where="ip_saddr in 10.9.0.0/24 && ip_proto == udp")
    server.wait()
    same("ip: a datagram in fragments", got, {"nic:::tx-start": 3, "nic:::rx-packet": 3, "ip:::send": 1 if exact else 3,
                                              "ip:::receive": 1 if exact else 3})


def no_way(ns, far):
    ns.ip("neigh flush dev v0")
    got = counted(ns, "ip:::send,ip:::drop-out", lambda: talk(ns, "datagram", "192.0.2.1", 9))
    same("ip: nothing is sent without a route", got, {})
    t = Trace(ns, "ip:::send,ip:::drop-out,gld:::send", "--by", "probename,drop_reason", "--where", "ip_daddr == 10.9.0.99")
    talk(ns, "datagram", "10.9.0.99", 9)
    time.sleep(3.6)
    want = {("ip:::drop-out", "NEIGH_FAILED"): 1}
    if EXACT:
        want["ip:::send", None] = 1         # before the packet waits for its neighbour
    same("ip: a neighbour that does not answer", t.counts("probename", "drop_reason"), want)


def calls(ns):
    t = Trace(ns, "syscall::sendto:entry", "--by", "execname,probefunc", "--sum", "arg2", "--where", 'execname == "python3"')
    talk(ns, "sends", 3)
    same("syscall: bytes that sendto was asked to send", [(r["execname"], r["probefunc"], r["sum"], r["count"]) for r in t.rows()],
         [("python3", "sendto", 33, 3)])
    t = Trace(ns, "syscall::connect:entry", "--by", "execname,arg2,arg3,arg5")
    talk(ns, "refused", "127.0.0.1")
    same("syscall: a call of three arguments", t.counts("execname", "arg2", "arg3", "arg5"), {("python3", 16, None, None): 1})
    t = Trace(ns, "syscall:::entry", "--by", "probefunc", "--where", 'execname == "python3"')
    talk(ns, "sends", 3)
    same("syscall: every call can be traced", t.counts("probefunc").get("sendto"), 3)
    t = Trace(ns, "syscall::connect:return", "--by", "execname,errno", "--where", "retval < 0")
    talk(ns, "refused", "127.0.0.1")
    same("syscall: connects that fail, by error", t.counts("execname", "errno"), {("python3", "ECONNREFUSED"): 1})
    t = Trace(ns, "syscall::sendto:return", "--since", "syscall::sendto:entry", "--on", "tid", "--by", "execname", "--quantize",
              "delta_ns", "--where", 'execname == "python3"')
    talk(ns, "sends", 5)
    row, = t.rows()
    check("syscall: how long sendto took", row["count"] == 5 and 0 < row["sum"] < 1e9, row)


def pairs(ns):
    """A time ends once; and a key that programs of several kinds count is one."""
    t = Trace(ns, "syscall::sendto:return", "--since", "syscall::socketpair:entry", "--on", "tid", "--quantize", "delta_ns")
    talk(ns, "sends", 3)
    same("since: only the first of three ends it", [r["count"] for r in t.rows()], [1])
    t = Trace(ns, "syscall::sendto:entry,socket:::send", "--by", "execname", "--where", "execname == 'python3'")
    talk(ns, "sends", 3)
    same("keys: of several programs", t.counts("execname"), {"python3": 6})


def driver(ns):
    """A tap: frames that its driver takes, holds and frees; frames that it delivers."""
    nic = tap(ns, "tap0", queues=2, address="198.18.0.2/24")
    ns.ip("neigh replace 198.18.0.77 lladdr 02:00:00:00:00:77 dev tap0")
    t = Trace(ns, "nic:::", "--by", "probename,if_name", "--dev", "tap0")
    nic("read on")
    talk(ns, "datagram", "198.18.0.77", 9)
    nic("send 0 25 60 raw")
    nic("send 1 17 60 raw")
    nic("go")
    nic("wait 1 2000")
    got = t.counts("probename", "if_name")
    same("nic: frames of a tap", {p: n for (p, _), n in got.items() if p not in ("nic:::rx-poll", "nic:::rx-drop")},
         {"nic:::rx-packet": 42, "nic:::rx-stack": 42, "nic:::tx-queue": 1, "nic:::tx-start": 1, "nic:::tx-done": 1})
    t = Trace(ns, "nic:::rx-packet", "--by", "if_queue", "--sum", "pkt_len", "--dev", "tap0")
    nic("send 0 25 60 raw")
    nic("send 1 17 100 raw")
    nic("go")
    time.sleep(.2)
    same("nic: packets and bytes by queue", {r["if_queue"]: (r["count"], r["sum"]) for r in t.rows()},
         {0: (25, 1500), 1: (17, 1700)})
    nic("read off")
    t = Trace(ns, "nic:::tx-done", "--by", "if_name", "--quantize", "tx_ns", "--dev", "tap0")
    talk(ns, "datagram", "198.18.0.77", 9)
    time.sleep(.3)
    nic("read on")
    time.sleep(.2)
    row, = t.rows()
    check("nic: a frame that the driver held for 0.3 s", row["count"] == 1 and .3e9 < row["sum"] < 2e9, row)
    nic.close()


def clause(ns):
    """The same in D."""
    t = Trace(ns, "-n", "tcp:::accept-refused { @c[args[2]->ip_daddr, args[4]->tcp_sport] = count(); }")
    talk(ns, "refused", "127.0.0.1")
    same("D: who is refused", t.counts("ip_daddr", "tcp_sport"), {("127.0.0.1", 20007): 1})
    t = Trace(ns, "-n", "tcp:::receive /args[4]->tcp_plength > 0/ { @[args[2]->ip_saddr] = quantize(args[4]->tcp_plength); }")
    talk(ns, "orderly", "127.0.0.1")
    row, = t.rows()
    same("D: sizes of data", (row["ip_saddr"], row["count"], row["sum"], row["slots"]),
         ("127.0.0.1", 2, 16, [{"from": 4, "count": 1}, {"from": 8, "count": 1}]))


def namespaces(ns, far):
    """Events of another namespace are not counted, unless all are asked for."""
    far_too = {}
    for args, want in (([], 0), (["--netns", "all"], 11), (["--netns", str(far)], 11)):
        t = Trace(ns, "tcp:::send", "--by", "probename", "--where", "ip_saddr == 127.0.0.1", *args)
        talk(far, "orderly", "127.0.0.1")
        far_too[" ".join(args)] = (t.counts("probename").get("tcp:::send", 0), want)
    check("trace: its namespace, another, and all", all(got == want for got, want in far_too.values()), far_too)


def names(ns):
    """A process may call itself what it likes: that reaches no terminal as it is, and makes no line of its own."""
    evil, want = b'\x1b[31mx\n"y\\z', "\x1b[31mx\n\"y\\z"
    def said(*args):
        return ns.run(f"{NICPROBE} trace udp:::send --where 'udp_dport == 20053' {' '.join(args)} "
                      f"-- python3 {TALK} named 127.0.0.1 {evil.hex()}")
    for args in (["--by", "execname"], ["--print", "execname,udp_dport"], ["--by", "execname", "--quantize", "udp_length"],
                 ["--by", "execname", "-f", "openmetrics"]):
        out = said(*args)
        check(f"names: {' '.join(args)}: harmless, and on its line",
              '"y' in out and ("\x1b" not in out or "openmetrics" in args) and not any(line.startswith(('"y', '\\"y')) for line in out.splitlines()), repr(out))
    same("names: whole in JSON", [r["execname"] for r in json.loads(said("--by", "execname", "-j"))["rows"]], [want])


def renamed(ns, far):
    """A longer name in between leaves its end behind the name: that makes no key of its own."""
    def one():
        ns.ip("neigh replace 10.9.0.2 lladdr 02:00:00:00:00:02 dev v0 nud permanent")
        talk(ns, "datagram", "10.9.0.2", 9)
    t = Trace(ns, "nic:::tx-queue", "--by", "if_name", "--where", "eth_type == ipv4")
    one()
    for old, new in (("v0", "v0-long-name"), ("v0-long-name", "v0")):
        ns.ip(f"link set {old} down")
        ns.ip(f"link set {old} name {new}")
    ns.ip("link set v0 up")
    one()
    same("renamed: one key", [(r["if_name"], r["count"]) for r in t.rows()], [("v0", 2)])


def tagged(ns, far):
    """A tag that is kept beside the packet is told, and where there is none, its absence."""
    if subprocess.run(f"ip -n {ns} link add link v0 name v0.7 type vlan id 7 egress-qos-map 0:3", shell=True, capture_output=True).returncode:
        return skip("tagged: eth_istagged", "this kernel makes no VLANs")
    ns.ip("addr add 10.8.0.1/24 dev v0.7")
    ns.ip("link set v0.7 up")
    ns.ip("neigh replace 10.8.0.2 lladdr 02:00:00:00:00:02 dev v0.7 nud permanent")
    t = Trace(ns, "nic:::tx-queue", "--by", "if_name,eth_istagged,eth_vlanid,eth_priority", "--where", "udp_dport == 9")
    for address in "10.8.0.2", "10.9.0.2":
        talk(ns, "datagram", address, 9)
    same("tagged: what each interface sends", t.counts("if_name", "eth_istagged", "eth_vlanid", "eth_priority"),
         {("v0.7", 0, 0, 0): 1, ("v0", 1, 7, 3): 1, ("v0", 0, 0, 0): 1})
    ns.ip("link del v0.7")


def refused(*args):
    r = nicprobe("trace", *args, check=False)
    return r.returncode, r.stderr


def refusals(ns):
    """What cannot be answered is refused, in words, before anything is attached."""
    before = left.Before()
    for args, status, words in (
            (["tcp:::receive", "--by", "pid"], 2, "softirq"),
            (["tcp:::recieve", "--by", "ip_saddr"], 2, "tcp:::receive"),
            (["tcp:::receive", "--where", "args[1]->ip_saddr == 1.1.1.1"], 2, "args[2]"),
            (["tcp:::receive", "--by", "tcp_dpord"], 2, "tcp_dport"),
            (["tcp:::receive", "--where", "tcp_dport =="], 2, "a value is missing"),
            (["tcp:::receive", "--sum", "ip_saddr"], 2, "ip_saddr"),
            (["-n", "tcp:::receive { printf(\"x\"); }"], 2, "printf"),
            (["tcp:::receive", "-f", "openmetrics", "-d", ".1"], 2, "has aggregations only"),
            (["tcp:::state-change", "--dev", "lo"], 1, "interface"),
            (["tcp:::receive", "--by", "ip_saddr", "--limit", "3"], 2, "--limit is for events that are printed"),
            (["tcp:::receive", "--print", "ip_saddr", "--top", "3"], 2, "--top is for what is aggregated"),
            (["tcp:::receive", "--print", "ip_saddr", "--keys", "3"], 2, "--keys is for what is aggregated"),
            (["tcp:::receive", "-i", "1"], 2, "--interval is for what is aggregated"),
            ([], 2, "probe")):
        got, said = refused(*args)
        check(f"refused: {' '.join(args) or 'nothing'}", got == status and words in said, (got, said))
    before.check("refused: nothing was attached")


need_root()
left.own_bpffs()     # others attach meanwhile
ns, far = Namespace("near"), Namespace("far")
ns.run("sysctl -qw net.ipv6.conf.all.disable_ipv6=0 net.ipv6.conf.default.disable_ipv6=1 net.ipv6.conf.lo.disable_ipv6=0")
veth(ns, far, name="v0", mtu=1500)
ns.ip("addr add 10.9.0.1/24 dev v0")
far.ip("addr add 10.9.0.2/24 dev v0")
each(local_ping, remote_ping, local_ping6, closed_port, failures, full_socket, fragments, no_way, calls, pairs, driver, clause, namespaces, names, refusals, renamed, tagged, ns=ns, far=far)
for address, name in (("127.0.0.1", "v4"), ("::1", "v6")):
    each(udp, ns=ns, address=address, name=name)
finish()

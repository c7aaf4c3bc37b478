#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Stable probes between two hosts, and combined: what dtrace-utils' tests of remote traffic and its demo scripts ask."""
import json
import subprocess

from lib.asking import TALK, Trace, counted, seen_by, talk, talker
from lib.lab import *


def visits(ns, far, times):
    """Connections to the other host, which this one opens and closes."""
    server = talker(far, "serve", "10.9.0.2", times)
    talk(ns, "visit", "10.9.0.2", times)
    server.wait()


def remote_tcp(ns, far):
    got = counted(ns, "ip:::send,ip:::receive,tcp:::connect-request,tcp:::connect-established,tcp:::retransmit", lambda: visits(ns, far, 3),
                  where="ip_saddr in 10.9.0.0/24")
    same("pair: three connections", {p: got.get(p) for p in ("tcp:::connect-request", "tcp:::connect-established")},
         {"tcp:::connect-request": 3, "tcp:::connect-established": 3})
    # SYN, ACK, FIN, ACK there; SYN-ACK, FIN with or without an ACK of its own back
    check("pair: their packets", got["ip:::send"] == 12 + got.get("tcp:::retransmit", 0) and 6 <= got["ip:::receive"] <= 9, got)
    t = Trace(ns, "tcp:::state-change", "--by", "tcps_state")
    visits(ns, far, 1)
    same("pair: states of the one that closes first", t.counts("tcps_state"),
         dict.fromkeys(("syn-sent", "established", "fin-wait-1", "fin-wait-2", "closed", "time-wait"), 1))
    t = Trace(ns, "tcp:::connect-established,tcp:::connect-refused", "--by", "probename,ip_saddr,ip_daddr,tcp_sport")
    there = Trace(far, "tcp:::accept-refused", "--by", "ip_saddr,ip_daddr,tcp_sport")
    visits(ns, far, 1)
    talk(ns, "refused", "10.9.0.2")
    same("pair: who answers whom", t.counts("probename", "ip_saddr", "ip_daddr", "tcp_sport"),
         {("tcp:::connect-established", "10.9.0.2", "10.9.0.1", 20080): 1, ("tcp:::connect-refused", "10.9.0.2", "10.9.0.1", 20007): 1})
    same("pair: who refuses whom", there.counts("ip_saddr", "ip_daddr", "tcp_sport"), {("10.9.0.2", "10.9.0.1", 20007): 1})
    t = Trace(far, "tcp:::accept-established", "--by", "ip_saddr,tcp_dport")
    visits(ns, far, 2)
    same("pair: seen from the other host", t.counts("ip_saddr", "tcp_dport"), {("10.9.0.1", 20080): 2})


def remote_ping6(ns, far):
    """Six echoes there and back; neighbour discovery is apart."""
    for netns, last in (ns, 1), (far, 2):
        netns.run("sysctl -qw net.ipv6.conf.v0.disable_ipv6=0")
        netns.ip(f"addr add fd00::{last}/64 dev v0 nodad")
    t = Trace(ns, "ip:::send,ip:::receive,icmp:::send,icmp:::receive", "--by", "probename,ip_saddr,ip_daddr,ip_plength",
              "--where", "icmp_type == 128 || icmp_type == 129")
    ns.run("ping -6 -q -i .01 -c6 fd00::2")
    there, back = ("fd00::1", "fd00::2", 64), ("fd00::2", "fd00::1", 64)
    same("pair: a ping by IPv6", t.counts("probename", "ip_saddr", "ip_daddr", "ip_plength"),
         {(f"{p}:::{way}", *ends): 6 for p in ("ip", "icmp") for way, ends in (("send", there), ("receive", back))})


def together(ns):
    """The sums of single conversations, in one run, by address and protocol."""
    def all_three():
        ns.run("ping -qc1 127.0.0.1")
        talk(ns, "orderly", "127.0.0.1")
        talk(ns, "udp", "127.0.0.1")
    got = counted(ns, "ip:::send,ip:::receive", all_three, by="probename,ip_saddr,ip_daddr,ipv4_protocol")
    same("together: by address and protocol", got, {(p, "127.0.0.1", "127.0.0.1", proto): n for p in ("ip:::send", "ip:::receive")
                                                    for proto, n in (("icmp", 2), ("tcp", 11), ("udp", 2))})
    t = Trace(ns, "ip:::send,ip:::receive", "--delta", "if_name", "--print", "cpu,delta_ns,ip_saddr,ip_daddr,if_name,ip_plength")
    all_three()
    events = t.events()
    same("together: a line for each", [len(events), {e["if_name"] for e in events}, sum(e["delta_ns"] is None for e in events)],
         [30, {"lo"}, 1])


def statistics(netns):
    s = json.loads(netns.ip("-j -s link show v0"))[0]["stats64"]
    return {d: (s[d]["packets"], s[d]["bytes"]) for d in ("rx", "tx")}


def busy(ns, far):
    """Tasks, softirqs and both CPUs count under the same keys: to the packet and the byte, as the interface does."""
    t = Trace(ns, "nic:::tx-start,nic:::rx-packet", "--by", "probename,if_name", "--sum", "pkt_len", "--where", "if_name == 'v0'",
              may_miss=True)
    before = statistics(ns)
    floods = [subprocess.Popen(["ip", "netns", "exec", str(a), "python3", TALK, "flood", address, "9", "30000"])
              for a, address in ((ns, "10.9.0.2"), (far, "10.9.0.1")) for _ in range(2)]
    for p in floods:
        p.wait()
    settled = statistics(ns)
    until(lambda: statistics(ns) == settled)
    after = statistics(ns)
    grown = {d: tuple(a - b for a, b in zip(after[d], before[d])) for d in before}
    want = {"nic:::tx-start": grown["tx"], "nic:::rx-packet": grown["rx"]}
    rows = {r["probename"]: (r["count"], r["sum"]) for r in t.rows()}
    if t.missed:
        check(f"busy: packets of the interface # missed: {t.missed}",
              t.short({p: n for p, (n, _) in rows.items()}, {p: n for p, (n, _) in want.items()}), (rows, want))
    else:
        same("busy: packets and bytes of the interface", rows, want)
    check("busy: there were many", min(grown["tx"][0], grown["rx"][0]) > 50000, grown)


def without(ns):
    """The same conversation where sources or features are missing: other programs, and the counts of their grade. A
    cgroup program misses the segment that a socket in TIME_WAIT takes; functions, and what there is up to 6.1, do not."""
    all_come = KERNEL < (6, 2) or "function" in seen_by("tcp:::receive")
    for gone, received in (("netfilter", 11 if all_come else 10), ("cgroup", 11), ("netfilter,cgroup", 11), ("depth", 11)):
        t = Trace(ns, "tcp:::send,tcp:::receive,tcp:::connect-established,tcp:::accept-established", "--by", "probename",
                  env={"NICPROBE_CANNOT": gone})
        talk(ns, "orderly", "127.0.0.1")
        same(f"without {gone}", t.counts("probename"), {"tcp:::send": 11, "tcp:::receive": received,
                                                        "tcp:::connect-established": 1, "tcp:::accept-established": 1})


def stacked(ns, far):
    """A bridge and its port both send and receive a packet: it counts once, by every source."""
    ns.ip("link add br0 type bridge")
    ns.ip("addr del 10.9.0.1/24 dev v0")
    ns.ip("link set v0 master br0")
    ns.ip("addr add 10.9.0.1/24 dev br0")
    ns.ip("link set br0 up")
    ns.run("ping -q -c1 -w5 10.9.0.2")
    for kind in ("nf", "tp") if KERNEL >= (6, 4) else ("tp",):
        t = Trace(ns, "ip:::send,ip:::receive", "--by", "probename,ip_saddr", "--source", kind, "--where", "ip_proto == icmp")
        ns.run("ping -q -c3 -i .1 10.9.0.2")
        same(f"stacked: {kind}: once for a bridge and its port", t.counts("probename", "ip_saddr"),
             {("ip:::send", "10.9.0.1"): 3, ("ip:::receive", "10.9.0.2"): 3})
    ns.ip("link del br0")
    ns.ip("addr add 10.9.0.1/24 dev v0")


def described():
    """The six arguments of ip:::send are DTrace's."""
    said, = json.loads(nicprobe("list", "-v", "-j", "ip:::send").stdout)
    same("list -v: arguments of ip:::send", said["args"],
         ["pktinfo_t", "csinfo_t", "ipinfo_t", "ifinfo_t", "ipv4info_t", "ipv6info_t"])
    text = nicprobe("list", "-v", "tcp:::receive").stdout
    check("list -v: why there is no process", "pid" in text and "interrupt" in text, text)


def sent_again(ns, far):
    """What is sent again has the sequence number of what was sent before."""
    server = talker(far, "serve", "10.9.0.2")
    client = talker(ns, "talk_later", "10.9.0.2", 1.2)
    far.ip("addr del 10.9.0.2/24 dev v0")
    t = Trace(ns, "tcp:::send", "--where", "tcp_plength == 10", "--by", "tcp_seq")
    client.stdin.write("go\n")
    client.stdin.close()
    client.wait()
    rows = t.counts("tcp_seq")
    far.ip("addr add 10.9.0.2/24 dev v0")
    server.kill()
    server.wait()
    check("pair: data is sent again with its sequence number", len(rows) == 1 and 3 <= sum(rows.values()) <= 6, rows)


need_root()
ns, far = Namespace("one"), Namespace("two")
veth(ns, far, name="v0", mtu=1500)
ns.ip("addr add 10.9.0.1/24 dev v0")
far.ip("addr add 10.9.0.2/24 dev v0")
each(remote_tcp, together, busy, without, stacked, described, sent_again, remote_ping6, ns=ns, far=far)
finish()

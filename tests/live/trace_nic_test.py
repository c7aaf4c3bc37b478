#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Stable probes of packets at netfilter, of SCTP, of packets that are freed, and of interfaces: links, queues, interrupts."""
import json
import os
import subprocess

from lib import bpf
from lib.asking import Trace, counted, talk, talker
from lib.lab import *
from lib.stall import Stalled
from lib.wire import inside

PRE_ROUTING, LOCAL_IN, FORWARD, LOCAL_OUT, POST_ROUTING = range(5)
HAS_NETFILTER = KERNEL >= (6, 4)
WAYS = "sdt:::ip*,ip:::request,ip:::deliver,ip:::send"


def way(name, n, versions=("ip4",), ends=("start", "end")):
    return {f"sdt:::{v}-{name}-{end}": n for v in versions for end in ends}


def ping(ns, address, times=3, check=True):
    ns.run(f"ping -q -c{times} -i .02 -W .1 {address}", check=check)


def passed(ns):
    """Without rules, each packet that meets the first has passed the last."""
    got = counted(ns, WAYS, lambda: (ping(ns, "127.0.0.1"), ping(ns, "-6 ::1", 2)))
    same("netfilter: in this host", got, {
        **way("loopback-out", 6), **way("loopback-in", 6), **way("loopback-out", 4, ["ip6"]), **way("loopback-in", 4, ["ip6"]),
        "ip:::request": 10, "ip:::deliver": 10, "ip:::send": 10})


def forwarded(ns, mid):
    got = counted(mid, WAYS, lambda: ping(ns, "10.8.0.1"))
    same("netfilter: forwarded", got, {**way("physical-in", 6), **way("forwarding", 6), **way("physical-out", 6), "ip:::send": 6})
    t = Trace(mid, "sdt:::ip4-forwarding-start,sdt:::ip4-physical-out-end", "--by", "probename,if_name,ip_saddr,ip_daddr,ipv4_ttl")
    ping(ns, "10.8.0.1", 2)
    start, end = "sdt:::ip4-forwarding-start", "sdt:::ip4-physical-out-end"
    same("netfilter: interface and header", t.counts("probename", "if_name", "ip_saddr", "ip_daddr", "ipv4_ttl"), {
        (start, "near", "10.9.0.1", "10.8.0.1", 63): 2, (end, "far", "10.9.0.1", "10.8.0.1", 63): 2,
        (start, "far", "10.8.0.1", "10.9.0.1", 63): 2, (end, "near", "10.8.0.1", "10.9.0.1", 63): 2})


def eaten(ns, mid):
    """A program that drops every IPv4 packet at one hook: its start counts them, its end does not, and so on."""
    there, both = ("start",), ("start", "end")
    for hook, name, want in (
            (PRE_ROUTING, "PRE_ROUTING", way("physical-in", 3, ends=there)),
            (FORWARD, "FORWARD", {**way("physical-in", 3), **way("forwarding", 3, ends=there)}),
            (POST_ROUTING, "POST_ROUTING", {**way("physical-in", 3), **way("forwarding", 3), **way("physical-out", 3, ends=there)})):
        rule = inside(mid, lambda: bpf.netfilter(hook))
        got = counted(mid, WAYS, lambda: ping(ns, "10.8.0.1", check=False), where="ip_proto == icmp && ip_daddr == 10.8.0.1")
        os.close(rule)
        same(f"netfilter: dropped in {name}", got, want)
    for hook, name, want in (
            (LOCAL_OUT, "LOCAL_OUT", {"ip:::request": 3}),
            (LOCAL_IN, "LOCAL_IN", {**way("loopback-out", 3), **way("loopback-in", 3), "ip:::request": 3, "ip:::send": 3})):
        rule = inside(ns, lambda: bpf.netfilter(hook))
        got = counted(ns, WAYS, lambda: ping(ns, "127.0.0.1", check=False))
        os.close(rule)
        same(f"netfilter: dropped in {name}", got, want)


def pieces(ns, mid):
    """A datagram in three fragments is delivered as one."""
    server = talker(mid, "echo", "10.9.0.2", 20053, 4000)
    got = counted(mid, "sdt:::ip4-physical-in-*,ip:::deliver", lambda: talk(ns, "ask", "10.9.0.2", 20053, 4000), where="ip_proto == udp")
    server.wait()
    same("netfilter: fragments", got, {**way("physical-in", 3), "ip:::deliver": 1})


def absent(ns):
    """What a pattern names is traced as far as it can be; what is named itself must be there."""
    without = {"NICPROBE_CANNOT": "netfilter,fentry"}
    t = Trace(ns, "ip:::", "--by", "probename", env=without)
    ping(ns, "127.0.0.1", 1)
    got = t.counts("probename")
    check("netfilter: without it a pattern says what it lacks", "not here: ip:::request, ip:::deliver;" in t.said, t.said)
    same("netfilter: without it the others count", {p: got.get(p) for p in ("ip:::send", "ip:::receive")},
         {"ip:::send": 2, "ip:::receive": 2})
    for name in "ip:::request", "ip:::deliver", "sdt:::ip6-forwarding-end":
        r = nicprobe("trace", name, "--count", env=without, check=False)
        check(f"netfilter: without it {name} is refused", r.returncode == 1 and f"{name} cannot be had here" in r.stderr, r.stderr)


def sctp(ns, mid):
    for source in ("nf", "tp") if HAS_NETFILTER else ("tp",):
        by = "probename,ip_saddr,sctp_sport,sctp_dport,sctp_verify,sctp_checksum,sctp_chunk".split(",")
        t = Trace(ns, "sctp:::send,sctp:::receive", "--source", source, "--by", ",".join(by))
        talk(ns, "sctp", "127.0.0.1", 3)
        talk(ns, "sctp", "::1", 2)
        same(f"sctp: {source}: to this host", t.counts(*by), {
            (f"sctp:::{p}", a, 3000, 4000, "0x1020304", "0xa0b0c0d0", "init"): n for p in ("send", "receive")
            for a, n in (("127.0.0.1", 3), ("::1", 2))})
        got = counted(mid, "sctp:::send,sctp:::receive,ip:::send", lambda: talk(ns, "sctp", "10.8.0.1", 4), where="ip_proto == sctp",
                      more=("--source", source))
        # who sees packets at the interface cannot tell for whom they are
        same(f"sctp: {source}: forwarded", got, {"ip:::send": 4, **({} if source == "nf" else {"sctp:::receive": 4})})
    r = nicprobe("trace", "sctp:::send", "--by", "tcp_dport", check=False)
    check("sctp: it has no ports of TCP", r.returncode == 2 and "have no tcp_dport" in r.stderr, r.stderr)


def not_its_own(ns, mid):
    """What a host forwards it does not send, but by IP: by each source."""
    for source in ("nf", "tp") if HAS_NETFILTER else ("tp",):
        got = counted(mid, "ip:::send,icmp:::send,udp:::send,tcp:::send", lambda: (
            ping(ns, "10.8.0.1"), talk(ns, "datagram", "10.8.0.1", 9), talk(ns, "refused", "10.8.0.1")),
            where="ip_saddr == 10.9.0.1", more=("--source", source))
        same(f"forwarded: {source}: only IP sends it", got, {"ip:::send": 3 + 1 + 1})


def freed(ns, mid):
    """A datagram to a closed port is dropped, the ICMP message about it is used up; both are freed."""
    got = counted(ns, "ip:::packet-free", lambda: talk(ns, "udp_closed", "127.0.0.1"), by="source,ip_proto")
    same("packet-free: dropped, and used up", got, {("tp_btf/kfree_skb", "udp"): 1, ("tp_btf/consume_skb", "icmp"): 1})
    got = counted(ns, "ip:::packet-free", lambda: talk(ns, "read", "127.0.0.1", 4))
    same("packet-free: it misses what a process has read", got, {})
    t = Trace(mid, "ip:::packet-free", "--since", "nic:::rx-stack", "--on", "pkt_addr", "--where", "ip_daddr == 10.9.0.2", "--quantize",
              "delta_ns")
    talk(ns, "sctp", "10.9.0.2", 5)
    row, = t.rows()
    check("packet-free: how long packets were there", row["count"] == 5 and 0 < row["sum"] < 1e9, row)


def links(ns, far):
    """The other end of the wire is set down and up; at once, so that the kernel tells of several changes together."""
    def flap():
        for _ in range(5):
            far.ip("link set wire down")
            far.ip("link set wire up")
    t = Trace(ns, "nic:::link", "--by", "if_name,if_local,link_up")
    flap()
    same("link: comes and goes", t.counts("if_name", "if_local", "link_up"), {("wire", 0, up): 5 for up in (0, 1)})
    t = Trace(ns, "nic:::link", "--print", "if_name,link_up")
    flap()
    same("link: in their order", [(e["if_name"], e["link_up"]) for e in t.events()], [("wire", n % 2) for n in range(10)])
    t = Trace(ns, "nic:::link", "--dev", "near", "--count")
    flap()
    same("link: not those of another interface", t.rows(), [])
    ns.ip("link set wire down")
    far.ip("link set wire down")
    t = Trace(ns, "nic:::link", "--where", "link_up == 0", "--by", "if_name")
    far.ip("link set wire up")
    ns.ip("link set wire up")
    ns.ip("link set wire down")
    same("link: of an interface that was down, at the end", t.counts("if_name"), {"wire": 1})
    ns.ip("link set wire up")
    t = Trace(ns, "nic:::link", "--count", "--where", "if_name == new0")
    ns.ip("link add new0 type veth peer name new1")
    ns.ip("link set new0 up")
    ns.ip("link set new1 up")
    ns.ip("link set new1 down")
    ns.ip("link del new0")
    rows = t.rows()
    check("link: of an interface that came later", 1 <= sum(r["count"] for r in rows) <= 4, rows)
    r = nicprobe("trace", "nic:::link", "--count", "--netns", "all", check=False)
    check("link: in one namespace only", r.returncode == 1 and "rtnetlink tells of one network namespace" in r.stderr, r.stderr)


def interrupts(ns):
    """Software has none: refused, and left out of a pattern."""
    for args, words in ((("nic:::irq",), "no interface of this network namespace has interrupts"),
                        (("nic:::irq", "--dev", "near"), "it is software, and has no hardware interrupts"),
                        (("nic:::irq", "--netns", "all"), "known by the interfaces of one network namespace")):
        r = subprocess.run(["ip", "netns", "exec", str(ns), NICPROBE, "trace", *args, "--count", "-d", "1"], capture_output=True,
                           text=True, timeout=60)
        check(f"irq: refused: {' '.join(args)}", r.returncode == 1 and words in r.stderr, r.stderr)
    quiet = Namespace("quiet")      # where nothing of the tests before is under way
    t = Trace(quiet, "nic:::", "--by", "probename")
    ping(quiet, "127.0.0.1", 1)
    got = t.counts("probename")
    quiet.delete()
    check("irq: a pattern goes without it", "not here: nic:::irq" in t.said and got["nic:::rx-stack"] == 2, (t.said, got))


def stops(ns):
    """A veth stops its queue when its ring is full, which nobody reads for 200 ms."""
    if KERNEL < (6, 16):
        return skip("stops", "veth stops its queue since 6.16; tests/vm/trace_card_test.py has cards")
    other = Namespace("stalled")
    wire = Stalled(ns, other)
    ns.run("tc qdisc replace dev veth0 root pfifo limit 5000")
    for _ in tries(4, "the far end ran while it was to stand still"):
        t = Trace(ns, "nic:::tx-stop,nic:::tx-wake", "--print", "probename,if_name,if_queue,stop_by,stop_ns")
        with wire.stalled(.2):
            wire.sender("send 0 1000 100")
            wire.sender("go")
        sent = lambda: json.loads(ns.ip("-j -s link show veth0"))[0]["stats64"]["tx"]["packets"]
        until(lambda: sent() % 1000 == 0)
        events = t.events()
        longest = max([e["stop_ns"] or 0 for e in events], default=0)
        if longest > .15e9:
            break
    wire.close()
    same("stops: who and where", {(e["if_name"], e["if_queue"], e["stop_by"]) for e in events}, {("veth0", 0, "driver")})
    same("stops: each is followed by its end", [e["probename"] for e in events],
         ["nic:::tx-stop", "nic:::tx-wake"] * (len(events) // 2))
    # 256 packets fill the ring: a thousand need it at least three times
    check(f"stops: for how long # {longest / 1e6:.0f} ms", .15e9 < longest < 2e9 and len(events) >= 2, events)


need_root()
ns, mid, far = Namespace("near"), Namespace("mid"), Namespace("far")
for other, name, net in (ns, "near", 9), (far, "far", 8):
    veth(other, mid, name=name, mtu=1500)
    other.ip(f"addr add 10.{net}.0.1/24 dev {name}")
    mid.ip(f"addr add 10.{net}.0.2/24 dev {name}")
    other.ip(f"route add default via 10.{net}.0.2")
veth(ns, far, name="wire")
mid.run("sysctl -qw net.ipv4.ip_forward=1")
ns.run("sysctl -qw net.ipv6.conf.lo.disable_ipv6=0 net.ipv4.icmp_ratelimit=0")
if HAS_NETFILTER:
    each(passed, forwarded, eaten, pieces, ns=ns, mid=mid)
each(absent, sctp, not_its_own, freed, interrupts, stops, links, ns=ns, mid=mid, far=far)
finish()

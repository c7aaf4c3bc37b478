#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Queries to name servers: each that the test sends is counted once, by how it was answered, and its time lies between what
the server waited and what the test saw."""
import os
import socket
import struct
import time

from lib.lab import *
from lib.nameserver import NOTIMP, NXDOMAIN, REFUSED, SERVFAIL, Server, query, servers_close
from lib.wire import inside

ME = "dns-test"
WAIT = .2
FLOOD = int(os.environ.get("FLOOD", 3000))
with open("/proc/self/comm", "w", encoding="ascii") as comm:
    comm.write(ME)


def client(ns, address, port=53):
    s = inside(ns, lambda: socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_DGRAM))
    s.settimeout(10)
    s.connect((address, port))
    return s


def ask(ns, address, *names):
    """One after the other, each from a port of its own; the seconds that each took."""
    took = []
    for i, name in enumerate(names):
        with client(ns, address) as s:
            began = time.monotonic()
            s.send(query(i, name))
            if name != "silent":
                assert s.recv(512)[:2] == struct.pack("!H", i)
            took.append(time.monotonic() - began)
    return took


def rows(ns):
    """{(server, process): the counts that are not 0}, and no time."""
    doc = show(f"{ns}/host")
    same("nothing is lost", lost(doc), {})
    got = {}
    for r in doc["meters"]["dns"]:
        counts = {"asked": r["asked_queries"], "again": r["again_queries"], "unanswered": r["unanswered_queries"],
                  "truncated": r["truncated_answers"], "stray": r["stray_answers"], "unread": r["unread"],
                  "times": r["latency_seconds"]["count"], **r["answers"]}
        if nonzero(counts):
            got[r["remote"], r["process"]] = nonzero(counts)
    return got


def times(ns, server):
    return next(r["latency_seconds"] for r in show(f"{ns}/host")["meters"]["dns"] if r["remote"] == server)


def attach(ns, *known):
    """`known`: these neighbours, as the process of a packet that waits for an address is not known when it is sent."""
    for address in known:
        ns.run(f"ping -qc1 {address}")
    nicprobe("attach", f"{ns}/host", "-m", "dns")


def test_answers(here, there):
    """By code, of both families; the server's host asked nothing."""
    for address in "10.9.0.2", "fd09::2":
        Server(there, address)
    attach(here, "10.9.0.2", "fd09::2")
    attach(there)
    ask(here, "10.9.0.2", *["ok"] * 10, *[f"code-{NXDOMAIN}"] * 3, *[f"code-{SERVFAIL}"] * 2, *[f"code-{REFUSED}"] * 4,
        f"code-{NOTIMP}", "cut", "cut")
    ask(here, "fd09::2", *["ok"] * 5, f"code-{NXDOMAIN}")
    with client(here, "10.9.0.2") as s:
        for opcode in 4, 5:     # NOTIFY, UPDATE: no queries
            data = query(100 + opcode, "silent")
            s.send(data[:2] + struct.pack("!H", opcode << 11) + data[4:])
    same("dns: answers by code", rows(here), {
        ("10.9.0.2", ME): {"asked": 22, "ok": 12, "nxdomain": 3, "servfail": 2, "refused": 4, "other": 1, "truncated": 2,
                           "times": 22},
        ("fd09::2", ME): {"asked": 6, "ok": 5, "nxdomain": 1, "times": 6}})
    same("dns: who answers does not ask", rows(there), {})


def test_times(here, there):
    Server(there, "10.9.0.2")
    attach(here, "10.9.0.2")
    took = ask(here, "10.9.0.2", *[f"after-{round(WAIT * 1000)}"] * 5)
    got = times(here, "10.9.0.2")
    check("dns: the times are what the server waited, and no longer than the test did",
          got["count"] == 5 and 5 * WAIT <= got["sum"] <= sum(took), (got["sum"], took))


def test_unanswered(here, there):
    """Sent once more from the same port; answered twice, too late, and never."""
    Server(there, "10.9.0.2")
    attach(here, "10.9.0.2")
    silent = [client(here, "10.9.0.2") for _ in range(4)]
    for i, s in enumerate(silent):
        s.send(query(i, "silent"))
    silent[0].send(query(0, "silent"))
    silent[1].send(query(1, "silent"))
    silent[1].send(query(1, "silent"))
    same("dns: no answer so far", rows(here), {("10.9.0.2", ME): {"asked": 4, "again": 3}})
    late = client(here, "10.9.0.2")
    late.send(query(9, "after-6000"))
    time.sleep(2.2)
    same("dns: no answer after two seconds", rows(here), {("10.9.0.2", ME): {"asked": 5, "again": 3, "unanswered": 5}})
    late.recv(512)
    with client(here, "10.9.0.2") as s:
        s.send(query(3, "twice"))
        s.recv(512)
        s.recv(512)
    same("dns: a late answer, and two to one question", rows(here),
         {("10.9.0.2", ME): {"asked": 6, "again": 3, "unanswered": 4, "ok": 2, "times": 2, "stray": 1}})


def test_others(here, there):
    """What is no question: another port, a connection, an answer nobody asked for, other hosts' questions."""
    server, other = Server(there, "10.9.0.2"), Server(there, "10.9.0.2", 54)
    Server(there, "127.0.0.1")
    attach(here)
    with client(here, "10.9.0.2", 54) as s:
        s.send(query(1, "ok"))
        s.recv(512)
    ask(there, "127.0.0.1", "ok", "ok")
    with client(here, "10.9.0.2", 5353) as s:
        at = s.getsockname()
        server.s.sendto(struct.pack("!HH", 7, 0x8180) + b"\0" * 8, at)      # none was asked
        server.s.sendto(query(7, "ok"), at)                                 # a question from port 53
        server.s.sendto(b"short", at)
        time.sleep(.1)
    same("dns: what is no question, or of nobody here", rows(here), {("others", "-"): {"stray": 1}})
    other.close()


def test_forwarded(here, there):
    """A question that this host passes on is nobody's here, and seen once."""
    guest = Namespace("guest")
    veth(guest, here, name="g0")
    here.ip("addr add 10.8.0.1/24 dev g0")
    guest.ip("addr add 10.8.0.2/24 dev g0")
    guest.ip("route add default via 10.8.0.1")
    there.ip("route add 10.8.0.0/24 via 10.9.0.1")
    here.run("sysctl -qw net.ipv4.ip_forward=1")
    Server(there, "10.9.0.2")
    attach(here, "10.9.0.2")
    ask(guest, "10.9.0.2", "ok", "ok", "after-20", f"code-{NXDOMAIN}")
    same("dns: forwarded", rows(here), {("10.9.0.2", "unknown"): {"asked": 4, "ok": 3, "nxdomain": 1, "times": 4}})
    here.ip("link del g0")


def test_stacked(here, there):
    """A bridge and its port see the same packets: they count once."""
    for ns, number in (here, 1), (there, 2):
        ns.ip("link add br0 type bridge")
        ns.ip("link set eth0 master br0")
        ns.ip("link set br0 up")
        ns.ip(f"addr add 10.7.0.{number}/24 dev br0")
    Server(there, "10.7.0.2")
    attach(here, "10.7.0.2")
    ask(here, "10.7.0.2", *["ok"] * 6, "after-5")
    same("dns: through a bridge", rows(here), {("10.7.0.2", ME): {"asked": 7, "ok": 7, "times": 7}})
    for ns in here, there:
        ns.ip("link del br0")


def test_waits(here, there):
    """The first packet waits for the neighbour: it is sent, and seen, when the answer comes, by whom is not known."""
    Server(there, "10.9.0.2")
    here.ip("neigh flush dev eth0")
    attach(here)
    ask(here, "10.9.0.2", "ok", "ok")
    same("dns: a query that waited for the neighbour", rows(here),
         {("10.9.0.2", "unknown"): {"asked": 1, "ok": 1, "times": 1}, ("10.9.0.2", ME): {"asked": 1, "ok": 1, "times": 1}})


def test_loopback(here):
    """A server of this host, as systemd-resolved is one."""
    Server(here, "127.0.0.53")
    attach(here)
    took = ask(here, "127.0.0.53", *["ok"] * 500)
    same("dns: of this host", rows(here), {("127.0.0.53", ME): {"asked": 500, "ok": 500, "times": 500}})
    check("dns: their times", 0 < times(here, "127.0.0.53")["sum"] <= sum(took), sum(took))


def test_flood(here, there):
    """Many at once."""
    Server(there, "10.9.0.2")
    attach(here, "10.9.0.2")
    with client(here, "10.9.0.2") as s:
        for at in range(0, FLOOD, 100):
            for i in range(at, at + 100):
                s.send(query(i, "ok"))
            for _ in range(100):
                s.recv(512)
    same("dns: a flood", rows(here), {("10.9.0.2", ME): {"asked": FLOOD, "ok": FLOOD, "times": FLOOD}})


def test_said(here):
    """That it looks at packets is said, and what it does not see."""
    attach(here)
    text = nicprobe("show", f"{here}/host").stdout
    check("dns: show says that it looks at each packet", "looks at the headers of all packets" in " ".join(text.split()), text)
    names = nicprobe("attach", f"{here}/host", check=False)
    check("dns: it is not attached unasked", "dns" not in names.stdout.split("measures")[-1].split("\n")[0], names.stdout)


need_root()
one, two = Namespace("here"), Namespace("there")
veth(one, two)
for netns, nr in (one, 1), (two, 2):
    netns.run("sysctl -qw net.ipv6.conf.eth0.disable_ipv6=0")
    netns.ip(f"addr add 10.9.0.{nr}/24 dev eth0")
    netns.ip(f"addr add fd09::{nr}/64 dev eth0 nodad")

def clean():
    for netns in one, two:
        nicprobe("detach", f"{netns}/host", check=False)
    servers_close()


each(test_answers, test_times, test_unanswered, test_others, test_forwarded, test_stacked, test_waits, test_loopback, test_flood, test_said,
     here=one, there=two, after=clean)
finish()

#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Names that are asked for: each query of the test counts once, for its name and type, by how it was answered, beside what the
meter dns counts; also where there are more names than rows."""
import os
import socket
import struct
import time

from lib.lab import *
from lib.nameserver import NOTIMP, NXDOMAIN, REFUSED, SERVFAIL, Server, query, servers_close
from lib.wire import inside

A, NS, PTR, TXT, AAAA, HTTPS = 1, 2, 12, 16, 28, 65
NAMES, BELOW = 4096, 1024       # rows: bpf/dnsname/dnsname.h
KEPT = 96                       # bytes of a name
WAIT = .2
QUERIES = int(os.environ.get("FLOOD", 3000))


def client(ns, address="10.9.0.2"):
    s = inside(ns, lambda: socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_DGRAM))
    s.settimeout(10)
    s.connect((address, 53))
    return s


def ask(ns, *questions, address="10.9.0.2"):
    """One after the other; each is a name of type A, or a name and its type. The seconds that they took."""
    began = time.monotonic()
    with client(ns, address) as s:
        for i, question in enumerate(questions):
            s.send(query(i, *question) if isinstance(question, tuple) else query(i, question))
            assert s.recv(512)[:2] == struct.pack("!H", i)
    return time.monotonic() - began


def send(ns, names, address="10.9.0.2"):
    """Queries that nobody answers."""
    with inside(ns, lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) as s:
        for i, name in enumerate(names):
            s.sendto(query(i & 0xffff, name), (address, 53))


def counts(row):
    return nonzero({"asked": row["asked_queries"], "again": row["again_queries"], "unanswered": row["unanswered_queries"],
                    "empty": row["empty_answers"], "truncated": row["truncated_answers"], "unread": row["unread_queries"],
                    "times": row["latency_seconds"]["count"], **row["answers"]})


def rows(ns):
    """{(name, type): the counts that are not 0}, and no time."""
    doc = show(f"{ns}/host")
    same("nothing is lost", lost(doc), {})
    got = {(r["domain"], r["type"]): counts(r) for r in doc["meters"]["dnsname"]}
    check("no name has two rows", len(got) == len(doc["meters"]["dnsname"]), len(got))
    return {key: row for key, row in got.items() if row}


def answered(n, code="ok", **more):
    """A row of names without records."""
    return {"asked": n, code: n, "times": n, **({"empty": n} if code == "ok" else {}), **more}


def attach(ns, meters="dnsname"):
    nicprobe("attach", f"{ns}/host", "-m", meters)


def test_answers(here, there):
    """By name and type, whatever the case; of both families; the sums are those of dns."""
    for address in "10.9.0.2", "fd09::2":
        Server(there, address)
    attach(here, "dns,dnsname")
    attach(there)
    ask(here, "ok.example.com", "OK.Example.COM", "oK.eXAMPLE.com", ("ok.example.com", AAAA), ("Ok.example.com", TXT), "host-0.example.com",
        *["cut.example.com"] * 2, *[f"code-{NXDOMAIN}.example.com"] * 3, *[f"code-{SERVFAIL}.[@`{{.com"] * 2,
        f"code-{REFUSED}.example.com", f"CODE-{REFUSED}.example.com", f"code-{NOTIMP}.example.com")
    ask(here, "ok.example.com", ("1.0.0.127.in-addr.arpa", PTR), ("ok.example.com", HTTPS), ("ok.example.com", 4711), address="fd09::2")
    same("dnsname: answers by name", rows(here), {
        ("ok.example.com", "A"): answered(4), ("ok.example.com", "AAAA"): answered(1), ("ok.example.com", "TXT"): answered(1),
        ("host-0.example.com", "A"): {"asked": 1, "ok": 1, "times": 1}, ("cut.example.com", "A"): {"asked": 2, "ok": 2, "truncated": 2, "times": 2},
        ("code-3.example.com", "A"): answered(3, "nxdomain"), (r"code-2.[\@`{.com", "A"): answered(2, "servfail"),
        ("code-5.example.com", "A"): answered(2, "refused"), ("code-4.example.com", "A"): answered(1, "other"),
        ("1.0.0.127.in-addr.arpa", "PTR"): answered(1), ("ok.example.com", "HTTPS"): answered(1), ("ok.example.com", "TYPE4711"): answered(1)})
    doc = show(f"{here}/host")
    for what in "asked_queries", "truncated_answers":
        same(f"dnsname: as many {what} as dns has", sum(r[what] for r in doc["meters"]["dnsname"]), sum(r[what] for r in doc["meters"]["dns"]))
    for code in "ok", "nxdomain", "servfail", "refused", "other":
        same(f"dnsname: as many answers {code} as dns has", sum(r["answers"][code] for r in doc["meters"]["dnsname"]),
             sum(r["answers"][code] for r in doc["meters"]["dns"]))
    same("dnsname: who answers does not ask", rows(there), {})
    bare, each_name = (nicprobe("show", f"{here}/host", "-t", "-f", "openmetrics", *more).stdout.splitlines() for more in ([], ["--each", "domain"]))
    same("dnsname: metrics by type", [line.rsplit(" ", 1)[1] for line in bare if line.startswith("nicprobe_dnsname_asked_queries_total{") and 'type="A"' in line], ["15"])
    same("dnsname: metrics by name", [line.rsplit(" ", 1)[1] for line in each_name if line.startswith("nicprobe_dnsname_asked_queries_total{") and
                                      'domain="ok.example.com"' in line and 'type="A"' in line], ["4"])


def wire(labels):
    return sum(len(label) + 1 for label in labels) + 1


def test_texts(here, there):
    """Names of odd bytes, and long ones, of which the last labels are kept."""
    Server(there, "10.9.0.2")
    attach(here)
    fits = [b"ok", b"f" * 50, b"g" * (KEPT - 56)]
    longer = [b"ok", b"f" * 50, b"g" * (KEPT - 55)]
    longest = [b"ok", b"a" * 63, b"b" * 63, b"c" * 63, b"d" * 58]
    most = [b"y"] * 127
    same("dnsname: the names of the test", [wire(n) for n in (fits, longer, longest, most)], [KEPT, KEPT + 1, 255, 255])
    odd = [b"ok", b"a.b", b"\\\x00\x1f\x7f \xc3\xa4", b"\"$();@'", b"Z[z{"]
    ask(here, fits, longer, longest, most, odd, ([], NS), [b"ok", b"*"], [b"*"], [b"*", b"example", b"com"], ["**".encode()], "others", [b"ok"])
    labels = KEPT // 2 - 1      # of one byte
    same("dnsname: texts", rows(here), {
        (f"ok.{'f' * 50}.{'g' * (KEPT - 56)}", "A"): answered(1), (f"...{'f' * 50}.{'g' * (KEPT - 55)}", "A"): answered(1),
        (f"...{'d' * 58}", "A"): answered(1), ("..." + ".".join(["y"] * labels), "A"): answered(1),
        (r"ok.a\.b.\\\000\031\127\032\195\164.\"\$\(\)\;\@'.z[z{", "A"): answered(1), (".", "NS"): answered(1), ("ok.*", "A"): answered(1),
        (r"\*", "A"): answered(1), (r"\*.example.com", "A"): answered(1), ("**", "A"): answered(1), ("others", "A"): answered(1),
        ("ok", "A"): answered(1)})
    worst = [bytes([1 + i]) + b"\xff" * 45 for i in range(2)]       # as long as a text can be, and different
    ask(here, [worst[0], worst[0]], [worst[0], worst[1]])
    text = "\\255" * 45
    same("dnsname: the longest texts", {name: row for (name, _), row in rows(here).items() if text in name},
         {f"\\001{text}.\\001{text}": answered(1), f"\\001{text}.\\002{text}": answered(1)})
    table = nicprobe("show", f"{here}/host", "dnsname", "-t").stdout
    check("dnsname: a table has no odd bytes", all(c == "\n" or " " <= c for c in table) and "\\000" in table, table)
    path = f"/tmp/np{os.getpid()}-names"
    nicprobe("record", path, f"{here}/host", "--for", "1s")
    doc = json.loads(nicprobe("show", "-j", "--from", path).stdout)
    os.unlink(path)
    same("dnsname: a recording has the same names", {(r["domain"], r["type"]) for r in doc["meters"]["dnsname"]} - {("others", "-")}, set(rows(here)))


def test_unanswered(here, there):
    """By name: sent again, slow, silent, and answered twice."""
    server = Server(there, "10.9.0.2")
    attach(here)
    with client(here) as s:
        for i in 1, 2, 1, 1:
            s.send(query(i, "silent.example.com"))
        s.send(query(3, "silent.but.late"))
        time.sleep(2.2)
        took = ask(here, *[f"after-{round(WAIT * 1000)}.example.com"] * 3)
        same("dnsname: without an answer", rows(here), {
            ("silent.example.com", "A"): {"asked": 2, "again": 2, "unanswered": 2}, ("silent.but.late", "A"): {"asked": 1, "unanswered": 1},
            ("after-200.example.com", "A"): answered(3)})
        slow = next(r["latency_seconds"] for r in show(f"{here}/host")["meters"]["dnsname"] if r["domain"] == "after-200.example.com")
        check("dnsname: the time of a slow name", 3 * WAIT <= slow["sum"] <= took, (slow["sum"], took))
        server.s.sendto(struct.pack("!HH", 3, 0x8180) + query(3, "silent.but.late")[4:], s.getsockname())
        s.recv(512)
    with client(here) as s:
        s.send(query(1, "twice.example.com"))
        s.recv(512)
        s.recv(512)
    got = rows(here)
    same("dnsname: a late answer, and two to one question", (got["silent.but.late", "A"], got["twice.example.com", "A"]), (answered(1), answered(1)))


def test_unread(here, there):
    """Queries whose name is none count, and are no name."""
    server = Server(there, "10.9.0.2")
    attach(here)
    head = struct.pack("!HHHHHH", 0, 0x100, 1, 0, 0, 0)
    bad = [struct.pack("!HHHHHH", 0, 0x100, 0, 0, 0, 0) + query(0, "ok")[12:],      # no question
           head + b"\xc0\x0c\0\1\0\1",                                              # a reference
           head + b"\x40" + b"a" * 64 + b"\0\0\1\0\1",                             # a label that is too long
           head + (b"\x3f" + b"a" * 63) * 4 + b"\0\0\1\0\1",                       # a name
           head + b"\1a" * 127 + b"\1b\0\0\1\0\1",                                 # one of too many labels
           head + b"\3ok",                                                          # not to its end
           head + b"\2ok\0\0\1\0",                                                  # without its class
           head + b"\2ok", head]
    with client(here) as s:
        for i, packet in enumerate(bad):
            s.send(struct.pack("!H", i) + packet[2:])
        s.send(query(100, "ok.example.com"))
        while s.recv(512)[:2] != struct.pack("!H", 100):
            pass
        same("dnsname: what is no name", {key: {k: row[k] for k in ("asked", "unread") if k in row} for key, row in rows(here).items()},
             {("others", "-"): {"asked": len(bad), "unread": len(bad)}, ("ok.example.com", "A"): {"asked": 1}})
        at = s.getsockname()
        server.s.sendto(struct.pack("!HH", 7, 0x8180) + query(7, "forged.example.com")[4:], at)     # none was asked
        server.s.sendto(query(8, "forged.example.com"), at)
        s.recv(512)
    same("dnsname: what nobody asked has no row", sorted(rows(here)), [("ok.example.com", "A"), ("others", "-")])


def test_full(here):
    """More names than rows: what is below a domain counts together; then all else. What has a row keeps it."""
    attach(here)
    first = [f"n{i}.example.com" for i in range(NAMES)]
    send(here, first + [f"n{i}.Flood.example.com" for i in range(300)] + [f"n{i}.a.b.flood.example.org" for i in range(200)] +
         ["short.net"] * 7 + [f"single{i}" for i in range(5)], "127.0.0.1")
    send(here, [f"x.d{i}" for i in range(BELOW - 3)] + ["x.more.example.com"] * 20 + ["N1.example.com", "n2.FLOOD.example.com"], "127.0.0.1")
    got = rows(here)
    whole = {name: row["asked"] for (name, _), row in got.items() if name[0] == "n"}
    same("dnsname: names that have room", whole, {**{name: 1 for name in first}, "n1.example.com": 2})
    below = {name: row["asked"] for (name, _), row in got.items() if name[0] != "n"}
    same("dnsname: names that find none, below their domains",  {name: n for name, n in below.items() if not name.startswith("*.d")},
         {"*.flood.example.com": 301, "*.flood.example.org": 200, "*.net": 7, "others": 5 + 20})
    same("dnsname: as many domains as rows", len(below) - 1, BELOW)
    same("dnsname: every query counts", sum(row["asked"] for row in got.values()), NAMES + 300 + 200 + 7 + 5 + BELOW - 3 + 20 + 2)


def test_forwarded(here, there):
    """Names that others ask for through this host take half of the rows, so that its own have some."""
    guest = Namespace("guest")
    veth(guest, here, name="g0")
    here.ip("addr add 10.8.0.1/24 dev g0")
    guest.ip("addr add 10.8.0.2/24 dev g0")
    guest.ip("route add default via 10.8.0.1")
    there.ip("route add 10.8.0.0/24 via 10.9.0.1")
    here.run("sysctl -qw net.ipv4.ip_forward=1")
    Server(there, "10.9.0.2")
    attach(here)
    ask(guest, "ok.example.com", "ok.example.com", "code-3.example.com")
    for at in range(0, NAMES // 2, 100):       # not more than its queues hold
        send(guest, [f"silent.n{i}.example.com" for i in range(at, min(at + 100, NAMES // 2))])
        ask(guest, "ok.example.com")
    ask(guest, "ok.of.guest", "code-3.of.guest", "ok.single", "ok")
    asked = 2 + (NAMES // 2 + 99) // 100
    ask(here, "ok.of.host", "ok.of.guest", "ok.example.com")
    got = {name: row for (name, _), row in rows(here).items() if not name.startswith("silent")}
    same("dnsname: forwarded", {k: row for k, row in got.items() if not k.startswith("*.n")}, {
        "ok.example.com": answered(asked + 1), "code-3.example.com": answered(1, "nxdomain"), "ok.of.host": answered(1), "ok.of.guest": answered(1),
        "*.of.guest": {"asked": 2, "ok": 1, "empty": 1, "nxdomain": 1, "times": 2}, "*.single": answered(1), "others": answered(1)})
    same("dnsname: half of the names are others'", len([1 for name, _ in rows(here) if name.startswith("silent")]), NAMES // 2 - 2)
    here.ip("link del g0")


def test_stacked(here, there):
    """A bridge and its port see the same packets: they count once."""
    for ns, number in (here, 1), (there, 2):
        ns.ip("link add br0 type bridge")
        ns.ip("link set eth0 master br0")
        ns.ip("link set br0 up")
        ns.ip(f"addr add 10.7.0.{number}/24 dev br0")
    Server(there, "10.7.0.2")
    attach(here)
    ask(here, *["ok.example.com"] * 6, "code-3.example.com", address="10.7.0.2")
    same("dnsname: through a bridge", rows(here), {("ok.example.com", "A"): answered(6), ("code-3.example.com", "A"): answered(1, "nxdomain")})
    for ns in here, there:
        ns.ip("link del br0")


def test_many(here, there):
    """Many at once, of few names."""
    Server(there, "10.9.0.2")
    attach(here)
    with client(here) as s:
        for at in range(0, QUERIES, 100):
            for i in range(at, at + 100):
                s.send(query(i, f"OK.n{i % 10}.example.com"))
            for _ in range(100):
                s.recv(512)
    same("dnsname: many", rows(here), {(f"ok.n{i}.example.com", "A"): answered(QUERIES // 10) for i in range(10)})


def test_said(here):
    attach(here)
    text = " ".join(nicprobe("show", f"{here}/host").stdout.split())
    check("dnsname: show says that it looks at each packet", "looks at the headers of all packets" in text, text)
    nicprobe("detach", f"{here}/host")
    names = nicprobe("attach", f"{here}/host")
    check("dnsname: it is not attached unasked", "dnsname" not in names.stdout.split("measures")[-1].split("\n")[0], names.stdout)


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


each(test_answers, test_texts, test_unanswered, test_unread, test_full, test_forwarded, test_stacked, test_many, test_said,
     here=one, there=two, after=clean)
finish()

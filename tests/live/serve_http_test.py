#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""The HTTP side of nicprobe serve: formats, bad requests, slow clients, two at once, its sockets, its end."""
import gzip
import os
import re
import signal
import socket
import subprocess
import tempfile
import threading
import time

from lib import lab, left
from lib.lab import NICPROBE, Namespace, check, nicprobe, same, tap, until
from lib.served import GROUP, OPENMETRICS, Server, enter, samples

LOCAL = ("--listen", "127.0.0.1:0")


def raw(server, *parts, wait=0.0, seconds=20):
    """What comes back for these bytes, until the connection is closed. An answer with a length may leave it open."""
    with socket.create_connection(("127.0.0.1", server.ports[0]), timeout=seconds) as s:
        got = b""
        try:
            for part in parts:
                s.sendall(part)
                time.sleep(wait)
            s.shutdown(socket.SHUT_WR)
            while more := s.recv(65536):
                got += more
        except OSError:     # it has closed the connection already
            pass
        return got


def status(answer):
    return [int(n) for n in re.findall(rb"^HTTP/1\.[01] (\d+) ", answer, flags=re.M)]


def formats(server):
    """Prometheus' text or OpenMetrics, plain or gzip: the same samples."""
    for accept, kind, end in ((OPENMETRICS, "application/openmetrics-text; version=1.0.0; charset=utf-8", True),
                              ("*/*", "text/plain; version=0.0.4; charset=utf-8", False),
                              ("application/json", "text/plain; version=0.0.4; charset=utf-8", False)):
        code, headers, body = server.ask(headers={"Accept": accept})
        same(f"http: {accept} gets its format", [code, headers["Content-Type"], body.endswith(b"# EOF\n"), headers["Vary"]],
             [200, kind, end, "Accept, Accept-Encoding"])
        zipped = server.ask(headers={"Accept": accept, "Accept-Encoding": "br, gzip;q=0.5"})
        check(f"http: {accept} as gzip is smaller, and the same", zipped[1]["Content-Encoding"] == "gzip" and
              len(zipped[2]) < len(body) / 3 and samples(gzip.decompress(zipped[2]).decode()).keys() ==
              samples(body.decode()).keys(), f"{len(zipped[2])} {len(body)}")
        same(f"http: {accept} without gzip", server.ask(headers={"Accept": accept, "Accept-Encoding": "gzip;q=0"})[1].get(
            "Content-Encoding"), None)


def pages(server):
    code, headers, body = server.ask("/")
    same("http: a page for people", [code, headers["Content-Type"], b'href="/metrics"' in body, b"tap0" in body],
         [200, "text/html; charset=utf-8", True, True])
    same("http: healthy", server.ask("/-/healthy")[::2], (200, b"nicprobe serves.\n"))
    for path in "/x", "/metrics/", "/../metrics", "/%2e%2e/etc/passwd", "//metrics", "/-/", "/metrics%00":
        same(f"http: there is no {path}", server.ask(path)[0], 404)
    same("http: a query is no other page", server.ask("/metrics?x=1&y")[0], 200)
    head, got = server.ask("/metrics", "HEAD"), server.ask("/metrics")
    same("http: HEAD is GET without the body", [head[0], head[2], head[1]["Content-Type"]], [200, b"", got[1]["Content-Type"]])
    for method in "POST", "PUT", "DELETE", "OPTIONS", "TRACE", "BREW":
        code, headers, _ = server.ask("/metrics", method)
        same(f"http: {method} is refused", [code, headers["Allow"]], [405, "GET, HEAD"])


def bad_requests(server):
    """None of them ends the server, or makes it answer what was not asked."""
    two = b"GET /-/healthy HTTP/1.1\r\nHost: x\r\n\r\n"
    for name, parts, want in (
            ("two requests on one connection", [two, two[:-2] + b"Connection: close\r\n\r\n"], [[200, 200]]),
            ("HTTP/1.0", [b"GET /-/healthy HTTP/1.0\r\n\r\n"], [[200]]),
            ("no Host", [b"GET /-/healthy HTTP/1.1\r\n\r\n"], [[400], [400, 400]]),
            ("another version", [b"GET / HTTP/9.9\r\nHost: x\r\n\r\n"], [[505], [400]]),
            ("bytes that are no request", [b"\0\xff\x16\x03\x01\r\n\r\n"], [[400], [], [505]]),
            ("nothing", [b""], [[]]),
            ("half a request", [b"GET /metr"], [[]]),
            ("a line without end", [b"GET /" + b"x" * 40000], [[414], [431], []]),
            ("headers without end", [b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 10000], [[431], [413], []]),
            ("a header that is too long", [b"GET / HTTP/1.1\r\nHost: x\r\nAccept: " + b"a," * 20000 + b"\r\n\r\n"],
             [[431], [413], []]),
            ("a body with GET", [b"GET /-/healthy HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello"], [[200]]),
            ("a length that is none", [b"GET /-/healthy HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n"], [[400], [400, 400], []]),
            ("a body without end", [b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\n" + b"x" * 100000],
             [[405], []]),
            ("a bad chunk", [b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"], [[405], [400]])):
        got = status(raw(server, *parts))
        check(f"http: {name}", got in want, f"{got}, not {want}")
    same("http: it still serves", server.ask()[0], 200)


def slow_clients(server):
    """Those that send nothing, or read nothing, hold up nobody, and go."""
    idle = [socket.create_connection(("127.0.0.1", server.ports[0])) for _ in range(20)]
    for s in idle[:10]:
        s.sendall(b"GET /metrics HTTP/1.1\r\nHost:")
    lazy = socket.socket()
    lazy.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    lazy.connect(("127.0.0.1", server.ports[0]))
    lazy.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n" * 50)
    before = time.monotonic()
    same("http: others are answered beside slow clients", [server.ask()[0] for _ in range(5)], [200] * 5)
    check("http: at once", time.monotonic() - before < 2, time.monotonic() - before)
    idle[0].settimeout(20)
    same("http: who sends nothing for 10 seconds is gone", idle[0].recv(100)[:12] in (b"", b"HTTP/1.1 408"), True)
    for s in [*idle, lazy]:
        s.close()


def at_once(server):
    """Many scrapes at once: each is whole."""
    out = []
    threads = [threading.Thread(target=lambda: out.append(server.metrics())) for _ in range(12)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    same("http: twelve scrapes at once are whole", [len(out), {t.endswith("# EOF\n") for t in out},
         len({frozenset(n for n, _ in samples(t)) for t in out})], [12, {True}, 1])


def size_of(server):
    with open(f"/proc/{server.p.pid}/statm", encoding="ascii") as f:
        return int(f.read().split()[1]) * 4 >> 10, len(os.listdir(f"/proc/{server.p.pid}/fd"))


def no_leak(server):
    for _ in range(50):
        server.ask(headers={"Accept-Encoding": "gzip"})
    before = size_of(server)
    for _ in range(300):
        server.ask(headers={"Accept-Encoding": "gzip"})
    until(lambda: size_of(server)[1] <= before[1])
    after = size_of(server)
    check("http: 300 scrapes leave no memory and no descriptor behind", after[0] - before[0] <= 1 and after[1] <= before[1],
          f"{before} {after} MB, descriptors")


def sockets():
    """Several addresses, sockets of systemd, and what cannot be."""
    both = Server(*LOCAL, "--listen", "[::1]:0", ports=2)
    same("http: two addresses", [both.ask("/-/healthy")[0], both.ask("/-/healthy", host="::1", port=both.ports[1])[0]], [200, 200])
    r = nicprobe("serve", "--listen", f"127.0.0.1:{both.ports[0]}", check=False)
    check("http: a port that is taken", r.returncode == 1 and "another program does" in r.stderr and "ss -ltnp" in r.stderr, r.stderr)
    for where in ("", "9920", ":9920", "localhost:9920", "127.0.0.1", "127.0.0.1:", "127.0.0.1:x", "127.0.0.1:65536", "::1:9920",
                  "[::1]", "[::1:1", "::1]:1", "[]:1", "127.0.0.1:-1", "1.2.3.4.5:1", "x" * 300 + ":1"):
        r = nicprobe("serve", "--listen", where, check=False)
        check(f"http: no address: {where[:20]!r}", r.returncode == 1 and "--listen takes" in r.stderr, f"{r.returncode} {r.stderr}")
    r = nicprobe("serve", "--listen", "192.0.2.7:9920", check=False)
    check("http: an address of another host", r.returncode == 1 and "no interface here has this address" in r.stderr, r.stderr)
    for args, why in ((["x"], "options only"), (["--listen"], "needs a value"), (["-m", "nothing"], "nothing"),
                      (["--each", "x"], "--each takes")):
        r = nicprobe("serve", *args, check=False)
        check(f"http: wrong usage: {' '.join(args)}", r.returncode == 2 and why in r.stderr, f"{r.returncode} {r.stderr}")
    same("http: the end of both", both.end(signal.SIGINT), 0)


def passed(*given, args=(), pid="$$", ports=0):
    """Runs serve with these sockets from descriptor 3 on, as systemd does."""
    def numbered():
        high = [os.dup2(s.fileno(), 50 + i) for i, s in enumerate(given)]
        for i, fd in enumerate(high):
            os.dup2(fd, 3 + i)
    run = ["sh", "-c", f'LISTEN_FDS={len(given)} LISTEN_PID={pid} exec "$@"', "sh"]
    return Server(*args, prefix=run, ports=ports, preexec_fn=numbered, close_fds=False)


def systemd():
    with tempfile.TemporaryDirectory() as path:
        tcp, unix = socket.create_server(("127.0.0.1", 0)), socket.socket(socket.AF_UNIX)
        unix.bind(f"{path}/socket")
        unix.listen()
        server = passed(tcp, unix, ports=1)
        port = tcp.getsockname()[1]
        same("http: the port that systemd passes", [server.ports, server.ask("/-/healthy")[0]], [[port], 200])
        with socket.socket(socket.AF_UNIX) as s:
            s.connect(f"{path}/socket")
            s.sendall(b"GET /-/healthy HTTP/1.0\r\n\r\n")
            same("http: and its Unix socket", status(s.recv(1000)), [200])
        same("http: its end", server.end(), 0)
        more = passed(tcp, args=LOCAL, ports=2)
        same("http: --listen beside it", [more.ask("/-/healthy", port=p)[0] for p in more.ports], [200, 200])
        more.end()
        other = passed(tcp, args=LOCAL, pid="1", ports=1)
        check("http: sockets for another process are not taken", other.ports != [port], other.ports)
        other.end()
        tcp.close()
        unix.close()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
        bad = passed(udp)
        bad.p.wait(10)
        same("http: a socket that does not listen", [bad.p.returncode, b"descriptor 3 of LISTEN_FDS" in bad.read()], [1, True])


def ends():
    """A signal ends it with 0, after the answer that is under way."""
    for number in signal.SIGTERM, signal.SIGINT:
        server = Server(*LOCAL)
        s = socket.create_connection(("127.0.0.1", server.ports[0]))
        s.sendall(b"GET /-/healthy HTTP/1.1\r\nHost: x\r\n\r\n")
        same(f"http: an open connection is answered before {number.name}", status(s.recv(1000)), [200])
        before = time.monotonic()
        same(f"http: {number.name} ends it", server.end(number), 0)
        check(f"http: {number.name} ends it within 3 seconds", time.monotonic() - before < 3, time.monotonic() - before)
        s.close()
        again = subprocess.Popen([NICPROBE, "serve", "--listen", f"127.0.0.1:{server.ports[0]}"], stderr=subprocess.PIPE)
        same(f"http: its port is free after {number.name}", b"serving on" in again.stderr.readline(), True)
        again.terminate()
        same("http: and it ends again", again.wait(10), 0)


def main():
    netns = Namespace("http")
    netns.run("sysctl -qw net.ipv6.conf.lo.disable_ipv6=0")     # of lo alone: the tap would send packets between two scrapes
    nic = tap(netns)
    nicprobe("attach", "--group", str(GROUP), f"{netns}/tap0")
    enter(netns)
    server = Server(*LOCAL)
    lab.each(formats, pages, bad_requests, slow_clients, at_once, no_leak, sockets, systemd, ends, server=server)
    same("http: it ends", server.end(), 0)
    check("http: it said nothing of all that", server.read(0) == b"" and server.said.count(b"\n") == 1, server.said)
    nicprobe("detach", "--all")
    nic.close()


lab.need_root()
left.own_bpffs()
main()
lab.finish()

#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""The first byte of a connection: its time lies between what the server waited and what the program saw, whichever way it reads."""
import os
import socket
import threading

from lib.connections import attach, client, listen, pair, rows
from lib.lab import *
from lib.wire import inside

ME = "firstbyte-test"
MANY = 100 * int(os.environ.get("RUNS", 1))
with open("/proc/self/comm", "w", encoding="ascii") as comm:
    comm.write(ME)


def told(ns):
    """{(remote, port, process): row}"""
    return {(r["remote"], r["port"], r["process"]): r for r in rows(ns, "firstbyte") if r["answered_connections"] or r["silent_connections"]}


def counts(ns):
    return {k[:2]: (r["answered_connections"], r["silent_connections"]) for k, r in told(ns).items()}


def served(server, wait, data=b"hello", close=True):
    """Accepts one, and answers it after so many seconds. None: not at all."""
    def run():
        with server.accept()[0] as s:
            s.recv(100)
            if wait is not None:
                time.sleep(wait)
                s.sendall(data)
            if not close:
                s.recv(1)
    t = threading.Thread(target=run, daemon=True)
    t.start()
    return t


def plain(s):
    return s.recv(100)


def late(s):
    time.sleep(.2)
    return s.recv(100)


def looked(s):
    """Looks at it without reading, which does not count; reads it 200 ms later."""
    first = s.recv(100, socket.MSG_PEEK)
    time.sleep(.2)
    return s.recv(100) if first else b""


def spliced(s):
    """Without a copy, into a pipe."""
    s.setblocking(True)     # a timeout would make it not wait
    r, w = os.pipe()
    try:
        return os.read(r, 100) if os.splice(s.fileno(), w, 100) else b""
    finally:
        os.close(r)
        os.close(w)


def unhurried(ns, address):
    """A socket that does not wait for its connection."""
    s = inside(ns, lambda: socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET))
    s.setblocking(False)
    s.connect_ex((address, 8000))
    s.settimeout(10)
    return s


def test_ways(here, there):
    """Each way to connect and to read, over both families; the request waits for what connect() has waited for."""
    ways = (("recv", client, plain, "10.9.0.2", .3, b"hello"), ("IPv6", client, plain, "fd09::2", .3, b"hello"),
            ("read late", client, late, "10.9.0.2", .1, b"hello"), ("MSG_PEEK", client, looked, "10.9.0.2", .1, b"hello"),
            ("splice", client, spliced, "10.9.0.2", .2, b"hello"), ("one byte, and the end", client, plain, "10.9.0.2", .1, b"!"),
            ("connect without waiting", unhurried, plain, "10.9.0.2", .2, b"hello"))
    for name, connect, read, address, wait, data in ways:
        attach(here, "-m", "firstbyte")
        attach(there, "-m", "firstbyte")
        server = listen(there, address)
        server.settimeout(10)
        thread = served(server, wait, data)
        began = time.monotonic()
        s = connect(here, address)
        s.sendall(b"x")
        got = read(s)
        most = time.monotonic() - began
        s.recv(100)
        s.close()
        thread.join()
        least = wait if read in (plain, spliced) else .2 if read is late else wait + .2
        row = told(here).get((address, "8000", ME), {})
        same(f"{name}: what was sent is read", got, data)
        same(f"{name}: one connection", counts(here), {(address, "8000"): (1, 0)})
        whole, answer = row["latency_seconds"]["sum"], row["answer_seconds"]["sum"]
        check(f"{name}: as long as it took # {1e6 * (most - whole):.0f} us less than the program saw", least <= whole <= most,
              f"{least} {whole} {most}")
        check(f"{name}: most of it after the handshake", least <= answer <= whole, f"{answer} of {whole}")
        same(f"{name}: the server has asked for nothing", counts(there), {})
        server.close()
        for ns in (here, there):
            nicprobe("detach", f"{ns}/host")


def test_silent(here, there):
    """One is closed before an answer, one ends without, one was there before, one waits still, and one is refused."""
    server = listen(there, "10.9.0.2")
    server.settimeout(10)
    threads = [served(server, .1)]
    old = client(here, "10.9.0.2")
    attach(here, "-m", "firstbyte")
    old.sendall(b"x")
    same("silent: old: it is read", old.recv(100), b"hello")
    old.close()
    threads.append(served(server, None))
    s = client(here, "10.9.0.2")
    s.sendall(b"x")
    same("silent: the server closes", s.recv(100), b"")
    s.close()
    threads.append(served(server, .5))
    s = client(here, "10.9.0.2")
    s.sendall(b"x")
    s.close()
    threads.append(served(server, None, close=False))
    waits = client(here, "10.9.0.2")
    waits.sendall(b"x")
    try:
        client(here, "10.9.0.2", 8001)
    except ConnectionRefusedError:
        pass
    until(lambda: counts(here) == {("10.9.0.2", "8000"): (0, 2)})
    same("silent: two ended without", counts(here), {("10.9.0.2", "8000"): (0, 2)})
    waits.close()
    for t in threads:
        t.join(10)
    until(lambda: counts(here) == {("10.9.0.2", "8000"): (0, 3)})
    same("silent: and the third", counts(here), {("10.9.0.2", "8000"): (0, 3)})
    server.close()


def test_many(here, there):
    """Each of many counts once, however often it is read."""
    attach(here, "-m", "firstbyte")
    server = listen(there, "10.9.0.2")
    server.settimeout(10)

    def serve():
        for _ in range(MANY):
            with server.accept()[0] as s:
                for _ in range(4):
                    s.sendall(s.recv(1))
    t = threading.Thread(target=serve)
    t.start()
    began = time.monotonic()
    for _ in range(MANY):
        with client(here, "10.9.0.2") as c:
            for _ in range(4):
                c.sendall(b"x")
                c.recv(1)
    most = time.monotonic() - began
    t.join()
    got = told(here)["10.9.0.2", "8000", ME]
    same("many: each once", (got["answered_connections"], got["silent_connections"], got["latency_seconds"]["count"]), (MANY, 0, MANY))
    check("many: together they took no longer than the test", got["latency_seconds"]["sum"] < most, got["latency_seconds"]["sum"])
    server.close()


def main():
    need_root()
    here, there = pair()

    def after():
        for ns in (here, there):
            nicprobe("detach", f"{ns}/host", check=False)
    each(test_ways, test_silent, test_many, after=after, here=here, there=there)
    finish()


main()

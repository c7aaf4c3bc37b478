#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Troubles of the buffers of a host's sockets, and loads that fill buffers and lose nothing."""
import contextlib
import socket
import sys

from world import healthy, inside, lab, run, trouble
from programs import named, program, sends


def host(w):
    """Two namespaces; the buffers of the first one's sockets are measured."""
    w.veth()
    w.dev, w.at = "eth0", f"{w.here}/host"
    w.attach("-m", "sockmem")


@trouble("udp-buffer-full", "a larger SO_RCVBUF")
def datagrams_find_no_room(w):
    """Bursts of twenty datagrams to a program that has set SO_RCVBUF to 2048."""
    host(w)
    p = program(w, "s.setsockopt(1, 8, 2048)\ns.bind(('', 9))\nprint(flush=True)\nwhile True: s.recv(9999)")
    sends(w, w.udp(w.there), ("10.0.1.1", 9), (1000,), .02, 20)

    def larger():
        p.kill()
        p.wait()
        w.reader()
    named(w, w.expect("udp-buffer-full", fix=False, remedy=larger, settle=.5), f"(pid {p.pid})", "port 9", "SO_RCVBUF")


@healthy
def buffers_are_used(w):
    """A TCP stream whose receiver reads slowly, so that its window closes, and bursts of datagrams that have room."""
    host(w)
    w.reader()
    sends(w, w.udp(w.there), ("10.0.1.1", 9), (1000,), .02, 20)
    server = inside(w.here, lambda: socket.create_server(("10.0.1.1", 8000)))
    c = inside(w.there, socket.socket)
    c.connect(("10.0.1.1", 8000))
    s = server.accept()[0]
    for x in (s, c, server):
        w.stack.callback(x.close)
        x.settimeout(.2)

    def send():
        with contextlib.suppress(OSError):
            c.send(bytes(1 << 16))
    w.load(send)
    w.load(lambda: s.recv(1 << 14), .002)
    w.quiet(least=50)
    row = next(r for r in w.look()["meters"]["sockmem"] if r["protocol"] == "tcp" and r["buffer"] == "receive" and r["local"] != "all")
    lab.check(f"{w.name}: the receiver's buffer has filled", row["fill_percent"] > 50, str(row))


if __name__ == "__main__":
    run(sys.argv[1:])

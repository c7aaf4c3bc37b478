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


def connection(w, reads, writes):
    """From the one namespace to the other, and a load that writes to it as much as it takes; the end that should read."""
    server = inside(reads, lambda: socket.create_server(("", 8000)))
    c = inside(writes, socket.socket)
    c.connect(("10.0.1.1" if reads == w.here else "10.0.1.2", 8000))
    s = server.accept()[0]
    for x in (s, c, server):
        w.stack.callback(x.close)
        x.settimeout(.2)

    def send():
        with contextlib.suppress(OSError):
            c.send(bytes(1 << 16))
    w.load(send)
    return s


def closed(w, finding, here):
    """Nobody reads for some seconds, here or there; then somebody does, 20 MB a second."""
    host(w)
    w.reader()
    reads, writes = (w.here, w.there) if here else (w.there, w.here)
    sends(w, w.udp(w.there), ("10.0.1.1", 9), (1000,), .02)
    s = connection(w, reads, writes)
    w.expect(finding, fix=False, settle=7, remedy=lambda: w.load(lambda: s.recv(1 << 16), .003))


@trouble("tcp-not-read", "the program reads")
def program_does_not_read(w):
    """A program has a connection and does not read what comes, until its window is closed."""
    closed(w, "tcp-not-read", True)


@trouble("tcp-peer-not-read", "the program there reads")
def other_end_does_not_read(w):
    """A program writes to a connection whose other end does not read."""
    closed(w, "tcp-peer-not-read", False)


@healthy
def buffers_are_used(w):
    """A TCP stream whose receiver reads slowly, so that its window closes, and bursts of datagrams that have room."""
    host(w)
    w.reader()
    sends(w, w.udp(w.there), ("10.0.1.1", 9), (1000,), .02, 20)
    s = connection(w, w.here, w.there)
    w.load(lambda: s.recv(1 << 14), .002)
    w.quiet(least=50)
    row = next(r for r in w.look()["meters"]["sockmem"] if r["protocol"] == "tcp" and r["buffer"] == "receive" and r["local"] != "all")
    lab.check(f"{w.name}: the receiver's buffer has filled", row["fill_percent"] > 50, str(row))


@healthy
def program_reads_now_and_then(w):
    """A program reads 1 MB of a TCP stream each two seconds, and its window is closed meanwhile, as is that of the other end."""
    host(w)
    w.reader()
    sends(w, w.udp(w.there), ("10.0.1.1", 9), (1000,), .02)
    s = connection(w, w.here, w.there)
    w.load(lambda: s.recv(1 << 20, socket.MSG_WAITALL), 2)
    w.quiet(least=50, settle=7)
    row = next(r for r in lab.show(w.at)["meters"]["sockmem"] if r["protocol"] == "tcp" and r["buffer"] == "receive" and r["local"] == "all")
    lab.check(f"{w.name}: its window was closed # {row['windows_closed_events']} times", row["windows_closed_events"] > 0, str(row))


if __name__ == "__main__":
    run(sys.argv[1:])

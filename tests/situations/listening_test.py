#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Troubles of listeners, as the host has them, and one that is well."""
import contextlib
import itertools
import socket
import sys
import time

from world import healthy, inside, run, trouble
from connections import RESET, drain, host
from lib.wire import tcp

PORT = 8000


def listener(w, backlog):
    """In the namespace that is measured: a socket that listens, and that nobody looks at yet."""
    def make():
        s = socket.socket()
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        s.bind(("10.0.1.1", PORT))
        s.listen(backlog)
        s.setblocking(False)
        return s
    s = inside(w.here, make)
    w.stack.callback(s.close)
    return s


def bursts(w, nr, every):
    """So many clients at a time, which keep what they get for eight seconds."""
    waiting = []

    def burst():
        for _ in range(nr):
            s = inside(w.there, socket.socket)
            s.setblocking(False)
            s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
            s.connect_ex(("10.0.1.1", PORT))
            waiting.append((time.monotonic(), s))
        while waiting and waiting[0][0] < time.monotonic() - 8:
            waiting.pop(0)[1].close()
    return w.load(burst, every)


def flood(w, every):
    """SYNs that nobody stands behind: of made-up addresses of the network, which answer nothing."""
    raw = inside(w.there, lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW))
    w.stack.callback(raw.close)
    numbers = itertools.count()

    def send():
        n = next(numbers)
        raw.sendto(tcp(PORT, src=f"10.0.1.{100 + n % 100}", dst="10.0.1.1", sport=1024 + n % 50000), ("10.0.1.1", 0))
    return w.load(send, every)


@trouble("listen-overflow", "a longer queue of the listener")
def accept_queue_overflows(w):
    """Bursts of twenty connections to a listener whose queue holds two, and which looks four times a second."""
    host(w)
    server = listener(w, 1)
    w.load(lambda: drain(server), .25)
    bursts(w, 20, .5)
    w.expect("listen-overflow", fix=False, settle=1.5, seconds=3, remedy=lambda: (server.listen(1024), time.sleep(3)), then=("tcp-retransmits",))


@trouble("listen-syns-dropped", "SYN cookies")
def syn_queue_is_full(w):
    """A flood of forged SYNs, where SYN cookies are off."""
    host(w)
    server = listener(w, 16)
    w.load(lambda: drain(server), .01)
    w.here.run("sysctl -qw net.ipv4.tcp_syncookies=0")
    flood(w, .005)
    visits(w)
    w.expect("listen-syns-dropped", settle=1, then=("listen-cookies",))


@trouble("listen-cookies", "the flood ends")
def syn_flood(w):
    """A flood of forged SYNs, which are answered with cookies."""
    host(w)
    server = listener(w, 16)
    w.load(lambda: drain(server), .01)
    w.here.run("sysctl -qw net.ipv4.tcp_synack_retries=0")      # a handshake is given up after a second
    visits(w)
    sent = flood(w, .005)
    w.expect("listen-cookies", fix=False, settle=1, remedy=lambda: (sent.stop(), time.sleep(2.5)))


def visits(w):
    """A client that connects and closes, twenty times a second, and waits for half a second at most."""
    def visit():
        s = inside(w.there, socket.socket)
        s.settimeout(.5)
        s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        with contextlib.suppress(OSError), s:
            s.connect(("10.0.1.1", PORT))
    return w.load(visit, .05)


@healthy
def listener_is_busy(w):
    """Two hundred connections a second, ten at a time, to a listener that accepts a hundred times a second."""
    host(w)
    server = listener(w, 128)
    w.load(lambda: drain(server), .01)
    bursts(w, 10, .05)
    w.quiet(least=20)


if __name__ == "__main__":
    run(sys.argv[1:])

#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Troubles of connections to a far host, and one that is well: two taps, and between them whoever delays each frame."""
import contextlib
import heapq
import itertools
import socket
import sys
import threading
import time

from world import healthy, inside, run, trouble
from connections import host
from lib.wire import Wire

PORT = 8000
WAY = .02       # seconds, each way


def far(w):
    """Two namespaces, 40 ms from each other and back; the host of the first is measured."""
    w.here, w.there = w.namespace(), w.namespace("there")
    ends = [Wire(ns, "eth0", 1, None) for ns in (w.here, w.there)]
    for i, (ns, end) in enumerate(zip((w.here, w.there), ends), 1):
        w.stack.callback(end.close)
        ns.ip(f"addr add 10.0.1.{i}/24 dev eth0")
        mac = ends[2 - i].mac.hex(":")
        ns.ip(f"neigh replace 10.0.1.{3 - i} lladdr {mac} dev eth0")
    late, order = [], itertools.count()

    def carry():
        now = time.monotonic()
        for one, other in (ends, ends[::-1]):
            while (frame := one.read(0)) is not None:
                heapq.heappush(late, (now + WAY, next(order), other, frame))
        while late and late[0][0] <= now:
            _, _, other, frame = heapq.heappop(late)
            other.write(0, frame)
    w.load(carry, .0005)
    w.dev, w.at = "eth0", f"{w.here}/host"
    w.attach()


def receiver(w):
    """Accepts and reads; [SO_RCVBUF] of those to come, None: the kernel's choice."""
    room = [None]

    def make():
        s = socket.socket()
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        s.bind(("10.0.1.2", PORT))
        s.listen(64)
        s.settimeout(.2)
        return s
    server = inside(w.there, make)
    w.stack.callback(server.close)

    def read(s):
        with contextlib.suppress(OSError), s:
            while s.recv(1 << 16):
                pass

    def serve():
        if room[0] and server.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF) != 2 * room[0]:
            server.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, room[0])
        with contextlib.suppress(TimeoutError):
            s = server.accept()[0]
            s.settimeout(5)
            threading.Thread(target=read, args=(s,), daemon=True).start()
    w.load(serve)
    return room


def senders(w, octets):
    """Four that connect, send and close, again and again; [SO_SNDBUF] of those to come, None: the kernel's choice."""
    room = [None]

    def send():
        s = inside(w.here, socket.socket)
        s.settimeout(5)
        if room[0]:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, room[0])
        with contextlib.suppress(OSError), s:
            s.connect(("10.0.1.2", PORT))
            s.sendall(bytes(octets))
            s.shutdown(socket.SHUT_WR)
            s.recv(1)
    for _ in range(4):
        w.load(send)
    return room


@trouble("tcp-receive-window", "a receive buffer of the kernel's choice")
def receive_buffer_is_small(w):
    """Programs send 150 kB to a host 40 ms away whose program has set a receive buffer of 8 kB."""
    far(w)
    room = receiver(w)
    room[0] = 8192
    time.sleep(.3)
    senders(w, 150000)

    def larger():
        room[0] = 1 << 19
        time.sleep(2.5)
    w.expect("tcp-receive-window", fix=False, seconds=2, settle=1.5, remedy=larger)


@trouble("tcp-send-buffer", "a send buffer of the kernel's choice")
def send_buffer_is_small(w):
    """Programs that have set a send buffer of 8 kB send 1 MB to a host 40 ms away."""
    far(w)
    receiver(w)
    room = senders(w, 10**6)
    room[0] = 8192

    def larger():
        room[0] = None
        time.sleep(1.5)
    w.expect("tcp-send-buffer", fix=False, seconds=2, settle=1.5, remedy=larger)


@trouble("tcp-send-limit", "a larger limit in tcp_wmem")
def send_buffers_may_not_grow(w):
    """Programs send 1 MB to a host 40 ms away, where tcp_wmem lets no send buffer grow beyond 16 kB."""
    far(w)
    receiver(w)
    w.here.run("sysctl -qw net.ipv4.tcp_wmem='4096 16384 16384'")
    senders(w, 10**6)
    w.expect("tcp-send-limit", seconds=2, settle=1.5, remedy=lambda: time.sleep(1.5))


@healthy
def send_buffers_are_set(w):
    """Programs that have set a send buffer of 8 kB send 2 MB to a host that is near."""
    host(w)
    receiver(w)
    senders(w, 2000000)[0] = 8192
    w.quiet(seconds=2, least=3, settle=1)


@healthy
def far_host(w):
    """Programs send 300 kB at a time to a host 40 ms away."""
    far(w)
    receiver(w)
    senders(w, 300000)
    w.quiet(seconds=2, least=3, settle=1.5)


if __name__ == "__main__":
    run(sys.argv[1:])

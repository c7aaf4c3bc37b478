#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Troubles of TCP connections, as the host has them, and a host that is well."""
import contextlib
import socket
import sys
import threading
import time

from world import healthy, inside, run, trouble
from connections import RESET, drain, host

PORT = 8000
MAX_PACING_RATE = 47


def listener(w, address="", port=PORT, backlog=128):
    def make():
        s = socket.socket()
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        s.bind((address, port))
        s.listen(backlog)
        s.settimeout(.2)
        return s
    s = inside(w.there, make)
    w.stack.callback(s.close)
    return s


def served(w, server):
    """Accepts, and closes when the other side does."""
    def act():
        with contextlib.suppress(TimeoutError):
            for _ in range(20):     # and then it may be stopped
                s = server.accept()[0]
                s.settimeout(2)
                threading.Thread(target=closing, args=(s,), daemon=True).start()
    return w.load(act)


def closing(s):
    with contextlib.suppress(OSError), s:
        while s.recv(1 << 16):
            pass


def asked(w, address="10.0.1.2", port=PORT, timeout=5):
    """One attempt; the socket, or None."""
    s = inside(w.here, socket.socket)
    s.settimeout(timeout)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
    try:
        s.connect((address, port))
        return s
    except OSError:
        s.close()
        return None


def visits(w, address="10.0.1.2", port=PORT, every=.05, at_once=1):
    """Keeps connecting, so many at once, and closing."""
    def act():
        for s in [asked(w, address, port) for _ in range(at_once)]:
            if s:
                s.close()
    return w.load(act, every)


@trouble("time-wait-full", "a larger tcp_max_tw_buckets")
def time_wait_is_small(w):
    """Connections that this host closes first, where TIME_WAIT has room for five."""
    host(w)
    w.here.run("sysctl -qw net.ipv4.tcp_max_tw_buckets=5")
    served(w, listener(w))

    def visit():
        s = asked(w)
        if s:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, bytes(8))
            s.close()
    w.load(visit, .02)
    w.expect("time-wait-full")


@trouble("connect-no-port", "a wider range of local ports")
def local_ports_are_used_up(w):
    """Twelve connections at a time, where the range of local ports has ten."""
    host(w)
    w.here.run("sysctl -qw net.ipv4.ip_local_port_range='40000 40009'")
    served(w, listener(w))
    visits(w, at_once=12)
    w.expect("connect-no-port")


@trouble("connect-refused", "a listener")
def nobody_listens(w):
    """Connections to a port without a listener."""
    host(w)
    visits(w)
    w.expect("connect-refused", fix=False, remedy=lambda: served(w, listener(w)))


@trouble("connect-unanswered", "the host is up")
def host_is_down(w):
    """Connections to an address of the network that nobody has."""
    host(w)
    w.here.run("sysctl -qw net.ipv4.neigh.eth0.retrans_time_ms=50 net.ipv4.neigh.eth0.mcast_solicit=1")
    visits(w, "10.0.1.77")

    def up():
        w.there.ip("addr add 10.0.1.77/24 dev eth0")
        served(w, listener(w))
    w.expect("connect-unanswered", fix=False, remedy=up)


@trouble("connect-syn-lost", "a longer queue of the listener")
def accept_queue_is_short(w):
    """Bursts of twenty connections to a listener whose queue holds two, and which looks four times a second."""
    host(w)
    server = listener(w, backlog=1)
    server.setblocking(False)
    w.load(lambda: drain(server), .25)
    waiting = []

    def burst():
        for _ in range(20):
            s = inside(w.here, socket.socket)
            s.setblocking(False)
            s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
            s.connect_ex(("10.0.1.2", PORT))
            waiting.append((time.monotonic(), s))
        while waiting and waiting[0][0] < time.monotonic() - 8:
            waiting.pop(0)[1].close()
    w.load(burst, .5)
    w.expect("connect-syn-lost", fix=False, settle=1.5, seconds=3, remedy=lambda: (server.listen(1024), time.sleep(3)), then=("tcp-retransmits",))


@trouble("tcp-retransmits", "the way is mended")
def segments_are_lost(w):
    """A stream over a way that loses everything for four milliseconds, ten times a second."""
    host(w)
    server = listener(w)
    served(w, server)
    mac = w.there.ip("-o link show eth0").split("link/ether ")[1][:17]
    c = asked(w)
    w.stack.callback(c.close)
    c.setblocking(False)
    visits(w)

    def send():
        with contextlib.suppress(BlockingIOError):
            c.send(bytes(8000))
    w.load(send, .002)

    def lose():
        w.here.ip("neigh replace 10.0.1.2 lladdr 02:00:00:00:00:77 dev eth0")
        time.sleep(.004)
        w.here.ip(f"neigh replace 10.0.1.2 lladdr {mac} dev eth0")
    losing = w.load(lose, .1)
    w.expect("tcp-retransmits", fix=False, remedy=losing.stop, settle=.5)


def answered(s):
    """Answers each 20 bytes with one."""
    with contextlib.suppress(OSError), s:
        while s.recv(20, socket.MSG_WAITALL):
            s.send(b"!")


@trouble("tcp-small-writes", "TCP_NODELAY")
def requests_are_written_in_two_parts(w):
    """Two programs write the head and the body of each request apart, and wait for the answer."""
    host(w, "-m", "+tcpwait")
    server, asking = listener(w), []
    for _ in range(2):
        asking.append(asked(w))
        threading.Thread(target=answered, args=(server.accept()[0],), daemon=True).start()
    served(w, server)
    visits(w)

    def ask(s):
        s.send(b"head")
        s.send(b"the rest of it..")
        s.recv(1)
    for s in asking:
        w.stack.callback(s.close)
        w.load(lambda s=s: ask(s), .001)
    w.expect("tcp-small-writes", fix=False,
             remedy=lambda: [s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1) for s in asking])


def streams(w, rate, octets, every=0.0):
    """Two programs with SO_MAX_PACING_RATE send so much at a time; their sockets."""
    server, sending = listener(w), []
    for _ in range(2):
        s = asked(w)
        s.setsockopt(socket.SOL_SOCKET, MAX_PACING_RATE, rate)
        w.stack.callback(s.close)
        threading.Thread(target=closing, args=(server.accept()[0],), daemon=True).start()
        s.settimeout(.2)
        sending.append(s)
    served(w, server)
    visits(w)

    def send(s):
        with contextlib.suppress(TimeoutError):
            s.send(bytes(octets))
    for s in sending:
        w.load(lambda s=s: send(s), every)
    return sending


@trouble("tcp-max-rate", "a higher rate")
def rate_is_limited(w):
    """Two programs send as fast as they may, and have set that to 400 kB a second."""
    host(w, "-m", "+tcpwait")
    sending = streams(w, 400000, 20000)
    w.expect("tcp-max-rate", fix=False,
             remedy=lambda: [s.setsockopt(socket.SOL_SOCKET, MAX_PACING_RATE, 10**9) for s in sending])


@healthy
def rates_are_not_reached(w):
    """Two programs that may send 20 MB a second and send 20 kB, fifty times a second."""
    host(w, "-m", "+tcpwait")
    streams(w, 20 * 10**6, 20000, .02)
    w.quiet(least=10)


@healthy
def requests_and_streams(w):
    """What TCP holds is looked at: a stream as fast as it goes, requests of one write, and small writes now and then."""
    host(w, "-m", "+tcpwait")
    server = listener(w)
    c, stream = asked(w), asked(w)
    for s in c, stream:
        w.stack.callback(s.close)
    threading.Thread(target=answered, args=(server.accept()[0],), daemon=True).start()
    threading.Thread(target=closing, args=(server.accept()[0],), daemon=True).start()
    served(w, server)
    visits(w, every=.025)
    stream.setblocking(False)

    def send():
        with contextlib.suppress(BlockingIOError):
            stream.send(bytes(200000))

    def ask():
        c.send(bytes(20))
        c.recv(1)
    w.load(send, .002)
    w.load(ask, .01)
    w.quiet(least=20)


@healthy
def connections_come_and_go(w):
    """Forty connections a second, a stream beside them, and now and then one that is refused."""
    host(w)
    served(w, listener(w))
    visits(w, every=.025)
    visits(w, port=PORT + 1, every=.9)
    c = asked(w)
    w.stack.callback(c.close)
    c.setblocking(False)

    def send():
        with contextlib.suppress(BlockingIOError):
            c.send(bytes(100000))
    w.load(send, .005)
    w.quiet(least=20)


if __name__ == "__main__":
    run(sys.argv[1:])

# SPDX-License-Identifier: GPL-2.0
"""TCP connections of known content between namespaces, and what the host's meters say of them."""
import socket
import threading

from lib.lab import Namespace, narrow_all, nicprobe, nonzero, show, veth
from lib.wire import inside

PORT = 8000


def pair():
    """Two namespaces, 10.9.0.1 and 10.9.0.2, fd09::1 and fd09::2, with a veth between them."""
    here, there = Namespace("here"), Namespace("there")
    veth(here, there)
    for ns, nr in ((here, 1), (there, 2)):
        ns.run("sysctl -qw net.ipv6.conf.eth0.disable_ipv6=0")
        ns.ip(f"addr add 10.9.0.{nr}/24 dev eth0")
        ns.ip(f"addr add fd09::{nr}/64 dev eth0 nodad")
        narrow_all(ns)
    return here, there


def attach(ns, *more):
    nicprobe("attach", f"{ns}/host", *more)


def rows(ns, meter):
    return show(f"{ns}/host")["meters"][meter]


def connects(ns):
    """{(remote, port): what ended how}"""
    return {(r["remote"], int(r["port"])): nonzero(r["ends_attempts"]) for r in rows(ns, "connect") if r["attempts"]}


def sessions(ns):
    """{(remote, port, side): (sessions by end, received, sent)}"""
    return {(r["remote"], int(r["port"]), r["side"]): (nonzero(r["sessions"]), r["received_bytes"], r["sent_bytes"])
            for r in rows(ns, "session") if any(r["sessions"].values())}


def tcp_of(ns, remote):
    return next((r for r in rows(ns, "tcp") if r["remote"] == remote), None)


def listen(ns, address="0.0.0.0", port=PORT, backlog=64):
    def make():
        s = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET)
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if address == "::":
            s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        s.bind((address, port))
        s.listen(backlog)
        return s
    return inside(ns, make)


def client(ns, address, port=PORT):
    def make():
        s = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET)
        s.settimeout(10)
        return s
    s = inside(ns, make)
    s.connect((address, port))
    return s


def read(s, octets):
    got = 0
    while got < octets:
        data = s.recv(1 << 16)
        if not data:
            break
        got += len(data)
    return got


def converse(server, c, there, back):
    """So many bytes there and back; the client closes first."""
    s = server.accept()[0]
    t = threading.Thread(target=c.sendall, args=(b"x" * there,))
    t.start()
    assert read(s, there) == there
    t.join()
    t = threading.Thread(target=s.sendall, args=(b"y" * back,))
    t.start()
    assert read(c, back) == back
    t.join()
    c.close()
    assert s.recv(1) == b""
    s.close()


def kernel(ns):
    """What the kernel counts in this namespace: Tcp and TcpExt."""
    known = {}
    for name in ("snmp", "netstat"):
        words = [line.split() for line in ns.run(f"cat /proc/net/{name}").splitlines() if line.startswith("Tcp")]
        for names, values in zip(words[::2], words[1::2]):
            known.update(zip(names[1:], map(int, values[1:])))
    return known

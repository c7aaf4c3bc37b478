#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Troubles of name servers, as a host that asks them has them, and a host that is well."""
import contextlib
import os
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

from world import healthy, inside, lab, run, trouble

SERVFAIL, NXDOMAIN = 2, 3


def host(w, meter="dns"):
    """Two namespaces; the host of the first is measured."""
    w.veth()
    w.dev, w.at = "eth0", f"{w.here}/host"
    w.attach("-m", meter)


def udp(w, ns):
    s = inside(ns, lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
    w.stack.callback(s.close)
    s.settimeout(.2)
    return s


class Server:
    """Answers with this code, after so many seconds; None: not at all."""
    def __init__(self, w, ns, address="10.0.1.2", code=0, after=0.0):
        self.code, self.after, self.s = code, after, udp(w, ns)
        self.s.bind((address, 53))
        w.load(self.serve)

    def serve(self):
        with contextlib.suppress(TimeoutError):
            data, who = self.s.recvfrom(512)
            if self.code is not None:
                answer = data[:2] + struct.pack("!H", 0x8180 | self.code) + data[4:]
                threading.Timer(self.after, self.answer, [answer, who]).start()

    def answer(self, data, who):
        with contextlib.suppress(OSError):      # it ends
            self.s.sendto(data, who)


class Asker:
    """Asks `server` for a name, each time from another port."""
    def __init__(self, w, server="10.0.1.2", every=.05):
        self.server, self.asked, self.ns = server, [], w.here
        w.stack.callback(lambda: [s.close() for s in self.asked])
        w.load(self.ask, every)

    def ask(self):
        s = inside(self.ns, lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        s.sendto(struct.pack("!HHHHHH", len(self.asked) & 0xffff, 0x100, 1, 0, 0, 0) + b"\1a\0\0\1\0\1", (self.server, 53))
        self.asked.append(s)
        if len(self.asked) > 500:
            self.asked.pop(0).close()


class Knowing(Server):
    """Has an address of these names, and no other name."""
    def __init__(self, w, ns, *names):
        self.names = names
        super().__init__(w, ns)

    def serve(self):
        with contextlib.suppress(TimeoutError):
            data, who = self.s.recvfrom(512)
            at, labels = 12, []
            while data[at]:
                labels.append(data[at + 1:at + 1 + data[at]].decode().lower())
                at += 1 + data[at]
            known = ".".join(labels) in self.names
            has = known and data[at + 1:at + 3] == b"\0\1"      # of type A
            answer = data[:2] + struct.pack("!HHHHH", 0x8180 | (0 if known else NXDOMAIN), 1, has, 0, 0) + data[12:at + 5]
            if has:
                answer += b"\xc0\x0c" + struct.pack("!HHIH", 1, 1, 60, 4) + bytes([192, 0, 2, 7])
            self.answer(answer, who)


class Lookups:
    """A program that asks the C library for names, one after the other, again and again; with search domains as in a pod."""
    def __init__(self, w, *names, ndots=5):
        self.conf, switch = (self.file(w) for _ in range(2))
        self.dots(ndots)
        with open(switch, "w", encoding="ascii") as f:
            f.write("hosts: dns\n")
        program = "import contextlib, socket, time\nwhile True:\n" \
            f" for name in {names!r}:\n  with contextlib.suppress(OSError):\n   socket.getaddrinfo(name, 80)\n  time.sleep(.01)"
        p = subprocess.Popen(["ip", "netns", "exec", str(w.here), "unshare", "-m", "sh", "-c", f"mount --bind {self.conf} /etc/resolv.conf && "
                              f"mount --bind {switch} /etc/nsswitch.conf && exec \"$@\"", "sh", sys.executable, "-c", program])
        w.stack.callback(lambda: (p.kill(), p.wait()))

    @staticmethod
    def file(w):
        fd, path = tempfile.mkstemp()
        os.close(fd)
        w.stack.callback(os.unlink, path)
        return path

    def dots(self, ndots):
        with open(self.conf, "r+", encoding="ascii") as f:      # the same file, as it is mounted; and never empty
            f.write("nameserver 10.0.1.2\nsearch default.svc.cluster.local svc.cluster.local cluster.local\n"
                    f"options ndots:{ndots}\n")


@trouble("dns-search", "`options ndots:2`")
def names_are_searched_for(w):
    """A program in a pod of Kubernetes, with ndots:5, looks up names outside of the cluster."""
    host(w, "dnsname")
    names = "www.example.com", "api.example.org"
    Knowing(w, w.there, *names)
    lookups = Lookups(w, *names)
    w.expect("dns-search", fix=False, remedy=lambda: (lookups.dots(2), time.sleep(.5)))


@healthy
def names_are_found_in_search_domains(w):
    """A program in a pod looks up names of the cluster, and one outside with a dot at its end."""
    host(w, "dnsname")
    Knowing(w, w.there, "www.example.com", "db.default.svc.cluster.local", "web.other.svc.cluster.local")
    Lookups(w, "db", "web.other", "www.example.com.")
    w.quiet(least=20)


@trouble("dns-unanswered", "the server answers")
def name_server_is_silent(w):
    """Queries to a server that does not answer."""
    host(w)
    server = Server(w, w.there, code=None)
    Asker(w)

    def answer():
        server.code = 0
        time.sleep(10)      # those of the last ten seconds are found
    w.expect("dns-unanswered", fix=False, settle=2.5, seconds=4, remedy=answer)


@trouble("dns-fails", "a server that knows")
def name_server_fails(w):
    """A server that answers SERVFAIL to one query of three."""
    host(w)
    server = Server(w, w.there)
    Asker(w)
    change = w.load(lambda: setattr(server, "code", SERVFAIL if time.monotonic() % .3 < .1 else 0), .01)

    def mend():
        change.stop()
        server.code = 0
    w.expect("dns-fails", fix=False, remedy=mend)


@trouble("dns-slow", "a server that is near")
def name_server_is_far(w):
    """A server that takes 0.15 s to answer."""
    host(w)
    Server(w, w.there, after=.15)
    near = w.namespace("near")
    lab.veth(w.here, near, "eth1", 1, 1500)
    for number, ns in enumerate((w.here, near), 1):
        ns.ip(f"addr add 10.0.2.{number}/24 dev eth1")
    Server(w, near, "10.0.2.2")
    asker = Asker(w)
    w.expect("dns-slow", fix=False, remedy=lambda: (setattr(asker, "server", "10.0.2.2"), time.sleep(.5)))


@healthy
def names_are_resolved(w):
    """Forty queries a second, of which a few are for names that do not exist; one is lost."""
    host(w)
    server = Server(w, w.there, code=None)
    Asker(w, every=.025)
    time.sleep(.05)
    server.code = 0
    w.load(lambda: setattr(server, "code", NXDOMAIN if time.monotonic() % 1 < .1 else 0), .01)
    w.quiet(least=20)


if __name__ == "__main__":
    run(sys.argv[1:])

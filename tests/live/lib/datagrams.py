# SPDX-License-Identifier: GPL-2.0
"""Sockets of a namespace, connected and not, and what the tests of their lives share."""
import socket

from lib.lab import Namespace
from lib.wire import inside

LO, LO6, PORT = "127.0.0.1", "::1", 5300
INET, INET6, DGRAM, STREAM, RAW = socket.AF_INET, socket.AF_INET6, socket.SOCK_DGRAM, socket.SOCK_STREAM, socket.SOCK_RAW


def namespaces():
    """Two, whose loopback has both families."""
    both = Namespace("a"), Namespace("b")
    for ns in both:
        ns.ip("link set lo up")
        ns.run("sysctl -qw net.ipv6.conf.lo.disable_ipv6=0")
    return both


def make(ns, family=INET, kind=DGRAM, protocol=0):
    return inside(ns, lambda: socket.socket(family, kind, protocol))


def bound(ns, family=INET, address=LO, port=PORT):
    s = make(ns, family)
    s.bind((address, port))
    return s


def connected(ns, to, family=INET):
    c = make(ns, family)
    c.connect(to)
    return c

#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Filters that a look at the packet decides, before an event is made: they let the same pass as those that look at all."""
import socket
import struct

from lib.asking import Trace, talker
from lib.lab import *
from lib.wire import inside

HOPOPTS = 54                                    # IPV6_HOPOPTS of linux/in6.h
# what is sent: (address, port, bytes, option), datagrams
SENT = [("10.9.0.2", 9, 11, None)] * 3 + [("10.9.0.2", 10, 11, None)] * 2 + [("10.9.0.2", 9, 11, "ip")] + \
       [("10.9.0.2", 9, 4000, None)] + [("fd00::2", 9, 11, None)] * 2 + [("fd00::2", 9, 11, "hop")]
# (the filter, packets of udp:::send, frames of nic:::tx-queue); the long datagram leaves as three frames, of which only
# the first has ports
FILTERS = [
    ("udp_dport == 9", 8, 8), ("udp_dport != 9", 2, 2), ("udp_dport < 10", 8, 8), ("udp_dport == 11", 0, 0),
    ("udp_dport & 2", 2, 2), ("udp_sport == 7777", 10, 10), ("udp_sport != 7777", 0, 0),
    ("ip_daddr == 10.9.0.2", 7, 9), ("ip_daddr == fd00::2", 3, 3), ("ip_daddr in 10.9.0.0/24", 7, 9),
    ("ip_daddr in fd00::/64", 3, 3), ("ip_daddr != 10.9.0.2", 3, 3), ("ip_saddr == 10.9.0.2", 0, 0),
    ("ip_proto == udp", 10, 12), ("ip_proto != udp", 0, 0), ("ip_proto == tcp", 0, 0),
    ("udp_dport == 9 && ip_daddr == 10.9.0.2", 5, 5), ("udp_length == 19 && udp_dport == 9", 7, 7),
    ("if_index == %d && udp_dport == 10", 2, 2), ("if_index != %d", 0, 0),
]


def send(ns):
    for address, port, size, option in SENT:
        v6 = ":" in address
        s = inside(ns, lambda: socket.socket(socket.AF_INET6 if v6 else socket.AF_INET, socket.SOCK_DGRAM))
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        s.bind(("fd00::1" if v6 else "10.9.0.1", 7777))
        if option == "ip":
            s.setsockopt(socket.IPPROTO_IP, socket.IP_OPTIONS, bytes([1, 1, 1, 0]))     # no operation
        elif option == "hop":
            s.setsockopt(socket.IPPROTO_IPV6, HOPOPTS, struct.pack("BBBB4x", 0, 0, 1, 4))   # padding
        s.sendto(b"x" * size, (address, port))
        s.close()


def compared(ns, index):
    """Each filter as it is, and with an alternative that never holds, so that no look at the packet decides it."""
    for words, datagrams, frames in FILTERS:
        words = words % index if "%" in words else words
        if "port" not in words and "proto" not in words:
            words += " && ip_proto == udp"      # not neighbour discovery
        for probe, want in ("udp:::send", datagrams), ("nic:::tx-queue", frames):
            traces = [Trace(ns, probe, "--by", "probename", "--where", a) for a in (words, f"{words} || cpu > 4096")]
            send(ns)
            got = [sum(t.counts("probename").values()) for t in traces]
            if "!= udp" in words:
                want = got[1]                   # neighbour discovery, if there was any
            same(f"{probe}: {words}", got, [want, want])


need_root()
ns, far = Namespace("near"), Namespace("far")
ns.run("sysctl -qw net.ipv6.conf.all.disable_ipv6=0 net.ipv6.conf.default.disable_ipv6=1")
veth(ns, far, name="v0", mtu=1500)
for netns, last in (ns, 1), (far, 2):
    netns.run("sysctl -qw net.ipv6.conf.v0.disable_ipv6=0 net.ipv6.conf.v0.accept_ra=0")
    netns.ip(f"addr add 10.9.0.{last}/24 dev v0")
    netns.ip(f"addr add fd00::{last}/64 dev v0 nodad")
for address in "10.9.0.2", "fd00::2":
    ns.ip(f"neigh replace {address} lladdr 02:00:00:00:00:02 dev v0 nud permanent")
index = int(ns.run("cat /sys/class/net/v0/ifindex"))
each(compared, ns=ns, index=index)
finish()

# SPDX-License-Identifier: GPL-2.0
"""Messages of ICMP that a test causes or writes, who answers them, and what the kernel counts of them."""
import re
import socket
import struct
import threading
import time

from lib.lab import nonzero
from lib.wire import checksum, inside

HERE, THERE, FROM, ROUTER, BEYOND, FAR = "10.9.0.1", "10.9.0.2", "10.8.0.1", "10.8.0.2", "10.7.0.1", "10.7.0.2"
HERE6, THERE6, FROM6, ROUTER6, BEYOND6, FAR6 = "fd09::1", "fd09::2", "fd08::1", "fd08::2", "fd07::1", "fd07::2"
BODY = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 28, 1, 0, 64, 17, 0, b"\x0a\x09\0\x01", b"\x0a\x09\0\x02") + b"\x27\x10" * 4
BODY6 = struct.pack("!IHBB", 6 << 28, 8, 17, 64) + socket.inet_pton(socket.AF_INET6, HERE6) + \
    socket.inet_pton(socket.AF_INET6, THERE6) + b"\x27\x10" * 4
# What messages of each type and code count as.
ERRORS = {(3, 0): "net-unreachable", (3, 1): "host-unreachable", (3, 2): "protocol-unreachable", (3, 3): "port-unreachable",
          (3, 4): "too-big", (3, 5): "unreachable", (3, 6): "net-unreachable", (3, 7): "host-unreachable", (3, 8): "unreachable",
          (3, 9): "prohibited", (3, 10): "prohibited", (3, 11): "net-unreachable", (3, 12): "host-unreachable",
          (3, 13): "prohibited", (3, 14): "unreachable", (3, 15): "unreachable", (5, 0): "redirect", (5, 1): "redirect",
          (11, 0): "ttl-exceeded", (11, 1): "reassembly", (12, 0): "parameter", (13, 0): None, (4, 0): None}
ERRORS6 = {(1, 0): "net-unreachable", (1, 1): "prohibited", (1, 2): "unreachable", (1, 3): "host-unreachable",
           (1, 4): "port-unreachable", (1, 5): "prohibited", (1, 6): "prohibited", (1, 7): "unreachable", (2, 0): "too-big",
           (3, 0): "ttl-exceeded", (3, 1): "reassembly", (4, 0): "parameter", (4, 1): "parameter", (4, 2): "parameter",
           (137, 0): "redirect", (135, 0): None}


def kernel(ns):
    """{"InType3" or "6InType1": messages} as the kernel counts them."""
    known = {}
    words = [line.split() for line in ns.run("cat /proc/net/snmp").splitlines() if line.startswith("IcmpMsg:")]
    for names, values in zip(words[::2], words[1::2]):
        known.update(zip(names[1:], map(int, values[1:])))
    for name, value in (line.split() for line in ns.run("cat /proc/net/snmp6").splitlines()):
        if name.startswith("Icmp6InType") or name.startswith("Icmp6OutType"):
            known[name[4:]] = int(value)
    return known


def grew(now, then, *types):
    return nonzero({t: now.get(t, 0) - then.get(t, 0) for t in types})


def ping(ns, address, count=1, more="-i .01", replies=True):
    """The sum of the times that ping saw, from before it sends to when it has received."""
    out = ns.run(f"ping -Uqc{count} {more} {address}", check=False)
    if not replies:
        return 0
    assert f" {count} received" in out, out
    return float(re.search(r"= [\d.]+/([\d.]+)/", out)[1]) / 1e3 * count


def udp(ns, address, count, size=10, dont_fragment=False):
    """Sends so many datagrams to a port where nobody listens."""
    v6 = ":" in address
    with inside(ns, lambda: socket.socket(socket.AF_INET6 if v6 else socket.AF_INET, socket.SOCK_DGRAM)) as s:
        if dont_fragment:       # whatever the MTU of the path is known to be: IP_PMTUDISC_PROBE
            s.setsockopt(*((socket.IPPROTO_IPV6, 23) if v6 else (socket.IPPROTO_IP, 10)), 3)
        for _ in range(count):
            s.sendto(b"x" * size, (address, 9))
            time.sleep(.001)
    time.sleep(.1)


def raw_socket(ns, v6):
    proto = socket.IPPROTO_ICMPV6 if v6 else socket.IPPROTO_ICMP
    return inside(ns, lambda: socket.socket(socket.AF_INET6 if v6 else socket.AF_INET, socket.SOCK_RAW, proto))


def message(kind, code, body):
    """With the checksum of IPv4; the kernel sets that of IPv6."""
    data = struct.pack("!BBH", kind, code, 0) + body
    return data[:2] + struct.pack("!H", checksum(data)) + data[4:]


def raw(ns, address, *messages):
    """Sends messages: type, code, bytes behind the checksum."""
    with raw_socket(ns, ":" in address) as s:
        for of in messages:
            s.sendto(message(*of), (address, 0))
    time.sleep(.1)


class Replies:
    """Replies to echo requests in place of the kernel, of one family: after a time, and so many times to each."""
    def __init__(self, ns, v6, after=0, times=1):
        self.ns, self.v6, self.after, self.times, self.ends = ns, v6, after, times, False
        self.s = raw_socket(ns, v6)
        self.s.settimeout(.05)
        self.thread = threading.Thread(target=self.run)

    def run(self):
        echo, reply, at = (128, 129, 0) if self.v6 else (8, 0, 20)
        while not self.ends:
            try:
                data, who = self.s.recvfrom(9000)
            except TimeoutError:
                continue
            if data[at] == echo:
                time.sleep(self.after)
                for _ in range(self.times):
                    self.s.sendto(message(reply, 0, data[at + 4:]), who)

    def __enter__(self):
        silent(self.ns, 1)
        self.thread.start()

    def __exit__(self, *_):
        self.ends = True
        self.thread.join()
        self.s.close()
        silent(self.ns, 0)


def silent(ns, on):
    ns.run(f"sysctl -qw net.ipv4.icmp_echo_ignore_all={on} net.ipv6.icmp.echo_ignore_all={on}")

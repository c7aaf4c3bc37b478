# SPDX-License-Identifier: GPL-2.0
"""Valid and invalid frames, written into a multi-queue tap by the test itself."""
import ctypes
import fcntl
import os
import socket
import struct

libc = ctypes.CDLL(None, use_errno=True)
TUNSETIFF = 0x400454ca
TAP, NAPI, NO_PI, MULTI_QUEUE = 2, 0x10, 0x1000, 0x100
HERE, THERE = "198.18.0.2", "198.18.0.1"        # the interface's own address, and the sender's
HERE6, THERE6 = "2001:2::2", "2001:2::1"


def inside(netns, make):
    """Runs make() in that namespace: what it opens stays there."""
    home = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
    there = os.open(f"/run/netns/{netns}", os.O_RDONLY)
    try:
        if libc.setns(there, 0):
            raise OSError(ctypes.get_errno(), "setns")
        return make()
    finally:
        libc.setns(home, 0)
        os.close(home)
        os.close(there)


class Wire:
    """A tap: write(queue, frame) makes the interface receive, read(queue) returns what it sent, or None."""
    def __init__(self, netns, name, queues=4, address=HERE + "/24", more=0):
        def make():
            fd = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
            flags = TAP | NO_PI | MULTI_QUEUE | more
            fcntl.ioctl(fd, TUNSETIFF, struct.pack("16sH22x", name.encode(), flags))
            return fd
        self.netns, self.name = netns, name
        self.fds = [inside(netns, make) for _ in range(queues)]
        netns.ip(f"link set {name} up")
        if address:
            netns.ip(f"addr add {address} dev {name}")
            netns.ip(f"neigh add {THERE} lladdr 02:00:00:00:00:99 dev {name}")
        self.mac = bytes.fromhex(netns.ip(f"-o link show {name}").split("link/ether ")[1][:17].replace(":", ""))

    def write(self, queue, frame, count=1):
        for _ in range(count):
            os.write(self.fds[queue], frame)

    def read(self, queue):
        try:
            return os.read(self.fds[queue], 65536)
        except BlockingIOError:
            return None

    def drain(self):
        """The number of frames that each queue has sent and nobody had read."""
        got = {}
        for q in range(len(self.fds)):
            while self.read(q) is not None:
                got[q] = got.get(q, 0) + 1
        return got

    def close(self):
        for fd in self.fds:
            os.close(fd)

    def eth(self, payload, kind=0x0800, dst=None):
        return (dst or self.mac) + b"\x02\0\0\0\0\x99" + struct.pack("!H", kind) + payload


def checksum(data):
    data += b"\0" * (len(data) % 2)
    n = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while n >> 16:
        n = (n & 0xffff) + (n >> 16)
    return ~n & 0xffff


def ip4(proto, payload, src=THERE, dst=HERE, ttl=64, spoil=0):
    head = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(payload), 1, 0, ttl, proto, 0,
                       socket.inet_aton(src), socket.inet_aton(dst))
    return head[:10] + struct.pack("!H", checksum(head) ^ spoil) + head[12:] + payload


def pseudo(proto, payload, src, dst):
    return socket.inet_aton(src) + socket.inet_aton(dst) + struct.pack("!BBH", 0, proto, len(payload)) + payload


def udp(port, size=72, src=THERE, dst=HERE, spoil=0, sport=1000, **ip):
    """An IPv4 packet with `size` bytes of payload. spoil: xored into its checksum."""
    data = struct.pack("!HHHH", sport, port, 8 + size, 0) + bytes(size)
    right = checksum(pseudo(17, data, src, dst)) or 0xffff
    return ip4(17, data[:6] + struct.pack("!H", right ^ spoil) + data[8:], src, dst, **ip)


def udp6(port, size=72, dst=HERE6, spoil=0):
    """An IPv6 packet; spoil: xored into its checksum."""
    data = struct.pack("!HHHH", 1000, port, 8 + size, 0) + bytes(size)
    ends = socket.inet_pton(socket.AF_INET6, THERE6) + socket.inet_pton(socket.AF_INET6, dst)
    right = checksum(ends + struct.pack("!II", len(data), 17) + data) or 0xffff
    data = data[:6] + struct.pack("!H", right ^ spoil) + data[8:]
    return struct.pack("!IHBB", 0x60000000, len(data), 17, 64) + ends + data


def tcp(port, flags=2, src=THERE, dst=HERE, spoil=0, seq=1, ack=0, sport=1000, payload=b"", **ip):
    """An IPv4 packet; flags: 2 is SYN, 16 ACK."""
    data = struct.pack("!HHIIBBHHH", sport, port, seq, ack, 0x50, flags, 65535, 0, 0) + payload
    right = checksum(pseudo(6, data, src, dst))
    return ip4(6, data[:16] + struct.pack("!H", right ^ spoil) + data[18:], src, dst, **ip)


def first_fragment(number, dst=HERE):
    """The first fragment of a datagram whose rest never arrives."""
    data = struct.pack("!HHHH", 1000, 9, 2008, 0) + bytes(992)
    head = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(data), number, 0x2000, 64, 17, 0,
                       socket.inet_aton(THERE), socket.inet_aton(dst))
    return head[:10] + struct.pack("!H", checksum(head)) + head[12:] + data


def udp_socket(netns, address=None, room=None):
    def make():
        s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        if room:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, room)
        if address:
            s.bind(address)
        return s
    return inside(netns, make)

# SPDX-License-Identifier: GPL-2.0
"""Received buffers of many packets, with IPv6 extension headers: counted as the packets and bytes on the wire."""
import fcntl
import os
import socket
import struct

from lib.lab import *
from lib.wire import MULTI_QUEUE, NO_PI, TAP, TUNSETIFF, inside

VNET_HDR, TUNSETOFFLOAD, TUNSETVNETHDRSZ = 0x4000, 0x400454d0, 0x400454d8
HOP, ROUTING, FRAGMENT, AH, DEST, TCP, UDP = 0, 43, 44, 51, 60, 6, 17
MSS, PAYLOAD = 1000, 8500


def extension(kind, following):
    """An extension header of this type: padding, or an unknown option that may be skipped."""
    if kind == AH:
        return struct.pack("!BBHII", following, 4, 0, 1, 1) + bytes(12)
    size = {HOP: 8, ROUTING: 24, DEST: 16}[kind]
    if kind == ROUTING:
        return struct.pack("!BBBB", following, size // 8 - 1, 253, 0) + bytes(size - 4)
    return struct.pack("!BBBB", following, size // 8 - 1, 1, size - 4) + bytes(size - 4)


def frame(mac, kinds):
    """With virtio's header: TCP to be segmented; returns its header bytes, too."""
    chain = [*kinds, TCP]
    extensions = b"".join(extension(kind, chain[i + 1]) for i, kind in enumerate(kinds))
    tcp = struct.pack("!HHIIBBHHH", 1000, 9, 1, 1, 0x80, 16, 65535, 0, 0) + bytes(12)
    ip = struct.pack("!IHBB", 6 << 28, len(extensions) + len(tcp) + PAYLOAD, chain[0], 64) + \
        socket.inet_pton(socket.AF_INET6, "2001:2::2") + socket.inet_pton(socket.AF_INET6, "2001:2::1")
    head = mac + b"\x02\0\0\0\0\x99" + struct.pack("!H", 0x86dd) + ip + extensions
    virtio = struct.pack("<BBHHHH", 1, 4, len(head) + 32, MSS, len(head), 16)
    return virtio + head + tcp + bytes(PAYLOAD), len(head) + 32


def device():
    fd = os.open("/dev/net/tun", os.O_RDWR)
    fcntl.ioctl(fd, TUNSETIFF, struct.pack("16sH22x", b"tap0", TAP | NO_PI | VNET_HDR))
    fcntl.ioctl(fd, TUNSETVNETHDRSZ, struct.pack("i", 10))
    fcntl.ioctl(fd, TUNSETOFFLOAD, 1 | 2 | 4)
    return fd


need_root()
ns = Namespace("extend")
nic = inside(ns, device)
ns.ip("link set tap0 up")
mac = bytes.fromhex(ns.ip("-o link show tap0").split("link/ether ")[1][:17].replace(":", ""))
CHAINS = [(), (HOP,), (DEST,), (HOP, DEST), (HOP, ROUTING, DEST), (AH,), (HOP, AH, DEST)]
for cannot in "", "tcx":
    for kinds in CHAINS:
        name = f"extension headers {kinds}{cannot and ' without '}{cannot}"
        r = nicprobe("attach", "-m", "pktsize,gso", "--rx", "driver", f"{ns}/tap0", env={"NICPROBE_CANNOT": cannot})
        words, headers = frame(mac, kinds)
        for _ in range(5):
            os.write(nic, words)
        segments = -(-PAYLOAD // MSS)
        doc = show(f"{ns}/tap0")
        got = [packets_at(doc, "rx-nic"), bytes_at(doc, "rx-nic")]
        same(f"{name}: packets and bytes on the wire", got, [5 * segments, 5 * (PAYLOAD + segments * headers)])
        nicprobe("detach", f"{ns}/tap0")
r = nicprobe("attach", "-m", "pktsize", "--rx", "xdp", f"{ns}/tap0")
check("forced XDP on a tap whose other end hands over many packets as one: it is said", "as one packet" in r.stderr, r.stderr)
nicprobe("detach", f"{ns}/tap0")
os.close(nic)
finish()

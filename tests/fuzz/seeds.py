#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Writes the seed corpus: frames of every kind, to every hook. usage: seeds.py DIRECTORY TARGET"""
import itertools
import os
import struct
import sys

WAYS = 7			# enum way in packet.c
ON = 0x3f			# all packet meters
FLAGS = [0, 1, 2, 4, 8, 16, 32]	# enum flag
# gso_type besides the protocol; features: on, supported, requested, in tunnels, with VLAN tags
EVERY = (1 << 25) - 1
OFFLOADS = [(0, EVERY, EVERY, EVERY, EVERY), (0, 0, 0, 0, 0), (0, 0, EVERY, 0, EVERY), (2, 1 << 20, EVERY, EVERY, 0),
            (4, 8 << 20, EVERY, EVERY, 0), (1 << 10, EVERY, EVERY, EVERY, 0), (1 << 30, EVERY - 8, 8, 8, EVERY)]


def ipv4(ecn, proto, payload):
    return struct.pack("!BBHHHBBH4s4s", 0x45, ecn, 20 + len(payload), 1, 0, 64, proto, 0,
                       bytes([10, 0, 0, 7]), bytes([10, 0, 0, 1])) + payload


def ipv6(ecn, proto, payload):
    return struct.pack("!IHBB", 6 << 28 | ecn << 20, len(payload), proto, 64) + \
        bytes(range(16)) + bytes(range(16, 32)) + payload


def tcp(data):
    return struct.pack("!HHIIBBHHH", 80, 1024, 1, 1, 8 << 4, 0x10, 512, 0, 0) + bytes(12) + data


def udp(data):
    return struct.pack("!HHHH", 53, 1024, 8 + len(data), 0) + data


def frames():
    for ecn, tags, v6, is_tcp in itertools.product(range(4), range(4), (0, 1), (0, 1)):
        l4 = (tcp if is_tcp else udp)(bytes(40))
        packet = (ipv6 if v6 else ipv4)(ecn, 6 if is_tcp else 17, l4)
        types = [0x88a8, 0x8100, 0x8100][:tags] + [0x86dd if v6 else 0x0800]
        frame = bytes(6) + b"\2\0\0\0\0\1" + struct.pack("!H", types[0])
        for t in types[1:]:
            frame += struct.pack("!HH", 5, t)
        yield f"{ecn}-{tags}-v{6 if v6 else 4}-{'tcp' if is_tcp else 'udp'}", is_tcp, frame + packet
    yield "arp", 0, b"\xff" * 6 + bytes(6) + struct.pack("!HHHBBH", 0x0806, 1, 0x800, 6, 4, 1) + \
        bytes(20)


def main(to):
    os.makedirs(to, exist_ok=True)
    for n, (name, is_tcp, frame) in enumerate(frames()):
        for way in range(WAYS):
            flag = FLAGS[(n + way) % len(FLAGS)]
            for gso in (0, 13):
                head = struct.pack("<BBBBHHHHHH5IHH", way, ON, n % 5, flag | is_tcp << 5, 65535,
                                   n * 97, gso, n % 2 * 4, 20, n % 4 << 5, *OFFLOADS[n % 7],
                                   60000, 64)
                with open(f"{to}/{way}-{name}-{gso}", "wb") as f:
                    f.write(head + frame)
        for cut in (1, 13, 17, 33):	# truncated
            with open(f"{to}/cut{cut}-{name}", "wb") as f:
                f.write(struct.pack("<BBBBHHHHHH5IHH", n % WAYS, ON, 0, 0, 65535, *[0] * 12) +
                        frame[:-cut - 40])
    # a header that claims to be shorter than its addresses, half of it in the linear part
    frame = b"\2\0\0\0\0\1" * 2 + b"\x08\0\x40" + ipv4(0, 17, udp(bytes(40)))[1:]
    for way in range(WAYS):
        with open(f"{to}/short-{way}", "wb") as f:
            f.write(struct.pack("<BBBBHHHHHH5IHH", way, ON, 0, 8, 14, *[0] * 12) + frame)


main(os.path.join(*sys.argv[1:3]))

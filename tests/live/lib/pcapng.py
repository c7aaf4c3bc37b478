# SPDX-License-Identifier: GPL-2.0
"""Reads pcapng as the draft describes it, and nothing that is not whole."""
import struct
from collections import namedtuple

Packet = namedtuple("Packet", "interface link seconds length data comment flags")
SECTION, INTERFACE, PACKET = 0x0a0d0d0a, 1, 6


def options(body):
    """{number: value} behind the fixed part of a block."""
    found = {}
    while True:
        number, n = struct.unpack_from("<HH", body)
        if not number:
            assert body[4:] == b"", "something follows the last option"
            return found
        found[number] = body[4:4 + n]
        assert not any(body[4 + n:4 + (n + 3) // 4 * 4]), "padding is zeros"
        body = body[4 + (n + 3) // 4 * 4:]


def packets(raw):
    """The packets of a file; an AssertionError tells what is wrong with it."""
    interfaces, found, at, first = [], [], 0, True
    while at < len(raw):
        kind, n = struct.unpack_from("<II", raw, at)
        assert n % 4 == 0 and at + n <= len(raw) and struct.unpack_from("<I", raw, at + n - 4)[0] == n, f"a block at {at} is not whole"
        body = raw[at + 8:at + n - 4]
        assert (kind == SECTION) == first, "a section begins the file, and nothing else"
        first = False
        if kind == SECTION:
            assert struct.unpack_from("<IHH", body) == (0x1a2b3c4d, 1, 0)
        elif kind == INTERFACE:
            link, _, snaplen = struct.unpack_from("<HHI", body)
            told = options(body[8:])
            assert told[9] == b"\x09", "times are in nanoseconds"
            interfaces.append((told.get(2, b"").decode(), link, snaplen))
        else:
            assert kind == PACKET, kind
            interface, high, low, here, length = struct.unpack_from("<IIIII", body)
            name, link, snaplen = interfaces[interface]
            assert here <= snaplen and here <= length
            told = options(body[20 + (here + 3) // 4 * 4:])
            found.append(Packet(name, link, (high << 32 | low) * 1e-9, length, body[20:20 + here], told[1].decode(),
                                struct.unpack("<I", told[2])[0]))
        at += n
    assert not first, "it is empty"
    assert len({(link, snaplen) for _, link, snaplen in interfaces}) <= 1, "tcpdump wants one link type and length"
    return found

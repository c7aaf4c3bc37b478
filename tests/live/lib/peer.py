# SPDX-License-Identifier: GPL-2.0
"""The other end of TCP connections, by hand: what it answers, when, and what it ignores, the test says."""
import socket
import struct
import time

from lib.wire import HERE, THERE, Wire, checksum, inside, ip4, pseudo

FIN, SYN, RST, PSH, ACK = 1, 2, 4, 8, 16
ISN = 1000
MSS = 1400
OPTIONS = struct.pack("!BBH", 2, 4, MSS) + b"\x04\x02\x01\x01"        # the MSS; selective acknowledgements


class Segment:
    """What a frame of IPv4 and TCP says."""
    def __init__(self, frame):
        head = (frame[14] & 15) * 4
        tcp = frame[14 + head:14 + struct.unpack("!H", frame[16:18])[0]]
        self.sport, self.dport, self.seq, self.ack = struct.unpack("!HHII", tcp[:12])
        self.flags, self.data = tcp[13], tcp[(tcp[12] >> 4) * 4:]

    @property
    def end(self):
        return (self.seq + len(self.data) + bool(self.flags & SYN) + bool(self.flags & FIN)) & 0xffffffff


class Peer:
    """Behind a tap of one queue. socket(): a client's, in that namespace, which does not wait."""
    def __init__(self, netns, name="tap0"):
        self.netns, self.wire = netns, Wire(netns, name, queues=1)

    def socket(self):
        def make():
            s = socket.socket()
            s.setblocking(False)
            return s
        return inside(self.netns, make)

    def connect(self, port=80):
        """A socket that has sent its SYN to us, and the SYN."""
        s = self.socket()
        s.connect_ex((THERE, port))
        return s, self.next(SYN)

    def next(self, flags=0, seconds=5):
        """The next segment that has these flags. Raises TimeoutError where none comes."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            frame = self.wire.read(0)
            if frame is None:
                time.sleep(.0005)
                continue
            if frame[12:14] != b"\x08\0" or frame[23] != 6:
                continue
            got = Segment(frame)
            if got.flags & flags == flags:
                return got
        raise TimeoutError(f"no segment with flags {flags:#x} in {seconds} s")

    def data(self, octets, seconds=5):
        """The segments that carry so many octets that did not come before, in the order sent."""
        got, ends = [], set()
        while sum(len(s.data) for s in got) < octets:
            s = self.next(seconds=seconds)
            if s.data and s.end not in ends:
                ends.add(s.end)
                got.append(s)
        return got

    def send(self, to, flags, seq=ISN + 1, ack=None, options=b"", data=b"", window=65535):
        """Answers a segment; `ack`: by default all of it."""
        ack = to.end if ack is None else ack
        offset = 5 + len(options) // 4
        tcp = struct.pack("!HHIIBBHHH", to.dport, to.sport, seq, ack, offset << 4, flags, window, 0, 0) + options + data
        right = checksum(pseudo(6, tcp, THERE, HERE))
        self.wire.write(0, self.wire.eth(ip4(6, tcp[:16] + struct.pack("!H", right) + tcp[18:])))

    def accept(self, syn, window=65535):
        """Answers the SYN; returns the ACK that establishes."""
        self.send(syn, SYN | ACK, seq=ISN, options=OPTIONS, window=window)
        return self.next(ACK)

    def close(self):
        self.wire.close()


def sack(*blocks):
    """The option that says which segments came: pairs of where they begin and end."""
    body = b"".join(struct.pack("!II", a, b) for a, b in blocks)
    return b"\x01\x01\x05" + bytes([2 + len(body)]) + body

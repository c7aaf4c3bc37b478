# SPDX-License-Identifier: GPL-2.0
"""In a guest: a driver's own counts of packets and bytes, by interface and by queue.

Drivers differ in how they count a buffer of many wire packets. The rules are
restated here, not taken from nicprobe: a "merged" buffer is one packet, without
the headers of the others.
"""
import re
import socket
import struct

from lib import lab

FIGURES = "rx_packets", "rx_bytes", "tx_packets", "tx_bytes"
WIRE, MERGED = "wire", "merged"
# How a driver counts what it receives and sends, and additional bytes per packet. For e1000e and vmxnet3 the card
# counts, as emulated.
COUNTS = {
    "virtio": (MERGED, MERGED, 0),
    "igb": (WIRE, WIRE, 0),
    "igbvf": (WIRE, WIRE, 0),
    "ixgbevf": (WIRE, WIRE, 0),
    "e1000": (WIRE, WIRE, 0),
    "e1000e": (WIRE, MERGED, 4),        # with the FCS
    "vmxnet3": (MERGED, MERGED, 0),
    "ena": (WIRE, MERGED, 0),
}
HEADERLESS = {"ena": 14}        # bytes that a driver leaves out of each received packet
# The VLAN tags that a card strips if allowed: the stack counts them, the driver does not.
UNTAGS = {"igb": 1, "e1000": 1, "e1000e": 1, "vmxnet3": 2}
QUEUES = "virtio", "igb", "ixgbevf", "vmxnet3", "ena"     # drivers that report by queue
NAMELESS = "ixgbevf",       # with several queues, but packets do not show which
HEADERS = 14 + 20 + 32      # of a TCP packet with timestamps, as all merged or split packets here


def interface(name):
    """{figure: number} of the interface, from the kernel."""
    found = {}
    for figure in FIGURES:
        with open(f"/sys/class/net/{name}/statistics/{figure}", encoding="ascii") as f:
            found[figure] = int(f.read())
    return found


def ethtool(name, model):
    """{(queue, figure): number}, as far as `ethtool -S` reports it."""
    text, found = lab.sh(f"ethtool -S {name}", check=False), {}
    if model == "vmxnet3":
        for way, queue, block in re.findall(r"(Rx|Tx) Queue#: (\d+)\n(.*?)(?=\n\s*[RT]x Queue#|\Z)", text, re.S):
            for cast, what, number in re.findall(r"([umb]cast) (pkts|bytes) [rt]x: (\d+)", block):
                key = int(queue), f"{way.lower()}_{'packets' if what == 'pkts' else what}"
                found[key] = found.get(key, 0) + int(number)
    for way, queue, what, number in re.findall(r"\b(rx|tx)_queue_(\d+)_(packets|bytes): (\d+)", text):
        found[int(queue), f"{way}_{what}"] = int(number)
    for queue, way, what, number in re.findall(r"\bqueue_(\d+)_([rt]x)_(cnt|bytes): (\d+)", text):
        found[int(queue), f"{way}_{'packets' if what == 'cnt' else what}"] = int(number)
    return found


class Netlink:
    """Generic netlink, just enough for the statistics of queues (Linux 6.9)."""
    def __init__(self):
        self.socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 16)
        self.socket.bind((0, 0))

    @staticmethod
    def attribute(kind, data):
        return struct.pack("=HH", 4 + len(data), kind) + data + bytes(-len(data) % 4)

    @staticmethod
    def attributes(data):
        found = {}
        while len(data) >= 4:
            size, kind = struct.unpack_from("=HH", data)
            found[kind & 0x3fff] = data[4:size]
            data = data[(size + 3) & ~3:]
        return found

    def ask(self, family, command, body, flags):
        """The attributes of each answer; none: the kernel lacks this request."""
        payload = struct.pack("=BBH", command, 1, 0) + body
        self.socket.send(struct.pack("=IHHII", 16 + len(payload), family, flags, 1, 0) + payload)
        answers = []
        while True:
            data = self.socket.recv(1 << 16)
            while data:
                size, kind = struct.unpack_from("=IH", data)
                if kind == 2:       # an error, or the end
                    return answers
                if kind == 3:
                    return answers
                answers.append(self.attributes(data[20:size]))
                data = data[(size + 3) & ~3:]
            if not flags & 0x300:
                return answers

    def family(self, name):
        answers = self.ask(16, 3, self.attribute(2, name.encode() + b"\0"), 1)
        return struct.unpack("=H", answers[0][1])[0] if answers else None


def qstats(name):
    """{(queue, figure): number} from netdev-genl; empty: this kernel or driver lacks it."""
    netlink, found = Netlink(), {}
    family = netlink.family("netdev")
    if not family:
        return {}
    body = (netlink.attribute(1, struct.pack("=I", socket.if_nametoindex(name))) +
            netlink.attribute(4, struct.pack("=I", 1)))        # per queue
    for answer in netlink.ask(family, 12, body, 0x301):
        if 2 not in answer or 3 not in answer:
            continue
        tx, queue = struct.unpack("=I", answer[2])[0], struct.unpack("=I", answer[3])[0]
        for kind, figure in enumerate(FIGURES, 8):
            if kind in answer and figure.startswith("tx" if tx else "rx"):
                number = answer[kind]
                found[queue, figure] = struct.unpack("=Q" if len(number) == 8 else "=I", number)[0]
    return found


def by_queue(name, model):
    """({(queue, figure): number}, their source)"""
    if model not in QUEUES:
        return {}, None
    found = ethtool(name, model)
    return (found, "ethtool -S") if found else (qstats(name), "qstats")


def sums(numbers):
    """{figure: number} of all queues"""
    found = {}
    for (_, figure), number in numbers.items():
        found[figure] = found.get(figure, 0) + number
    return found


def expected(doc, model):
    """{(queue, figure): number}: the expected driver counts, computed from nicprobe's."""
    rx, tx, more = COUNTS[model]
    found = {}
    for point, way, how in ("rx-nic", "rx", rx), ("tx-nic", "tx", tx):
        merged = merged_packets(doc, point) if how == MERGED else {}
        each = more - (HEADERLESS.get(model, 0) if way == "rx" else 0)
        for queue, h in lab.sizes_at(doc, point).items():
            packets = h["count"] - merged.get(queue, 0)
            found[queue, f"{way}_packets"] = packets
            found[queue, f"{way}_bytes"] = (h["sum"] - HEADERS * merged.get(queue, 0) +
                                            each * packets)
    return found


def merged_packets(doc, point):
    """{queue: wire packets that a counter of buffers does not count}"""
    found = {}
    for row in doc["meters"]["gro" if point.startswith("rx") else "gso"]:
        if row.get("point", point) != point:
            continue
        if point == "rx-nic":
            more = row["card"]["packets"] - row["card"]["frames"]
        else:
            more = row["buffer_size"]["sum"] - row["buffer_size"]["count"]
        found[row["queue"]] = found.get(row["queue"], 0) + int(more)
    return found

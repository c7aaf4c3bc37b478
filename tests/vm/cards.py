# SPDX-License-Identifier: GPL-2.0
"""In a guest: its network cards, and traffic between them and the peer."""
import glob
import json
import os
import re
import socket
import struct
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "live"))
import lab      # noqa: E402

RESULTS = "/results"
asked = len(glob.glob(f"{RESULTS}/done-*"))


def ask(**question):
    """What the peer answers, by files."""
    global asked
    path = f"{RESULTS}/ask-{asked}"
    with open(path + ".new", "w", encoding="utf-8") as f:
        json.dump(question, f)
    os.rename(path + ".new", path)
    done = f"{RESULTS}/done-{asked}"
    asked += 1
    if not lab.until(lambda: os.path.exists(done), 60):
        raise RuntimeError(f"no answer to {question}")
    with open(done, encoding="utf-8") as f:
        reply = json.load(f)
    if "error" in reply:
        raise RuntimeError(f"{question}: {reply['error']}")
    return reply


class Card:
    """A network card of the guest: $NICS has "model=name=peer" of each."""
    def __init__(self, nr, words):
        self.model, self.name, self.peer = words.split("=")
        self.tap = f"tap{nr}"
        self.mac = lab.sh(f"cat /sys/class/net/{self.name}/address").strip()
        # No ARP, and with it no packet that nobody asked for.
        far = json.loads(ask(tap=self.tap, sh=f"ip -j link show {self.tap}")["out"])[0]["address"]
        lab.sh(f"ip neigh replace {self.peer} lladdr {far} dev {self.name} nud permanent")

    def ethtool(self, options, check=False):
        return lab.sh(f"ethtool {options.replace('IF', self.name)}", check=check)

    def echo(self, count, size):
        """ICMP echo requests, one after the other; how many were answered."""
        s = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
        s.settimeout(2)
        answered = 0
        for nr in range(count):
            packet = struct.pack("!BBHHH", 8, 0, 0, os.getpid() & 0xffff, nr) + bytes(size)
            total = sum(struct.unpack(f"!{len(packet) // 2}H", packet))
            total = (total >> 16) + (total & 0xffff)
            total += total >> 16
            s.sendto(packet[:2] + struct.pack("!H", ~total & 0xffff) + packet[4:], (self.peer, 0))
            try:
                while s.recv(65536)[20] != 0:
                    pass
                answered += 1
            except socket.timeout:
                pass
        s.close()
        return answered

    def tcp(self, word, size):
        """Sends ("R") or receives ("S") so many bytes; how many arrived."""
        with socket.create_connection((self.peer, 7007), timeout=60) as s:
            s.sendall(f"{word} {size}".ljust(32).encode())
            left = size
            while left and word == "R":
                left -= s.send(bytes(min(left, 65536)))
            s.shutdown(socket.SHUT_WR)
            while got := s.recv(65536):
                left -= len(got)
        return size - left

    def frames(self, *frames):
        """Frames of any kind, from outside; how many were sent."""
        return ask(tap=self.tap, mac=self.mac, frames=frames)["sent"][0]

    def link(self):
        """The interface's own counters: (rx packets, rx bytes, tx packets, tx bytes)."""
        stats = json.loads(lab.sh(f"ip -j -s link show dev {self.name}"))[0]["stats64"]
        return tuple(stats[way][what] for way in ("rx", "tx") for what in ("packets", "bytes"))

    def rx_queues(self):
        """{queue: packets} as the driver says them; {}: it does not."""
        text = self.ethtool("-S IF")
        found = re.findall(r"rx_queue_(\d+)_packets: (\d+)|rx(\d+)_packets: (\d+)", text)
        queues = {int(a or c): int(b or d) for a, b, c, d in found}
        if self.model == "vmxnet3":
            for block in re.split(r"Rx Queue#: ", text)[1:]:
                received = re.findall(r"[umb]cast pkts rx: (\d+)", block)
                queues[int(block.split()[0])] = sum(map(int, received))
        return queues

    def limits_bytes(self):
        """Does its driver use byte queue limits?"""
        files = glob.glob(f"/sys/class/net/{self.name}/queues/tx-*/byte_queue_limits/limit")
        return any(int(lab.sh(f"cat {path}")) for path in files)

    def tx_ring(self):
        return int(re.findall(r"TX:\s+(\d+)", self.ethtool("-g IF"))[-1])

    def settle(self):
        """Until its counters stand still: some drivers read them every two seconds."""
        before, quiet = self.link(), 0
        end = time.monotonic() + 15
        while quiet < 5 and time.monotonic() < end:
            time.sleep(.5)
            now = self.link()
            quiet = quiet + 1 if now == before else 0
            before = now
        return before


def cards():
    return [Card(nr, words) for nr, words in enumerate(os.environ.get("NICS", "").split())]

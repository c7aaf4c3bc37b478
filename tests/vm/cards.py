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
import counters     # noqa: E402
from lib import lab          # noqa: E402

RESULTS = "/results"
# Findings about discrepancies in the ledger.
LEFT = "unseen-", "uncounted-", "bytes-differ", "counters-restarted"
asked = len(glob.glob(f"{RESULTS}/done-*"))


def ask(**question):
    """The peer's answer, by files."""
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
    """A network card of the guest: $NICS has "model=name=peer" for each."""
    def __init__(self, nr, words):
        self.model, self.name, self.peer = words.split("=")
        self.tap = f"tap{nr}"
        self.driver = os.path.basename(os.readlink(f"/sys/class/net/{self.name}/device/driver"))
        self.mac = lab.sh(f"cat /sys/class/net/{self.name}/address").strip()
        # No ARP, and so no unsolicited packets.
        far = json.loads(ask(tap=self.tap, sh=f"ip -j link show {self.tap}")["out"])[0]["address"]
        lab.sh(f"ip neigh replace {self.peer} lladdr {far} dev {self.name} nud permanent")

    def ethtool(self, options, check=False):
        return lab.sh(f"ethtool {options.replace('IF', self.name)}", check=check)

    def statistic(self, name, missing=None):
        """A statistic of `ethtool -S` by the driver's name, over all queues; `missing`: the driver lacks it."""
        found = re.findall(rf"^\s*(?:queue_\d+_[rt]x_)?{name}: (\d+)", self.ethtool("-S IF"), re.M)
        if not found and missing is None:
            raise RuntimeError(f"{self.name} has no {name}")
        return sum(map(int, found)) if found else missing

    def offload(self, card, tap):
        """Sets the features that the card has and that can be changed; and those of the tap, the far end."""
        have = dict(re.findall(r"^(\S+): (\S+(?: \[\S+\])?)", self.ethtool("-k IF"), re.M))
        words = card.split()
        todo = [f"{feature} {value}" for feature, value in zip(words[::2], words[1::2])
                if have.get(feature, value) not in (value, f"{value} [fixed]") and "fixed" not in have[feature]]
        if todo:
            self.ethtool("-K IF " + " ".join(todo), check=True)
        ask(tap=self.tap, sh=f"ethtool -K {self.tap} {tap}")

    def echo(self, count, size):
        """Sends ICMP echo requests one by one; returns the number of replies."""
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
        """Sends ("R") or receives ("S") this many bytes; returns how many arrived."""
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
        """Sends frames of any kind from outside; returns how many were sent."""
        return ask(tap=self.tap, mac=self.mac, frames=frames)["sent"][0]

    def arrived(self):
        """Frames of this card that the far end received, by its own count."""
        return json.loads(ask(tap=self.tap, sh=f"ip -j -s link show {self.tap}")["out"])[0]["stats64"]["rx"]["packets"]

    def queues(self, count):
        """Sets the number of queues of each kind, at most what the card has; returns it."""
        most = re.search(r"Combined:\s+(\d+)", self.ethtool("-l IF"))
        count = min(count, int(most[1])) if most else count
        self.ethtool(f"-L IF combined {count}")
        until_up(self.name)
        return count

    def moment(self):
        """The figures of driver and nicprobe at the same moment: nothing arrived or left meanwhile, and nothing awaits
        completion."""
        end, quiet, before = time.monotonic() + 30, 0, None
        while time.monotonic() < end:
            now = counters.interface(self.name)
            quiet = quiet + 1 if now == before else 0
            before = now
            if quiet >= 3:
                doc, queues = lab.show(self.name), counters.by_queue(self.name, self.model)
                flying = sum(row["in_flight"] for row in doc["meters"].get("txlat", []))
                if not flying and counters.interface(self.name) == now:
                    return Moment(now, queues, doc)
            time.sleep(.1)
        raise RuntimeError(f"{self.name} does not come to rest: {before}")

    def limits_bytes(self):
        """Does its driver use byte queue limits?"""
        files = glob.glob(f"/sys/class/net/{self.name}/queues/tx-*/byte_queue_limits/limit")
        return any(int(lab.sh(f"cat {path}")) for path in files)

    def tx_ring(self):
        return int(re.findall(r"TX:\s+(\d+)", self.ethtool("-g IF"))[-1])


class Moment:
    """All counters of a card, and nicprobe's document."""
    def __init__(self, link, queues, doc):
        self.link, (self.queues, self.who), self.doc = link, queues, doc

    def since(self, old, model):
        """[(source, {figure: theirs}, {figure: ours})] from `old` until now."""
        ours = grown(counters.expected(self.doc, model), counters.expected(old.doc, model))
        found = [("statistics", grown(self.link, old.link), counters.sums(ours))]
        if self.queues:
            found.append((self.who, grown(self.queues, old.queues), ours))
        return found


def grown(now, before):
    """The growth."""
    return {k: n - before.get(k, 0) for k, n in now.items() if n != before.get(k, 0)}


def until_up(name):
    """Waits for a carrier, for a limited time: e1000 negotiates for two seconds."""
    lab.until(lambda: lab.sh(f"cat /sys/class/net/{name}/carrier", check=False).strip() == "1", 10)


def cards():
    lab.nicprobe("detach", "--all")     # left by an attempt that ended early
    return [Card(nr, words) for nr, words in enumerate(os.environ.get("NICS", "").split())]

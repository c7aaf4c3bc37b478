# SPDX-License-Identifier: GPL-2.0
"""Several attached interfaces: cards whose every packet the test has caused, and the programs that they share."""
import threading
import time

from lib import left
from lib.lab import *

QUEUES = 2
TWICE = ("kfree_skb", "consume_skb")    # their programs have a second copy
ALL = "pktsize,ecn,txlat,drop,gro,napi,gso,bql"
FEW = "pktsize,txlat,drop,gro"


def links():
    """{tracepoint: our links there}."""
    got = {}
    for link in left.listed("link"):
        name, at = link.get("tp_name"), link.get("pinned", [])
        if name and any(p.startswith(f"{left.BPFFS}/nicprobe/") for p in at):
            got[name] = got.get(name, 0) + 1
    return got


def once(names):
    """What links() must be: one of each, but two where there is a second copy."""
    return {name: 1 + (name in TWICE) for name in names}


class Card:
    """A tap, the test NIC behind it and a sender before it. `want` is what nicprobe must count since attach(). If it is
    `orderly`, nicprobe makes use of what taps never do; most cards are not. `sample`: one packet in so many is
    followed; by default fewer, if many come in a time that a busy machine stretches."""
    def __init__(self, netns, name, options="--napi", ring=500, orderly=False, sample=None):
        self.cannot, self.options = "" if orderly else "orderly", ["--sample", sample] if sample else []
        self.netns, self.name, self.where = netns, name, f"{netns}/{name}"
        self.napi = "--napi" in options
        self.nic = tap(netns, name, QUEUES, f"--steer --no-cpu-pin {options}", mtu=1500)
        netns.ip(f"link set {name} txqueuelen {ring}")
        netns.run(f"ethtool -K {name} gro on")
        self.out = Nic(f"packet {name} --queues {QUEUES} --no-cpu-pin", netns)
        self.rx = "driver"
        self.want, self.held = None, 0      # held: by each ring

    def attach(self, *args, meters=ALL):
        self.complete(self.held)
        nicprobe("attach", self.where, "--rx", self.rx, "-m", meters, *self.options, *args, env={"NICPROBE_CANNOT": self.cannot})
        self.want = dict.fromkeys(("rx", "tx", "dropped", "completed", "waiting"), 0)
        self.meters = meters.split(",")

    def detach(self):
        nicprobe("detach", self.where)
        self.want = None

    def expect(self, **more):
        for what, n in more.items():
            if self.want:
                self.want[what] += n

    def receive(self, count):
        """Nobody takes such frames: each is received, and then dropped as UNHANDLED_PROTO."""
        for q in range(QUEUES):
            self.nic(f"send {q} {count} {100 + q} raw")
        self.nic("go interleave")
        self.expect(rx=QUEUES * count, dropped=QUEUES * count)

    def send(self, count):
        """Frames that wait in the rings of the card, until complete()."""
        for q in range(QUEUES):
            self.out(f"send {q} {count} {200 + q} udp")
        self.out("go interleave")
        self.held += count
        self.expect(tx=QUEUES * count, waiting=QUEUES * count)

    def complete(self, count):
        """The card takes so many of each of its queues."""
        for q in range(QUEUES if count else 0):
            got = self.nic(f"take {count} {q}")["taken"]
            if got != count:
                raise RuntimeError(f"{self.name} q{q}: {got} frames to take, not {count}")
        self.held -= count
        self.expect(completed=QUEUES * count, waiting=-QUEUES * count)

    def traffic(self, n):
        self.receive(n)
        self.send(n + 3)
        self.complete(n + 1)

    def figures(self):
        """What nicprobe has counted, and what it should have."""
        return figures(show(self.where), self.meters, self.napi), wanted(self.want, self.meters, self.napi)

    def check(self, name):
        return same(name, *self.figures())

    def close(self):
        self.out.close()
        self.nic.close()


def figures(doc, meters, napi):
    """By meter; `lost` and what was missed, too."""
    m = doc["meters"]
    got = {p: packets_at(doc, p) for p in ("rx-nic", "rx-stack", "tx-stack", "tx-nic")}
    got["lost"] = nonzero(lost(doc))
    if "txlat" in meters:
        got["completed"] = sum(r["completion_seconds"]["count"] for r in m["txlat"])
        got["waiting"] = sum(r["in_flight"] for r in m["txlat"])
        got["not timed"] = nonzero({k: sum(r["lost"][k] for r in m["txlat"]) for r in m["txlat"][:1] for k in r["lost"]})
    if "drop" in meters:
        got["dropped"] = {}
        for r in m["drop"]:
            key = f"{r['direction']} {r['reason']}"
            got["dropped"][key] = got["dropped"].get(key, 0) + r["packets"]
    if "gro" in meters:
        frames = [r["frames"] for r in m["gro"]]
        got["gro"] = nonzero({k: sum(f[k] for f in frames) for f in frames[:1] for k in f})
        got["after gro"] = sum(r["buffer_size"]["sum"] for r in m["gro"])
    if "napi" in meters and napi:
        got["polled"] = sum(r["work"]["sum"] for r in m["napi"])
        # one a frame, but fewer where ksoftirqd polls late, as under emulation
        got["polls"] = 0 < sum(r["work"]["count"] for r in m["napi"]) <= got["polled"]
    return got


def wanted(want, meters, napi):
    rx, tx = want["rx"], want["tx"]
    got = {"rx-nic": rx, "rx-stack": rx, "tx-stack": tx, "tx-nic": tx, "lost": {}}
    if "txlat" in meters:
        got.update({"completed": want["completed"], "waiting": want["waiting"], "not timed": {}})
    if "drop" in meters:
        got["dropped"] = nonzero({"rx UNHANDLED_PROTO": want["dropped"]})
    if "gro" in meters:
        got.update({"gro": nonzero({"normal" if napi else "past": rx}), "after gro": rx})
    if "napi" in meters and napi:
        got.update({"polled": rx, "polls": rx > 0})
    return got


class Load:
    """Keeps a card receiving and sending until stop(), which adds what there was to what must be counted. From both
    CPUs, and slowly enough that no ring is ever full."""
    def __init__(self, card, pps=8000):
        self.card, self.going = card, True
        self.before = card.nic("count")
        self.errors, self.done = [], {"receive": 0, "send": 0}
        card.complete(card.held)
        card.nic("read on")
        ways = (("receive", card.nic, "raw"), ("send", card.out, "udp"))
        self.threads = [threading.Thread(target=self.run, args=(*way, pps), daemon=True) for way in ways]
        for t in self.threads:
            t.start()

    def run(self, what, nic, kind, pps):
        while self.going:
            for q in range(QUEUES):
                nic(f"send {q} {pps // 20} {100 + q} {kind} pps={pps}")
            done = nic("go interleave")
            self.done[what] += done["sent"]
            if done["errors"] or done["retries"]:
                self.errors.append(f"{what}: {done['errors']} errors, {done['retries']} retries")

    def frames(self):
        """What the far end has read since the beginning."""
        now = self.card.nic("count")
        return sum(n["frames"] - b["frames"] for n, b in zip(now["queues"], self.before["queues"]))

    def stop(self):
        """The number received and sent. Raises if the card did not get what was sent: then nothing is proven."""
        self.going = False
        for t in self.threads:
            t.join(30)
        until(lambda: self.frames() >= self.done["send"])
        self.card.nic("read off")
        rx, tx, far = self.done["receive"], self.done["send"], self.frames()
        if self.errors or far != tx:
            raise RuntimeError(f"{self.card.name}: sent {tx}, read {far}; {self.errors[:3]}")
        self.card.expect(rx=rx, dropped=rx, tx=tx, completed=tx)
        return rx, tx

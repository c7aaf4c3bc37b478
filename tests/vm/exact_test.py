#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""In a guest, on each card: with every hook and attach method, nicprobe counts what the driver counts: packets and bytes, in both directions, by queue if the driver reports them, with and without TSO, GRO and LRO.

Each comparison prints a line "# exact {…}", of which tests/vm/run makes its table.
"""
import json
import os
import random
import time

from cards import cards, counters, grown, lab
from others import Others

FRAMES = ["60 v4 ecn=1", "1514 v4 ecn=3", "1280 v6", "60 arp", "600 v4 vlan=5 ecn=1",
          "604 v4 qinq=7,8 ecn=2"]
EACH = int(os.environ.get("EACH", 200))
# RSS spreads them. Its key is another at each boot, and its hash linear: of senders that differ in few bits of their
# address, one key in twenty leaves a queue empty.
SENDERS = [divmod(n, 256) for n in random.Random(1).sample(range(1 << 16), 64)]
FROM_MANY = [f"3 200 v4 icmp ecn=2 src=198.18.{high}.{low}" for high, low in SENDERS]
MB = 1 << 20
METERS = "pktsize,gso,gro,txlat"      # txlat: has everything completed?
FEATURES = ("tcp-segmentation-offload", "generic-segmentation-offload", "generic-receive-offload",
            "large-receive-offload", "rx-gro-hw", "rx-vlan-offload")
# The hook of rx-nic, the disabled kernel features, and what is split or merged below its points.
WAYS = [
    ("driver", "tc", "none"),
    ("driver", "", "all"),
    ("driver", "tcx,stack", "all"),
]
XDP_WAYS = [("xdp", "dispatcher", "none"), ("xdp", "", "none")]
SPREADS = {"igb": 4, "ixgbevf": 2, "ena": 4}    # over this many queues, if it has them
XDP_SINCE = {"virtio": (4, 10), "igb": (5, 10), "ixgbevf": (4, 17), "vmxnet3": (6, 6), "ena": (5, 6)}     # native


def offload(card, which):
    value = "on" if which == "all" else "off"
    card.offload(" ".join(f"{feature} {value}" for feature in FEATURES), f"tso {value} gso {value}")


def drive(card, megabytes):
    """Frames of every kind, and TCP in both directions. Returns what was done, and what was intended."""
    sent = card.frames(*[f"{EACH} {frame} flows=64 pps=4000" for frame in FRAMES], *FROM_MANY)
    size = megabytes * MB
    done = (sent, card.echo(5, 400), card.tcp("R", size), card.tcp("S", size))
    return done, (EACH * len(FRAMES) + 3 * len(FROM_MANY), 5, size, size)


def tell(card, point, way, which, packets, off):
    print("# exact " + json.dumps({"driver": card.driver, "point": point, "way": way,
                                   "offloads": which, "packets": packets, "off": off}), flush=True)


def wire(doc, point):
    """{queue: (packets, bytes)} on the wire, for what the stack has in fewer buffers."""
    merged = counters.merged_packets(doc, point)
    return {q: (h["count"] + merged.get(q, 0), h["sum"] + counters.HEADERS * merged.get(q, 0))
            for q, h in lab.sizes_at(doc, point).items()}


def compare_stack(name, card, doc, which, stack, nic):
    """Packets merged by GRO, and buffers for TSO and GSO, count as their wire packets."""
    if stack == "rx-stack" and card.model in counters.NAMELESS and not doc["hooks"][stack]:
        return lab.check(f"{name}: {stack}: absent, as tc sees no queue",
                         "the driver records no receive queue" in doc["absent"][stack], str(doc["absent"]))
    want = {q: (h["count"], h["sum"]) for q, h in lab.sizes_at(doc, nic).items()}
    got = wire(doc, stack)
    tags = 4 * EACH * counters.UNTAGS.get(card.model, 0) if stack == "rx-stack" and which == "all" else 0
    more = {q: size - want.get(q, (0, 0))[1] for q, (_, size) in got.items()}
    if tags and tags == sum(more.values()) and min(more.values()) >= 0:
        got = {q: (n, size - more[q]) for q, (n, size) in got.items()}
    good = lab.same(f"{name}: {stack}", got, want)
    tell(card, stack, doc["hooks"][stack], which, sum(n for n, _ in want.values()), 0 if good else 1)


def compare(name, card, before, after, which):
    """Compares every counter; prints a table line for each of the four points."""
    off = {}
    for who, theirs, ours in after.since(before, card.model):
        lab.same(f"{name}: {who} # {sum(n for k, n in theirs.items() if 'packets' in str(k))} packets", ours, theirs)
        for key in set(ours) | set(theirs):
            figure = key if isinstance(key, str) else key[1]
            off[figure] = max(off.get(figure, 0), abs(ours.get(key, 0) - theirs.get(key, 0)))
    compare_stack(name, card, after.doc, which, "rx-stack", "rx-nic")
    compare_stack(name, card, after.doc, which, "tx-stack", "tx-nic")
    for point in "rx-nic", "tx-nic":
        way = point[:2]
        tell(card, point, after.doc["hooks"][point], which,
             lab.packets_at(after.doc, point) - lab.packets_at(before.doc, point),
             max(off.get(f"{way}_packets", 0), off.get(f"{way}_bytes", 0)))


def spread(name, card, doc):
    """The card spreads packets from many senders; a tap of several queues follows what the guest last sent."""
    if card.model in SPREADS:
        received = {q: h["count"] for q, h in lab.sizes_at(doc, "rx-nic").items()}
        queues = min(SPREADS[card.model], doc["queues"]["rx"])
        lab.check(f"{name}: RSS fills its queues # {received}", len(received) == queues, str(received))


def completed(name, before, after):
    """As many completions as packets that the driver took."""
    rows = after.doc["meters"]["txlat"]
    lab.same(f"{name}: completions, lost",
             (sum(r["completion_seconds"]["count"] for r in rows), sum(sum(r["lost"].values()) for r in rows)),
             (int(sum(r["buffer_size"]["count"] for r in after.doc["meters"]["gso"] if r["point"] == "tx-nic")), 0))


def run(card, tap, cannot, which, megabytes, others=None):
    """One attach, with all comparisons."""
    name = f"{card.model}, {tap}{', without ' + cannot if cannot else ''}, offloads: {which}{', others' if others else ''}"
    began = time.monotonic()
    offload(card, which)
    if others:
        others.add(card, 0)     # runs before ours by priority; and is attached first
    lab.nicprobe("attach", card.name, "-m", METERS, "--rx", tap, env={"NICPROBE_CANNOT": cannot})
    if others:
        others.add(card, 50)
    before = card.moment()
    seen = others.counts() if others else {}
    done, wanted = drive(card, megabytes)
    after = card.moment()
    lab.nicprobe("detach", card.name)
    lab.same(f"{name}: traffic", done, wanted)
    compare(name, card, before, after, which)
    completed(name, before, after)
    spread(name, card, after.doc)
    if others:
        received = lab.packets_at(after.doc, "rx-nic") - lab.packets_at(before.doc, "rx-nic")
        lab.same(f"{name}: two other programs saw as many", grown(others.counts(), seen), {0: received, 50: received})
        lab.check(f"{name}: in a dispatcher", after.doc["hooks"]["rx-nic"] == "xdp in a dispatcher", str(after.doc["hooks"]))
        others.remove()
    print(f"# {name}: {time.monotonic() - began:.1f} s", flush=True)


lab.need_root()
others = Others()
for card in cards():
    card.queues(4)
    lab.sh(f"ip link set {card.name} promisc on")
    for tap, cannot, which in WAYS:
        run(card, tap, cannot, which, 24 if which == "all" else 2)
    if lab.KERNEL >= XDP_SINCE.get(card.model, (99,)):
        if card.model == "ena":
            card.queues(1)      # the others are for XDP_TX
        for tap, cannot, which in XDP_WAYS:
            run(card, tap, cannot, which, 2)
        run(card, "xdp", "", "none", 2, others)
        card.queues(4)
lab.finish()

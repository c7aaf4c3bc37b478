#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""In a guest: what nicprobe counts on a real driver is what the driver counts, packets and bytes."""
from cards import ask, cards, lab

FRAMES = ["60 v4 ecn=1", "200 v4 tcp ecn=2", "1514 v4 ecn=3", "1280 v6 ecn=0", "60 arp",
          "600 v4 vlan=5 ecn=1", "604 v4 qinq=7,8 ecn=2"]
EACH = 100
# What its counters have of a packet beside the frame: e1000e's are the hardware's, with the FCS.
MORE = {"e1000e": 4}


def totals(doc):
    return tuple(f(doc, point) for point in ("rx-nic", "tx-nic")
                 for f in (lab.packets_at, lab.bytes_at))


def minus(after, before):
    return tuple(a - b for a, b in zip(after, before))


def queues_of(doc):
    return {queue: h["count"] for queue, h in lab.sizes_at(doc, "rx-nic").items()}


def grown(after, before):
    return {k: v - before.get(k, 0) for k, v in after.items() if v != before.get(k, 0)}


def lost(doc):
    return sum(sum(row["lost"].values()) for row in doc["meters"].get("txlat", []))


def drive(card):
    """Both ways, of every kind; how much was done of what was wanted."""
    sent = card.frames(*[f"{EACH} {frame} flows=64 pps=4000" for frame in FRAMES])
    return (sent, card.echo(20, 400), card.tcp("R", 1 << 20), card.tcp("S", 1 << 20))


def one(card, name, *options, cannot=""):
    lab.nicprobe("attach", card.name, *options, env={"NICPROBE_CANNOT": cannot})
    link0, queues0, doc0 = card.settle(), card.rx_queues(), lab.show(card.name)
    done = drive(card)
    link1 = minus(card.settle(), link0)
    doc1, queues1 = lab.show(card.name), card.rx_queues()
    lab.nicprobe("detach", card.name)
    lab.same(f"{name}: traffic", done, (EACH * len(FRAMES), 20, 1 << 20, 1 << 20))
    ours = minus(totals(doc1), totals(doc0))
    more = MORE.get(card.model, 0)
    want = (link1[0], link1[1] - more * link1[0], link1[2], link1[3] - more * link1[2])
    for what, a, b in zip(("rx packets", "rx bytes", "tx packets", "tx bytes"), ours, want):
        lab.same(f"{name}: {what}", a, b)
    if queues1:
        lab.same(f"{name}: receive queues", grown(queues_of(doc1), queues_of(doc0)),
                 grown(queues1, queues0))
    done = sum(row["completion_seconds"]["count"] for row in doc1["meters"]["txlat"])
    flying = sum(row["in_flight"] for row in doc1["meters"]["txlat"])
    lab.same(f"{name}: completions, in flight, lost", (done, flying, lost(doc1)),
             (lab.packets_at(doc1, "tx-nic"), 0, 0))


lab.need_root()
for card in cards():
    # Segmented by the stack, and not merged below it: one packet is one buffer to every driver.
    card.ethtool("-K IF tso off gso off")
    lab.sh(f"ip link set {card.name} promisc on")
    ask(tap=card.tap, sh=f"ethtool -K {card.tap} tso off gso off")
    one(card, f"{card.model}")
    one(card, f"{card.model}, driver", "--rx", "driver")
    one(card, f"{card.model}, raw_tp", "--rx", "driver", cannot="tp_btf")
lab.finish()

#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""In a guest: the ledger of every card comes to 0, packets and bytes, by the driver's own formula."""
import json
import os
import socket

from cards import LEFT, ask, cards, lab, until_up
from lib import bpf

FRAMES = ["60 v4 ecn=1", "200 v4 tcp ecn=2", "1514 v4", "1280 v6", "60 arp", "600 v4 vlan=5"]
EACH = 50
LATER = 300
SHORT = 10      # of an echo request: frames that the driver or the card pads
RUNTS = 14, 15, 16, 17, 40      # bytes of a frame: many drivers pad frames below 17 before the card


def odd(doc):
    """Rows with a discrepancy or an uncertainty."""
    left = ("residue", "residue_within", "residue_bytes", "residue_bytes_within", "between", "between_within")
    return [r for r in doc["meters"]["ledger"] if any(r.get(k) for k in left)]


def said(doc):
    return lab.said(doc, *LEFT)


def of_all(doc, way):
    rows = [r for r in doc["meters"]["ledger"] if r["direction"] == way]
    return next((r for r in rows if r["queue"] == "all"), rows[0] if rows else {})


def link(card):
    """(rx packets, rx bytes, tx packets, tx bytes) of the interface."""
    stats = json.loads(lab.sh(f"ip -j -s link show dev {card.name}"))[0]["stats64"]
    return [stats[way][what] for way in ("rx", "tx") for what in ("packets", "bytes")]


def attach(card, options, meters="ledger,txlat"):
    """The counters of `ip -s link` at attach: nothing arrived or left meanwhile."""
    for _ in range(10):
        before = link(card)
        lab.nicprobe("attach", card.name, "-m", meters, *options)
        if link(card) == before:
            return before
        lab.nicprobe("detach", card.name)
    raise RuntimeError(f"{card.name} is never at rest")


def same_moment(card):
    """The document, and the counters of `ip -s link` before and after it."""
    for _ in range(20):
        before, doc, after = link(card), lab.show(card.name), link(card)
        if before == after:
            return doc, after
    raise RuntimeError(f"{card.name} is never at rest")


def runts(card):
    """Sends frames that are too short for Ethernet, to nobody. An emulated card counts those that e1000e's driver pads
    to 17 as such, a real one as 60."""
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as s:
        s.bind((card.name, 0))
        for size in RUNTS[3 if card.model == "e1000e" else 0:]:
            for _ in range(10):
                s.send(bytes.fromhex("02000000000152540009aaaa88b5") + bytes(size - 14))


def one(card, name, *options, cannot=""):
    os.environ["NICPROBE_CANNOT"] = cannot
    before = attach(card, options)
    sent = card.frames(*[f"{EACH} {frame} flows=64 pps=4000" for frame in FRAMES])
    done = (sent, card.echo(10, SHORT), card.echo(10, 700), card.tcp("R", 1 << 18), card.tcp("S", 1 << 18))
    runts(card)
    # A card may receive its own broadcast back from a switch: some drivers check for that.
    ask(tap=card.tap, mac="ff:ff:ff:ff:ff:ff", frames=[f"{EACH} 200 v4 smac={card.mac}"])
    lab.same(f"{name}: traffic", done, (EACH * len(FRAMES), 10, 10, 1 << 18, 1 << 18))
    # Completions come late, and some counters only every two seconds.
    lab.until(lambda: not odd(lab.show(card.name)), 10)
    doc, now = same_moment(card)
    grown = [n - then for n, then in zip(now, before)]
    lab.nicprobe("detach", card.name)
    lab.same(f"{name}: nothing is left", (odd(doc), said(doc)), ([], ""))
    got = [of_all(doc, way).get(what, 0) for way in ("rx", "tx") for what in ("driver", "driver_bytes")]
    lab.same(f"{name}: the driver's packets and bytes # {got}", got, grown)
    few = [way for way in ("rx", "tx") if of_all(doc, way).get("stack", 0) < 150]
    lab.same(f"{name}: packets on the wire, both ways", few, [])


def program(card):
    """A foreign XDP program that passes everything: virtio_net activates queues for it."""
    with bpf.pinned(bpf.XDP, 2) as path:
        lab.sh(f"ip link set {card.name} xdpdrv pinned {path}")


def later(card, what, more):
    """Queues activated while attached had counted before: those counts are neither shown nor taken for unseen packets.
    """
    name = f"{card.model}, {what} later"
    load = f"{LATER} 200 v4 flows=256 pps=4000"
    card.queues(4)
    card.frames(load)
    card.queues(2)
    attach(card, ("--rx", "driver"), "ledger,txlat,hwstat")
    then = link(card)
    had = lab.show(card.name)["queues"]["rx"]
    more(card)
    until_up(card.name)
    state = lab.show(card.name).get("state", "")
    lab.check(f"{name}: it has more receive queues # {state}", f"it had {had} and" in state, state)
    sent = card.frames(load)
    lab.until(lambda: not odd(lab.show(card.name)), 10)
    doc, now = same_moment(card)
    lab.nicprobe("detach", card.name)
    lab.sh(f"ip link set {card.name} xdp off")
    rows = {int(r["queue"]): r["value"] for r in doc["meters"]["hwstat"]
            if r["statistic"] == "rx_packets" and str(r["queue"]).isdigit()}
    lab.same(f"{name}: sent, and as the interface has it", (sent, now[0] - then[0]), (LATER, LATER))
    lab.same(f"{name}: the driver's packets", of_all(doc, "rx").get("driver"), LATER)
    lab.check(f"{name}: queues that were there have theirs, and new ones the others # {rows}",
              0 < sum(rows.values()) < LATER and set(rows) <= {0, 1}, str(rows))
    lab.same(f"{name}: nothing is left, and nothing found", (odd(doc), said(doc)), ([], ""))


lab.need_root()
for card in cards():
    lab.sh(f"ip link set {card.name} promisc on")
    for state in "off", "on":
        card.ethtool(f"-K IF tso {state} gso {state} gro {state}")
        ask(tap=card.tap, sh=f"ethtool -K {card.tap} tso {state} gso {state}")
        one(card, f"{card.model}, offloads {state}")
    if card.model == "virtio":
        one(card, "virtio, without netdev-genl", "--rx", "driver", cannot="netdev")
        os.environ["NICPROBE_CANNOT"] = ""
        later(card, "ethtool -L", lambda card: card.queues(4))
        later(card, "an XDP program", program)
        card.queues(4)
lab.finish()

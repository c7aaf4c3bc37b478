#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""In a guest: with a real driver, nicprobe counts what the driver counts, packets and bytes."""
import json
import os
import re

from cards import cards, lab

FRAMES = ["60 v4 ecn=1", "200 v4 tcp ecn=2", "1514 v4 ecn=3", "1280 v6 ecn=0", "60 arp",
          "600 v4 vlan=5 ecn=1", "604 v4 qinq=7,8 ecn=2"]
EACH = 100


def lost(doc):
    return sum(sum(row["lost"].values()) for row in doc["meters"].get("txlat", []))


def rows(doc, meter):
    return doc["meters"].get(meter, [])


def by_queue(doc, meter, value):
    """{queue: sum of value(row)}, if it is not 0"""
    found = {}
    for row in rows(doc, meter):
        found[row["queue"]] = found.get(row["queue"], 0) + value(row)
    return lab.nonzero(found)


def work(name, doc, received):
    """A poll returns its number of packets, or its budget if more is left to complete."""
    got = by_queue(doc, "napi", lambda r: r["work"]["sum"])
    full = by_queue(doc, "napi", lambda r: r["exhausted_polls"])
    if full:
        lab.check(f"{name}: napi: packets, but for {sum(full.values())} full polls",
                  all(n <= got.get(q, 0) <= n + 64 * full.get(q, 0) for q, n in received.items()),
                  f"{got}, not {received}, full {full}")
    else:
        lab.same(f"{name}: napi: packets", got, received)


def meters(card, name, doc):
    """The other meters agree on the same packets: since the attach there were no others."""
    received = {q: h["count"] for q, h in lab.sizes_at(doc, "rx-nic").items()}
    sent, sent_buffers = (lab.packets_at(doc, point) for point in ("tx-nic", "tx-stack"))
    work(name, doc, received)
    lab.same(f"{name}: gro: frames", by_queue(doc, "gro", lambda r: sum(r["frames"].values())),
             received)
    lab.same(f"{name}: gro: packets", sum(r["buffer_size"]["sum"] for r in rows(doc, "gro")),
             sum(received.values()))
    lab.same(f"{name}: gso: packets",
             [sum(r["buffer_size"]["sum"] for r in rows(doc, "gso") if r["point"] == point)
              for point in ("tx-stack", "tx-nic")], [sent, sent])
    # Packets that were segmented and then found the queue stopped are requeued in parts: BQL begins with a small limit.
    qdisc = rows(doc, "qdisc")
    back = sum(r["lost"]["split-by-qdisc"] for r in qdisc)
    lost = sum(r["waiting"] + sum(r["lost"].values()) for r in qdisc) - back
    lab.check(f"{name}: qdisc: packets # {back} went back in parts",
              (sum(r["wait_seconds"]["count"] for r in qdisc) + back, lost) ==
              (sent_buffers, 0) and back <= 8 * card.limits_bytes(), f"{sent_buffers}, {qdisc}")
    limited = sum(r["in_flight_bytes"]["count"] for r in rows(doc, "bql"))
    lab.same(f"{name}: bql: xmits", limited, sent if card.limits_bytes() else 0)
    most = max((r["in_flight_bytes"]["max"] or 0 for r in rows(doc, "bql")), default=0)
    lab.check(f"{name}: bql: in flight # {most:.0f} bytes",
              most <= 1.125 * 1514 * card.tx_ring(), str(most))
    lab.same(f"{name}: bql: stopped now", sum(r["stopped_queues"] for r in rows(doc, "bql")), 0)
    dropped = [r for r in rows(doc, "drop") if r["direction"] == "tx"]
    lab.same(f"{name}: drop: none that were sent", dropped, [])
    # ARP is processed, everything else is for nobody here; and Linux frees echo replies as dropped, after a raw socket
    # got its copy. TCP drops duplicates.
    dropped = [r for r in rows(doc, "drop")
               if not r["reason"].startswith("TCP_") and not r["location"].startswith("tcp_")]
    # A virtual function receives only VLANs that it requested.
    unwanted = len(FRAMES) - 1 - (card.model == "igbvf")
    lab.check(f"{name}: drop: what nobody wants", sum(r["packets"] for r in dropped) ==
              EACH * unwanted + 20, str(dropped))


def drive(card):
    """In both directions, of every kind; returns how much of the intended was done."""
    sent = card.frames(*[f"{EACH} {frame} flows=64 pps=4000" for frame in FRAMES])
    return (sent, card.echo(20, 400), card.tcp("R", 1 << 20), card.tcp("S", 1 << 20))


def one(card, name, *options, cannot=""):
    lab.nicprobe("attach", card.name, "-m", "all", *options, env={"NICPROBE_CANNOT": cannot})
    before = card.moment()
    done = drive(card)
    after = card.moment()
    lab.nicprobe("detach", card.name)
    lab.same(f"{name}: traffic", done, (EACH * len(FRAMES), 20, 1 << 20, 1 << 20))
    for who, theirs, ours in after.since(before, card.model):
        lab.same(f"{name}: {who}", ours, theirs)
    doc = after.doc
    done = sum(row["completion_seconds"]["count"] for row in doc["meters"]["txlat"])
    flying = sum(row["in_flight"] for row in doc["meters"]["txlat"])
    lab.same(f"{name}: completions, in flight, lost", (done, flying, lost(doc)),
             (lab.packets_at(doc, "tx-nic"), 0, 0))
    meters(card, name, doc)


def sent_back(card):
    """What is forwarded by the card it came from is no drop, though some drivers free what they have sent as if it were."""
    name, third = f"{card.model}: forwarded to where it came from", re.sub(r"\d+$", "77", card.peer)
    far = json.loads(lab.sh(f"ip -j neigh show {card.peer} dev {card.name}"))[0]["lladdr"]
    lab.sh(f"ip neigh replace {third} lladdr {far} dev {card.name} nud permanent")
    for setting in f"{card.name}.forwarding=1", f"{card.name}.send_redirects=0", "all.send_redirects=0", "all.rp_filter=0":
        lab.sh(f"sysctl -qw net.ipv4.conf.{setting}")
    lab.nicprobe("attach", card.name, "-m", "pktsize,drop,txlat")
    card.moment()
    ends = f"src={card.peer} dst={third}"
    lab.same(f"{name}: traffic", card.frames(f"{EACH} 200 v4 {ends} pps=4000", f"{EACH} 1200 v4 tcp seq {ends}"), 2 * EACH)
    doc = card.moment().doc
    lab.nicprobe("detach", card.name)
    lab.sh(f"sysctl -qw net.ipv4.conf.{card.name}.forwarding=0")
    lab.same(f"{name}: received, sent, completed",
             (lab.packets_at(doc, "rx-nic"), lab.packets_at(doc, "tx-nic"),
              sum(row["completion_seconds"]["count"] for row in rows(doc, "txlat"))), (2 * EACH,) * 3)
    lab.same(f"{name}: dropped", rows(doc, "drop"), [])


lab.need_root()
for card in cards():
    # Segmented by the stack, and not merged below it: one packet is one buffer to every driver.
    card.offload("tcp-segmentation-offload off generic-segmentation-offload off", "tso off gso off")
    lab.sh(f"ip link set {card.name} promisc on")
    one(card, f"{card.model}", "--rx", "driver")
    sent_back(card)
lab.finish()

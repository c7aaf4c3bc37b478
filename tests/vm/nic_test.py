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


def rows(doc, meter):
    return doc["meters"].get(meter, [])


def by_queue(doc, meter, value):
    """{queue: sum of value(row)}, where it is not 0"""
    found = {}
    for row in rows(doc, meter):
        found[row["queue"]] = found.get(row["queue"], 0) + value(row)
    return lab.nonzero(found)


def work(name, doc, received):
    """A poll says how many packets it took; its budget instead, where it has more to complete."""
    got = by_queue(doc, "napi", lambda r: r["work"]["sum"])
    full = by_queue(doc, "napi", lambda r: r["exhausted_polls"])
    if full:
        lab.check(f"{name}: napi: packets, but for {sum(full.values())} full polls",
                  all(n <= got.get(q, 0) <= n + 64 * full.get(q, 0) for q, n in received.items()),
                  f"{got}, not {received}, full {full}")
    else:
        lab.same(f"{name}: napi: packets", got, received)


def meters(card, name, doc):
    """What the other meters say of the same packets: since the attach there were no others."""
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
    # What was split and then found the queue stopped goes back in parts: BQL begins with a small limit.
    qdisc = rows(doc, "qdisc")
    back = sum(r["lost"]["split-by-qdisc"] for r in qdisc)
    lost = sum(r["waiting"] + sum(r["lost"].values()) for r in qdisc) - back
    lab.check(f"{name}: qdisc: packets # {back} went back in parts",
              (sum(r["wait_seconds"]["count"] for r in qdisc) + back, lost) ==
              (sent_buffers, 0) and back <= 8 * card.limits_bytes(), f"{sent_buffers}, {qdisc}")
    limited = sum(r["in_flight_bytes"]["count"] for r in rows(doc, "bql"))
    lab.same(f"{name}: bql: hand-overs", limited, sent if card.limits_bytes() else 0)
    most = max((r["in_flight_bytes"]["max"] or 0 for r in rows(doc, "bql")), default=0)
    lab.check(f"{name}: bql: in flight # {most:.0f} bytes",
              most <= 1.125 * 1514 * card.tx_ring(), str(most))
    lab.same(f"{name}: bql: stopped now", sum(r["stopped_queues"] for r in rows(doc, "bql")), 0)
    dropped = [r for r in rows(doc, "drop") if r["direction"] == "tx"]
    lab.same(f"{name}: drop: none that were sent", dropped, [])
    # ARP is understood, all else is for nobody here; and Linux frees echo replies as dropped, after
    # a raw socket has had its copy. TCP throws away what comes twice.
    dropped = [r for r in rows(doc, "drop")
               if not r["reason"].startswith("TCP_") and not r["location"].startswith("tcp_")]
    lab.check(f"{name}: drop: what nobody wants", sum(r["packets"] for r in dropped) ==
              EACH * (len(FRAMES) - 1) + 20, str(dropped))


def drive(card):
    """Both ways, of every kind; how much was done of what was wanted."""
    sent = card.frames(*[f"{EACH} {frame} flows=64 pps=4000" for frame in FRAMES])
    return (sent, card.echo(20, 400), card.tcp("R", 1 << 20), card.tcp("S", 1 << 20))


def one(card, name, *options, cannot=""):
    lab.nicprobe("attach", card.name, "-m", "all", *options, env={"NICPROBE_CANNOT": cannot})
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
    meters(card, name, doc1)
    return doc1["taps"]["rx-nic"]


lab.need_root()
for card in cards():
    # Segmented by the stack, and not merged below it: one packet is one buffer to every driver.
    card.ethtool("-K IF tso off gso off")
    lab.sh(f"ip link set {card.name} promisc on")
    ask(tap=card.tap, sh=f"ethtool -K {card.tap} tso off gso off")
    if not one(card, f"{card.model}").endswith("_entry"):
        one(card, f"{card.model}, driver", "--rx", "driver")
    one(card, f"{card.model}, raw_tp", "--rx", "driver", cannot="tp_btf")
lab.finish()

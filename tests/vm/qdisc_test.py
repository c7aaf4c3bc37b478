#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""In a guest: qdiscs that not every kernel has. Every packet given to them went through or was dropped, as tc(8) counts
it."""
import re

from cards import cards, lab
from held import Sender

COUNT, SIZE, FLOWS = 400, 1000, 8
NEVER, QUIETLY, TOLD = "never", "quietly", "and the sender, who is told, sends again"
# The qdisc, one below it, how it drops, and the minimum wait of a packet, in seconds.
KINDS = [
    ("netem delay 5ms limit 2000", "", NEVER, .005),
    ("netem loss 25%", "", QUIETLY, 0),
    ("fq flow_limit 1000", "", NEVER, 0),
    ("fq_codel limit 1000", "", NEVER, 0),
    ("tbf rate 8mbit burst 3000 limit 40000", "", TOLD, 0),
    # These drop on dequeue: up to 6.12 only the location shows that.
    ("cake bandwidth 8mbit rtt 10ms", "", QUIETLY, 0),
    ("tbf rate 8mbit burst 3000 limit 400000", "codel limit 1000 target 1ms interval 10ms", QUIETLY, 0),
    ("tbf rate 8mbit burst 3000 limit 400000",
     "red limit 60000 min 5000 max 15000 avpkt 1000 burst 10 probability 0.5 bandwidth 8mbit", QUIETLY, 0),
]


def tc_counts(card):
    """(packets sent, dropped) by the root, from tc -s."""
    text = lab.sh(f"tc -s qdisc show dev {card.name} root")
    found = re.search(r"Sent \d+ bytes (\d+) pkt \(dropped (\d+)", text)
    return int(found[1]), int(found[2])


def one(card, sender, root, child, drops, least):
    name = f"{root.split()[0]}{' above ' + child.split()[0] if child else ''} # {root}"
    for words in root, child:
        module = words.split(" ", 1)[0]
        if module and lab.subprocess.run(["modprobe", "-q", f"sch_{module}"], check=False).returncode:
            return lab.skip(name, f"this kernel has no module sch_{module}")
    lab.sh(f"tc qdisc del dev {card.name} root", check=False)
    lab.sh(f"tc qdisc add dev {card.name} root handle 1: {root}")
    if child:
        lab.sh(f"tc qdisc add dev {card.name} parent 1:1 handle 2: {child}")
    lab.nicprobe("attach", card.name, "-m", "qdisc,pktsize,drop")
    before = tc_counts(card)
    sender(COUNT, SIZE, words=f"v4 flows={FLOWS}")
    lab.until(lambda: "backlog 0b 0p" in lab.sh(f"tc -s qdisc show dev {card.name} root"), 20)
    sent, dropped = (now - then for now, then in zip(tc_counts(card), before))
    doc = lab.show(card.name)
    lab.nicprobe("detach", card.name)
    rows = doc["meters"]["qdisc"]
    timed = sum(r["wait_seconds"]["count"] for r in rows)
    waited = sum(r["wait_seconds"]["sum"] for r in rows)
    lab.same(f"{name}: sent, timed, at the driver", (timed, lab.packets_at(doc, "tx-nic")), (sent, sent))
    lab.same(f"{name}: dropped, by itself", [sum(r["dropped"][by] for r in rows) for by in ("by-qdisc", "otherwise")],
             [dropped, 0])
    lab.same(f"{name}: none waits", sum(r["waiting"] for r in rows), 0)
    lab.same(f"{name}: sent, and dropped {drops}, is what it was given", sent + dropped * (drops == QUIETLY), COUNT)
    lab.same(f"{name}: the meter drop", sum(r["packets"] for r in doc["meters"]["drop"] if r["who"] == "qdisc"), dropped)
    lab.check(f"{name}: it drops {drops}, {dropped}", (dropped > 0) == (drops != NEVER), str(dropped))
    lab.check(f"{name}: waits # {waited / max(timed, 1) * 1e3:.2f} ms each", waited >= least * timed, f"{waited} s")
    return None


def cut(card):
    """cake splits buffers of several packets: such buffers were timed whole, or are reported as split."""
    name = "cake, buffers of several packets"
    if lab.subprocess.run(["modprobe", "-q", "sch_cake"], check=False).returncode:
        return lab.skip(name, "this kernel has no module sch_cake")
    buffers, plain, each = 100, 150, 9      # of TCP, 1000 bytes each, after 14 + 40 of headers
    lab.sh(f"tc qdisc del dev {card.name} root", check=False)
    # with a target of 5 s, so that it drops nothing while an emulated CPU is slow
    lab.sh(f"tc qdisc add dev {card.name} root handle 1: cake bandwidth 900mbit rtt 100s split-gso")
    nic = lab.Nic(f"packet {card.name} --vnet-hdr --no-cpu-pin")
    lab.nicprobe("attach", card.name, "-m", "qdisc,pktsize,drop")
    before = tc_counts(card)
    nic(f"send 0 {buffers} 9014 v4 tcp gso=1000 pps=2000")
    nic(f"send 0 {plain} 1000 v4 pps=2000")
    nic("go")
    lab.until(lambda: "backlog 0b 0p" in lab.sh(f"tc -s qdisc show dev {card.name} root"), 20)
    sent = tc_counts(card)[0] - before[0]
    doc = lab.show(card.name)
    lab.nicprobe("detach", card.name)
    nic.close()
    lab.sh(f"tc qdisc del dev {card.name} root")
    rows = doc["meters"]["qdisc"]
    lab.same(f"{name}: tc has the packets, and so has the driver", (sent, lab.packets_at(doc, "tx-nic")),
             (plain + each * buffers,) * 2)
    lab.same(f"{name}: timed, and split, is what it was given", (sum(r["wait_seconds"]["count"] for r in rows),
             sum(r["lost"]["split-by-qdisc"] for r in rows)), (plain, buffers))
    lab.same(f"{name}: nothing else became of any", [sum(r["waiting"] + sum(r["dropped"].values()) for r in rows),
             doc["meters"]["drop"]], [0, []])
    return None


def marks(card, sender):
    """fq_codel behind a shaper marks packets that wait too long: a finding reports as many as tc(8) counts."""
    below = "fq_codel noecn target 10s interval 20s"
    lab.sh(f"tc qdisc replace dev {card.name} root handle 1: tbf rate 20mbit burst 3000 limit 4000000")
    for child, least in ((f"{below} ce_threshold 1ms", COUNT // 2), (below, 0)):
        lab.sh(f"tc qdisc del dev {card.name} parent 1:1", check=False)
        lab.sh(f"tc qdisc add dev {card.name} parent 1:1 handle 2: {child}")
        lab.nicprobe("attach", card.name, "-m", "pktsize,qdisc,ecn,drop")
        sender(COUNT, SIZE, words=f"v4 ecn=2 flows={FLOWS}")
        lab.until(lambda: "backlog 0b 0p" in lab.sh(f"tc -s qdisc show dev {card.name} root"), 20)
        found = re.search(r"ce_mark (\d+)", lab.sh(f"tc -s qdisc show dev {card.name}"))
        marked = int(found[1]) if found else 0
        lab.until(lambda: lab.packets_at(lab.show(card.name), "tx-nic") == COUNT, 5)
        doc = lab.show(card.name)
        lab.nicprobe("detach", card.name)
        ce = [sum(codes.get("ce", 0) for codes in lab.ecn_at(doc, point).values()) for point in ("tx-stack", "tx-nic")]
        lab.same(f"marks # {child}: before and after the qdisc", ce, [0, marked])
        got = lab.said(doc, "ecn-marked-here")
        if least:
            lab.check(f"marks: found # {got}", marked >= least and
                      re.search(rf"this host's own qdisc \(one below tbf\) marked {marked} packets CE", got), f"{marked}: {got}")
        else:
            lab.same("no marks: silent", (marked, got), (0, ""))


lab.need_root()
card = next(c for c in cards() if c.model == "virtio")
sender = Sender(card)
for kind in KINDS:
    one(card, sender, *kind)
cut(card)
marks(card, sender)
sender.close()
lab.sh(f"tc qdisc del dev {card.name} root")
lab.finish()

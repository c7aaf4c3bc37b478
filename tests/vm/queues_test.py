#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""In a guest: queues that a driver activates itself, and NAPIs that only complete, are reported as such."""
import os

from cards import Card, cards, lab, until_up


def own_change(card):
    """An XDP program of ours takes a queue per CPU on virtio_net, if it has them: not a change by a user."""
    had = card.queues(2)
    lab.nicprobe("attach", card.name, "--rx", "xdp", "-m", "pktsize,napi")
    doc = lab.show(card.name)
    name = f"{card.model}: XDP of ours"
    lab.same(f"{name}: nothing is said of queues # {had}, now {doc['queues']['rx']}", doc.get("state", ""), "")
    inside = [d for d in lab.sh(f"ls /sys/class/net/{card.name}/queues").split() if d.startswith("rx-")]
    lab.same(f"{name}: its receive queues", doc["queues"]["rx"], len(inside))
    if card.model == "virtio":
        lab.check(f"{name}: it has more than before", doc["queues"]["rx"] > had, str(doc["queues"]))
    lab.nicprobe("detach", card.name)
    until_up(card.name)


def only_send(card):
    """igb with two of eight queues has two NAPIs that receive and two that complete, each with an ID."""
    card.queues(2)
    names = lab.sh(f"grep -o '{card.name}-tx-.*' /proc/interrupts", check=False).split()
    lab.same(f"{card.model}: interrupts of its transmit queues", names, [f"{card.name}-tx-{n}" for n in (0, 1)])
    lab.nicprobe("attach", card.name, "-m", "napi,irq,pktsize")
    done = card.echo(20, 100), card.tcp("R", 1 << 20), card.tcp("S", 1 << 20)
    doc = lab.show(card.name)
    lab.nicprobe("detach", card.name)
    rows = doc["meters"]["napi"]
    lab.same(f"{card.model}: traffic", done, (20, 1 << 20, 1 << 20))
    lab.check(f"{card.model}: rows of NAPIs: its two receive queues", {r["queue"] for r in rows} <= {0, 1}, str(rows))
    lab.check(f"{card.model}: what only sends is told as that", sum(r["tx_polls"] for r in rows) > 0, str(rows))
    lab.same(f"{card.model}: what they took", sum(r["work"]["sum"] for r in rows), lab.packets_at(doc, "rx-nic"))
    polls = {r["vector"]: r["polls"] for r in doc["meters"]["irq"] if r["polls"]}
    lab.check(f"{card.model}: interrupts that send have polls, too", any("-tx-" in name for name in polls), str(polls))


def anew(card):
    """The driver recreates it: it has not been up since."""
    device = os.path.realpath(f"/sys/class/net/{card.name}/device")
    driver, address = os.path.realpath(f"{device}/driver"), os.path.basename(device)
    for word in "unbind", "bind":
        lab.sh(f"echo {address} > {driver}/{word}")
    lab.until(lambda: os.path.isdir(f"{device}/net"), 10)
    card.name, = os.listdir(f"{device}/net")
    lab.sh(f"ip addr add {card.peer[:-1]}2/24 dev {card.name}")


def down(card, nr):
    """More queues were created than it uses: how many is known only once it is up."""
    words = "down: queues in use are unknown until it is up"
    anew(card)
    had = len(lab.sh(f"ls -d /sys/class/net/{card.name}/queues/rx-*").split())
    said = lab.nicprobe("attach", card.name, "-m", "pktsize").stdout
    lab.check(f"{card.model}, down: attach says so", words in said, said)
    said = lab.nicprobe("show", card.name, env={"COLUMNS": "300"}).stdout
    lab.check(f"{card.model}, down: show says so", words in said, said[:300])
    lab.sh(f"ip link set {card.name} up")
    until_up(card.name)
    doc = lab.show(card.name)
    lab.same(f"{card.model}, up: its queues, and no change # it was made with {had}",
             (doc["queues"], doc.get("state", "")), ({"rx": 2, "tx": 2}, ""))
    said = lab.nicprobe("show", card.name, env={"COLUMNS": "300"}).stdout
    lab.check(f"{card.model}, up: show has them", words not in said and "2 rx and 2 tx queues" in said, said[:300])
    lab.nicprobe("detach", card.name)
    Card(nr, f"{card.model}={card.name}={card.peer}")       # resets what it knows of its peer


lab.need_root()
for nr, card in enumerate(cards()):
    if card.model in ("virtio", "igb"):
        own_change(card)
    if card.model == "igb":
        only_send(card)
        down(card, nr)
    card.queues(4)
lab.finish()

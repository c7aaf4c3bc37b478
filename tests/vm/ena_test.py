#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""In a guest: features that only ena has, on our model of the card, with Amazon's driver."""
import re

from cards import LEFT, ask, cards, counters, lab
from held import Held, Sender
from lib.lab import said

XDP_MTU = 3498      # the maximum with 4 KiB pages
ALLOWED = 1024      # packets per second to link-local addresses


def statistics(card):
    """{name: sum over all queues}"""
    found = {}
    for name, number in re.findall(r"queue_\d+_[rt]x_(\w+): (\d+)", card.ethtool("-S IF")):
        found[name] = found.get(name, 0) + int(number)
    return found


def figure(doc, name):
    """A statistic of the interface, by its common name."""
    return sum(r["value"] for r in doc["meters"]["hwstat"] if (r["statistic"], r["queue"]) == (name, "all"))


def complaints():
    return lab.sh("dmesg | grep -c 'ena .* is not supported'", check=False).strip()


def quiet(card):
    """None of nicprobe's requests makes the driver log an error."""
    before = complaints()
    lab.nicprobe("show", card.name, "hw")
    lab.nicprobe("attach", card.name, "-m", "all")
    lab.nicprobe("show", card.name)
    lab.nicprobe("detach", card.name)
    lab.same("ena: the kernel's log stays as it was", complaints(), before)


def attach_xdp(card):
    return lab.nicprobe("attach", card.name, "-m", "pktsize", "--rx", "xdp", check=False)


def xdp(card, queues):
    """XDP needs additional queues, and frames that fit a page."""
    r = attach_xdp(card)
    lab.check("ena, XDP: not with all queues in use", r.returncode == 1 and "half of the channels" in r.stderr, r.stderr)
    card.queues(queues // 2)
    for mtu in XDP_MTU + 1, XDP_MTU:
        lab.sh(f"ip link set {card.name} mtu {mtu}")
        r = attach_xdp(card)
        lab.same(f"ena, XDP: with an MTU of {mtu}", r.returncode, int(mtu > XDP_MTU))
    lab.check("ena, XDP: and no larger one then", not lab.sh(f"ip link set {card.name} mtu {XDP_MTU + 1} 2>&1 && echo set",
                                                            check=False).endswith("set\n"))
    lab.same("ena, XDP: and no more queues are advised", said(lab.show(card.name, "hw"), "setup-few-queues"), "")
    lab.nicprobe("detach", card.name)
    got = said(lab.show(card.name, "hw"), "setup-few-queues")
    lab.check("ena, without XDP: they are", got, got)
    lab.sh(f"ip link set {card.name} mtu 1500")
    card.queues(queues)


def restarts(card):
    """Its counters belong to its queues: a restart is reported as such, and not as lost packets."""
    lab.nicprobe("attach", card.name, "-m", "ledger")
    card.echo(20, 400)
    before = lab.show(card.name)
    lab.sh(f"ip link set {card.name} down && ip link set {card.name} up")
    doc = lab.show(card.name)
    lab.nicprobe("detach", card.name)
    lab.same("ena, counters: nothing is said before", said(before, *LEFT), "")
    lab.same(f"ena, counters: they begin anew # {said(doc, *LEFT)}",
             [i for i in lab.found(doc) if i.startswith(LEFT)], ["counters-restarted"])
    lab.same("ena, counters: how often", figure(doc, "restarts"), 1)
    lab.until(lambda: lab.sh(f"cat /sys/class/net/{card.name}/carrier", check=False).strip() == "1")
    lab.sh(f"ip neigh replace {card.peer} lladdr {card.far} dev {card.name} nud permanent")


def jumbo(card):
    """A frame of several buffers is one packet, with all its bytes."""
    size = 1 << 20
    ask(tap=card.tap, sh=f"ip link set {card.tap} mtu 9000; ethtool -K {card.tap} tso off gso off")
    lab.sh(f"ip link set {card.name} mtu 9000")
    lab.nicprobe("attach", card.name, "-m", "ledger,txlat")
    before = statistics(card)
    sent = card.frames("300 9014 v4 flows=64 pps=2000")
    done = card.echo(5, 8900), card.tcp("R", size), card.tcp("S", size)
    lab.until(lambda: not said(lab.show(card.name), *LEFT))
    doc, now = card.moment().doc, statistics(card)
    lab.nicprobe("detach", card.name)
    lab.same("ena, large frames: traffic", (sent, *done), (300, 5, size, size))
    lab.same("ena, large frames: nothing is left in the ledger", said(doc, *LEFT), "")
    large = sum(n for row in doc["meters"]["pktsize"] if row["point"] == "rx-nic"
                for least, n in row["packet_size_bytes"]["le"].items() if least == "9216")
    lab.check(f"ena, large frames: received # {large}", large >= 300 + size // 9000, str(doc["meters"]["pktsize"]))
    lab.same("ena, large frames: no reset", now["missed_tx"] + now["bad_req_id"], before["missed_tx"] + before["bad_req_id"])
    lab.sh(f"ip link set {card.name} mtu 1500")
    ask(tap=card.tap, sh=f"ip link set {card.tap} mtu 1500")


def allowance(card):
    """The card reports, under its own name, packets beyond the limit for Amazon's services."""
    sender, count = Sender(card), 8 * ALLOWED
    lab.nicprobe("attach", card.name, "-m", "hwstat,counters")
    before, arrived = card.statistic("linklocal_allowance_exceeded"), card.arrived()
    sender(count, 100, words="v4 dst=169.254.169.254")
    sender.close()
    lab.until(lambda: not counters.interface(card.name)["tx_packets"] < count, 5)
    # the card reports its drops in keep-alive events, once per second
    lab.until(lambda: figure(lab.show(card.name), "tx_drops") == card.statistic("linklocal_allowance_exceeded") - before)
    doc, now = lab.show(card.name), card.statistic("linklocal_allowance_exceeded") - before
    lab.nicprobe("detach", card.name)
    lab.same(f"ena, allowance: what did not arrive # {now} of {count}", count - (card.arrived() - arrived), now)
    lab.check("ena, allowance: some pass each second", 0 < now <= count - ALLOWED, str(now))
    lab.same("ena, allowance: by its name, and as drops", (figure(doc, "over_linklocal"), figure(doc, "tx_drops")),
             (now, now))
    lab.same("ena, allowance: what is left is a level, and no count",
             [r for r in doc["meters"]["hwstat"] if r["statistic"].startswith("conntrack_")], [])
    lab.check("ena, allowance: a finding", f"{now} packets exceeded the limit of the provider's DNS" in
              said(doc, "allowance-linklocal"), str(doc["findings"]))


def no_room(card, queues):
    """While its driver does not poll, the card drops packets without a buffer, and reports them a second later."""
    count = 2000
    card.ethtool("-G IF rx 256", check=True)
    lab.until(lambda: lab.sh(f"cat /sys/class/net/{card.name}/carrier", check=False).strip() == "1")
    held = Held(card)
    lab.nicprobe("attach", card.name, "-m", "ledger,counters", "--rx", "driver")
    with held.held():
        sent = card.frames(f"{count} 60 v4 flows=64 pps=4000")     # the tap holds 1000

    def seen():
        doc = lab.show(card.name)
        return doc, lab.packets_at(doc, "rx-nic"), figure(doc, "rx_drops")
    lab.until(lambda: sum(seen()[1:]) == sent, 10)
    doc, received, dropped = seen()
    lab.nicprobe("detach", card.name)
    held.close()
    lab.same("ena, no buffers: received and dropped", received + dropped, sent)
    lab.check(f"ena, no buffers: dropped # {dropped}", dropped >= count - queues * 256, str(dropped))
    lab.same("ena, no buffers: nothing is left in the ledger", said(doc, *LEFT), "")
    lab.check("ena, no buffers: who dropped", any(r["counter"] == "rx_dropped" and r["events"] == dropped
                                                  for r in doc["meters"]["counters"]), str(doc["meters"]["counters"]))
    card.ethtool("-G IF rx 1024", check=True)


lab.need_root()
for one in cards():
    if one.model != "ena":
        continue
    one.far = re.search(r"lladdr (\S+)", lab.sh(f"ip neigh show {one.peer} dev {one.name}"))[1]
    quiet(one)
    queues = one.queues(64)
    xdp(one, queues)
    restarts(one)
    jumbo(one)
    allowance(one)
    no_room(one, queues)
lab.finish()

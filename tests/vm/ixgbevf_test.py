#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""In a guest: features that only ixgbevf has, on our model of the card."""
import contextlib
import time

from cards import ask, cards, counters, lab, until_up
from held import Held, Sender, plain_queues

FAR = "02000000000a"
TCP4 = "450000280000000040060000c6120001c6120002" + "00" * 12 + "5000000012340000"     # all of its checksums are wrong


def figure(doc, name):
    """A statistic of the interface, by its common name."""
    return sum(r["value"] for r in doc["meters"].get("hwstat", [])
               if (r["statistic"], r["queue"]) == (name, "all") and not r.get("own"))


def sums(card):
    """Frames with wrong checksums are received, and also counted as checksum errors."""
    frame = card.mac.replace(":", "") + FAR + "0800" + TCP4 + "00" * 6
    lab.nicprobe("attach", card.name, "-m", "hwstat,ledger")
    ask(tap=card.tap, sh=f"""python3 -c 'import socket
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
s.bind(("{card.tap}", 0))
for _ in range(20): s.send(bytes.fromhex("{frame}"))'""")
    lab.until(lambda: figure(lab.show(card.name), "rx_csum_errors") == 20, 10)
    doc = lab.show(card.name)
    lab.nicprobe("detach", card.name)
    lab.same("ixgbevf, wrong sums: received, and said to be wrong",
             (figure(doc, "rx_packets"), figure(doc, "rx_csum_errors")), (20, 20))


def tags(card):
    """The driver strips the tag of frames for a VLAN device and counts them without; the stack counts them with it."""
    count, size = 50, 600
    lab.sh(f"modprobe 8021q && ip link add link {card.name} name v5 type vlan id 5 && "
           f"sysctl -qw net.ipv6.conf.v5.disable_ipv6=1 && ip link set v5 up")
    lab.nicprobe("attach", card.name, "-m", "ledger")
    card.frames(f"{count} {size} v4 vlan=5")
    lab.until(lambda: counters.interface("v5")["rx_packets"] == count, 10)
    doc = card.moment().doc
    lab.nicprobe("detach", card.name)
    lab.sh("ip link del v5")
    sizes = [sum(h["sum"] for h in lab.sizes_at(doc, point).values()) for point in ("rx-nic", "rx-stack")]
    lab.same("ixgbevf, tags: bytes without and with, and what is left", (sizes, [r for r in doc["meters"]["ledger"] if
             r["residue"] or r["residue_bytes"]]), ([count * (size - 4), count * size], []))


def full(card, sender):
    """While nothing completes, its ring fills up and it stops the queue, which ethtool -S does not show."""
    count, before = card.tx_ring(), counters.interface(card.name)["tx_packets"]
    held = Held(card)
    lab.nicprobe("attach", card.name, "-m", "bql,ledger")
    with held.held():
        sender(count, 100)
        time.sleep(.1)
    lab.until(lambda: counters.interface(card.name)["tx_packets"] - before == count, 10)
    doc = card.moment().doc
    lab.nicprobe("detach", card.name)
    held.close()
    stops = sum(r["stops"]["driver"] for r in doc["meters"]["bql"])
    lab.check(f"ixgbevf, ring full: it stops the queue # {stops} times", stops > 0, str(doc["meters"]["bql"]))
    lab.same("ixgbevf, ring full: its own counters of that stay 0",
             (card.statistic("tx_restart_queue"), card.statistic("tx_busy")), (0, 0))


@contextlib.contextmanager
def no_master(card):
    """Disables the card's DMA, until its driver sets it up again."""
    with open(f"/sys/class/net/{card.name}/device/config", "r+b", buffering=0) as f:
        f.seek(4)
        command = int.from_bytes(f.read(2), "little")
        f.seek(4)
        f.write((command & ~4).to_bytes(2, "little"))
        yield


def hangs(card, sender):
    """A card that stops sending: after 5 s the kernel calls the driver, which discards its packets."""
    lab.nicprobe("attach", card.name, "-m", "hwstat,ledger,driver,txlat,bql")
    with no_master(card):
        sender(card.tx_ring(), 100)
        lab.until(lambda: figure(lab.show(card.name), "tx_timeouts"), 30)
    until_up(card.name)
    sender(1, 100)      # packets waiting in the qdisc leave with it
    doc = card.moment().doc
    lab.nicprobe("detach", card.name)
    calls = {r["function"]: r["calls"] for r in doc["meters"]["driver"]}
    lab.same("ixgbevf, hang: counted, and by its function",
             (figure(doc, "tx_timeouts"), calls.get("ixgbevf_tx_timeout")), (1, 1))
    lost = lab.packets_at(doc, "tx-nic") - figure(doc, "tx_packets")
    lab.check(f"ixgbevf, hang: the ledger misses what was thrown away # {lost}", lost > 0 and
              f"the driver was given {lost} packets" in lab.said(doc, "uncounted-sent"), str(doc["findings"]))
    lab.same("ixgbevf, hang: no queue stands any more", sum(r["stopped_queues"] for r in doc["meters"]["bql"]), 0)
    lab.check("ixgbevf, hang: a finding", "the driver of" in lab.said(doc, "tx-timeout"), str(doc["findings"]))


def xdp(card):
    """XDP makes it recreate its rings, and with them its counters; and a frame must fit a buffer."""
    lab.sh(f"ip link set {card.name} mtu 9000")
    r = lab.nicprobe("attach", card.name, "-m", "pktsize", "--rx", "xdp", check=False)
    lab.check("ixgbevf, XDP: not with a large MTU", r.returncode == 1 and "fits a receive buffer" in r.stderr, r.stderr)
    lab.sh(f"ip link set {card.name} mtu 1500")
    until_up(card.name)
    card.echo(5, 400)
    before = counters.interface(card.name)["tx_packets"]
    lab.nicprobe("attach", card.name, "-m", "pktsize", "--rx", "xdp")
    now = counters.interface(card.name)["tx_packets"]
    lab.nicprobe("detach", card.name)
    lab.check(f"ixgbevf, XDP: its counters begin anew # {now}, were {before}", now < 5 <= before)
    until_up(card.name)


lab.need_root()
for one in cards():
    if one.model != "ixgbevf":
        continue
    plain_queues(one)
    sums(one)
    tags(one)
    hand = Sender(one)
    full(one, hand)
    hangs(one, hand)
    hand.close()
    xdp(one)
    lab.sh(f"tc qdisc del dev {one.name} root")
lab.finish()

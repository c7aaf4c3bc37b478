#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""In a guest, on our own cards: completions that are late, out of order or missing, frames without a buffer, and
packets that a provider rejects: nicprobe reports exactly what was caused."""
import contextlib
import json
import shlex
import socket
import threading
import time

from cards import LEFT, ask, cards, counters, lab, until_up
from held import Limits, Sender, limit_to, plain_queues
from switches import HOLD_ON, Switches

LATE = .2           # seconds of delay: far longer than anything else here
SIZE = 100
NO_LIMIT = 1 << 30


def figure(doc, name):
    """A statistic over all queues, by its common name."""
    return sum(r["value"] for r in doc["meters"]["hwstat"] if r["statistic"] == name and not r.get("own"))


def tx(doc):
    """(completed, in flight, lost) over all queues."""
    rows = doc["meters"]["txlat"]
    return (sum(r["completion_seconds"]["count"] for r in rows), sum(r["in_flight"] for r in rows),
            sum(sum(r["lost"].values()) for r in rows))


def late(doc):
    """Completions that took LATE or longer, by the upper bounds of their classes; and their total."""
    times = [r["completion_seconds"] for r in doc["meters"]["txlat"]]
    return (sum(n for h in times for edge, n in h["le"].items() if float(edge) >= LATE),
            sum(h["sum"] for h in times))


def settled(card):
    """nicprobe's document once nothing is in flight any more."""
    lab.until(lambda: not tx(lab.show(card.name))[1], 10)
    return card.moment().doc


def holds(name, card, sender):
    """40 packets, 30 that complete 200 ms late, 30 more; then 10 that are held until released."""
    before, most = card.switches["held"], 0
    lab.nicprobe("attach", card.name, "-m", "txlat,ledger")
    for count, hold in (40, 0), (30, LATE), (30, 0):
        card.switches["hold"] = int(hold * 1e6)
        begin, _ = sender(count, SIZE)
        card.switches["hold"] = 0
        lab.until(lambda: not tx(lab.show(card.name))[1], 10)
        most += count * (time.monotonic() - begin)
    doc = settled(card)
    count, total = late(doc)
    lab.same(f"{name}, held: so many did the card hold, so many are late, all are completed",
             (card.switches["held"] - before, count, tx(doc)), (30, 30, (100, 0, 0)))
    lab.check(f"{name}, held: no time is missing # {total:.3f} s", 30 * LATE <= total <= most, f"{total} of {most}")

    card.switches["hold"] = HOLD_ON
    _, last = sender(10, SIZE)
    doc = lab.show(card.name)
    lab.same(f"{name}, held until let go: in flight meanwhile", tx(doc), (100, 10, 0))
    time.sleep(max(0, last + LATE * 1.2 - time.monotonic()))
    lab.same(f"{name}, held until let go: still", tx(lab.show(card.name)), (100, 10, 0))
    card.switches["hold"] = 0
    doc = settled(card)
    lab.same(f"{name}, let go: late, and all are completed", (late(doc)[0], tx(doc)), (40, (110, 0, 0)))
    lab.same(f"{name}, held: nothing is left in the ledger", lab.said(doc, *LEFT), "")
    lab.nicprobe("detach", card.name)


def reverses(name, card, sender):
    """The last of eight completes first."""
    before = card.switches["reversed"]
    lab.nicprobe("attach", card.name, "-m", "txlat,ledger")
    card.switches["reverse"] = 8
    sender(7, SIZE)
    time.sleep(.05)
    lab.same(f"{name}, reversed: seven wait for the eighth", tx(lab.show(card.name)), (0, 7, 0))
    sender(9, SIZE)
    doc = settled(card)
    lab.nicprobe("detach", card.name)
    lab.same(f"{name}, reversed: so many, and each is its own", (card.switches["reversed"] - before, tx(doc)), (8, (16, 0, 0)))
    lab.check(f"{name}, reversed: nothing is found", not lab.said(doc, *LEFT, "tx-"), str(doc["findings"]))


def anew(card):
    """The driver gives up and recreates its queues."""
    lab.sh(f"ip link set {card.name} down && ip link set {card.name} up")
    until_up(card.name)
    far = json.loads(ask(tap=card.tap, sh=f"ip -j link show {card.tap}")["out"])[0]["address"]
    lab.sh(f"ip neigh replace {card.peer} lladdr {far} dev {card.name} nud permanent")


def loses_one(name, card, sender):
    """ena matches completions with requests: later packets complete, and after 5 s the driver misses the one."""
    before, driver = card.switches["lost"], card.statistic("missed_tx")
    lab.nicprobe("attach", card.name, "-m", "txlat,ledger,hwstat")
    card.switches["lose"] = 1
    sender(20, SIZE)
    lab.until(lambda: tx(lab.show(card.name))[0] == 19, 10)
    doc = lab.show(card.name)
    lab.same(f"{name}, one lost: the card lost it, the others are completed, it is in flight",
             (card.switches["lost"] - before, tx(doc)), (1, (19, 1, 0)))
    lab.same(f"{name}, one lost: the driver has not missed it yet", lab.said(doc, "tx-"), "")
    lab.until(lambda: card.statistic("missed_tx") > driver, 20)
    least = card.statistic("missed_tx") - driver
    doc = lab.show(card.name)
    most = card.statistic("missed_tx") - driver     # the driver finds the same packet again each second
    lab.nicprobe("detach", card.name)
    missed = figure(doc, "tx_missed")
    lab.check(f"{name}, one lost: missed by the driver # {missed} times", 1 <= least <= missed <= most, f"{least} to {most}")
    lab.same(f"{name}, one lost: and it did not reset", figure(doc, "tx_timeouts"), 0)
    got = lab.said(doc, "tx-timeout")
    lab.check(f"{name}, one lost: a finding # {got}", f"{missed} time{'s' * (missed > 1)} the driver of {card.name} found a "
              "packet that did not complete in time" in got, got)
    lab.same(f"{name}, one lost: ena counts at xmit, nothing is left", lab.said(doc, *LEFT), "")
    anew(card)


def loses_all_behind(name, card, sender):
    """ixgbevf completes in order: all packets sent after the lost one wait, and the queue stands until the kernel's
    watchdog."""
    before = card.switches["lost"]
    lab.nicprobe("attach", card.name, "-m", "txlat,ledger,hwstat,bql,driver")
    card.switches["lose"] = 1
    sender(20, SIZE)
    time.sleep(.1)
    lab.same(f"{name}, one lost: all after it are in flight", (card.switches["lost"] - before, tx(lab.show(card.name))),
             (1, (0, 20, 0)))
    sender(card.tx_ring(), SIZE)
    doc = lab.show(card.name, "-w", "0.7")
    got = lab.said(doc, "tx-queue-stuck")
    flying = tx(lab.show(card.name))[1]
    lab.check(f"{name}, one lost: the queue is stuck # {got}", "transmit queue 0 is stuck: the driver holds "
              f"{flying} packets, and completed none" in got, str(doc["findings"]))
    lab.until(lambda: figure(lab.show(card.name), "tx_timeouts"), 30)
    until_up(card.name)
    doc = settled(card)
    lab.nicprobe("detach", card.name)
    lab.same(f"{name}, one lost: the watchdog ended it, once",
             (figure(doc, "tx_timeouts"), {r["function"]: r["calls"] for r in doc["meters"]["driver"]}.get(f"{card.driver}_tx_timeout")),
             (1, 1))
    lab.check(f"{name}, one lost: a finding", "the driver of" in lab.said(doc, "tx-timeout"), str(doc["findings"]))


def starves(name, card):
    """Of 1000 received frames, 300 find no buffer. ena reports how many; for a virtual function only its physical one
    could."""
    count, lack, before = 1000, 300, card.switches["starved"]
    lab.nicprobe("attach", card.name, "--rx", "driver")
    card.switches["starve"] = lack
    sent = card.frames(f"{count} 60 v4 flows=64 pps=2000")

    def seen():
        return lab.packets_at(lab.show(card.name), "rx-nic")
    lab.until(lambda: seen() == count - lack, 10)
    told = card.model == "ena"
    lab.until(lambda: not told or figure(lab.show(card.name), "rx_drops") == lack, 10)
    doc = lab.show(card.name)
    lab.nicprobe("detach", card.name)
    lab.same(f"{name}, no buffers: sent, refused by the card, received",
             (sent, card.switches["starved"] - before, lab.packets_at(doc, "rx-nic")), (count, lack, count - lack))
    lab.same(f"{name}, no buffers: what its driver tells of it", (figure(doc, "rx_drops"), figure(doc, "rx_missed")),
             (lack if told else 0, 0))
    lab.same(f"{name}, no buffers: nothing is left in the ledger", lab.said(doc, *LEFT), "")
    got = lab.said(doc, "rx-ring-full")
    if told:
        lab.check(f"{name}, no buffers: a finding # {got}", f"{lack} packets found no room in the receive ring" in got, got)
    else:
        lab.same(f"{name}, no buffers: nobody here can know, and nothing is said", got, "")


ALLOWANCES = {"over_pps": "pps", "over_bw_out": "bw_out", "over_bw_in": "bw_in", "over_conntrack": "conntrack"}


def refused(name, card, send, statistic, least):
    """What send() gave to the card: the packets that did not arrive are those that the card reports as rejected."""
    lab.nicprobe("attach", card.name, "-m", "hwstat")
    before = card.arrived()
    sent, came = send()
    if came is None:
        lab.until(lambda: card.arrived() - before == sent - figure(lab.show(card.name), statistic), 10)
        came = card.arrived() - before
    lab.until(lambda: figure(lab.show(card.name), statistic) == sent - came, 10)
    doc = lab.show(card.name)
    lab.nicprobe("detach", card.name)
    kinds = {s: figure(doc, s) for s in (*ALLOWANCES, "over_linklocal") if figure(doc, s)}
    lab.same(f"{name}: what did not arrive, and under no other name # {sent - came} of {sent}", kinds, {statistic: sent - came})
    lab.check(f"{name}: at least what a second allows", sent - came >= least, f"{came} of {sent} arrived")
    got = lab.said(doc, "allowance-exceeded")
    lab.check(f"{name}: a finding # {got}", f"{sent - came} packets exceeded what this instance size allows "
              f"(most: {statistic})" in got, got)


def opens(card, count):
    """TCP segments that open a connection each."""
    frame = bytes.fromhex(card.far.replace(":", "") + card.mac.replace(":", "") + "0800" + "450000280000400040060000" +
                          "c6120001c6120002" + "00010002" + "00" * 8 + "5002ffff00000000")
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as s:
        s.bind((card.name, 0))
        for _ in range(count):
            s.send(frame.ljust(60, b"\0"))
    return count


def allowances(name, card, sender):
    """Limits of packets, of bytes in both directions, of connections: per second, or in total."""
    count = 2000

    def sends(word, most):
        def send():
            card.switches[word] = most
            sender(count, SIZE)
            return count, None
        return send

    def receives(most):
        def send():
            card.switches["bytes_in"] = most
            before = counters.interface(card.name)["rx_packets"]
            sent = card.frames(f"{count} 1000 v4 flows=64 pps=4000")
            lab.until(lambda: counters.interface(card.name)["rx_packets"] - before +
                      card.statistic("bw_in_allowance_exceeded") - exceeded == sent, 10)
            return sent, counters.interface(card.name)["rx_packets"] - before
        exceeded = card.statistic("bw_in_allowance_exceeded")
        return send

    refused(f"{name}, packets a second", card, sends("packets", 100), "over_pps", 1)
    card.switches["packets"] = 0
    refused(f"{name}, bytes sent a second", card, sends("bytes_out", 100 * SIZE), "over_bw_out", 1)
    card.switches["bytes_out"] = 0
    refused(f"{name}, bytes received a second", card, receives(100 * 1000), "over_bw_in", 1)
    card.switches["bytes_in"] = 0
    refused(f"{name}, connections", card, lambda: (opens(card, 4096 + 200), None), "over_conntrack", 200)
    lab.same(f"{name}, connections: none is left", card.statistic("conntrack_allowance_available", 0), 0)


def steers(name, card):
    """XPS maps both CPUs to one queue, whose completions are late: its ring is full, and the other one's empty."""
    queues = f"/sys/class/net/{card.name}/queues"
    ring = card.tx_ring()
    card.ethtool("-G IF tx 256", check=True)
    until_up(card.name)
    lab.sh(f"for q in {queues}/tx-*; do echo 0 > $q/xps_cpus; done; echo 3 > {queues}/tx-0/xps_cpus; "
           f"for q in {queues}/tx-*; do echo {NO_LIMIT} > $q/byte_queue_limits/limit_min; done")
    sockets = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(16)]

    def look(ready):
        going = [True]

        def send():
            while going[0]:
                for s in sockets:
                    with contextlib.suppress(BlockingIOError):
                        s.sendto(bytes(SIZE), socket.MSG_DONTWAIT, (card.peer, 9))
        sender = threading.Thread(target=send)
        sender.start()
        lab.until(ready, 10)
        doc = lab.show(card.name, "-w", "1")
        going[0] = False
        sender.join()
        return doc

    lab.nicprobe("attach", card.name)
    card.switches["hold"] = int(LATE * 1e6)
    doc = look(lambda: Limits(card)["inflight"] > 200 * SIZE)       # the ring holds 256
    got = [f for f in doc["findings"] if f["id"] == "xps-one-queue"]
    good = lab.check(f"{name}, XPS: found # {[f['what'] for f in got]}", len(got) == 1 and got[0]["queue"] == 0 and
                     "XPS maps all CPUs to transmit queue 0 of " in got[0]["what"], str(doc["findings"]))
    for command in got[0]["fix"] if good else []:
        lab.sh(shlex.join(command))
    doc = look(lambda: Limits(card, 1)["inflight"])
    card.switches["hold"] = 0
    busy = [r["queue"] for r in doc["meters"]["txlat"] if r["completion_seconds"]["count"]]
    lab.same(f"{name}, XPS: done what it says, it is silent", [f["what"] for f in doc["findings"] if f["id"] == "xps-one-queue"], [])
    lab.check(f"{name}, XPS: and all queues send # {busy}", len(busy) > 1, str(doc["meters"]["txlat"]))
    lab.nicprobe("detach", card.name)
    for s in sockets:
        s.close()
    card.ethtool(f"-G IF tx {ring}", check=True)
    until_up(card.name)


lab.need_root()
for one in cards():
    if one.model not in ("ena", "ixgbevf"):
        continue
    one.switches = Switches(one)
    one.far = json.loads(ask(tap=one.tap, sh=f"ip -j link show {one.tap}")["out"])[0]["address"]
    plain_queues(one)
    hand = Sender(one)
    if one.model == "ena":      # BQL must not hold back packets of the test; ixgbevf has none
        limit_to(one, hand, NO_LIMIT)
    holds(one.model, one, hand)
    starves(one.model, one)
    if one.model == "ena":
        reverses(one.model, one, hand)
        loses_one(one.model, one, hand)
        limit_to(one, hand, NO_LIMIT)
        allowances(one.model, one, hand)
        steers(one.model, one)
    else:
        lab.same("ixgbevf: completes in order, and cannot be told otherwise", one.switches["reverse"], 0)
        loses_all_behind(one.model, one, hand)
    hand.close()
    lab.sh(f"tc qdisc del dev {one.name} root")
lab.finish()

#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""In a guest: TX queues stopped by BQL, or by their driver, for as long as we choose."""
import time

from cards import cards, lab
from held import Held, Sender, limit_to, plain_queues

LIMIT, SIZE = 2500, 1000
TAKEN = LIMIT // SIZE + 1       # the packet that exceeds the limit is still taken, as the last one
NO_LIMIT = 1 << 30
STEP = 1.125                    # a histogram step


def row(doc, queue=0):
    return next((r for r in doc["meters"]["bql"] if r["queue"] == queue), None)


def said(doc):
    return lab.said(doc, "bql-", "tx-")


def sent(card):
    """Packets that the driver has completed."""
    with open(f"/sys/class/net/{card.name}/statistics/tx_packets", encoding="ascii") as f:
        return int(f.read())


def stand(held, sender, bql, count, seconds, size=SIZE):
    """Sends this many while nothing completes; returns the figures of nicprobe and BQL, and the bounds of the stop."""
    before = sent(held.card)
    with held.held():
        begin, last = sender(count, size)
        doc, flying = lab.show(held.card.name), bql["inflight"]
        time.sleep(max(0, last + seconds - time.monotonic()))
    # Waiting for nothing in flight is not enough: packets from the qdisc follow a little later, and end the stop.
    lab.until(lambda: not bql["inflight"] and sent(held.card) - before >= count)
    return doc, flying, held.until - last, time.monotonic() - begin


def stops(doc):
    """Stops of the first queue: by whom, timed, idle, now."""
    r = row(doc)
    return {"bql": r["stops"]["bql"], "driver": r["stops"]["driver"],
            "timed": (r["stopped_by_bql_seconds"]["count"], r["stopped_by_driver_seconds"]["count"]),
            "idle": r["idle_stops"], "now": r["stopped_queues"]}


def expect(bql=0, driver=0, timed=(0, 0), idle=0, now=0):
    return {"bql": bql, "driver": driver, "timed": timed, "idle": idle, "now": now}


def bytes_of(*batches, size=SIZE):
    """(count, sum) of the bytes in flight after each xmit: each batch starts empty."""
    return sum(batches), sum(size * n * (n + 1) // 2 for n in batches)


def pair(histogram):
    return histogram["count"], round(histogram["sum"])


def stood(name, h, low, high, rounds=1):
    lab.check(f"{name} # {h['sum'] * 1e3:.1f} ms, {low * 1e3:.1f} to {high * 1e3:.1f}",
              low <= h["sum"] <= high and low / rounds / STEP <= h["max"] <= high * STEP,
              f"{h['sum']:.6f} s in all, {h['max']:.6f} the longest, not {low:.6f} to {high:.6f}")


def by_bql(name, held, sender):
    """The limit is exceeded three times with one packet left over, which waits as long as the queue is stopped."""
    low = high = 0
    bql = limit_to(held.card, sender, LIMIT)
    lab.nicprobe("attach", held.card.name, "-m", "bql")
    for nr, seconds in enumerate((.05, .2, .1), 1):
        doc, flying, least, most = stand(held, sender, bql, TAKEN + 1, seconds)
        low, high = low + least, high + most
        lab.same(f"{name}, {nr}: in flight is what was sent and not completed", flying, TAKEN * SIZE)
        lab.same(f"{name}, {nr}: while it stands", stops(doc), expect(nr, timed=(nr - 1, 0), now=1))
    doc = lab.show(held.card.name)
    lab.nicprobe("detach", held.card.name)
    want = bytes_of(*[TAKEN, 1] * 3)
    lab.same(f"{name}: afterwards", stops(doc), expect(3, timed=(3, 0)))
    stood(f"{name}: for how long", row(doc)["stopped_by_bql_seconds"], low, high, 3)
    lab.same(f"{name}: bytes in flight after each xmit", pair(row(doc)["in_flight_bytes"]), want)
    fill = row(doc)["fill_ratio"]
    lab.check(f"{name}: against the limit that sysfs has # {fill['sum']:.3f}",
              fill["count"] == want[0] and abs(fill["sum"] - want[1] / LIMIT) < .01, f"{fill}, not {want}")
    lab.same(f"{name}: each time the card ran dry", row(doc)["starved_stops"], 3)
    lab.same(f"{name}: three stops are no finding", said(doc), "")


def idle(name, held, sender):
    """The limit is exceeded and nothing waits: a stop, but no time."""
    bql = limit_to(held.card, sender, LIMIT)
    lab.nicprobe("attach", held.card.name, "-m", "bql")
    stand(held, sender, bql, TAKEN, .02)
    sender(1, SIZE)
    doc = lab.show(held.card.name)
    lab.nicprobe("detach", held.card.name)
    lab.same(f"{name}: nothing waited", stops(doc), expect(1, idle=1))


def by_driver(name, held, sender):
    """The ring is full long before the limit is reached."""
    bql = limit_to(held.card, sender, NO_LIMIT)
    ring, size = held.card.tx_ring(), 100
    lab.nicprobe("attach", held.card.name, "-m", "bql")
    doc, flying, low, high = stand(held, sender, bql, ring + 8, .2, size)
    taken = flying // size
    lab.check(f"{name}: its ring is full # {taken} of {ring}", ring // 2 <= taken <= ring, str(flying))
    lab.same(f"{name}: while it stands", stops(doc), expect(driver=1, now=1))
    lab.same(f"{name}: bytes in flight after each xmit", pair(row(doc)["in_flight_bytes"]),
             bytes_of(taken, size=size))
    doc = lab.show(held.card.name)
    lab.nicprobe("detach", held.card.name)
    lab.same(f"{name}: afterwards", stops(doc), expect(driver=1, timed=(0, 1)))
    stood(f"{name}: for how long", row(doc)["stopped_by_driver_seconds"], low, high)
    lab.check(f"{name}: a finding # {said(doc)}", lab.found(doc) == ["tx-ring-full"] and
              "the driver stopped queue 0 for" in said(doc), said(doc))


lab.need_root()
for card in cards():
    # vmxnet3 has no BQL, virtio_net has it since 6.11, and e1000e completes in the interrupt.
    if card.model not in ("igb", "e1000", "ena"):
        continue
    plain_queues(card)
    held, sender = Held(card), Sender(card)
    name = card.model
    by_bql(f"{name}: by BQL", held, sender)
    idle(f"{name}: by BQL", held, sender)
    by_driver(f"{name}: by the driver", held, sender)
    held.close()
    sender.close()
lab.finish()

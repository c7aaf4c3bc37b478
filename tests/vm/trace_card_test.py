#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""In a guest: stable probes that only a card has: its interrupts, as /proc/interrupts counts them, and its stopped queues."""
import re
import time

from cards import cards, lab
from held import Held, Sender, limit_to, plain_queues
from lib.asking import Trace

LIMIT, SIZE = 2500, 1000
TAKEN = LIMIT // SIZE + 1       # the packet that exceeds the limit is still taken, as the last one


def interrupts():
    """{(number, cpu): count} of all vectors."""
    found = {}
    with open("/proc/interrupts", encoding="ascii") as f:
        cpus = [int(c[3:]) for c in f.readline().split()]
        for line in f:
            words = line.split()
            if re.fullmatch(r"\d+:", words[0]):
                found.update({(int(words[0][:-1]), cpu): int(n) for cpu, n in zip(cpus, words[1:])})
    return found


def interrupted(card, sender):
    """Repeated while an interrupt comes as it begins or ends: some drivers have one every two seconds."""
    for _ in lab.tries(20, "there were interrupts at the begin or the end"):
        first = interrupts()
        t = Trace(None, "nic:::irq", "--dev", card.name, "--by", "irq,cpu,irq_serves,if_queue")
        before = interrupts()
        sender(200, 100)
        time.sleep(.3)
        after = interrupts()
        rows = t.rows()
        mine = {r["irq"] for r in rows}
        pick = lambda now: {k: n for k, n in now.items() if k[0] in mine}
        if pick(first) == pick(before) and pick(after) == pick(interrupts()):
            break
    got = {(r["irq"], r["cpu"]): r["count"] for r in rows}
    grown = {k: n - before.get(k, 0) for k, n in pick(after).items() if n - before.get(k, 0)}
    # those, too, at which the driver had no work left: virtio_net frees packets that were sent when it sends the next
    lab.same(f"irq: {card.model}: as /proc/interrupts # {sum(grown.values())} of {len(mine)} vectors", got, grown)
    lab.check(f"irq: {card.model}: there were some, and their queues are known",
              got and any(re.match(r"queue \d|[rt]x \d|all", r["irq_serves"]) for r in rows), rows)


def stopped(card, held, sender):
    """The limit is exceeded three times, and the ring is full once: a stop each, and its end."""
    bql = limit_to(card, sender, LIMIT)
    for name, by, count, size, rounds in ("by BQL", "bql", TAKEN + 1, SIZE, 3), ("by the driver", "driver", None, 100, 1):
        if count is None:
            limit_to(card, sender, 1 << 30)
            count = card.tx_ring() + 8
        t = Trace(None, "nic:::tx-stop,nic:::tx-wake", "--dev", card.name, "--print", "probename,if_queue,stop_by,stop_ns")
        for _ in range(rounds):
            with held.held():
                sender(count, size)
                time.sleep(.1)
            lab.until(lambda: not bql["inflight"])
            time.sleep(.1)
        events = t.events()
        lab.same(f"stops: {card.model}: {name}", [(e["probename"], e["if_queue"], e["stop_by"]) for e in events],
                 [(p, 0, by) for _ in range(rounds) for p in ("nic:::tx-stop", "nic:::tx-wake")])
        longest = [e["stop_ns"] for e in events if e["stop_ns"]]
        lab.check(f"stops: {card.model}: {name}: for how long", all(.09e9 < ns < 20e9 for ns in longest), longest)


lab.need_root()
for card in cards():
    plain_queues(card)
    held, sender = Held(card), Sender(card)
    interrupted(card, sender)
    if card.model == "igb":         # virtio_net has no BQL, and never stops a queue that is not full
        stopped(card, held, sender)
    held.close()
    sender.close()
lab.finish()

#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""In a guest, on a card: each finding about transmission is provoked, and is silent after its commands. In slow motion:
times are those of the guest's instructions."""
import re
import shlex
import time

from cards import cards, lab
from held import Held, Limits, Sender, limit_to, plain_queues

KINDS = "bql-", "tx-"
SIZE = 1500


def attached(card, meters, act, *shown):
    """The documents of act(), for each tuple of meters, and for all together."""
    lab.nicprobe("attach", card.name, "-m", meters, *(["--sample", 1] if "skblife" in meters else []))
    act()
    docs = [lab.show(card.name, *names.split(",")) for names in shown]
    lab.nicprobe("detach", card.name)
    return docs[0] if len(docs) == 1 else docs


def said(doc):
    """A consequence is reported with its cause."""
    return [f for f in doc["findings"] if f["id"].startswith(KINDS) and not f["follows"]]


def first_fix(finding):
    """Its first command, for a shell; None: it has none."""
    return shlex.join(finding["fix"][0]) if finding["fix"] else None


def speaks(name, doc, finding, what, trying):
    """Exactly this finding; returns its suggestion."""
    got = said(doc)
    good = lab.check(f"{name}: {finding} # {got}", [f["id"] for f in got] == [finding] and
                     re.search(what, got[0]["what"]) and re.search(trying, got[0]["try"]), str(got))
    return first_fix(got[0]) if good else None


def silent(name, doc):
    lab.same(f"{name}: silent", said(doc), [])


def too_small(card, sender):
    """A limit of two packets, and a backlog: the card runs dry at each stop."""
    bql = limit_to(card, sender, 2500)
    bql["limit_min"] = 0

    def act():
        sender(300, 1000)
        lab.until(lambda: not bql["inflight"])

    doc = attached(card, "bql", act, "bql")
    h = doc["meters"]["bql"][0]
    lab.check(f"a small limit: as many stops as packets / 3 # {h['stops']['bql']}",
              95 <= h["stops"]["bql"] <= 100, str(h))
    command = speaks("a small limit", doc, "bql-limit-small", "byte limit of queue 0 is too small.*ran dry",
                     "^echo [0-9]+ > /sys/.*/limit_max")
    for nr in range(5):     # the maximum in flight doubles each time
        if not command:
            break
        lab.sh(command)
        sender(10, 1000)    # a new limit takes effect at a completion
        command = next((first_fix(f) for f in said(attached(card, "bql", act, "bql"))), None)
    lab.check(f"a small limit: silent when done what it says # {bql['limit_max']}, {nr} times", not command, command)


def huge(card, held, sender):
    """20 ms pass before anything completes, and all packets have been given to the driver."""
    bql = limit_to(card, sender, 1 << 30)

    def act():
        with held.held():
            sender(120, SIZE)
            time.sleep(.02)
        lab.until(lambda: not bql["inflight"])

    doc = attached(card, "bql,txlat", act, "bql,txlat")
    command = speaks("a huge limit", doc, "bql-limit-large", "byte limit of queue 0 is huge: the driver holds [0-9]+ kB, "
                     "which take [2-9].*cannot be overtaken", "^echo [0-9]+ > /sys/.*/limit_max")
    bql["limit_min"] = 0
    lab.sh(command or "false")
    sender(10, SIZE)        # a new limit takes effect at a completion
    silent(f"a huge limit, done what it says # {command}", attached(card, "bql,txlat", act, "bql,txlat"))
    limit_to(card, sender, 1 << 30)


def stalls(card, held, sender):
    """The kernel's own detector, set to completions that are 20 ms late."""
    bql = limit_to(card, sender, 1 << 30)
    if not bql.has("stall_thrs"):
        return lab.skip("stalls", "this kernel's BQL does not detect them (it does since 6.9)")
    bql["stall_thrs"] = 20

    def act(seconds):
        sender(1, SIZE)     # the first xmit starts the kernel's clock
        lab.until(lambda: not bql["inflight"])
        with held.held():
            sender(5, SIZE)
            time.sleep(seconds)
        lab.until(lambda: not bql["inflight"])
        sender(1, SIZE)

    before = bql["stall_cnt"]
    doc = attached(card, "bql", lambda: act(.1), "bql")
    came = bql["stall_cnt"] - before
    lab.check(f"stalls: as many as the kernel has # {came}", came and doc["meters"]["bql"][0]["stalls"] == came,
              str(doc["meters"]))
    speaks("stalls", doc, "tx-stalls", "completions of queue 0 stalled [0-9]+ times? for longer",
           "stall_max.*ethtool -c")
    silent("no stalls", attached(card, "bql", lambda: act(.001), "bql"))
    bql["stall_thrs"] = 0


def moderated(card, sender):
    """The card delays its TX interrupts: the finding is about that, not about the limit."""
    bql = limit_to(card, sender, 1 << 30)
    names = "bql,txlat,skblife"

    def act():
        for _ in range(3):      # the first packet of each batch interrupts, the others wait for the next
            sender(150, SIZE)
            lab.until(lambda: not bql["inflight"])

    def moderate(command):
        lab.sh(command)
        for _ in range(4):      # igb writes it to its card at the next interrupt
            sender(1, SIZE)
            time.sleep(.02)

    moderate(f"ethtool -C {card.name} tx-usecs 10000")
    command = speaks("held back", attached(card, names, act, names), "tx-completion-slow",
                     "completions of queue 0 take .* ms .*the card delays them by 10000 us",
                     "^ethtool -C IF tx-usecs [0-9]+".replace("IF", card.name))
    moderate(command or "false")
    silent(f"not held back # {command}", attached(card, names, act, names))


lab.need_root()
for card in cards():
    if card.model not in ("igb", "ena"):
        continue
    plain_queues(card)
    held, sender = Held(card), Sender(card)
    too_small(card, sender)
    huge(card, held, sender)
    stalls(card, held, sender)
    held.close()
    moderated(card, sender)
    sender.close()
lab.finish()

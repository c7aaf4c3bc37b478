# SPDX-License-Identifier: GPL-2.0
"""Many interfaces are attached and detached in random order while some are busy: each counts its own packets, exactly.
By default 12, once; by hand: MANY=60 ROUNDS=20 STEPS=100 SEED=1, the seed that a run printed."""
import operator
import random

from lib.shared import *

MANY, ROUNDS, STEPS = (int(os.environ.get(name, n)) for name, n in (("MANY", 12), ("ROUNDS", 1), ("STEPS", 10)))
BUSY = 3
SEED = int(os.environ.get("SEED", random.randrange(1 << 32)))
SETS = ALL, FEW, "pktsize", "pktsize,drop,gro", "pktsize,ecn,txlat,bql"


class Crowd:
    def __init__(self, netns):
        self.chance = random.Random(SEED)
        self.cards = [Card(netns, f"tap{n}", ring=20000, orderly=n % 2 == 1) for n in range(MANY)]
        self.loads, self.wrong = {}, []
        self.checked = {"idle": 0, "busy": 0}
        self.packets = 0

    def idle(self):
        return [c for c in self.cards if c not in self.loads]

    def check(self, card, step):
        """Ends its load, if it has one, and compares what it has counted."""
        busy = card in self.loads
        if busy:
            self.packets += sum(self.loads.pop(card).stop())
        self.checked["busy" if busy else "idle"] += 1
        until(lambda: operator.eq(*card.figures()), 1)
        got, want = card.figures()
        if got != want:
            self.wrong.append(f"step {step}: {card.name}{' (busy)' * busy}: {difference(got, want)}")

    def begin(self, card):
        card.attach(meters=self.chance.choice(SETS))
        if len(self.loads) < BUSY:
            self.loads[card] = Load(card, 3000)

    def end(self, card, step):
        """Now and then it goes under its own load, which nobody counts from then on."""
        if card in self.loads and not self.chance.randrange(4):
            card.detach()
            self.packets += sum(self.loads.pop(card).stop())
            return
        self.check(card, step)
        card.detach()

    def step(self, step):
        card = self.chance.choice(self.cards)
        if card.want:
            self.end(card, step)
        else:
            self.begin(card)
        for other in self.chance.sample(self.idle(), 2):    # attached, or a stranger
            n = self.chance.randrange(5, 60)
            other.traffic(n)
            self.packets += QUEUES * (2 * n + 3)

    def said(self, name):
        check(f"{name} # {self.checked['idle']} idle and {self.checked['busy']} busy interfaces compared, "
              f"{self.packets} packets", not self.wrong and all(self.checked.values()),
              f"SEED={SEED}: {self.wrong[:4]}, {self.checked}")
        self.wrong, self.checked, self.packets = [], dict.fromkeys(self.checked, 0), 0


need_root()
left.own_bpffs()
print(f"# SEED={SEED}")
space = Namespace("order")
crowd = Crowd(space)
before = left.Before(space)
for nr in range(ROUNDS):
    missing = [c for c in crowd.cards if not c.want]
    for each_ in crowd.chance.sample(missing, MANY):
        crowd.begin(each_)
    same(f"order: {nr}: one of each program is at an event", links(), once(links()))
    for turn in range(STEPS):
        crowd.step(f"{nr}.{turn}")
    remaining = [c for c in crowd.cards if c.want]
    for each_ in crowd.chance.sample(remaining, len(remaining)):
        crowd.end(each_, f"{nr}, the end")
    crowd.said(f"order: {nr}: {MANY} interfaces came and went in random order")
    same(f"order: {nr}: no program remains", links(), {})
before.check("order: nothing is left", 30)
for each_ in crowd.cards:
    each_.close()
finish()

#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Meters that follow fewer packets when many come: what they saw is exact, what they followed is bounded, and is marked."""
import json
import os
import threading
import time

from lib import left
from lib.lab import *
from lib.shared import links

RATE, SLICE = 10000, .032           # packets per second and CPU; no slice is longer, with ticks of up to 10 ms
CPUS = os.cpu_count()
FEW, MANY = 2000, 400000
HOLDS_FRAMES = 400


class Card:
    """A tap whose far end reads all the time, and what sends through it."""
    def __init__(self, netns, name):
        self.where = f"{netns}/{name}"
        self.nic = tap(netns, name, 1, "--no-cpu-pin")
        self.nic("read on")
        self.out = Nic(f"packet {name} --no-cpu-pin", netns)
        self.sent = 0

    def attach(self, *args, meters="pktsize,txlat"):
        nicprobe("attach", self.where, "-m", meters, *args)
        self.sent = 0

    def send(self, count, pps=None):
        """Seconds that it took."""
        self.out(f"send 0 {count} 100 udp" + (f" pps={pps}" if pps else ""))
        begin = time.monotonic()
        self.out("go")
        self.sent += count
        return time.monotonic() - begin

    def doc(self, *args):
        """When all that was sent is completed: nothing that was followed is in flight."""
        doc = show(self.where, *args)
        end = time.monotonic() + 10
        while any(r["in_flight"] for r in doc["meters"].get("txlat", [])) and time.monotonic() < end:
            time.sleep(.02)
            doc = show(self.where, *args)
        return doc

    def close(self):
        self.out.close()
        self.nic.close()


def followed(doc, meter="txlat"):
    """What became of packets that the meter followed: all of them are in one of these."""
    rows = doc["meters"].get(meter, [])
    return sum(r["completion_seconds"]["count"] + sum(r["lost"].values()) for r in rows)


def most(seconds, cpus=CPUS):
    """What a CPU may follow: the rate, a second's packets as a burst, and in a slice up to three times as many."""
    return cpus * RATE * (seconds + 1 + 3 * SLICE)


def exact(name, card, doc, meter="txlat"):
    thinned = doc["thinned"][meter]
    same(f"{name}: it saw every packet", [thinned["packets"], packets_at(doc, "tx-nic")], [card.sent] * 2)
    if meter == "txlat":
        same(f"{name}: the rows have those that it followed", followed(doc), thinned["followed"])
    one_in = card.sent / thinned["followed"]
    check(f"{name}: one in {one_in:.4g}", abs(thinned["one_in"] - one_in) < 1e-6 * one_in, thinned)
    return thinned


def metrics(card, form):
    lines = nicprobe("show", "-f", form, "-t", card.where).stdout.splitlines()
    return [line for line in lines if not line.startswith("#")]


def marked(name, card, doc):
    """In every format: no figure of the meter is without a mark."""
    thinned = doc["thinned"]["txlat"]
    same(f"{name}: json: each histogram has it", {r["completion_seconds"].get("one_in") for r in doc["meters"]["txlat"]},
         {thinned["one_in"]})
    for args in ["-t"], ["-t", "txlat"], ["-t", "-q"]:
        table = " ".join(nicprobe("show", card.where, *args).stdout.split())
        check(f"{name}: table {args}: says so", f"1 packet in {thinned['one_in']:.4g}: " in table, table)
    for form in "openmetrics", "prometheus":
        lines = metrics(card, form)
        of = [line for line in lines if line.startswith("nicprobe_txlat_")]
        same(f"{name}: {form}: every sample says so # {len(of)}", [x for x in of if 'sampled="auto"' not in x], [])
        check(f"{name}: {form}: there are some", len(of) > 10, of)
        counts = {x.split('how="')[1].split('"')[0]: int(x.split()[-1]) for x in lines
                  if x.startswith('nicprobe_sampling_packets_total') and 'meter="txlat"' in x}
        same(f"{name}: {form}: how many it followed", counts, {
            "followed": thinned["followed"], "paused": thinned["paused"],
            "passed-by": thinned["packets"] - thinned["followed"] - thinned["paused"]})


def burst():
    card.attach("--sample", "auto")
    card.send(FEW, FEW)
    doc = card.doc()
    thinned = exact("few", card, doc)
    same("few: all are followed", thinned["followed"], FEW)
    same("few: no histogram is marked", [r["completion_seconds"].get("one_in") for r in doc["meters"]["txlat"]], [None])
    check("few: nor is the table", "1 packet in" not in nicprobe("show", "-t", card.where, "txlat").stdout)

    took = card.send(MANY)
    doc = card.doc()
    thinned = exact("many", card, doc)
    more = thinned["followed"] - FEW
    check(f"many: {more} of {MANY} in {took:.2f} s", RATE * took / 4 < more <= most(took), thinned)
    same("many: none was paused", thinned["paused"], 0)
    marked("many", card, doc)

    before = thinned["followed"]
    card.send(FEW, FEW)
    thinned = exact("few again", card, card.doc())
    more = thinned["followed"] - before
    check(f"few again: N has fallen # {more} of {FEW}", more >= .9 * FEW, thinned)
    nicprobe("detach", card.where)


def stuck():
    """The far end stops reading while many packets come: of those that its queue holds few are followed."""
    ns.ip(f"link set tap0 txqueuelen {HOLDS_FRAMES}")
    for _ in tries(3, "stuck: few of those that it holds are followed"):        # which ones is chance
        card.attach(meters="pktsize,txlat,drop")
        sender = threading.Thread(target=card.send, args=(4 * MANY,))
        sender.start()
        time.sleep(.5)
        card.nic("read off")
        time.sleep(.1)
        doc = show(card.where, "-w", .6)
        sender.join()
        follows = sum(r["in_flight"] for r in show(card.where)["meters"]["txlat"])
        card.nic("read on")
        nicprobe("detach", card.where)
        if 0 < follows < 10:
            break
    # the slower the machine, the fewer come in a second, and the greater is the share
    check(f"stuck: {follows} of {HOLDS_FRAMES} are followed", 0 < follows < HOLDS_FRAMES / 4, follows)
    same("stuck: it is found", [f["id"] for f in doc["findings"]][:1], ["tx-queue-stuck"])
    ns.ip("link set tap0 txqueuelen 1000")


def fixed():
    card.attach("--sample", 1)
    card.send(MANY)
    doc = card.doc()
    same("1: it follows all", [followed(doc), packets_at(doc, "tx-nic")], [MANY] * 2)
    same("1: nothing is thinned", "thinned" in doc, False)
    same("1: no metric is marked", [x for x in metrics(card, "openmetrics") if 'sampled="' in x or "sampling_packets" in x], [])
    nicprobe("detach", card.where)
    card.attach("--sample", 16)
    card.send(MANY)
    thinned = exact("16", card, card.doc())
    check("16: about so many", abs(thinned["followed"] - MANY / 16) < 6 * (MANY / 16) ** .5, thinned)
    check("16: openmetrics says so", all('sampled="16"' in x for x in metrics(card, "openmetrics")
                                        if x.startswith("nicprobe_txlat_")))
    nicprobe("detach", card.where)


def others():
    """The other meters that follow packets; and changes of what is attached."""
    card.attach("--sample", "auto", meters="pktsize,txlat")
    card.send(FEW, FEW)
    nicprobe("attach", card.where, "-m", "+qdisc,+skblife")
    took = card.send(MANY)
    doc = card.doc()
    same("added: txlat counts on", doc["thinned"]["txlat"]["packets"], FEW + MANY)
    for meter in "qdisc", "skblife":
        thinned = doc["thinned"][meter]
        same(f"added: {meter} saw every packet since", thinned["packets"], MANY)
        check(f"added: {meter} follows as many as it may", 0 < thinned["followed"] <= most(took), thinned)
    for bad in ["--sample", "16"], ["--budget", "1"]:
        r = nicprobe("attach", card.where, "-m", "-qdisc", *bad, check=False)
        check(f"{bad[0]} is for all", r.returncode == 1 and f"{bad[0]} is for all" in r.stderr, r.stderr)
    nicprobe("attach", card.where, "-m", "-txlat")
    card.send(FEW)
    nicprobe("attach", card.where, "-m", "+txlat", "--sample", "auto")
    card.send(FEW, FEW)
    same("added anew: txlat begins anew", card.doc()["thinned"]["txlat"]["packets"], FEW)
    nicprobe("detach", card.where)


# The time is reckoned from figures of one machine: nicprobe-meters(7) says how far that is from what others measure.
HOLDS = 1.5


def cost(seconds):
    return json.loads(nicprobe("cost", "-j", "-w", seconds, card.where).stdout)


def inside(doc):
    return 100 * doc["inside_seconds"] / doc["seconds"]


def budget():
    """Of what txlat takes by itself, which `cost` measures; many more packets come than fit in."""
    def costs(*args):
        card.attach(*args, meters="txlat")
        sender = threading.Thread(target=card.send, args=(4 * MANY,))
        sender.start()
        time.sleep(.2)
        measured = inside(cost(1))
        doc = show(card.where)
        sender.join()
        if "--budget" in args:
            doc = card.doc()
            same(f"{args}: it saw every packet", doc["thinned"]["txlat"]["packets"], card.sent)
        nicprobe("detach", card.where)
        return measured, doc
    whole, _ = costs("--sample", 1)
    for percent in .7 * whole, whole / 2:
        percent = round(percent, 2)
        for _ in tries(3, f"a budget of {percent}%"):      # other work may run within a program, whose time that is, too
            took, doc = costs("--budget", f"{percent}%")
            if took <= HOLDS * percent:
                break
        thinned = doc["thinned"]["txlat"]
        check(f"a budget of {percent}% holds # {took:.2f}% of {whole:.2f}%", took <= HOLDS * percent, [took, doc["budget"]])
        check(f"a budget of {percent}%: fewer are followed", 0 < thinned["followed"] < card.sent * .7, thinned)
        same(f"a budget of {percent}%: it says which", doc["budget"]["percent"], percent)
    took, doc = costs("--budget", .05)
    thinned = doc["thinned"]["txlat"]
    check(f"no budget for them: it is paused # {took:.2f}%", thinned["paused"] > card.sent / 2, thinned)
    same("no budget for them: it does not hold, and says so", doc["budget"]["holds"], False)


def said():
    """The line `cost:` of show."""
    attached = nicprobe("attach", card.where, "-m", "pktsize,txlat,drop,bql", "--budget", .05).stdout
    check("attach says what it follows", "follows   txlat: packets in 0.05% of each CPU" in attached, attached)
    first = nicprobe("show", card.where, "-w", .1).stdout
    check("show has the budget", "budget: 0.05% of each CPU for txlat: they take 0.00%, it holds" in " ".join(first.split()), first)
    sender = threading.Thread(target=card.send, args=(2 * MANY,))
    sender.start()
    cost(.3)
    busy = " ".join(nicprobe("show", card.where, "-w", .3).stdout.split())
    sender.join()
    check("…that it does not hold, and what to leave out", "it does not hold: to pass packets by takes more; leave out -m -txlat" in busy
          and "leave out of them: -m -bql,-drop" in busy, busy)
    nicprobe("detach", card.where)


def together():
    """Two interfaces that share programs: each follows as it was told to."""
    card.attach("--sample", "auto")
    other = Card(ns, "tap1")
    other.attach("--sample", 1)
    same("together: one program of each", set(links().values()) <= {1, 2}, True)
    took = [0, 0]

    def run(nr, one):
        took[nr] = one.send(MANY)
    threads = [threading.Thread(target=run, args=x) for x in enumerate((card, other))]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    thinned = exact("together: auto", card, card.doc())
    check("together: auto follows few", 0 < thinned["followed"] <= most(took[0]), thinned)
    doc = other.doc()
    same("together: --sample 1 follows all", [followed(doc), packets_at(doc, "tx-nic"), "thinned" in doc], [MANY, MANY, False])
    nicprobe("detach", card.where)
    other.send(FEW)
    same("together: the other one counts on", followed(other.doc()), MANY + FEW)
    nicprobe("detach", other.where)
    other.close()


need_root()
left.own_bpffs()
ns = Namespace("sampling")
ns.run("sysctl -qw net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1")
card = Card(ns, "tap0")
before = left.Before(ns)
each(burst, stuck, fixed, others, budget, said, together, after=lambda: nicprobe("detach", "--all", check=False))
before.check("sampling: nothing is left")
card.close()
finish()

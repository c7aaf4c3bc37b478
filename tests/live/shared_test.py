# SPDX-License-Identifier: GPL-2.0
"""Attached interfaces share programs: however many they are, an event runs one of ours, and each counts its own."""
from lib.shared import *


def cards(netns, *options):
    return [Card(netns, f"tap{i}", o) for i, o in enumerate(options)]


def busy(all_of, start=20):
    """Other numbers for each card, all at once."""
    threads = [threading.Thread(target=card.traffic, args=(start + 7 * i,)) for i, card in enumerate(all_of)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()


def counted(name, attached):
    for card in attached:
        card.check(f"{name}: {card.name}")


def one_of_each():
    """Four interfaces, one after the other; a stranger; then they go, the first one first."""
    netns = Namespace("each")
    all_of = cards(netns, "--napi", "--napi", "", "--napi", "--napi")
    *four, stranger = all_of
    before = left.Before(netns)
    for n, card in enumerate(four):
        card.attach()
        if not n:
            first = links()
        busy(all_of, 11 + n)
        counted(f"shared: {n + 1} attached", four[:n + 1])
    check(f"shared: one has its programs at events # {len(first)}", len(first) >= 15, str(first))
    same("shared: one has one of each", first, once(first))
    same("shared: four have no more", links(), first)
    busy([stranger], 100)
    counted("shared: a stranger's packets are nobody's", four)

    four[0].detach()
    same("shared: without the first it is one of each", links(), first)
    busy(all_of, 15)
    counted("shared: without the first", four[1:])
    stranger.attach()
    busy(all_of, 16)
    counted("shared: one that came after the first had gone", [*four[1:], stranger])
    four[0].attach()
    four[2].detach()
    same("shared: and the first anew: one of each", links(), first)
    busy(all_of, 17)
    counted("shared: the first came back, the third went", [four[0], four[1], four[3], stranger])
    for card in four[1], stranger, four[3]:
        card.detach()
    busy(all_of, 18)
    counted("shared: the last one", four[:1])
    same("shared: the last one: one of each", links(), first)
    four[0].detach()
    before.check("shared: nothing is left")
    for card in all_of:
        card.close()


def none_idle():
    """A program that nobody needs any more ends, whoever it was attached for."""
    netns = Namespace("idle")
    one, two = cards(netns, "--napi", "--napi")
    one.attach()
    two.attach()
    every = links()
    one.detach()
    nicprobe("attach", two.where, "-m", "-txlat")
    same("shared: without txlat nothing waits for consumed packets", links(),
         {name: n for name, n in every.items() if name != "consume_skb"})
    one.attach(meters="pktsize,txlat")
    same("shared: it comes back with the next that needs it", links(), every)
    two.detach()
    one.detach()
    for card in one, two:
        card.close()


need_root()
left.own_bpffs()
each(one_of_each, none_idle)
finish()

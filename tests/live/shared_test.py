# SPDX-License-Identifier: GPL-2.0
"""Attached interfaces share programs: however many they are, an event runs one of ours, and each counts its own."""
from lib.shared import *
from lib.wire import HERE, Wire, inside, tcp


def cards(netns, *options):
    return [Card(netns, f"tap{i}", o, orderly=i == 2) for i, o in enumerate(options)]


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


def without_device():
    """TCP takes the device out of an skb before a listener refuses it: the drop is of whoever received it. Each
    interface in a namespace of its own: there they may all have the same index."""
    spaces = [Namespace(f"tcp{i}") for i in range(3)]
    wires = [Wire(ns, "tap0") for ns in spaces]
    sockets = [inside(ns, lambda: socket.create_server((HERE, 5000))) for ns in spaces]
    for ns in spaces:
        nicprobe("attach", "-m", "pktsize,drop", f"{ns}/tap0")
    sent = [20, 30, 40]
    for wire, n in zip(wires, sent):
        wire.write(1, wire.eth(tcp(5000, flags=3)), n)      # SYN and FIN
    for ns, n in zip(spaces, sent):
        rows = show(f"{ns}/tap0")["meters"]["drop"]
        got = sum(r["packets"] for r in rows if r["direction"] == "rx" and r["reason"] in ("TCP_FLAGS", "NOT_SPECIFIED"))
        same(f"shared: drops without a device: {ns}", got, n)
        nicprobe("detach", f"{ns}/tap0")
    for closed in (*sockets, *wires):
        closed.close()


def waited(card, frames, when=""):
    """So many frames come in each of two queues, and each takes a poll."""
    card.receive(frames)
    row = show(card.where)["meters"]["napi"]
    same(f"shared: {card.name}: each poll waited, and is timed{when}",
         [sum(r["wait_seconds"]["count"] for r in row), sum(r["poll_seconds"]["count"] for r in row)],
         [QUEUES * frames, QUEUES * frames])


def waits():
    """What leads to a poll has no device, or is of another: the raise, the softirq, the poll before it."""
    netns = Namespace("waits")
    all_of = cards(netns, "--napi", "--napi", "--napi")
    for card in all_of:
        card.attach(meters="pktsize,napi")
    for n, card in enumerate(all_of):
        waited(card, 50 + n)
    last = all_of[-1]
    for _ in range(64):		# slots are taken in turns: this ends with one of the second word of a set
        last.detach()
        last.attach(meters="pktsize,napi")
    waited(last, 60, ", after 64 attaches")
    for card in all_of:
        card.detach()
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
each(one_of_each, without_device, waits, none_idle)
finish()

# SPDX-License-Identifier: GPL-2.0
"""The interface whose programs are attached changes under load: nothing is lost, nothing is counted twice."""
from lib.shared import *

TIMES = int(os.environ.get("TIMES", 3))


def under_load(name, loaded, action):
    """action() while these cards are under load, which must then have counted exactly what there was."""
    loads = [Load(card) for card in loaded]
    time.sleep(.05)
    action()
    time.sleep(.05)
    done = [load.stop() for load in loads]
    return all([card.check(f"{name}: {card.name} # {rx} received, {tx} sent")
                for card, (rx, tx) in zip(loaded, done)])


def first_goes(first, second, third):
    """The first has few programs, the second has the others: each leaves a part to the third."""
    for n in range(TIMES):
        first.attach(meters="pktsize")
        second.attach()
        third.attach()
        under_load(f"handover: {n}: the first goes", [second, third], first.detach)
        under_load(f"handover: {n}: the second goes", [third], second.detach)
        under_load(f"handover: {n}: the first comes back", [third], first.attach)
        under_load(f"handover: {n}: one goes that is called", [third], first.detach)
        third.detach()


def second_comes_and_goes(first, second, third):
    """The programs of the first stay where they are."""
    first.attach()
    third.attach()

    def turns():
        for _ in range(TIMES):
            second.attach()
            second.detach()
    under_load("handover: others come and go", [first, third], turns)
    first.detach()
    third.detach()


def meters_change(first, second):
    """The first gives up a meter whose programs the second still needs, and takes it anew: its own again."""
    def change(*signs):
        for sign in signs:
            nicprobe("attach", first.where, "-m", f"{sign}txlat")

    first.attach()
    second.attach()
    names = links()
    under_load("handover: the first without txlat, and with it", [second], lambda: change("-", "+"))
    own = once(["net_dev_start_xmit", "net_dev_xmit", "consume_skb", "kfree_skb"])
    same("handover: txlat that came back has programs of its own", links(), {k: n + own.get(k, 0) for k, n in names.items()})
    same("handover: the first's begins anew", figures(show(first.where), ["txlat"], False)["completed"], 0)
    first.meters.remove("txlat")
    under_load("handover: the first without txlat again", [first, second], lambda: change("-"))
    under_load("handover: the second goes", [first], second.detach)
    first.detach()


def comes_under_load(first, second):
    """One that comes under its own load counts every packet from a moment on: what it sees begin it sees end. At that
    moment each CPU may have one packet on the way."""
    first.attach(meters="drop")
    load = Load(second)
    second.attach()
    time.sleep(.1)
    load.stop()
    got = figures(show(second.where), second.meters, second.napi)
    check("handover: one comes under load: it has counted", min(got["rx-stack"], got["tx-nic"]) > 0, str(got))
    same("handover: one comes under load: what is sent is completed",
         (got["tx-nic"], got["waiting"], got["not timed"]), (got["completed"], 0, {}))
    way = [got[what] for what in ("rx-nic", "after gro", "rx-stack")] + [got["dropped"].get("rx UNHANDLED_PROTO", 0)]
    check(f"handover: one comes under load: what comes is dropped # {way}",
          way == sorted(way) and way[-1] - way[0] <= len(os.sched_getaffinity(0)), str(got))
    second.detach()
    first.detach()


need_root()
left.own_bpffs()
space = Namespace("handover")
given = [Card(space, f"tap{i}", ring=20000, orderly=i == 2, sample=1) for i in range(3)]
untouched = left.Before(space)
each(first_goes, second_comes_and_goes, meters_change, comes_under_load,
     first=given[0], second=given[1], third=given[2])
untouched.check("handover: nothing is left")
finish()

#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""In a guest: bench does no harm to a driver that it knows, or warns first, and leaves the link as it was."""
import json
import os

from cards import cards, lab, until_up

LEAKS = "virtio_net leaks their pages in this kernel"
RESETS = "takes the link down and up again"
LIVE_HARMLESS = (6, 12)     # of virtio_net


def bench(card, *args):
    """The result of `bench tx`: the scenario, or nothing if it failed; and stderr."""
    r = lab.nicprobe("bench", card.name, "tx", "-j", "--seconds", ".5", "--rate", "2000", *args, check=False)
    lab.same(f"{card.model}: bench tx {' '.join(args)}: its status # {r.returncode}", bool(r.stdout), not r.returncode)
    return json.loads(r.stdout)["scenarios"][0] if r.stdout else {}, r.stderr


def leaks(card):
    """XDP live frames: refused while they leak pages; unless requested, another method is used."""
    harms = lab.KERNEL < LIVE_HARMLESS
    queues = card.queues(4)
    got, told = bench(card, "--generator", "live")
    if queues > os.cpu_count():
        lab.check("virtio: more queues than CPUs: live frames are refused, of which this kernel would die",
                  not got and f"has {queues} queues in use" in told, f"{got} {told}")
    card.queues(os.cpu_count())
    got, told = bench(card, "--generator", "live")
    if harms:
        lab.check("virtio: live frames are refused, and it is said why", not got and f"no live frames: {LEAKS}" in told,
                  f"{got} {told}")
    else:
        lab.check("virtio: live frames are sent", got.get("packets", 0) > 0, f"{got} {told}")
    got, _ = bench(card)
    remarks = " ".join(got.get("remarks", []))
    lab.check("virtio: bench tx sends", got.get("packets", 0) > 0, str(got))
    lab.same("virtio: by a packet socket where live frames leak, which is said",
             "sent by a packet socket: " + LEAKS in remarks, harms)


def carrier_changes(card):
    return int(lab.sh(f"cat /sys/class/net/{card.name}/carrier_changes"))


def resets(card):
    """Each program attached or detached takes the link down: bench warns first, and waits for the link."""
    for n in 1, 2:
        before = carrier_changes(card)
        got, told = bench(card)
        lab.check(f"{card.model}: bench {n}: sends", got.get("packets", 0) > 0, f"{got} {told}")
        lab.check(f"{card.model}: bench {n}: it is said that it goes down", card.name in told and RESETS in told, told)
        lab.check(f"{card.model}: bench {n}: and it did", carrier_changes(card) > before, "it never lost its link")
    until_up(card.name)


lab.need_root()
for card in cards():
    if card.model == "virtio":
        leaks(card)
    if card.model == "igb":
        resets(card)
lab.finish()

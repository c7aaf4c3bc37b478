#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""In a guest, on cards: each finding about interrupts is provoked, and is silent after its commands. In slow motion: a
second of the guest has as many interrupts as on a real machine."""
import contextlib
import json
import os
import re
import socket
import struct
import subprocess
import sys
import threading
import time

from cards import ask, cards, lab
from held import Sender
from lib import bpf

FLOWS = 16      # addresses of the far end: enough for every queue
WINDOW = 3      # echo requests in flight: the next reply is there when one was processed
GO = "/tmp/go"  # floods run while this file exists


def flood(card, cpu, flows):
    """Echo requests from one CPU: each reply triggers the next."""
    os.sched_setaffinity(0, [cpu])
    s = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, card.name.encode())
    s.settimeout(.05)
    packet = struct.pack("!BBHHH", 8, 0, 0xf7ff, 0, 0)
    while not os.path.exists(GO):
        time.sleep(.005)
    nr = 0
    while os.path.exists(GO):
        for _ in range(WINDOW):     # replaces lost ones
            s.sendto(packet, (flows[0], 0))
        with contextlib.suppress(TimeoutError):
            for _ in range(100):
                s.recv(2048)
                nr = (nr + 1) % len(flows)
                s.sendto(packet, (flows[nr], 0))
            for _ in range(WINDOW):
                s.recv(2048)


@contextlib.contextmanager
def floods(card, cpus=(0, 1)):
    children = [os.fork() or (flood(card, cpu, card.flows), os._exit(0)) for cpu in cpus]
    try:
        yield
    finally:
        lab.sh(f"rm -f {GO}")
        for child in children:
            os.waitpid(child, 0)


def run(card, act):
    """nicprobe's findings for the duration of act()."""
    def go():
        if lab.until(lambda: os.path.exists(GO)):
            act()
        lab.sh(f"rm -f {GO}")

    thread = threading.Thread(target=go)
    thread.start()
    r = lab.nicprobe("run", "-j", "-m", "irq", card.name, "--", "sh", "-c",
                     f"touch {GO}; while [ -e {GO} ]; do sleep .01; done")
    thread.join()
    return json.loads(r.stdout)


@contextlib.contextmanager
def wanted(*cpus):
    """Other work on these CPUs: otherwise interrupts would harm nobody."""
    children = [subprocess.Popen(["taskset", "-c", str(cpu), "sh", "-c", "while :; do :; done"]) for cpu in cpus]
    try:
        yield
    finally:
        for child in children:
            child.kill()
            child.wait()


def flooded(card):
    with floods(card), wanted(0, 1):
        return run(card, lambda: time.sleep(.15))


def said(doc, finding):
    return [f for f in doc["findings"] if f["id"] == finding]


def speaks(name, doc, finding, what, trying):
    """The finding is there, with these words; returns the first group of its suggestion."""
    got = said(doc, finding)
    good = len(got) == 1 and re.search(what, got[0]["what"]) and re.search(trying, got[0]["try"])
    lab.check(f"{name} # {got}", good, str(got))
    if not good:
        raise SystemExit(f"{name}: there is nothing to try")
    return good[1]


def silent(name, doc, finding):
    lab.same(f"{name}: silent", said(doc, finding), [])


def far_ends(card):
    """Gives the far end many addresses, for all of which it replies."""
    net = card.peer.rsplit(".", 1)[0]
    card.flows = [f"{net}.{n}" for n in range(100, 100 + FLOWS)]
    far = json.loads(lab.sh(f"ip -j neigh show {card.peer} dev {card.name}"))[0]["lladdr"]
    ask(tap=card.tap, sh="; ".join(f"ip addr add {end}/24 dev {card.tap}" for end in card.flows))
    lab.sh("; ".join(f"ip neigh replace {end} lladdr {far} dev {card.name} nud permanent" for end in card.flows))


def vectors(card):
    """{number: name} of the interrupts that serve queues"""
    with open("/proc/interrupts", encoding="utf-8") as f:
        words = [line.split() for line in f]
    return {int(w[0][:-1]): w[-1] for w in words if re.fullmatch(rf"{card.name}-.*\d", w[-1])}


def move(card, cpu):
    lab.sh("; ".join(f"echo {cpu} > /proc/irq/{irq}/smp_affinity_list" for irq in vectors(card)))


def slow_stack(card, us):
    """Each received packet takes this much longer, at tc ingress, until it is removed."""
    with bpf.pinned(bpf.TC, 0, us) as path:
        lab.sh(f"tc qdisc del dev {card.name} clsact", check=False)
        lab.sh(f"tc qdisc add dev {card.name} clsact")
        lab.sh(f"tc filter add dev {card.name} ingress bpf da pinned {path}")


def one_cpu(card):
    """All vectors on one CPU, which is full of packets while the other has time; then after the finding's commands. The
    stack is slow, so the far end need not be fast."""
    def spent():
        """Ticks of CPU 1: all, idle."""
        with open("/proc/stat", encoding="ascii") as f:
            row = next([*map(int, line.split()[1:9])] for line in f if line.startswith("cpu1 "))
        return sum(row), row[3] + row[4]

    def look():
        """The findings while more arrives than a CPU can process, and the idle share of CPU 1."""
        going = [True]

        def send():     # igb hashes the ports of TCP, not of UDP; paced, as a burst would overrun the tap
            while going[0]:
                card.frames("60000 60 v4 tcp flows=64 pps=10000")
        sender = threading.Thread(target=send)
        sender.start()
        time.sleep(.5)
        before = spent()
        doc = lab.show(card.name, "-w", "1")
        after = spent()
        going[0] = False
        sender.join()
        return doc, (after[1] - before[1]) / max(1, after[0] - before[0])

    move(card, 1)
    lab.nicprobe("attach", card.name)
    us = 15
    for _ in lab.tries(4, "the stack was not slow enough"):
        us *= 2
        slow_stack(card, us)
        doc, idle = look()
        if idle <= .04:
            break
    if idle > .04:
        lab.nicprobe("detach", card.name)
        lab.sh(f"tc qdisc del dev {card.name} clsact")
        return lab.skip("all on one CPU", f"the far end leaves {idle:.0%} of that CPU free, where a packet takes {us} us")
    lab.check(f"all on one CPU # {doc['findings']}", said(doc, "irq-one-cpu") and said(doc, "irq-one-cpu")[0]["fix"],
              str(doc["findings"]))
    for argv in said(doc, "irq-one-cpu")[0]["fix"]:
        subprocess.run(argv, check=True)
    silent(f"all on one CPU, done what it says # {argv}", look()[0], "irq-one-cpu")
    lab.nicprobe("detach", card.name)
    return lab.sh(f"tc qdisc del dev {card.name} clsact")


def far(card):
    """Polls in threads, on another CPU than the interrupts."""
    def threads(cpu):
        for pid in lab.sh(f"pgrep napi/{card.name}-").split():
            lab.sh(f"taskset -pc {cpu} {pid}")

    move(card, 0)
    lab.sh(f"echo 1 > /sys/class/net/{card.name}/threaded")
    threads(1)
    doc = flooded(card)
    cpu = speaks("polls far from interrupts", doc, "irq-far-from-poll", "^100% of the polls of .* ran on another CPU "
                 "than its interrupt, which ran on CPU 0", "taskset -pc ([0-9]) PID")
    threads(cpu)
    silent("polls far from interrupts, done what it says", flooded(card), "irq-far-from-poll")
    lab.sh(f"echo 0 > /sys/class/net/{card.name}/threaded")


def outside(card):
    """Moved back and forth in every interval; then left alone, with a faked affinity from the kernel."""
    lab.nicprobe("attach", card.name, "-m", "irq")

    def interval(act):
        """The findings of two intervals, while act() is called repeatedly."""
        with floods(card):
            lab.sh(f"touch {GO}")
            p = subprocess.Popen([lab.NICPROBE, "show", "-j", "-i", ".3", "-c", "2", card.name],
                                 stdout=subprocess.PIPE, text=True)
            while p.poll() is None:
                act()
            docs = [json.loads(line) for line in p.stdout]
        return [said(doc, "irq-outside-affinity") for doc in docs]

    def to_and_fro():
        for cpu in 0, 1:
            move(card, cpu)
            time.sleep(.05)

    lab.same("moved in each interval: silent", interval(to_and_fro), [[], []])
    move(card, 0)
    with open("/tmp/elsewhere", "w", encoding="utf-8") as f:
        f.write("1\n")
    files = [f"/proc/irq/{irq}/{kind}_list" for irq in vectors(card) for kind in ("smp_affinity", "effective_affinity")]
    lab.sh("; ".join(f"mount --bind /tmp/elsewhere {file}" for file in files))
    got = interval(lambda: time.sleep(.1))[-1]
    lab.sh(f"umount {' '.join(files)}")
    lab.check(f"where it may not run, as the kernel says # {got}", got and all(re.search(
        "100% of the interrupts of .* ran on CPU 0, outside their affinity: 1", f["what"]) for f in got), str(got))
    lab.same("where it may run: silent", interval(lambda: time.sleep(.1)), [[], []])
    lab.nicprobe("detach", card.name)


def pinged(card):
    """The far end keeps three packets in flight, and we reply: an interrupt for each."""
    with wanted(0, 1):
        return run(card, lambda: ask(ping=f"{card.peer[:-1]}2", count=4000))


def busy(act, least, serves="rx|queue"):
    """The findings for act(), and the interrupts per second: at least the requested rate, or the result of four
    attempts, as the guest's clock advances while it waits for the far end."""
    for _ in lab.tries(4, "the far end answered late"):
        doc = act()
        rate = max(r["interrupts"] for r in doc["meters"]["irq"] if re.match(serves, r["serves"])) / doc["seconds"]
        if rate > least:
            break
    return doc, rate


def often(card):
    """No moderation; then after the finding's commands."""
    card.ethtool("-C IF rx-usecs 0", check=True)
    doc, rate = busy(lambda: pinged(card), 21000)
    if rate <= 21000:
        return lab.skip("no moderation", f"the far end only makes {rate:.0f} interrupts a second")
    command = speaks("no moderation", doc, "irq-storm",
                     "eth.-(?:rx|Tx-Rx)-. interrupts [2-9][0-9]{4} times per second, "
                     "for [01].[0-9] packets each time",
                     "^(ethtool -C .* rx-usecs 50)")
    lab.sh(command)
    pinged(card)        # the driver writes it to the card at the next interrupt
    silent(f"no moderation, done what it says # {command}", pinged(card), "irq-storm")


def useless(card):
    """Each packet sent causes an interrupt, handled at once without a poll, or by one."""
    sender = Sender(card)

    def act():
        card.echo(1, 60)
        for _ in range(100):
            sender(30, 60)

    def wanting():
        """The CPUs are busy during the whole window, not only while packets are sent."""
        with wanted(0, 1):
            return run(card, act)

    doc, rate = busy(wanting, 2000, "")
    print(f"# {card.model}: {rate:.0f} interrupts a second, " + ", ".join(
        f"{r['vector']} on CPU {r['cpu']}: {r['interrupts']}, {r['polls']} polls" for r in doc["meters"]["irq"]), flush=True)
    if rate <= 2000:
        return lab.skip("interrupts and polls", f"they only come {rate:.0f} times a second")
    if card.model == "rtl8139":
        speaks("interrupts without polls", doc, "irq-without-poll", "eth. interrupts [0-9]+ times per second, [0-9.]+ times per poll",
               "ethtool -C (.*) rx-usecs 50")
    else:   # while its polls are short: a real card masks its vector at the interrupt (EIAM), the emulated one does not
        silent("interrupts with a poll each", doc, "irq-without-poll")


TESTS = {"igb": (one_cpu, far, outside, useless, often), "rtl8139": (useless,)}

lab.need_root()
for card in cards():
    far_ends(card)
    for test in TESTS[card.model]:
        if not sys.argv[1:] or test.__name__ in sys.argv:
            test(card)
lab.finish()

# SPDX-License-Identifier: GPL-2.0
"""The cost of running a program at all, by the clock: run-time statistics do not include it."""
import statistics
from contextlib import contextmanager

import machine
from checks import between
from children import Attached, Bench, followed, meters_known
from links import OTHERS, TapSockets, VethLive, VethSockets
from quiet import Quiet, quartiles
from rivals import SCRIPTS, Bpftrace, Tcpdump
from tell import done, progress, right

# (program, how many of it, what it is)
PROGRAMS = [("empty", 1, "1 empty program"), ("empty", 2, "2 empty programs"), ("empty", 4, "4 empty programs"),
            ("empty", 8, "8 empty programs"), ("count", 1, "1 program that counts"),
            ("stub", 1, "1 stub: looks the device up, and leaves"),
            ("call", 1, "1 stub that tail-calls a program that counts")]


@contextmanager
def programs(link, program, number):
    """Programs on netif_receive_skb; those that count must have counted the packets of ours."""
    child = Bench("dispatch", link.device, program, number, netns=link.netns)
    child.answer()
    try:
        yield child
    finally:
        child.close()


def once(quiet, link, attach, ms):
    """The laps of UDP packets (without, with), in the order without, with, with, without."""
    def without():
        link.go("udp", ms)		# caches are warm
        return quiet.slice(link, "udp", ms, 3)["laps"]

    before = without()
    with attach(link) as what:
        said = [link.go("udp", ms), *(quiet.slice(link, "udp", ms) for _ in range(2))]
        sent = sum(each["packets"] for each in said)
        if isinstance(what, Bench) and what.args[2] in ("count", "call"):
            between(f"{what.args[2]}, events,", what("read")["events"], sent, sent + OTHERS)
    return before + without(), said[1]["laps"] + said[2]["laps"]


def figure(quiet, rounds, base):
    """{ns, spread, base}: what a case adds to a packet. `base`: the laps without any, beside all cases."""
    without = quiet.median(base)
    ns = [each - without for each in quiet.ns([lap for _, with_it in rounds for lap in with_it])]
    return {"ns": round(statistics.median(ns), 1), "spread": [round(each, 1) for each in quartiles(ns)],
            "base": round(without, 1)}


def cases(link, quick):
    """{name: what attaches it to the link}: each meter, and the sets that the events part measures."""
    sets = {"headline": link.headline, "nicprobe": None, "all": "all"}
    alone = {} if quick else {meter: meter for meter in meters_known() if meter != "counters"}
    ours = {f"{name} btf": lambda link, meters=meters: Attached(link.netns, link.device, None, meters,
                                                                     sample=followed(meters))
            for name, meters in {**sets, **alone}.items()}
    theirs = {} if quick or Bpftrace.why_not() else {
        name: lambda link, name=name: Bpftrace(name) for name in SCRIPTS}
    if not Tcpdump.why_not():
        theirs["tcpdump"] = lambda link: Tcpdump(link.netns, link.device)
    return {**ours, **theirs}


def absent(link):
    """The meters that this interface does not have."""
    with Attached(link.netns, link.device, None, "all") as attached:
        return set(meters_known()) - set(attached.show()["meters"])


def measured(link, runs, rounds, ms, by, what):
    """{case: figure}; every round runs all cases in turn."""
    quiet, got = Quiet(by), {}
    for n in range(rounds):
        for name, attach in runs.items():
            progress(f"dispatch: {what}: round {n + 1} of {rounds}: {name}")
            got.setdefault(name, []).append(right(once, quiet, link, attach, ms))
    base = [lap for each in got.values() for without, _ in each for lap in without]
    return {name: figure(quiet, each, base) for name, each in got.items()}


def by():
    return "seconds" if machine.irq_time_apart() else "cpu"


def clock(quick):
    """[{link, case, ns, spread, base}]: ns per UDP packet between sockets, everything included."""
    rows = []
    for make in TapSockets, VethSockets:
        link = make()
        gone = absent(link)
        runs = {name: run for name, run in cases(link, quick).items() if name.split()[0] not in gone}
        rows += [{"link": link.name, "case": name, **got} for name, got in
                 measured(link, runs, 2 if quick else 5, 60, by(), link.name).items()]
        link.close()
    done()
    return rows


def part(quick):
    rounds, ms = (3, 40) if quick else (15, 60)
    link = VethLive()
    runs = {told: lambda link, p=program, n=number: programs(link, p, n) for program, number, told in PROGRAMS}
    rows = [{"what": name, **got} for name, got in measured(link, runs, rounds, ms, by(), "programs").items()]
    link.close()
    done()
    return {"rounds": rounds, "ms": ms, "rows": rows}

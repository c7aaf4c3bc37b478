# SPDX-License-Identifier: GPL-2.0
"""The cost of running a program at all, by the clock: run-time statistics do not include it."""
import statistics
from contextlib import contextmanager

import machine
from checks import between
from children import Attached, Bench, followed, meters_known
from links import OTHERS, TapSockets, VethLive, VethSockets
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


def ns_of(said, by):
    return 1e9 * said[by] / said["packets"]


def once(link, attach, ms, by):
    """(ns per UDP packet that the case adds, the drift of the ends), in the order without, with,
    with, without."""
    without, with_it, told = [ns_of(link.go("udp", ms), by)], [], {"packets": 0, "bytes": 0}
    with attach(link) as what:
        for _ in range(2):
            said = link.go("udp", ms)
            with_it.append(ns_of(said, by))
            told = {key: told[key] + said[key] for key in told}
        if isinstance(what, Bench) and what.args[2] in ("count", "call"):
            between(f"{what.args[2]}, events,", what("read")["events"], told["packets"], told["packets"] + OTHERS)
    without.append(ns_of(link.go("udp", ms), by))
    base = statistics.mean(without)
    return statistics.mean(with_it) - base, abs(without[0] - without[1]), base


def figure(rounds):
    """The median of the two thirds of the rounds that drifted least, with quartiles."""
    kept = sorted(rounds, key=lambda r: r[1])[:(2 * len(rounds) + 2) // 3]
    ns = sorted(added for added, _, _ in kept)
    return {"ns": round(statistics.median(ns), 1),
            "spread": [round(ns[len(ns) // 4], 1), round(ns[len(ns) - 1 - len(ns) // 4], 1)],
            "base": round(statistics.median(base for _, _, base in kept), 1)}


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
    got = {}
    for n in range(rounds):
        for name, attach in runs.items():
            progress(f"dispatch: {what}: round {n + 1} of {rounds}: {name}")
            got.setdefault(name, []).append(right(once, link, attach, ms, by))
    return {name: figure(each) for name, each in got.items()}


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

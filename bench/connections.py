# SPDX-License-Identifier: GPL-2.0
"""The cost of the host's meters to a TCP connection over loopback, made and ended, both its ends together."""
import json
import os
import resource
import statistics
from contextlib import contextmanager

from children import Attached, lab
from questions import Script
from quiet import quartiles
from scripts import known
from tell import Wrong, done, progress, right

CONNS = os.path.join(os.path.dirname(lab.NIC), "conns")


def connect(ns, seconds):
    """(connections, ns of CPU time for each): 20000 a second, or as fast as the machine makes them."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    made = int(ns.run(f"{CONNS} 20000 {seconds} reset").split()[0])
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return made, 1e9 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) / made


def once(ns, attach, seconds):
    """(ns per connection that the case adds, the drift of the ends, ns without), in the order without, with, with, without."""
    without, with_it, all_made = [connect(ns, seconds)[1]], [], 0
    with attach(ns) as what:
        for _ in range(2):
            made, cost = connect(ns, seconds)
            with_it.append(cost)
            all_made += made
        if isinstance(what, Attached) and what.where == f"{ns}/host" and "session" in what.show()["meters"]:
            counted(what, all_made)
    without.append(connect(ns, seconds)[1])
    base = statistics.mean(without)
    return statistics.mean(with_it) - base, abs(without[0] - without[1]), base


def figure(rounds):
    """The median of the two thirds of the rounds that drifted least, with quartiles."""
    kept = sorted(rounds, key=lambda r: r[1])[:(2 * len(rounds) + 2) // 3]
    ns = sorted(added for added, _, _ in kept)
    return {"ns": round(statistics.median(ns), 1), "spread": [round(each, 1) for each in quartiles(ns)],
            "base": round(statistics.median(base for _, _, base in kept), 1)}


def counted(attached, made):
    """Each connection has two ends; a client's is closed a little after its process has ended."""
    def ends():
        rows = attached.show()["meters"]["session"]
        return sum(sum(r["sessions"].values()) for r in rows)
    if not lab.until(lambda: ends() == 2 * made):
        raise Wrong(f"session counts {ends()} ends of {made} connections")


@contextmanager
def stranger(_):
    """Another namespace's host is attached, and has no connections."""
    other = lab.Namespace("other")
    try:
        with Attached(other, "host") as attached:
            yield attached
    finally:
        other.delete()


def on_request():
    """The host's meters that are attached only if they are named: these run for packets or system calls."""
    meters = json.loads(lab.nicprobe("list", "-v", "-j").stdout)["meters"]
    return [m["name"] for m in meters if m["host"] and "on_request" in m]


def part(quick):
    """[{what, ns, spread, base}]: ns of CPU time per connection; [{what, why}] of scripts that this kernel cannot run."""
    rounds, seconds = (3, .1) if quick else (11, .25)
    ns = lab.Namespace("host")
    ns.run("sysctl -qw net.ipv4.ip_local_port_range='1024 65535' net.ipv4.tcp_tw_reuse=1")
    cases = {"all meters of the host": lambda ns: Attached(ns, "host"),
             "session alone": lambda ns: Attached(ns, "host", None, "session"),
             "all meters, of another namespace": stranger,
             **{f"{meter} alone, on request": lambda ns, meter=meter: Attached(ns, "host", None, meter) for meter in on_request()}}
    can, cannot = known()
    cases.update({f"bpftrace {name}": lambda ns, text=text: Script(text) for name, text in can.items()})
    got = {}
    for n in range(rounds):
        for name, attach in cases.items():
            progress(f"connections: round {n + 1} of {rounds}: {name}")
            got.setdefault(name, []).append(right(once, ns, attach, seconds))
    done()
    ns.delete()
    return {"rounds": rounds, "seconds": seconds, "rows": [{"what": name, **figure(each)} for name, each in got.items()],
            "absent": [{"what": f"bpftrace {name}", "why": why} for name, why in cannot.items()]}

# SPDX-License-Identifier: GPL-2.0
"""The cost of questions to stable probes, beside the same questions to bpftrace: by the clock, dispatch included."""
import os
import statistics
import subprocess
import time
from contextlib import closing, contextmanager

import dispatch
from children import Bench, lab
from links import TapSockets
from rivals import Bpftrace, held
from tell import done, progress, right

# (what is asked, the hook, the words of `nicprobe trace`, the script of bpftrace)
QUESTIONS = [
    ("packets sent, counted by interface", "net_dev_queue", ["nic:::tx-queue", "--by", "if_name"],
     "tracepoint:net:net_dev_queue { @[str(args->name)] = count(); }"),
    ("lengths of packets sent, as a distribution", "net_dev_queue", ["nic:::tx-queue", "--quantize", "pkt_len"],
     "tracepoint:net:net_dev_queue { @ = hist(args->len); }"),
    ("datagrams sent, counted by port", "netfilter", ["udp:::send", "--by", "udp_dport"], None),
    ("packets sent, a filter that lets none pass", "net_dev_queue", ["nic:::tx-queue", "--where", "if_index == 77777777", "--count"], None),
    ("datagrams sent, a filter that lets none pass", "netfilter", ["udp:::send", "--where", "udp_dport == 7", "--count"], None),
]


@contextmanager
def nothing(link, hook):
    """An empty program at the same hook: the least that any tool takes there."""
    child = Bench("nothing", link.device, hook, netns=link.netns)
    child.answer()
    try:
        yield child
    finally:
        child.close()


class Trace:
    """with Trace(...): it is attached. `took`: seconds from its start until then."""
    def __init__(self, netns, words):
        self.command = ["ip", "netns", "exec", str(netns), lab.NICPROBE, "trace", *words]

    def __enter__(self):
        began = time.monotonic()
        self.p = subprocess.Popen(self.command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        said = self.p.stderr.readline()
        if "tracing" not in said:
            raise RuntimeError(f"trace: {said}")
        self.took = time.monotonic() - began
        return self

    def __exit__(self, *_):
        self.p.send_signal(2)
        self.p.wait(20)
        self.p.stderr.close()


class Script(Bpftrace):
    """bpftrace with a script of ours."""
    def __init__(self, script):     # pylint: disable=super-init-not-called
        self.script = script

    def __enter__(self):
        began = time.monotonic()
        super().__enter__()
        self.took = time.monotonic() - began - .2     # what it waits once the programs are loaded
        return self


def starts(make):
    """Milliseconds from the start of the process until it is attached: the median of five."""
    took = []
    for _ in range(5):
        with make() as asked:
            took.append(asked.took)
    return round(1e3 * statistics.median(took))


def inside(link, words, hook, ms):
    """ns per event of the question's programs above empty ones beside them, by the kernel's own statistics."""
    with Trace(link.netns, words) as asked, nothing(link, hook) as empty, closing(Bench("trace")) as trace:
        sides = [" ".join(map(str, held(p.pid))) for p in (asked.p, empty.p)]
        before = [trace(f"read {ids}") for ids in sides]
        link.slices(ms)
        after = [trace(f"read {ids}") for ids in sides]
    grown = [{what: sum(a[one][what] - b[one][what] for one in a) for what in ("ns", "count")}
             for a, b in zip(after, before)]
    ours, least = (side["ns"] / side["count"] for side in grown)
    return ours - least


def above(link, words, hook, rounds, ms, what):
    """The same of some rounds: {ns, spread}."""
    each = []
    for n in range(rounds):
        progress(f"questions: {what}: round {n + 1} of {rounds}: inside")
        each.append(right(inside, link, words, hook, ms))
    each.sort()
    return {"ns": round(statistics.median(each), 1), "spread": [round(each[n], 1) for n in (len(each) // 4, -1 - len(each) // 4)]}


def part(quick):
    """[{what, ours, empty, theirs: {ns, spread, base, start} or None, inside: {ns, spread}}]"""
    rounds, ms = (2, 60) if quick else (9, 60)
    link, rows = TapSockets(), []
    whys = Bpftrace.why_not()
    for what, hook, words, script in QUESTIONS:
        runs = {"ours": lambda link, w=words: Trace(link.netns, w), "empty": lambda link, h=hook: nothing(link, h)}
        if script and not whys:
            runs["theirs"] = lambda link, s=script: Script(s)
        got = dispatch.measured(link, runs, rounds, ms, dispatch.by(), what)
        for who in runs.keys() - {"empty"}:
            make = runs[who]
            got[who]["start"] = starts(lambda make=make: make(link))
        rows.append({"what": what, "ours": got["ours"], "empty": got["empty"], "theirs": got.get("theirs"),
                     "inside": above(link, words, hook, rounds, ms, what)})
    link.close()
    done()
    return {"rounds": rounds, "ms": ms, "rows": rows}

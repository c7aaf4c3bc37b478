# SPDX-License-Identifier: GPL-2.0
"""The rows of the meters `drop` and `counters`, compared with what a test caused."""
from lib.lab import *

REASONS = sh("bpftool btf dump file /sys/kernel/btf/vmlinux format c | sed -n '/^enum skb_drop_reason {/,/^}/p'",
             check=False)


def known(reason):
    """Reasons that older kernels lack appear as NOT_SPECIFIED."""
    return reason if f"SKB_DROP_REASON_{reason} " in REASONS else "NOT_SPECIFIED"


def rows(doc):
    """{(reason, who, direction, queue): packets}"""
    got = {}
    for r in doc["meters"].get("drop", []):
        key = r["reason"], r["who"], r["direction"], r["queue"]
        got[key] = got.get(key, 0) + r["packets"]
    return got


def counters(doc):
    return {r["counter"]: r["events"] for r in doc["meters"].get("counters", [])}


def more(now, before):
    return {k: n - before.get(k, 0) for k, n in now.items() if n != before.get(k, 0)}


class Case:
    """Figures before and after the `with` block, which are compared."""
    last = None

    def __init__(self, where, name):
        self.where, self.name = where, name
        self.want, self.nstat = {}, {}

    def __enter__(self):
        if Case.last is None:
            Case.last = show(self.where)
        return self

    def expect(self, reason, who, direction, queue, count, **nstat):
        if count:
            self.want[(known(reason), who, direction, queue)] = count
        self.nstat.update(nstat)

    def __exit__(self, kind, value, trace):
        if kind:
            return
        now = show(self.where)
        same(f"{self.name}", more(rows(now), rows(Case.last)), self.want)
        grown = more(counters(now), counters(Case.last))
        if self.nstat:
            same(f"{self.name}: the kernel's counters", {k: grown.get(k, 0) for k in self.nstat}, self.nstat)
        Case.last = now

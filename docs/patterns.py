#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Prints patterns.md, from what nicprobe explain says of each finding: python3 docs/patterns.py >docs/patterns.md"""
import json
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
NICPROBE = os.environ.get("NICPROBE", os.path.join(ROOT, "nicprobe"))

# The meters whose figures a finding rests on, to look at; `hw` is the setup of the interface.
RESTS_ON = {
    "drop counters": "link-down rx-too-long backlog-full qdisc-drops",
    "counters": "rx-broken",
    "counters hw": "link-half-duplex",
    "hwstat counters": "allowance-exceeded allowance-linklocal rx-no-memory",
    "wifi": "wifi-scans",
    "rxcpu hw": "rps-one-cpu rps-few-cpus napi-threads-one-cpu irq-one-cpu irq-far-node",
    "rxcpu flow": "rx-one-flow rx-flows-collide rx-queues-uneven rx-one-queue",
    "hwstat counters napi": "rx-ring-full",
    "napi": "rx-ring-near napi-budget-low napi-poll-late",
    "irq": "irq-storm irq-without-poll irq-far-from-poll irq-outside-affinity",
    "gro": "gro-off gro-not-used gro-generic-xdp rx-out-of-order",
    "gro flow": "rx-fragments",
    "bql": "bql-limit-small tx-stalls",
    "bql txlat": "bql-limit-large",
    "bql txlat drop": "tx-queue-stuck",
    "hwstat": "tx-timeout",
    "bql drop hw": "xps-one-queue",
    "bql drop": "tx-ring-full",
    "txlat": "tx-completion-slow",
    "qdisc txlat": "qdisc-wait",
    "ecn": "ecn-marked-here",
    "ecn ecn_source": "ecn-marked",
    "offload": "tso-off tx-checksum-off tx-copied",
    "gso offload": "gso-split-early",
    "xsk": "xsk-fill-empty xsk-rx-full",
    "xdp": "xdp-aborted xdp-bad-action xdp-tx-failed xdp-redirect-failed xdp-send-failed xdp-cpumap-full",
    "hwstat drop": "xdp-drops",
    "drop": "tc-ingress-drops tc-egress-drops cgroup-drops firewall-drops ipsec-drops",
    "ledger hw": "hook-blind",
    "ledger": "unseen-received unseen-sent uncounted-received uncounted-sent bytes-differ",
    "ecn_source": "ecn-sources-forgotten",
    "ledger drop": "missed-received missed-sent",
    "hwstat ledger": "counters-restarted",
    "txlat qdisc skblife": "table-full",
    "qdisc": "qdisc-splits",
    "driver": "driver-module-gone",
}
# The findings of these subjects rest on the same meters, all of them.
SUBJECTS = {
    "Drops in the stack or at a socket": "drop counters",
    "Setup, as shown by nicprobe show IFACE hw": "hw",
}
METERS = {finding: meters for meters, findings in RESTS_ON.items() for finding in findings.split()}

HEAD = """<!-- SPDX-License-Identifier: GPL-2.0 -->
# Patterns: from symptom to cause

Find the symptom, look at the meters, and compare the causes.
`nicprobe show IFACE` makes the comparison itself: it prints the findings that hold in the last second.
`nicprobe explain FINDING`, or nicprobe-findings(7), says what a finding means, when it speaks and when it stays silent.
`nicprobe show IFACE METER…` prints the meters in full; `hw` prints the setup of the interface.

Python makes this page from the findings: `python3 docs/patterns.py >docs/patterns.md`; `tests/pages_test.py` compares.
"""


def cell(text):
    return " ".join(text.split()).replace("|", "\\|")


def meters_of(finding):
    """None: nobody said."""
    return METERS.get(finding["id"]) or SUBJECTS.get(finding["subject"])


def main():
    findings = json.loads(subprocess.run([NICPROBE, "explain", "-j"], capture_output=True, text=True, check=True).stdout)
    ids = {f["id"] for f in findings}
    unknown = [f["id"] for f in findings if not meters_of(f)] + [i for i in METERS if i not in ids]
    if unknown:
        sys.exit(f"patterns: RESTS_ON in docs/patterns.py lacks, or has in vain: {', '.join(unknown)}")
    print(HEAD)
    subject, told = None, set()
    for first in findings:
        if first["symptom"] in told:
            continue
        told.add(first["symptom"])
        if first["subject"] != subject:
            subject = first["subject"]
            print(f"\n## {subject}\n" if len(told) > 1 else f"## {subject}\n")
            print("| symptom | meters | cause | finding | remedy |\n|---|---|---|---|---|")
        same = [f for f in findings if f["symptom"] == first["symptom"]]
        for f in same:
            meters = ", ".join(f"`{m}`" for m in meters_of(f).split())
            symptom = cell(f["symptom"]) if f is first else ""
            print(f"| {symptom} | {meters} | {cell(f['title'])} | `{f['id']}` | {cell(f['remedy'])} |")


if __name__ == "__main__":
    main()

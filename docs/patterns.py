#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Prints patterns.md, from what nicprobe explain says of each finding: python3 docs/patterns.py >docs/patterns.md"""
import json
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
NICPROBE = os.environ.get("NICPROBE", os.path.join(ROOT, "nicprobe"))

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


def main():
    findings = json.loads(subprocess.run([NICPROBE, "explain", "-j"], capture_output=True, text=True, check=True).stdout)
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
            meters = ", ".join(f"`{m}`" for m in f["meters"])
            symptom = cell(f["symptom"]) if f is first else ""
            print(f"| {symptom} | {meters} | {cell(f['title'])} | `{f['id']}` | {cell(f['remedy'])} |")


if __name__ == "__main__":
    main()

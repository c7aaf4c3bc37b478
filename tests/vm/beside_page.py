#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""From the answers that guests gave to docs/beside-dtrace.md: beside_page.py FILE…, one of beside_guest.py for each kernel."""
import json
import os
import sys

HEAD = """<!-- SPDX-License-Identifier: GPL-2.0 -->
# Beside DTrace

The same clauses of D, asked of DTrace {version} (dtrace-utils, from Debian's unstable release) and of `nicprobe trace -n`, on the same traffic in the same guest.
What is right follows from the traffic: its packets and connections are counted by who makes them.
The tools ran one after the other, DTrace with all clauses of a traffic at once. **Bold**: a wrong answer; *none*: the probe is not to be had.

`tests/vm/beside {series} >docs/beside-dtrace.md` boots the guests and makes this page.
"""


def told(rows):
    """"127.0.0.1: 11"; nothing was counted: "0"."""
    return "0" if rows == [] else ", ".join(f"{', '.join(map(str, keys))}: {figure}" for *keys, figure in rows)


def cell(got, right):
    if got is None:
        return "*none*"
    return told(got) if got == right else f"**{told(got)}**"


def kernel(path):
    with open(path, encoding="utf-8") as f:
        docs = [json.loads(line) for line in f if line.startswith("{")]
    return docs[0], docs[1:]


def count(rows, who):
    right = sum(r[who] == r["right"] for r in rows)
    none = sum(r[who] is None for r in rows)
    return f"{right} of {len(rows)} right" + (f", {len(rows) - right - none} wrong" if len(rows) - right - none else "") + (
        f", {none} not answered" if none else "")


def reasons(rows, who, name):
    """Why rows have no answer: each reason once."""
    for why in dict.fromkeys(r[f"{who}_said"] for r in rows if r[who] is None):
        print(f"\n{name} says: `{why}`")


def wrong(rows, who, name):
    """In words."""
    for r in rows:
        if r[who] is not None and r[who] != r["right"]:
            print(f"- {name} answers {told(r[who])} where {told(r['right'])} is right: {r['traffic']}, `{r['clause']}`.")


def table(about, rows):
    print(f"\n## Linux {about['kernel']}\n\nDTrace: {count(rows, 'dtrace')}. nicprobe: {count(rows, 'nicprobe')}.\n")
    if all(r["dtrace"] is None for r in rows):
        print(f"DTrace has no answer here at all; nicprobe's are {'the right ones' if all(r['nicprobe'] == r['right'] for r in rows) else 'these'}.\n")
    print("| traffic | clause | right | DTrace | nicprobe |\n|---|---|---|---|---|")
    for r in rows:
        clause = r["clause"].replace("|", "\\|")
        print(f"| {r['traffic']} | `{clause}` | {told(r['right'])} | {cell(r['dtrace'], r['right'])} | {cell(r['nicprobe'], r['right'])} |")
    print()
    wrong(rows, "dtrace", "DTrace")
    wrong(rows, "nicprobe", "nicprobe")
    reasons(rows, "dtrace", "DTrace")
    reasons(rows, "nicprobe", "nicprobe")


def main(paths):
    kernels = [kernel(path) for path in paths]
    print(HEAD.format(version=kernels[0][0]["dtrace"], series=" ".join(map(os.path.basename, paths))), end="")
    for about, rows in kernels:
        table(about, rows)


main(sys.argv[1:])

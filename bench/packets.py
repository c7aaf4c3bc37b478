# SPDX-License-Identifier: GPL-2.0
"""The cost of the packet meters on XDP and tc, by `bench packet`.

The kernel puts a program that it loads at a place among 64 bytes that it draws. By the place a program takes up to
3 ns more or less, so each figure is of several loads.
"""
import json
import statistics
import subprocess
import sys

from children import BENCH

SPREAD = ("ns", "above_empty")


def load(rounds):
    """The rows of one load of all programs."""
    r = subprocess.run([BENCH, "packet", "--rounds", str(rounds), *["--progress"] * sys.stderr.isatty()],
                       stdout=subprocess.PIPE, check=False)
    if r.returncode:
        sys.exit(r.returncode)
    return json.loads(r.stdout)


def over(loads):
    """A row of all loads: the median of theirs, and their quartiles."""
    row = dict(loads[0])
    for what in SPREAD:
        low, middle, high = statistics.quantiles([each[what]["median"] for each in loads], n=4, method="inclusive")
        row[what] = {"median": round(middle, 3), "p25": round(low, 3), "p75": round(high, 3)}
    return row


def part(quick):
    loads, rounds = (3, 9) if quick else (15, 15)
    return {"loads": loads, "rounds": rounds, "rows": [over(rows) for rows in zip(*(load(rounds) for _ in range(loads)))]}

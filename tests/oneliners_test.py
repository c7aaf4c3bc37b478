#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Every one-liner of tests/live/lib/oneliners.py is a question, as options and as D: parsed, without a right to trace."""
import os
import re
import shlex
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "tests", "live"))

from lib.oneliners import LACKING, MOVED, ROWS

NICPROBE = os.environ.get("NICPROBE", os.path.join(ROOT, os.environ.get("B", "build"), "nicprobe"))
# What is said of rights comes once the question is understood.
RIGHTS = r"CAP_|root|permi|privile"
failed = 0


def check(name, good, why):
    global failed
    print(f"ok oneliners: {name}" if good else f"not ok oneliners: {name}: {' '.join(map(str, why))}".replace("\n", " "))
    failed += not good


def asked(*words):
    command = [NICPROBE, *words]
    if os.geteuid() == 0:
        command = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all", "--bounding-set=-all", *command]
    r = subprocess.run(command, capture_output=True, text=True, timeout=60)
    return r.returncode, r.stderr


def understood(name, needs, *words):
    status, said = asked(*words)
    there = status == 0 if words[0] == "list" else status == 1 and re.search(RIGHTS, said)
    check(name, there or (needs and re.search(LACKING[needs], said)), (status, said))


for r in ROWS:
    understood(r.words, r.needs, *shlex.split(r.words))
    if r.clause:
        understood(r.clause, r.needs, "trace", "-n", r.clause)
for clause, place in MOVED:
    status, said = asked("trace", "-n", clause)
    check(f"{clause}: where its arguments are now", status == 2 and re.search(place, said), (status, said))
check("a row of each need", {r.needs for r in ROWS} - {None} == set(LACKING), sorted(LACKING))
sys.exit(failed > 0)

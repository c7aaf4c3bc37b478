#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Tables of the guests' results: exact counts by kernel, driver, hook and attach method, and durations.

table.py FOLDER SERIES…: from the lines that the guests' tests left there.
"""
import glob
import json
import os
import re
import sys

MILLION = 1000000
folder, kernels = sys.argv[1], sys.argv[2:]


def lines():
    for path in sorted(glob.glob(f"{folder}/*-*.all")):
        kernel, guest = os.path.basename(path)[:-len(".all")].rsplit("-", 1)
        with open(path, encoding="utf-8", errors="replace") as f:
            for line in f:
                yield kernel, guest, line.rstrip("\n")


class Cell:
    """For one kernel: packets compared, and the deviation."""
    def __init__(self):
        self.packets = self.off = 0

    def __str__(self):
        if not self.packets:
            return "-"
        return f"exact {self.packets}" if not self.off else f"OFF BY {self.off} of {self.packets}"


rows, totals, times = {}, {}, []


def add(kernel, driver, point, way, offloads, packets, off):
    cell = rows.setdefault((driver, point, way), {}).setdefault((kernel, offloads), Cell())
    cell.packets += packets
    cell.off = max(cell.off, off)


def software(kernel, line):
    """Results of live/exact_test.py for tap and veth, which compares with what was sent and what was read."""
    found = re.match(r"(not ok|ok) (tap|veth)([^,]*), (driver|xdp|tx)(, RPS)?(?: #|:)(?: (\d+) x (\d+))?", line)
    if not found:
        return
    good, name, how, tap, rps, runs, packets = found.groups()
    for point in ("tx-stack", "tx-nic") if tap == "tx" else ("rx-nic", "rx-stack"):
        way = "as chosen" if tap == "tx" or point == "rx-stack" else f"--rx {tap}"
        add(kernel, {"tap": "tun"}.get(name, name), point, way + how + (rps or "").replace(",", " with"), "none",
            int(runs or 0) * int(packets or 0) or 1, int(good != "ok"))


test = None
for kernel, guest, line in lines():
    if line.startswith("# exact "):
        doc = json.loads(line[len("# exact "):])
        add(kernel, doc["driver"], doc["point"], doc["way"], doc["offloads"], doc["packets"], doc["off"])
        if doc["point"].endswith("nic"):
            totals[doc["driver"]] = totals.get(doc["driver"], 0) + doc["packets"]
    elif guest == "live":
        software(kernel, line)
    took = re.match(r"# (\S+_test\.py)\S*: (\d+ s, \d+ of a CPU)$", line)
    if took:
        times.append((kernel, guest, *took.groups()))
    took = re.match(r"# booted in (\d*) s, (\d+) s in all, (\d+) s of CPU time", line)
    if took:
        times.append((kernel, guest, "in all", f"{took[2]} s, {took[3]} of a CPU"))

print("#\n# What nicprobe counted, compared with the driver's own counters; tun and veth: with what was sent.\n"
      "# In wire packets, without and with offloads (TSO, GSO, GRO, LRO, VLAN).")
columns = [(k, offloads) for k in kernels for offloads in ("none", "all")]
heads = [f"{k} {'without' if offloads == 'none' else 'with'}" for k, offloads in columns]
print(f"# {'driver':<11}{'point':<10}{'way':<34}" + "".join(f"{h:<20}" for h in heads))
for key in sorted(rows):
    driver, point, way = key
    cells = "".join(f"{str(rows[key].get(c, Cell())):<20}" for c in columns)
    print(f"# {driver:<11}{point:<10}{way:<34}{cells}".rstrip())
print("#\n# Packets at the nic points, by driver: " + ", ".join(f"{d} {n}" for d, n in sorted(totals.items())))
if len(kernels) > 1 and not os.environ.get("GUESTS"):
    total = sum(totals.values())
    print(f"{'ok' if total >= MILLION else 'not ok'} packets compared with drivers' counters # {total}" +
          ("" if total >= MILLION else f": fewer than {MILLION}"))
print("#\n# Seconds, by the guest's clock; in all, by ours")
for kernel, guest, what, seconds in times:
    print(f"# {kernel:<12}{guest:<12}{what:<30}{seconds}")

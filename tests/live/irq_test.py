#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Interfaces without interrupts report so; tests/vm/irq_test.py counts the interrupts of real drivers."""
from lib.lab import *

need_root()
a, b = Namespace("a"), Namespace("b")
nic = tap(a)
veth(a, b)
a.ip("link add br0 type bridge", check=False)

for iface in "tap0", "eth0", "lo", "br0":
    where = f"{a}/{iface}"
    if not a.ip(f"link show {iface}", check=False):
        skip(f"irq {iface}", "ip cannot make one")
        continue
    r = nicprobe("attach", "-m", "irq", where, check=False)
    check(f"irq {iface}: refused by name", r.returncode == 1 and "no hardware interrupts" in r.stderr,
          f"{r.returncode}: {r.stderr}")
    nicprobe("attach", where)
    doc = show(where)
    table = nicprobe("show", where).stdout
    nicprobe("detach", where)
    check(f"irq {iface}: absent # {doc['absent'].get('irq')}",
          "irq" not in doc["meters"] and "no hardware interrupts" in doc["absent"].get("irq", ""),
          str(doc["absent"]))
    check(f"irq {iface}: the table says so", "no hardware interrupts" in " ".join(table.split()), table)
nic.close()
finish()

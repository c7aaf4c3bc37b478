# SPDX-License-Identifier: GPL-2.0
"""The packets at each point of an interface, and the state that `show` reports."""
from lib.lab import nicprobe, packets_at, show


def counts(iface):
    doc = show(iface)
    return {p: packets_at(doc, p) for p in ("rx-nic", "rx-stack", "tx-stack", "tx-nic")}


def put(nic, count, queue=0):
    nic(f"send {queue} {count} 200")
    nic("go")


def state(iface):
    """The state that show reports, in JSON and in the table."""
    doc = show(iface)
    said = doc.get("state", "")
    words = nicprobe("show", iface, env={"COLUMNS": "300"}).stdout
    return said if said and said in words else f"{said!r} in JSON, but the table: {words[:200]}"

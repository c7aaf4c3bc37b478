#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Flows: exact if every packet is sampled, well estimated if one in 1024 is; and what fills a queue is reported."""
import os

from lib.lab import *

need_root()
netns = Namespace("flow")
netns.run("sysctl -qw net.ipv4.ip_forward=0")
HOOKS = {"xdp": ["--rx", "xdp"], "driver": ["--rx", "driver"]}


def flows(doc):
    """{(queue, flow): (packets, bytes, samples)}"""
    return {(r["queue"], r["flow"]): (r["estimated_packets"], r["estimated_bytes"], r["samples"])
            for r in doc["meters"]["flow"]}


def measure(name, args, batches, options="--steer"):
    """Sends on a tap of its own; returns the document and the table."""
    label, name = name, f"t-{name}"
    nic = tap(netns, name, options=options)
    nicprobe("attach", *args, f"{netns}/{name}")
    for batch in batches:
        nic(f"send {batch}")
    nic("go interleave")
    doc = show(f"{netns}/{name}")
    table = nicprobe("show", f"{netns}/{name}", env={"COLUMNS": "60"}).stdout
    check(f"flow {label}: openmetrics", nicprobe("show", f"{netns}/{name}", "-f", "openmetrics").returncode == 0)
    nicprobe("detach", f"{netns}/{name}")
    nic.close()
    return doc, table


# Every packet: exact, whatever precedes the ports, at every hook and with every attach method.
FRAMES = ["0 100 100 udp sport=1000 dport=2000", "0 30 200 tcp sport=5001 dport=80 vlan=7",
          "1 20 300 v6 udp sport=53 dport=4000 qinq=100,7", "1 10 100 icmp", "2 7 100 arp",
          "3 5 9000 v6 tcp sport=443 dport=5 src=2001:2::9"]
WANT = {(0, "198.18.0.1:1000 > 198.18.0.2:2000 udp"): (100, 10000, 100),
        (0, "198.18.0.1:5001 > 198.18.0.2:80 tcp"): (30, 6000, 30),
        (1, "[2001:2::1]:53 > [2001:2::2]:4000 udp"): (20, 6000, 20),
        (1, "198.18.0.1 > 198.18.0.2 icmp"): (10, 1000, 10),
        (2, "not IP, type 0x0806"): (7, 700, 7),
        (3, "[2001:2::9]:443 > [2001:2::2]:5 tcp"): (5, 45000, 5)}
for way, args, options in (("xdp", ["--rx", "xdp"], ""), ("driver", ["--rx", "driver"], ""),
                           ("frags", ["--rx", "driver"], "--napi-frags"),
                           ("alone", ["--rx", "xdp", "-m", "flow"], "")):
    doc, _ = measure(way, [*args, "--sample", "1"], FRAMES, options)
    same(f"flow {way}: every packet", flows(doc), WANT)
    same(f"flow {way}: lost", doc["lost"]["flow"], 0)

# More flows than the map holds: rows plus lost packets are all packets.
doc, _ = measure("many", ["-m", "flow", "--sample", "1"], [f"{q} 4000 100 flows=4000 src=198.18.1.{q}" for q in range(4)])
there = sum(p for p, _, _ in flows(doc).values())
check("flow many: no more than there is room for", 1000 < len(flows(doc)) <= 4096, f"{len(flows(doc))} flows")
same("flow many: there and lost is all", there + doc["lost"]["flow"], 16000)

# The same for senders of CE packets. A sender that continues is kept, however many others appear. On one CPU: each has a
# table of its own, and the last sender must not be on another one than the first.
everywhere = os.sched_getaffinity(0)
os.sched_setaffinity(0, {max(everywhere)})
ce = tap(netns, "t-ce")
os.sched_setaffinity(0, everywhere)
nicprobe("attach", "-m", "ecn,ecn_source", f"{netns}/t-ce")
ce("send 0 50 100 ecn=3 src=198.19.0.1")
ce("go")
for forged in range(9000):
    ce(f"send {forged % 4} 1 100 ecn=3 src=198.18.{forged >> 8}.{forged & 255}")
    if forged % 100 == 99:
        ce("send 0 1 100 ecn=3 src=198.19.0.1")
        ce("go")
ce("send 0 50 100 ecn=3 src=198.19.0.2")
ce("go")
doc = show(f"{netns}/t-ce")
got = sources(doc)
print(f"# {len(got)} sources of 9002 are kept, {doc['lost']['ecn_source']} packets lost")
marked = sum(q.get("ce", 0) for q in ecn_at(doc, "rx-nic").values())
same("ecn_source: full, what is there and what is lost is all", sum(got.values()) + doc["lost"]["ecn_source"], marked)
same("ecn_source: full, a new source is counted", got.get("198.19.0.2"), 50)
same("ecn_source: full, who sends on is known for all of it", got.get("198.19.0.1"), 50 + 90)
check("ecn_source: full, the table is", 3000 < len(got) <= 4096, f"{len(got)} sources")
check("ecn_source: full, it is said", "ecn-sources-forgotten" in found(doc, True), found(doc, True))
nicprobe("detach", f"{netns}/t-ce")
ce.close()


def about(name, got, want, part):
    check(name, abs(got - want) <= part * want, f"{got}, not about {want}")


# One flow interleaved with other packets in lockstep: random gaps give each its share.
for way, args in HOOKS.items():
    doc, table = measure(f"one-{way}", args, ["0 120000 100", "0 40000 100 flows=40 src=198.18.0.9",
                                              "1 2000 100", "2 2000 100", "3 2000 100"])
    one = flows(doc).get((0, "198.18.0.1:10000 > 198.18.0.2:9 udp"), (0, 0, 0))
    about(f"flow {way}: the large one", one[0], 120000, .25)
    about(f"flow {way}: its bytes", one[1], 12000000, .25)
    check(f"flow {way}: packets are samples times 1024", one[0] == 1024 * one[2], str(one))
    about(f"flow {way}: all of them", sum(p for p, _, _ in flows(doc).values()), 166000, .25)
finish()

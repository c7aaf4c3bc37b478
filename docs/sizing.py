#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Measures what scrapes of nicprobe serve hold and cost, on taps of its own: sudo python3 docs/sizing.py >docs/sizing.md"""
import os
import re
import socket
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "tests", "live"))
from lib import left     # pylint: disable=wrong-import-position
from lib.lab import Namespace, nicprobe, tap     # pylint: disable=wrong-import-position
from lib.served import GROUP, Server, enter, samples     # pylint: disable=wrong-import-position

ROWS = (("sums", ()), ("`--per-queue`", ("--per-queue",)), ("`-m pktsize,ecn,drop`", ("-m", "pktsize,ecn,drop")))
HEAD = """<!-- SPDX-License-Identifier: GPL-2.0 -->
# What Prometheus has to hold

Made by `docs/sizing.py`: one tap, the meters that `attach` turns on by default, packets in through every queue and out through most; {cpu}, Linux {release}.
CPU is that of the server, with gzip, the least mean of five times 20 scrapes.
A host with several interfaces has the sum.

| queues | served | series | bytes | bytes as gzip | CPU per scrape |
|---|---|---|---|---|---|"""


def traffic(nic, netns, queues):
    for queue in range(queues):
        nic(f"send {queue} 100 {100 + 20 * queue} udp sport={1000 + queue} dport=9 src=198.18.1.{queue} ecn=3 flows=30")
    nic("go interleave")
    netns.ip("neigh replace 198.18.0.77 lladdr 02:00:00:00:00:77 dev tap0")
    for port in range(1000):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            s.connect(("198.18.0.77", 1000 + port))
            s.send(b"x" * port)


def measure(queues, said, args):
    server = Server("--listen", "127.0.0.1:0", *args)
    text = server.metrics()
    rounds = []
    for _ in range(5):
        before = server.spent()
        for _ in range(20):
            body = server.ask(headers={"Accept-Encoding": "gzip"})[2]
        rounds.append((server.spent() - before) / 20 * 1e3)
    print(f"| {queues} | {said} | {len(samples(text))} | {len(text)} | {len(body)} | {min(rounds):.1f} ms |", flush=True)
    server.end()


def main(queues):
    netns = Namespace(f"size{queues}")
    nic = tap(netns, queues=queues, address="198.18.0.2/24")
    nicprobe("attach", "--group", str(GROUP), f"{netns}/tap0")
    enter(netns)
    nic("read on")
    traffic(nic, netns, queues)
    for said, args in ROWS:
        measure(queues, said, args)
    nicprobe("detach", "--all")
    nic.close()


left.own_bpffs()
if len(sys.argv) > 1:
    main(int(sys.argv[1]))
else:
    with open("/proc/cpuinfo", encoding="ascii") as info:
        cpu = re.search(r"model name\s*: (.*)", info.read())[1]
    print(HEAD.format(cpu=cpu, release=os.uname().release), flush=True)
    for nr in 1, 4, 16, 64:
        os.spawnv(os.P_WAIT, sys.executable, [sys.executable, sys.argv[0], str(nr)])

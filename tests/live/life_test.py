# SPDX-License-Identifier: GPL-2.0
"""Attach and detach, repeatedly, under full traffic: no packet is lost, and nothing is left behind."""
import os
import re
import statistics
import time

from lib import lab, left
from lib.lab import Namespace, check, nicprobe, same, show, tap
from lib.traffic import Sender

CYCLES = int(os.environ.get("CYCLES", 20))
PPS = 2500	# frames per queue, second and direction: with attach itself, as much as two CPUs can do

HOOKS = [	# in turn: each hook for received packets, and the fallback without tcx
    (["--rx", "xdp"], {}),
    (["--rx", "driver"], {}),
    ([], {"NICPROBE_CANNOT": "tcx"}),
    (["--rx", "xdp-generic"], {}),
    (["--rx", "tc"], {"NICPROBE_CANNOT": "tcx"}),
]


def link_stats(ns, name):
    text = ns.ip(f"-s -s link show {name}")
    numbers = [[int(n) for n in re.findall(r"\d+", line)] for line in text.splitlines()]
    rx, tx = [numbers[i + 1] for i, line in enumerate(text.splitlines()) if re.match(r"\s+[RT]X: +bytes", line)]
    return {"rx": rx[1], "rx_lost": sum(rx[2:5]), "tx": tx[1], "tx_lost": sum(tx[2:5])}


def cycles(ifaces, count):
    """Attach and detach, each interface in turn."""
    few = ["-m", "pktsize,ecn,txlat"]	# seen by every hook; all meters: all_test.py
    times = {"attach": [], "detach": []}
    for i in range(count):
        args, env = HOOKS[i // len(ifaces) % len(HOOKS)]
        for what in times:
            at = time.monotonic()
            nicprobe(what, ifaces[i % len(ifaces)], *([*args, *few] if what == "attach" else []), env=env)
            times[what].append(time.monotonic() - at)
    return times


def milliseconds(times):
    return f"median {statistics.median(times) * 1e3:.1f} ms, longest {max(times) * 1e3:.1f} ms"


def forwarding():
    """Two NICs on one router: what goes in at one must come out at the other, in both directions. One has a foreign
    clsact, the other none; without tcx the first gets an additional filter."""
    ns = Namespace("life")
    ns.run("sysctl -qw net.ipv4.ip_forward=1 net.ipv4.conf.all.rp_filter=0")
    nics = []
    for i in range(2):
        name = f"tap{i}"
        # sending selects queues by flow, and a queue that is not read in time must not overflow at once
        nics.append(tap(ns, name, queues=4, options="--no-cpu-pin"))
        ns.ip(f"link set {name} txqueuelen 20000")
        ns.ip(f"addr add 10.0.{i}.1/24 dev {name}")
        ns.ip(f"neigh add 10.0.{i}.2 lladdr 02:00:00:00:00:0{i} dev {name}")
        nics[i]("read on")
    ns.run("tc qdisc add dev tap0 clsact")
    ns.run("tc filter add dev tap0 ingress bpf bytecode '1,6 0 0 0,'")
    words = f"{PPS // 2} {{}} udp seq flows=8 src=10.0.{{}}.2 dst=10.0.{{}}.2 pps={PPS}"
    before = left.Before(ns)
    stats = [link_stats(ns, f"tap{i}") for i in range(2)]
    senders = [Sender(nics[i], 4, words.format((200, 1400)[i], i, 1 - i)) for i in range(2)]
    begin = time.monotonic()
    times = cycles([f"{ns}/tap0", f"{ns}/tap1"], CYCLES)
    seconds = time.monotonic() - begin
    sent = [s.stop() for s in senders]
    print(f"# {CYCLES} cycles in {seconds:.1f} s, {sum(sent) / seconds:.0f} packets/s; "
          f"attach {milliseconds(times['attach'])}; detach {milliseconds(times['detach'])}")
    for i in range(2):
        nics[i](f"wait {sent[1 - i]} 5000")
        got = nics[i]("seqcheck")
        same(f"life: {CYCLES} cycles lose no packet that comes out of tap{i}",
             [got["received"], got["missing"], got["duplicates"]], [sent[1 - i], 0, 0])
        now = link_stats(ns, f"tap{i}")
        same(f"life: {CYCLES} cycles, tap{i} as the kernel counts it",
             {k: now[k] - stats[i][k] for k in now},
             {"rx": sent[i], "rx_lost": 0, "tx": sent[1 - i], "tx_lost": 0})
    check("life: nothing could not be sent", not any(s.errors for s in senders))
    before.check(f"life: {CYCLES} cycles leave nothing behind")
    for nic in nics:
        nic.close()


def flat_out():
    """At the full speed of the NIC: each frame must reach IP."""
    ns = Namespace("flat")
    nic = tap(ns, "tap0", queues=4, options="--napi", address="10.0.0.1/24")
    ns.ip("route add blackhole 10.0.9.0/24")	# nobody listens, and no ICMP error shall report that
    before = left.Before(ns)

    def delivered():
        lines = ns.run("cat /proc/net/snmp").splitlines()
        ip = [line.split()[1:] for line in lines if line.startswith("Ip:")]
        return int(dict(zip(*ip))["InReceives"])

    start = delivered(), link_stats(ns, "tap0")["rx"]
    sender = Sender(nic, 4, "50000 200 udp seq src=10.0.0.2 dst=10.0.9.1")
    begin = time.monotonic()
    times = cycles([f"{ns}/tap0"], CYCLES // 2)
    seconds = time.monotonic() - begin
    sent = sender.stop()
    print(f"# flat out: {sent / seconds:.0f} packets/s; attach {milliseconds(times['attach'])}; "
          f"detach {milliseconds(times['detach'])}")
    lab.until(lambda: delivered() - start[0] >= sent)
    same("life: flat out, every packet reaches IP",
         [delivered() - start[0], link_stats(ns, "tap0")["rx"] - start[1], sender.errors], [sent, sent, 0])
    before.check("life: flat out, nothing is left behind")
    nic.close()


def many_queues():
    """For information: the same with 64 queues."""
    ns = Namespace("many")
    nic = tap(ns, "tap0", queues=64)
    before = left.Before(ns)
    times = cycles([f"{ns}/tap0"], len(HOOKS))
    nicprobe("attach", f"{ns}/tap0")
    for q in range(64):
        nic(f"send {q} 10 100")
    nic("go")
    taken = []
    for _ in range(10):
        at = time.monotonic()
        doc = show(f"{ns}/tap0")
        taken.append(time.monotonic() - at)
    nicprobe("detach", f"{ns}/tap0")
    rows = [r for r in doc["meters"]["pktsize"] if r["point"] == "rx-nic"]
    same("life: 64 queues count", [len(rows), sum(r["packet_size_bytes"]["count"] for r in rows)], [64, 640])
    print(f"# 64 queues: attach {milliseconds(times['attach'])}; show {milliseconds(taken)}")
    before.check("life: 64 queues leave nothing behind")
    nic.close()


lab.need_root()
left.own_bpffs()
forwarding()
flat_out()
many_queues()
lab.finish()

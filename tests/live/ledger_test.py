# SPDX-License-Identifier: GPL-2.0
"""The ledger: 0 if nothing is lost, and every packet lost on purpose in its place, to the packet."""
import atexit
import json
import os
import re
import socket
import threading
import time

from lib import bpf
from lib.lab import *
from lib.traffic import Sender
from lib.wire import *

need_root()
N = 300


def ledger(doc):
    """{direction: the row of all queues}; those of single queues must add up to it."""
    rows = {r["direction"]: r for r in doc["meters"]["ledger"] if r["queue"] == "all"}
    for way, row in rows.items():
        parts = [r for r in doc["meters"]["ledger"] if r["direction"] == way and r["queue"] != "all"]
        if parts and sum(r["driver"] for r in parts) != row["driver"]:
            not_ok("the queues are all", str(parts))
    return rows


def left(doc):
    """{(direction, queue): discrepancy} if there is one, in packets and bytes."""
    return {(r["direction"], r["queue"]): (r["residue"], r["residue_bytes"])
            for r in doc["meters"].get("ledger", []) if r["residue"] or r["residue_bytes"]}


OF_LEDGER = "unseen-", "uncounted-", "bytes-", "counters-"


def none_left(name, doc):
    same(f"{name}: nothing is left", (left(doc), said(doc, *OF_LEDGER)), ({}, ""))
    check(f"{name}: of some", any(r[k] for r in doc["meters"]["ledger"] for k in ("driver", "dropped")),
          str(doc["meters"]["ledger"]))


def figures(name, row, **want):
    same(f"{name}: {', '.join(want)}", {k: row.get(k) for k in want}, want)


def sending(netns, count, size=200, port=9, there=THERE):
    """UDP from a socket in the namespace."""
    s = udp_socket(netns)
    for _ in range(count):
        s.sendto(bytes(size), (there, port))
    s.close()


def attached(iface, *options, cannot=""):
    nicprobe("attach", iface, *options, env={"NICPROBE_CANNOT": cannot})


def taken(iface, *options):
    """The document; then detached."""
    doc = show(iface, *options)
    nicprobe("detach", iface)
    return doc


a = Namespace("led")
TAP = f"{a}/tap0"
w = Wire(a, "tap0", 4)
a.ip("link set tap0 txqueuelen 200")
frame = w.eth(udp(9, 200), dst=b"\x02\1\1\1\1\1")        # for another host: nobody answers


def both_ways(name, *options, cannot=""):
    """N packets of each queue in, N out, all of them read."""
    attached(TAP, *options, cannot=cannot)
    for q in range(4):
        w.write(q, frame, N)
    for _ in range(N // 50):
        sending(a, 50)
        w.drain()
    doc = taken(TAP)
    none_left(name, doc)
    figures(f"{name}, received", ledger(doc)["rx"], driver=4 * N, ours=4 * N, stack=4 * N,
            dropped=0, tc=0, between=0, driver_bytes=4 * N * len(frame))
    figures(f"{name}, sent", ledger(doc)["tx"], driver=N, ours=N, stack=N, driver_bytes=N * 242)
    return doc


both_ways("tap")
both_ways("tap, driver", "--rx", "driver")
both_ways("tap, ledger alone", "-m", "ledger")
doc = both_ways("tap, older kernel", cannot="netdev,ethtool")
same("hwstat: the interface's own", {(r["direction"], r["queue"], r["statistic"], r["source"]): r["value"]
                                     for r in doc["meters"]["hwstat"]},
     {("rx", "all", "rx_packets", "ip -s link"): 4 * N, ("tx", "all", "tx_packets", "ip -s link"): N,
      ("rx", "all", "rx_bytes", "ip -s link"): 4 * N * len(frame),
      ("tx", "all", "tx_bytes", "ip -s link"): N * 242})

# A ring for 200, less what its reader has not returned yet, and nobody reads it.
attached(TAP)
sending(a, N)
doc = show(TAP)
ring = sum(r["in_flight"] for r in doc["meters"]["txlat"])
figures("full ring", ledger(doc)["tx"], driver=0, ours=N, dropped=N - ring, residue=0)
check("full ring: it was full", 180 < ring <= 200, str(ring))
none_left("full ring", doc)
w.drain()
doc = taken(TAP)
figures("full ring, read", ledger(doc)["tx"], driver=ring, ours=N, dropped=N - ring, residue=0)

# Without txlat the content of the ring is unknown: a discrepancy until it is read, but no finding.
attached(TAP, "-m", "ledger")
sending(a, 50)
doc = show(TAP)
same("in flight", (ledger(doc)["tx"]["residue"], said(doc, *OF_LEDGER)), (-50, ""))
w.drain()
none_left("in flight, read", taken(TAP))

# tc, in both directions.
a.run("tc qdisc add dev tap0 clsact")
for way, side in ("rx", "ingress"), ("tx", "egress"):
    a.run(f"tc filter add dev tap0 {side} bpf da bytecode '1,6 0 0 2'")
    attached(TAP)
    w.write(0, frame, N)
    sending(a, N)
    w.drain()
    doc = taken(TAP)
    none_left(f"tc {side}", doc)
    figures(f"tc {side}", ledger(doc)[way], tc=N)
    a.run(f"tc filter del dev tap0 {side}")
a.run("tc qdisc del dev tap0 clsact")

# XDP: native, where the driver counts what it takes as dropped; and generic, between driver and stack.
pin = f"/sys/fs/bpf/np-ledger-{os.getpid()}"
bpf.pin(bpf.program(bpf.XDP, 1), pin)
atexit.register(lambda: sh(f"rm -f {pin}", check=False))


def xdp(netns, mode, iface="tap0", on=True):
    what = f"pinned {pin}" if on else "off"
    sh(f"nsenter --net=/run/netns/{netns} ip link set {iface} {mode} {what}")


xdp(a, "xdpdrv")
attached(TAP, "--rx", "driver")
w.write(2, frame, N)
doc = taken(TAP)
none_left("xdp in the driver", doc)
figures("xdp in the driver", ledger(doc)["rx"], driver=0, ours=0, dropped=N)
xdp(a, "xdpdrv", on=False)
attached(TAP, "--rx", "driver")
xdp(a, "xdpgeneric")
w.write(2, frame, N)
doc = taken(TAP)
xdp(a, "xdpgeneric", on=False)
none_left("generic xdp", doc)
figures("generic xdp", ledger(doc)["rx"], driver=N, ours=N, between=N, stack=0)

# A sender that bypasses the qdisc also bypasses the events, but the driver counts it: that is the discrepancy.
attached(TAP, "-m", "ledger,txlat")
raw = inside(a, lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0))
raw.setsockopt(263, 20, 1)              # SOL_PACKET, PACKET_QDISC_BYPASS
raw.bind(("tap0", 0))
for _ in range(150):
    raw.send(w.eth(udp(9, 100)))
w.drain()
doc = show(TAP, "ledger")
same("past the events", left(doc), {("tx", "all"): (150, 150 * 142)})
check("past the events: said", "150 packets (100%) sent (tap0) that nicprobe did not see" in said(doc, *OF_LEDGER), str(doc["findings"]))
table = nicprobe("show", TAP, "ledger", env={"COLUMNS": "60"}).stdout
check("past the events: in the table", "PACKET_QDISC_BYPASS" in " ".join(table.split()), table)
om = nicprobe("show", TAP, "-f", "openmetrics").stdout
check("past the events: in OpenMetrics",
      re.search(r'nicprobe_ledger_residue_packets\{.*direction="tx"\} 150\n', om), om)
raw.close()
doc = json.loads(nicprobe("show", TAP, "ledger", "-j", "-i", ".1", "-c", "1").stdout)
same("past the events: not in the next interval", left(doc), {})
nicprobe("detach", TAP)
w.close()

# A pair: TCP and UDP in both directions, with offloads and without, each end by its own formula.
b = Namespace("led2")
veth(a, b, queues=2)
for netns, address in (a, "198.18.7.1"), (b, "198.18.7.2"):
    netns.ip(f"addr add {address}/24 dev eth0")
for netns in a, b:
    narrow_all(netns)


def talk():
    """256 KiB by TCP and some datagrams from a to b."""
    listener = inside(b, lambda: socket.create_server(("198.18.7.2", 5001)))

    def take():
        s, _ = listener.accept()
        while s.recv(65536):
            pass
        s.close()

    reader = threading.Thread(target=take)
    reader.start()
    s = inside(a, lambda: socket.create_connection(("198.18.7.2", 5001)))
    s.sendall(bytes(1 << 18))
    s.close()
    reader.join()
    listener.close()
    sending(a, N, 1000, there="198.18.7.2")


for tso, gro in ("on", "off"), ("off", "off"), ("off", "on"), ("on", "on"):
    for netns in a, b:
        netns.run(f"ethtool -K eth0 tso {tso} gro {gro}")
    for netns in a, b:
        attached(f"{netns}/eth0")
    talk()
    settled = until(lambda: not left(show(f"{a}/eth0")) and not left(show(f"{b}/eth0")), 3)
    for name, netns in ("sender", a), ("receiver", b):
        doc = taken(f"{netns}/eth0")
        none_left(f"veth {name}, tso {tso}, gro {gro}", doc)
        rows = ledger(doc)
        # the datagrams, and 256 KiB in buffers of 64 KiB at most; a SYN, a FIN and an ACK come back, at least
        least = {"tx" if netns is a else "rx": N + (1 << 18 >> 16), "rx" if netns is a else "tx": 3}
        check(f"veth {name}, tso {tso}, gro {gro}: all of it", rows.keys() == least.keys() and
              all(r["driver"] == r["ours"] >= least[way] and not r["between"] for way, r in rows.items()), str(rows))
for netns in a, b:
    netns.ip("link set eth0 mtu 1500")
xdp(b, "xdpdrv", "eth0")
attached(f"{b}/eth0", "--rx", "driver")
sending(a, N, there="198.18.7.2")
until(lambda: ledger(show(f"{b}/eth0")).get("rx", {}).get("xdp", 0) >= N, 3)
doc = taken(f"{b}/eth0")
none_left("xdp of a veth", doc)
got = ledger(doc)["rx"]
check("xdp of a veth: what it took", got["xdp"] >= N and got["xdp"] == got["driver"] and not got["ours"], str(got))
stats = {(r["statistic"], r["source"]) for r in doc["meters"]["hwstat"]}
check("hwstat: of a queue", ("xdp_drop", "ethtool -S") in stats, str(stats))
xdp(b, "xdpdrv", "eth0", on=False)

# Read while packets pass: inexact simultaneity is told apart from missing packets.
c = Namespace("led3")
nic = tap(c, queues=2)
busy = Sender(nic, 2, "400 100 v4 udp flows=8")
attached(f"{c}/tap0")
time.sleep(.3)
lines = nicprobe("show", f"{c}/tap0", "ledger", "-j", "-i", ".2", "-c", "4").stdout.splitlines()
doc = show(f"{c}/tap0", "ledger")
sent = busy.stop()
for nr, one in enumerate([*map(json.loads, lines), doc]):
    none_left(f"busy, {nr}", one)
check("busy: packets passed meanwhile", any(ledger(json.loads(one)).get("rx", {}).get("ours") for one in lines), str(lines))
doc = taken(f"{c}/tap0")
none_left("busy, then still", doc)
run = nicprobe("run", "-m", "ledger", "-f", "json", f"{c}/tap0", "--", "true").stdout
same("run: it is there", "ledger" in json.loads(run)["meters"], True)

# A driver without a known formula.
sink = udp_socket(c)
sink.bind(("127.0.0.1", 9))
attached(f"{c}/lo")
sending(c, N, there="127.0.0.1")
until(lambda: ledger(show(f"{c}/lo")).get("rx", {}).get("driver", 0) >= N)
doc = taken(f"{c}/lo")
none_left("lo", doc)
for way in "rx", "tx":
    figures(f"lo, {way}", ledger(doc)[way], driver=N, ours=N, driver_bytes=N * 228)
check("lo: not known", "it is not known how loopback counts" in doc["remarks"]["ledger"], str(doc["remarks"]))
finish()

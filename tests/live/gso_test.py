#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Sent buffers: who segments them, checked against packets that we count ourselves; and missing features."""
import re

from lib.lab import *
from lib.traced import traced

need_root()
a, b = Namespace("a"), Namespace("b")
WHERE = f"{a}/eth0"
veth(a, b, queues=1, mtu=1500)
a.ip("addr add 198.18.0.1/24 dev eth0")
a.ip("neigh add 198.18.0.2 lladdr 02:00:00:00:00:99 dev eth0")     # nobody: nothing comes back
UDP = """
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.setsockopt(socket.IPPROTO_UDP, 103, 1000)     # UDP_SEGMENT
for i in range({count}):
    s.sendto(bytes({segments} * 1000 - 300), ("198.18.0.2", 5000))
"""


def udp(count, segments):
    a.run(f"python3 -c '{UDP.format(count=count, segments=segments)}'")


def point(doc, name):
    rows = [r for r in doc["meters"]["gso"] if r["point"] == name]
    return {"buffers": sum(r["buffer_size"]["count"] for r in rows),
            "packets": sum(r["buffer_size"]["sum"] for r in rows),
            "segment": sum(r["left"]["segment"] for r in rows)}


def software(doc):
    return {(r["feature"], r["card"]): (r["packets"], r["buffers"]) for r in doc["meters"]["offload"]}


def measured(what, send):
    """Figures of the window."""
    def once():
        nicprobe("attach", WHERE, "-m", "gso,offload")
        send()
        doc = show(WHERE)
        table = nicprobe("show", WHERE, "gso", "offload").stdout
        nicprobe("detach", WHERE)
        return doc, table
    return traced(once)


# UDP_SEGMENT, with and without the feature
N, SEGS = 50, 30
large = {"buffers": N, "packets": N * SEGS, "segment": N * SEGS}
a.run("ethtool -K eth0 tx-udp-segmentation on")
doc, _ = measured("hardware", lambda: udp(N, SEGS))
same("left to the card, tx-stack", point(doc, "tx-stack"), large)
same("left to the card, tx-nic", point(doc, "tx-nic"), large)
same("nothing in software", software(doc), {})
a.run("ethtool -K eth0 tx-udp-segmentation off")
doc, table = measured("software", lambda: udp(N, SEGS))
same("in software, tx-stack", point(doc, "tx-stack"), large)
same("in software, tx-nic", point(doc, "tx-nic"), {"buffers": N * SEGS, "packets": N * SEGS, "segment": 0})
same("in software: why", software(doc), {("tx-udp-segmentation", "off"): (N * SEGS, N)})
check("the table has it", "tx-udp-segmentation  off" in table, table)

# Below the threshold: silent.
doc, _ = measured("few", lambda: udp(10, SEGS))
same("few: counted", software(doc), {("tx-udp-segmentation", "off"): (10 * SEGS, 10)})
a.run("ethtool -K eth0 tx-udp-segmentation on")

# A qdisc that segments, because its burst is smaller than a buffer
a.run("tc qdisc add dev eth0 root tbf rate 10gbit burst 3000 limit 10000000")
doc, _ = measured("tbf", lambda: (udp(N, SEGS), time.sleep(.3)))
same("tbf segments: tx-nic", point(doc, "tx-nic"), {"buffers": N * SEGS, "packets": N * SEGS, "segment": 0})
same("tbf: the features are there", software(doc), {})
sent = sh(f"ip netns exec {a} tc -s qdisc show dev eth0")
check("tbf: as many as the qdisc sent", f"{N * SEGS} pkt" in sent, sent)
a.run("tc qdisc del dev eth0 root")

# A tap whose program takes no large frames: the device lacks the feature, whatever is requested
nic = tap(a, "tap0", 1, mtu=1500, address="198.19.0.1/24")
a.ip("neigh add 198.19.0.2 lladdr 02:00:00:00:00:99 dev tap0")
nic("read on")
nicprobe("attach", f"{a}/tap0", "-m", "gso,offload")
try:
    a.run("python3 -c '{}'".format(UDP.format(count=N, segments=SEGS).replace("198.18", "198.19")))
    doc = show(f"{a}/tap0")
    same("the tap cannot: counted", software(doc), {("tx-udp-segmentation", "cannot"): (N * SEGS, N)})
except RuntimeError as e:
    skip("the tap cannot", str(e).splitlines()[-1])     # EIO up to 6.10: it cannot compute checksums either
nicprobe("detach", f"{a}/tap0")
nic.close()

# The names are ethtool's.
known = {line.split(":")[0].strip() for line in a.run("ethtool -k eth0").splitlines()}
with open(os.path.join(ROOT, "xdp", "offload.c"), encoding="utf-8") as f:
    names = set(re.findall(r'"(tx-[\w-]+)"', f.read()))
# removed in 4.14; and newer than some kernels
same("names as ethtool has them", sorted(names - known - {"tx-udp-fragmentation", "tx-tcp-accecn-segmentation",
     "tx-checksumming"}), [])


# TCP, checked against the kernel's own number of segments
SERVER = """
import socket
s = socket.create_server(("198.18.0.9", 5001))
s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 16)
c, _ = s.accept()
while c.recv(1 << 20): pass
"""
b.ip("addr add 198.18.0.9/24 dev eth0")


def tcp():
    server = subprocess.Popen(["ip", "netns", "exec", str(b), "python3", "-c", SERVER])
    until(lambda: "5001" in b.run("ss -Htln"))
    a.run('python3 -c "import socket; s = socket.create_connection((\'198.18.0.9\', 5001)); '
          's.sendall(bytes(3000000)); s.shutdown(1); s.recv(1)"')
    server.wait(10)


for tso in "on", "off":
    a.run(f"ethtool -K eth0 tso {tso}")
    doc, _ = measured(f"TCP, tso {tso}", tcp)
    stack, nic_ = point(doc, "tx-stack"), point(doc, "tx-nic")
    done = sum(p for p, _ in software(doc).values())
    same(f"TCP, tso {tso}: no packet is gone", nic_["packets"], stack["packets"])
    same(f"TCP, tso {tso}: software is what tx-nic has less", done, stack["segment"] - nic_["segment"])
    check(f"TCP, tso {tso}: large buffers", stack["segment"] > 1000, str(stack))
    same(f"TCP, tso {tso}: by whom", nic_["segment"] > 0, tso == "on")

# TCP's other needs: without scatter-gather or checksums there is no TSO, and software does more.
for off, rows in ("sg", {("tx-tcp-segmentation", "needs sg")}), ("tx", {("tx-tcp-segmentation", "needs tx")}):
    a.run(f"ethtool -K eth0 tso on {off} off")
    doc, _ = measured(f"TCP, {off} off", tcp)
    check(f"TCP, {off} off: why", rows <= set(software(doc)), str(software(doc)))
    a.run(f"ethtool -K eth0 {off} on")

# Buffers of one packet each: only the checksum.
a.ip("link set eth0 gso_max_segs 1")
a.run("ethtool -K eth0 tx off")
doc, _ = measured("TCP, checksums alone", tcp)
same("TCP, checksums alone: why", set(software(doc)), {("tx-checksumming", "off")})
a.run("ethtool -K eth0 tx on tso on")
a.ip("link set eth0 gso_max_segs 65535")
doc, _ = measured("TCP, all on", tcp)
same("TCP, all on again: nothing in software", software(doc), {})
finish()

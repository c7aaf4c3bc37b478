#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Meters are added to and removed from an attached interface: the counts of the others stay."""
import glob
import re

from lib import left
from lib.lab import *

need_root()
left.own_bpffs()
netns = Namespace("adjust")
netns.run("sysctl -qw net.ipv4.ip_forward=0 net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1")
IFACE = f"{netns}/tap0"
nic = tap(netns, address="198.18.0.2/24")
nic("read on")
netns.ip("neigh replace 198.18.0.77 lladdr 02:00:00:00:00:77 dev tap0")
before = left.Before(netns)


def receive(n):
    nic(f"send 1 {n} 100 raw")	# to nobody: without an answer and without ARP
    nic("go")


def send(n):
    netns.run(f"""python3 -c "
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.connect(('198.18.0.77', 9))
for _ in range({n}): s.send(b'x' * 100)
" """)
    until(lambda: not in_flight(show(IFACE)))


def attach(*args):
    """Exit status and messages."""
    r = nicprobe("attach", "-j", IFACE, *args, check=False)
    return r.returncode, r.stdout if r.returncode == 0 else r.stderr


def rx(doc):
    return sum(r["packet_size_bytes"]["count"] for r in doc["meters"]["pktsize"] if r["point"] == "rx-nic")


def completed(doc):
    return sum(r["completion_seconds"]["count"] for r in doc["meters"]["txlat"])


def in_flight(doc):
    return sum(r["in_flight"] for r in doc["meters"].get("txlat", []))


def waited(doc):
    return sum(r["wait_seconds"]["count"] for r in doc["meters"]["qdisc"])


PINS = f"/sys/fs/bpf/nicprobe/{os.stat(f'/run/netns/{netns}').st_ino}/tap0"


def pins():
    return set(os.listdir(PINS))


def programs(names):
    """Without the set they were loaded with: a meter that comes back has one of its own."""
    return {re.sub(r"-\d+$", "", name) for name in names} - {"off"}


nicprobe("attach", IFACE)
receive(500)
send(40)
first, pinned = show(IFACE), pins()
same("adjust: before", [rx(first), "qdisc" in first["meters"]], [500, False])

# A change that was cut short left a program.
for name in "xdp_back", "xdp_redir":
    shared = glob.glob(f"{os.path.dirname(os.path.dirname(PINS))}/shared-*/{name}")
    sh(f"bpftool link pin pinned {shared[0]} {PINS}/{name}-1")
status, said_it = attach("-m", "+qdisc")
doc = json.loads(said_it) if status == 0 else {}
check("adjust: +qdisc: it is measured, too", "qdisc" in doc.get("meters", []) and "pktsize" in doc["meters"], said_it)
check("adjust: what was left is gone", "xdp_back-1" not in pins(), pins())
send(30)
receive(100)
doc = show(IFACE)
same("adjust: the others keep their history", [rx(doc), completed(doc) - completed(first), doc["seconds"] > first["seconds"]],
     [600, 30, True])
same("adjust: the new one counts from now on", waited(doc), 30)
check("adjust: and says since when", "counts since 20" in doc["remarks"]["qdisc"], doc.get("remarks"))
same("adjust: +qdisc again changes nothing", attach("-m", "+qdisc")[0], 0)
same("adjust: nor what it counted", waited(show(IFACE)), 30)

same("adjust: -qdisc", attach("-m", "-qdisc")[0], 0)
send(20)
doc = show(IFACE)
same("adjust: it is gone, the others are there", ["qdisc" in doc["meters"], rx(doc), completed(doc) - completed(first)],
     [False, 600, 50])
same("adjust: nothing is left of it", pins() - pinned, set())
same("adjust: one goes, one comes", attach("-m", "-txlat,+qdisc")[0], 0)
send(10)
doc = show(IFACE)
same("adjust: so it is", ["txlat" in doc["meters"], waited(doc), rx(doc)], [False, 10, 600])
same("adjust: the ledger is even", [r["residue"] for r in doc["meters"]["ledger"] if r["residue"]], [])
same("adjust: and it comes back", attach("-m", "+txlat", "-m", "-qdisc")[0], 0)
send(15)
same("adjust: from 0", completed(show(IFACE)), 15)
same("adjust: programs as at first", programs(pins()), programs(pinned))
for meter in "irq", "napi", "drop", "bql", "counters", "xdp", "gro":
    if meter in doc["meters"]:
        same(f"adjust: -{meter} and +{meter}", [attach("-m", f"-{meter}")[0], attach("-m", f"+{meter}")[0]], [0, 0])
# the program at tc counted the buffers of the first gro: the new one has a program for that
same("adjust: programs as at first after all, but gro's", programs(pins()), programs(pinned) | {"netif_receive_skb"})
receive(50)
doc = show(IFACE)
same("adjust: packets since attach", rx(doc), 650)
same("adjust: gro's buffers from 0", sum(row["buffer_size"]["count"] for row in doc["meters"]["gro"]), 50)
same("adjust: -gro again", attach("-m", "-gro")[0], 0)
check("adjust: its program is gone", "netif_receive_skb" not in programs(pins()))
same("adjust: and comes with it", [attach("-m", "+gro")[0], "netif_receive_skb" in programs(pins())], [0, True])

# Invalid requests.
settled = pins()
for args, want in ((("-m", "-ecn"), "counts in the programs that see each packet"),
                   (("-m", "-hwstat"), "ledger is made of hwstat"),
                   (("-m", "+wifi"), "wifi cannot be had"),
                   (("-m", "+qdisc,irq"), "before it"),
                   (("-m", "+nope"), "no meter"),
                   (("-m", "+qdisc", "--rx", "xdp"), "--rx is for all that is attached")):
    status, text = attach(*args)
    check(f"adjust: {' '.join(args)} is refused", status and want in text, f"{status} {text}")
same("adjust: and nothing changed", [pins(), rx(show(IFACE))], [settled, 650])
check("adjust: what it is made of, with it", attach("-m", "-hwstat,-ledger")[0] == 0 and
      not {"hwstat", "ledger"} & set(show(IFACE)["meters"]))
nicprobe("detach", IFACE)
before.check("adjust: nothing is left")

# Not attached yet: the default meters, and this one.
status, text = attach("-m", "+qdisc,-irq")
doc = json.loads(text) if status == 0 else {"meters": []}
check("adjust: anew: the usual ones and this", {"qdisc", "pktsize", "txlat"} <= set(doc["meters"]) and
      "irq" not in doc["meters"], text)
nicprobe("detach", IFACE)
before.check("adjust: nothing is left of that")
nic.close()
finish()

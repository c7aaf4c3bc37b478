# SPDX-License-Identifier: GPL-2.0
"""ethtool -L while attached: new queues count from then on, without what they had counted before."""
import atexit
import os

from lib import bpf
from lib.lab import *
from lib.wire import udp_socket

need_root()
N = 400
a, b = Namespace("chan1"), Namespace("chan2")
veth(a, b, queues=4, mtu=1500)
for netns, address in (a, "198.18.8.1"), (b, "198.18.8.2"):
    netns.ip(f"addr add {address}/24 dev eth0")
pin = f"/sys/fs/bpf/np-channels-{os.getpid()}"
bpf.pin(bpf.program(bpf.XDP, 1), pin)
atexit.register(lambda: sh(f"rm -f {pin}", check=False))
a.ip(f"neigh add 198.18.8.2 lladdr {b.run('cat /sys/class/net/eth0/address').strip()} dev eth0 nud permanent")


def flows(count):
    """Datagrams from a to b, each of another flow: they spread over all queues."""
    for i in range(count):
        s = udp_socket(a)
        s.sendto(bytes(100), ("198.18.8.2", 1000 + i))
        s.close()


def channels(rx, tx):
    b.run(f"ethtool -L eth0 rx {rx}")
    a.run(f"ethtool -L eth0 tx {tx}")


def dropped(doc, meter="hwstat"):
    """{queue: packets that XDP dropped there}, from veth's counters."""
    if meter == "hwstat":
        return {int(r["queue"]): r["value"] for r in doc["meters"]["hwstat"]
                if r["statistic"] == "xdp_drop"}
    return {int(r["counter"].split("_")[2]): r["events"] for r in doc["meters"]["counters"]
            if r["counter"].endswith("xdp_drops")}


sh(f"nsenter --net=/run/netns/{b} ip link set eth0 xdpdrv pinned {pin}")
flows(N)
before = b.run("ethtool -S eth0")
busy = [q for q in range(4) if f"rx_queue_{q}_xdp_drops: 0\n" not in before]
check("queues 2 and 3 have counted before", {2, 3} & set(busy) and {0, 1} & set(busy), before)
a.run("ethtool -L eth0 tx 2")
b.run("ethtool -L eth0 rx 2")
nicprobe("attach", f"{b}/eth0", "--rx", "driver")
try:
    b.run("ethtool -L eth0 rx 4")
    doc = show(f"{b}/eth0")
    same("new queues, nothing came", (dropped(doc), dropped(doc, "counters")), ({}, {}))
    same("new queues: no finding", said(doc, "unseen", "uncounted", "bytes"), "")
    flows(N)                            # on queues 0 and 1: the sender still has two
    doc = show(f"{b}/eth0")
    got = dropped(doc)
    check("queues that were there count on", set(got) <= {0, 1} and N <= sum(got.values()) <= N + 20, str(got))
    same("both meters tell the same", dropped(doc, "counters"), got)
    rx = [r for r in doc["meters"]["ledger"] if r["direction"] == "rx"]
    check("the ledger has all that came", rx and rx[-1]["driver"] == sum(got.values()), str(rx))
    same("it is all explained", [r["residue"] for r in rx if r["residue"]], [])
    a.run("ethtool -L eth0 tx 4")
    flows(N)
    doc = show(f"{b}/eth0")
    same("traffic on new queues: no finding", said(doc, "unseen", "uncounted", "bytes"), "")
    check("what had counted before is not told", set(dropped(doc)) <= {0, 1}, str(dropped(doc)))
finally:
    nicprobe("detach", f"{b}/eth0")

finish()

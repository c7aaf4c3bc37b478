#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""What GRO merges and what not: trains of frames through a tap whose NAPI polls each train at once."""
from lib import bpf
from lib.lab import *
from lib.wire import inside

need_root()
a = Namespace("a")


def thread_of(name):
    """The kernel thread that polls this tap, on CPU 0 like the sender: it runs when the sender is done."""
    until(lambda: sh(f"pgrep '^napi/{name}-'", check=False))
    pid = int(sh(f"pgrep '^napi/{name}-'").split()[0])
    os.sched_setaffinity(pid, {0})


def train_tap(name, options=""):
    nic = tap(a, name, 1, f"--napi {options}", address=None)
    a.run(f"sh -c 'echo 1 >/sys/class/net/{name}/threaded'")
    thread_of(name)
    os.sched_setscheduler(nic.p.pid, os.SCHED_FIFO, os.sched_param(10))
    return nic


def one(doc):
    rows = doc["meters"]["gro"]
    row = rows[0] if rows else {"buffer_size": {"count": 0, "sum": 0}, "frames": {}, "alone": {}, "card": {}}
    return {"buffers": row["buffer_size"]["count"], "packets": row["buffer_size"]["sum"],
            "frames": nonzero(row["frames"]), "alone": nonzero(row["alone"]), "card": nonzero(row["card"])}


def expected(buffers, packets, merged, alone, past=0, held=None, card=None):
    """`held`: how many of the single ones were held; otherwise those of a flow."""
    held = sum(alone.get(k, 0) for k in ("first", "ecn", "sequence", "header")) if held is None else held
    frames = nonzero({"merged": merged, "held": held, "normal": sum(alone.values()) - held, "past": past})
    return {"buffers": buffers, "packets": packets, "frames": frames, "alone": alone, "card": card or {}}


def merged_alike(got):
    """The kernel chooses which of the two results a merge has."""
    frames = got["frames"]
    both = frames.pop("merged", 0) + frames.pop("merged-free", 0)
    if both:
        frames["merged"] = both
    return got


# With packet meters the program at tc counts the buffers, unless generic XDP keeps it away.
WAYS = {"": ["-m", "gro"], ", at tc": ["-m", "gro,pktsize", "--rx", "driver"]}


def measure(nic, name, sends, way="", count=None):
    """One train; returns what was counted, and the whole document."""
    nicprobe("attach", f"{a}/{name}", *WAYS[way])
    for send in sends:
        nic(f"send 0 {send}")
    sent = nic("go")["sent"]
    until(lambda: sum(one(show(f"{a}/{name}"))["frames"].values()) >= (count or sent), 2)
    time.sleep(.02)
    doc = show(f"{a}/{name}")
    nicprobe("detach", f"{a}/{name}")
    return merged_alike(one(doc)), doc


def exactly(what, nic, name, sends, want):
    """The kernel may end a poll within a train if others need the CPU."""
    for way in WAYS:
        for _ in tries(5, "a poll ended within a train"):
            got, doc = measure(nic, name, sends, way)
            if got == want:
                break
        same(what + way, got, want)
    at_stack = [row["packet_size_bytes"] for row in doc["meters"]["pktsize"] if row["point"] == "rx-stack"]
    same(f"{what}: bytes of the buffers that pktsize counts", sum(row["bytes"] for row in doc["meters"]["gro"]),
         sum(size["sum"] for size in at_stack))


nic = train_tap("tg0")
S = 20
exactly("a train is one buffer", nic, "tg0", [f"{S} 1000 tcp"], expected(1, S, S - 1, {"first": 1}))
exactly("IPv6, too", nic, "tg0", [f"{S} 1000 v6 tcp"], expected(1, S, S - 1, {"first": 1}))
exactly("CE in the second half: two buffers", nic, "tg0",
        [f"{S} 1000 tcp ecn=2", f"{S} 1000 tcp ecn=3"], expected(2, 2 * S, 2 * S - 2, {"first": 1, "ecn": 1}))
exactly("a gap: two buffers", nic, "tg0", [f"{S} 1000 tcp", f"{S} 1000 tcp"],
        expected(2, 2 * S, 2 * S - 2, {"first": 1, "sequence": 1}))
exactly("two flows: two buffers", nic, "tg0", [f"{2 * S} 1000 tcp flows=2"],
        expected(2, 2 * S, 2 * S - 2, {"first": 2}))
exactly("pure ACKs", nic, "tg0", [f"{S} 54 tcp"], expected(S, S, 0, {"ack": S}))
exactly("UDP", nic, "tg0", [f"{S} 1000 udp flows={S}"], expected(S, S, 0, {"udp": S}))
exactly("UDP of one flow", nic, "tg0", [f"{S} 1000 udp"], expected(S, S, 0, {"udp": 1, "udp-flow": S - 1}))
exactly("neither TCP nor UDP", nic, "tg0", [f"{S} 1000 icmp", "7 60 arp", "5 100 raw"],
        expected(S + 12, S + 12, 0, {"protocol": S, "not-ip": 12}))

a.run("ethtool -K tg0 rx-udp-gro-forwarding on")
got, doc = measure(nic, "tg0", ["2000 1000 udp"])
check("UDP is merged where it is to be", got["frames"].get("merged", 0) > 1000, str(got))
a.run("ethtool -K tg0 rx-udp-gro-forwarding off")

a.run("ethtool -K tg0 gro off")
exactly("GRO off", nic, "tg0", [f"{S} 1000 tcp"], expected(S, S, 0, {"off": S}))

# Generic XDP runs instead of GRO, here a program that passes everything.
a.run("ethtool -K tg0 gro on")
with bpf.pinned(bpf.XDP, 2) as path:
    inside(a, lambda: sh(f"ip link set dev tg0 xdpgeneric pinned {path}"))
got, doc = measure(nic, "tg0", ["2000 1000 tcp"])
same("generic XDP: why nothing is merged", (got["alone"], got["buffers"]), ({"xdp-generic": 2000}, 2000))
a.ip("link set dev tg0 xdpgeneric off")
nic.close()

# Merged before it arrived, as by a card with LRO or GRO-HW.
nic = train_tap("tg1", "--vnet-hdr")
exactly("merged by the card", nic, "tg1", ["1 10054 tcp gso=1000"],
        expected(1, 10, 0, {"card": 1}, card={"frames": 1, "packets": 10}))
nic.close()

# Without NAPI the frames of a tap bypass GRO.
nic = tap(a, "tg2", 1)
exactly("past GRO", nic, "tg2", [f"{S} 1000 tcp"], expected(S, S, 0, {}, past=S))
nic.close()

# The kernel's own count of received packets.
nic = train_tap("tg3")
PINS = f"/sys/fs/bpf/nicprobe/{os.stat(f'/run/netns/{a}').st_ino}/tg3"
for way, args in WAYS.items():
    nicprobe("attach", f"{a}/tg3", *args)
    at_tc = show(f"{a}/tg3")["hooks"]["rx-stack"] in ("tcx", "clsact")
    same(f"a program at netif_receive_skb only where tc has none{way}",
         os.path.exists(f"{PINS}/netif_receive_skb"), not at_tc)
    nicprobe("detach", f"{a}/tg3")
before = int(a.run("cat /sys/class/net/tg3/statistics/rx_packets"))
got, _ = measure(nic, "tg3", ["3000 1000 tcp flows=3", "500 700 udp"], ", at tc")
same("frames are what the interface received", sum(got["frames"].values()),
     int(a.run("cat /sys/class/net/tg3/statistics/rx_packets")) - before)
same("wire packets, too", got["packets"], 3500)
same("each buffer was held, or normal", got["buffers"], got["frames"].get("held", 0) + got["frames"].get("normal", 0))
nic.close()
finish()

# SPDX-License-Identifier: GPL-2.0
"""Shared by the tests of skblife: reading it, sockets in a namespace, and the checks that everything adds up."""
import ctypes
import socket

from lib.lab import *
from lib.traced import traced

STEP = 1.125        # a histogram step
STAGES = {"rx": ["gro", "stack", "socket"], "tx": ["qdisc", "driver"]}


def attach(where, sample=1, env=None):
    nicprobe("attach", where, "-m", "skblife", *(["--sample", sample] if sample else []), env=env)


def read(where):
    doc = show(where)
    return doc, doc["meters"]["skblife"]


def each(rows, way, stage, queue=None):
    return [r for r in rows if (r["way"], r["stage"]) == (way, stage) and queue in (None, r["queue"])]


def fate(rows, way, stage="whole", queue=None):
    """The fate of packets: {"read": 25, "now": 3}, over all queues."""
    got = {}
    for r in each(rows, way, stage, queue):
        for what, n in [*r["ended"].items(), *r["lost"].items(), ("now", r["now"])]:
            if n:
                got[what] = got.get(what, 0) + n
    return got


def times(rows, way, stage, queue=None):
    hists = [r["time_seconds"] for r in each(rows, way, stage, queue)]
    return sum(h["count"] for h in hists), sum(h["sum"] for h in hists)


def conserved(name, rows):
    """Stage by stage: the ends add up to those of the whole, and so do the times."""
    for way in STAGES:
        whole, parts = fate(rows, way), {}
        for stage in STAGES[way]:
            for what, n in fate(rows, way, stage).items():
                parts[what] = parts.get(what, 0) + n
        same(f"{name}: {way}: what happened in the stages is what happened", parts, whole)
        count, total = times(rows, way, "whole")
        timed = sum(whole.get(k, 0) for k in ("read", "used", "forwarded", "sent"))
        same(f"{name}: {way}: whole lives are timed, and no others", count, timed)
        stages = sum(times(rows, way, stage)[1] for stage in STAGES[way])
        check(f"{name}: {way}: times of stages add up to lives # {total * 1e3:.3f} ms",
              abs(stages - total) < 1e-6 + 1e-7 * total, f"{stages}, not {total}")


def between(name, rows, way, stage, low, high, queue=None):
    for r in each(rows, way, stage, queue):
        p50 = r["time_seconds"]["p50"]
        check(f"{name}: {stage} p50 # {p50 * 1e3:.3f} ms, {low * 1e3:.3f} to {high * 1e3:.3f}",
              low / STEP <= p50 <= high * STEP, f"{p50:.6f}, not {low:.6f} to {high:.6f}")


def speaks(name, doc, finding):
    """The findings from skblife; time in a socket, or at the far end, gives none."""
    same(f"{name}: {finding or 'no finding'}", [i for i in found(doc) if i in ("qdisc-wait", "table-full")],
         [finding] if finding else [])


def bound(netns, kind, address="127.0.0.1", rcvbuf=4 << 20):
    """A bound socket in the namespace; the thread returns to its own."""
    libc = ctypes.CDLL(None, use_errno=True)
    home, there = os.open("/proc/thread-self/ns/net", os.O_RDONLY), os.open(f"/run/netns/{netns}", os.O_RDONLY)
    libc.setns(there, 0)
    s = socket.socket(socket.AF_INET, kind)
    libc.setns(home, 0)
    os.close(home)
    os.close(there)
    s.setsockopt(socket.SOL_SOCKET, 33, rcvbuf)     # SO_RCVBUFFORCE
    s.setsockopt(socket.SOL_SOCKET, 32, rcvbuf)     # SO_SNDBUFFORCE
    s.bind((address, 0))
    s.settimeout(20)
    return s


def tcp_transfer(from_netns, to_netns, address, pieces):
    """Sends small pieces that are read late, so that TCP coalesces. Closes both ends."""
    listener, client = bound(to_netns, socket.SOCK_STREAM, address), bound(from_netns, socket.SOCK_STREAM, "0.0.0.0")
    listener.listen()
    client.connect(listener.getsockname())
    peer = listener.accept()[0]
    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for i in range(pieces):
        client.sendall(bytes(1000))
    came = 0
    while came < pieces * 1000:
        came += len(peer.recv(1 << 20))
    for s in client, peer, listener:
        s.close()


def packets(netns, iface, what):
    return int(netns.run(f"cat /sys/class/net/{iface}/statistics/{what}_packets"))


def tcp(name, transfer, where, netns, iface, also=lambda rows: None):
    """TCP with the kernel's own count beside it."""
    def once():
        attach(where)
        before = packets(netns, iface, "rx")
        transfer()
        until(lambda: not fate(read(where)[1], "rx", "gro"), .3)
        came, (doc, rows) = packets(netns, iface, "rx") - before, read(where)
        nicprobe("detach", where)
        return came, rows
    came, rows = traced(once)
    got = fate(rows, "rx")
    same(f"{name}: every packet received is accounted for # {got}", sum(got.values()), came)
    # opening and closing handshakes have packets that TCP frees unseen
    check(f"{name}: few were lost track of", got.get("unseen", 0) + got.get("now", 0) <= 12, str(got))
    conserved(name, rows)
    return got, rows

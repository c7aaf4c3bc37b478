# SPDX-License-Identifier: GPL-2.0
"""Conservation: every packet that went in came out, was dropped for a named reason, or is still there; per queue."""
import random
import socket

from lib.lab import *
from lib.wire import *

need_root()
QUEUES = 4
GOOD, SLOW = 5000, 5010                 # one port per queue, which identifies what we read


def dropped(doc, direction):
    """{queue: {reason: packets}}"""
    got = {}
    for r in doc["meters"]["drop"]:
        if r["direction"] == direction:
            reasons = got.setdefault(r["queue"], {})
            reasons[r["reason"]] = reasons.get(r["reason"], 0) + r["packets"]
    return got


def per_queue(doc, point):
    return {q: h["count"] for q, h in sizes_at(doc, point).items()}


def waiting(s, most=None):
    """Reads datagrams: returns their number, or stops at the requested one."""
    s.setblocking(False)
    n = 0
    try:
        while most is None or n < most:
            s.recv(65536)
            n += 1
    except BlockingIOError:
        pass
    return n


def receiver(netns, port, room=None):
    def make():
        s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        if room:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, room)
        s.bind((HERE, port))
        return s
    return inside(netns, make)


def sender(netns, port):
    s = udp_socket(netns)
    s.bind((HERE, port))
    return s


a = Namespace("conserve")
a.run("sysctl -qw net.ipv4.conf.all.forwarding=1 net.ipv4.conf.all.rp_filter=0")
w = Wire(a, "tap0", QUEUES)
TAP = f"{a}/tap0"
a.run("sysctl -qw net.ipv4.conf.tap0.rp_filter=1")
a.ip("link set tap0 txqueuelen 60")


def one_run(way, rng, env):
    good = [receiver(a, GOOD + q, 1 << 20) for q in range(QUEUES)]
    slow = [receiver(a, SLOW + q, 4096) for q in range(QUEUES)]
    kinds = [
        lambda q: w.eth(udp(GOOD + q, rng.randrange(18, 1400))), lambda q: w.eth(udp(SLOW + q, 500)),
        lambda q: w.eth(udp(9)), lambda q: w.eth(udp(9), dst=b"\x02\1\1\1\1\1"),
        lambda q: w.eth(udp(9, spoil=1)), lambda q: w.eth(ip4(17, bytes(30), spoil=9)),
        lambda q: w.eth(udp(9, src="10.0.0.1")), lambda q: w.eth(udp(9, dst="198.18.0.77", ttl=1)),
        lambda q: w.eth(bytes(46), 0x88cc), lambda q: w.eth(tcp(9)), lambda q: w.eth(ip4(253, bytes(40))),
    ]
    nicprobe("attach", TAP, "-m", "pktsize,drop", env=env)
    written, sent, read = [0] * QUEUES, 0, [0] * QUEUES
    delivered = [0] * QUEUES
    senders = [sender(a, 20000 + i) for i in range(16)]
    for _ in range(4000):
        q = rng.randrange(QUEUES)
        w.write(q, rng.choice(kinds)(q))
        written[q] += 1
        if rng.random() < .5:
            rng.choice(senders).sendto(bytes(rng.randrange(18, 1400)), (THERE, 9))
            sent += 1
        if rng.random() < .2:
            delivered[q] += waiting(good[q], 5)
        if rng.random() < .01:
            read[q] += w.read(q) is not None
    for q in range(QUEUES):
        delivered[q] += waiting(slow[q], 1)
    doc = show(TAP)
    # Packets still in flight, at the sockets or in the rings: read and counted afterwards.
    at_sockets = [waiting(good[q]) + waiting(slow[q]) for q in range(QUEUES)]
    in_rings = w.drain()
    after = show(TAP)
    nicprobe("detach", TAP)
    for s in good + slow + senders:
        s.close()
    rx, tx = dropped(doc, "rx"), dropped(doc, "tx")
    same(f"{way}: rx-nic, what we wrote", per_queue(doc, "rx-nic"), dict(enumerate(written)))
    same(f"{way}: received = delivered + dropped + in flight",
         {q: delivered[q] + sum(rx.get(q, {}).values()) + at_sockets[q] for q in range(QUEUES)}, dict(enumerate(written)))
    names = sorted({name for reasons in rx.values() for name in reasons})
    check(f"{way}: a mixed run # {', '.join(names)}", len(names) >= 7 and min(at_sockets) > 0, str(names))
    out = per_queue(doc, "tx-stack")
    queues = sorted(set(out) | set(tx) - {None})
    same(f"{way}: sent = read + dropped + in flight",
         {q: read[q] + sum(tx.get(q, {}).values()) + in_rings.get(q, 0) for q in queues}, {q: out.get(q, 0) for q in queues})
    check(f"{way}: its rings were full # {tx}", sum(tx[q].get("FULL_RING", 0) for q in tx) > 100, str(tx))
    check(f"{way}: all that we sent, and ICMP errors # {sent} of {sum(out.values())}", sum(out.values()) >= sent)
    same(f"{way}: reading dropped nothing", (dropped(after, "rx"), dropped(after, "tx")), (rx, tx))
    same(f"{way}: nothing lost uncounted", (lost(doc), dropped(doc, "unsure")), ({}, {}))


for way, env in ("xdp", {}), ("driver", {"NICPROBE_CANNOT": "xdp,orderly"}):
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else random.randrange(1 << 32)
    print(f"# {way}: seed {seed}", flush=True)
    one_run(way, random.Random(seed), env)
finish()

#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Findings that several meters share, or that a queue must wait for: each speaks when made to, once, and else not."""
import socket

from lives import *

need_root()
a, b = Namespace("a"), Namespace("b")


def finding(doc, meters, words=""):
    return [f"{f['meter']}: {f['what']}: {f['try']}" for f in doc["findings"]
            if f["meter"] in meters and words in f["what"]]


def one(name, doc, meters, *words):
    """Of these meters one finding, and it has these words."""
    got = finding(doc, meters)
    check(f"{name} # {got}", len(got) == 1 and all(w in got[0] for w in words), str(doc["findings"]))


def none(name, doc, meters):
    same(f"{name}: silent", finding(doc, meters), [])


# 1. A tap that is read 20 ms late, and at once: completions, and the life of a packet, tell of it once.
nic = tap(a, "tap0", 2, "--steer")
to_tap = Nic("packet tap0 --queues 2", a)
for late in True, False:
    for attempt in range(3):
        nic("reset")
        nic("read off" if late else "read on")
        nicprobe("attach", f"{a}/tap0", "-m", "all", "--sample", "1")
        to_tap(f"send 1 400 200{'' if late else ' pps=4000'}")
        to_tap("go")
        if late:
            time.sleep(.02)
            nic("take 400")
        else:
            nic("wait 400 2000")
        doc = show(f"{a}/tap0")
        nicprobe("detach", f"{a}/tap0")
        if late or not finding(doc, ["txlat", "skblife"]):
            break
    if late:
        one("read after 20 ms", doc, ["txlat", "skblife", "bql", "drop"], "completions of queue 1 take 2",
            "ms (median)", "the program behind it reads late")
    else:
        none("read at once", doc, ["txlat", "skblife", "bql", "drop"])


# 2. A qdisc in which packets wait and are dropped: by qdisc, and not by drop, counters and skblife, too.
nic("read on")
ALL = ["qdisc", "drop", "counters", "skblife", "txlat", "bql"]
for name, words in (("tbf", "tbf rate 8mbit burst 4000 limit 20000"), ("pfifo", "pfifo limit 5000")):
    a.run(f"tc qdisc replace dev tap0 root {words}")
    for attempt in range(3):
        nicprobe("attach", f"{a}/tap0", "-m", "all", "--sample", "1")
        to_tap("send 0 300 1000" + (" pps=2000" if name == "pfifo" else ""))
        to_tap("go")
        until(lambda: not sum(r["waiting"] for r in show(f"{a}/tap0", "qdisc")["meters"]["qdisc"]))
        doc = show(f"{a}/tap0")
        others = show(f"{a}/tap0", "drop", "counters", "skblife")
        nicprobe("detach", f"{a}/tap0")
        if name == "tbf" or not finding(doc, ALL):
            break
    if name == "tbf":
        got = finding(doc, ALL)
        check(f"qdisc that drops: said by qdisc # {got}", len(got) == 2 and "wait" in got[0] and
              "the qdisc dropped" in got[1] and all(f.startswith("qdisc: ") for f in got), str(got))
        got = finding(others, ALL)
        check(f"qdisc that drops: where qdisc is not asked, others say it # {got}",
              any(f.startswith("skblife: ") and "in the qdisc" in f for f in got) and
              any(f.startswith("drop: ") or f.startswith("counters: ") for f in got), str(got))
    else:
        none("qdisc that keeps nothing", doc, ALL)
        none("qdisc that keeps nothing: the others", others, ALL)
to_tap.close()
nic.close()

# 3. A receive buffer that is full since nobody reads: drop tells it, and the time in the socket is no other finding.
reader, sender = (bound(a, socket.SOCK_DGRAM, rcvbuf=size) for size in (1 << 17, 1 << 20))
for read in False, True:
    nicprobe("attach", f"{a}/lo", "-m", "all", "--sample", "1")
    for i in range(600):
        sender.sendto(bytes(1000), reader.getsockname())
        if read:
            reader.recv(2000)
    time.sleep(.02)
    reader.settimeout(.01)
    try:
        while not read:
            reader.recv(2000)
    except TimeoutError:
        pass
    doc = show(f"{a}/lo")
    nicprobe("detach", f"{a}/lo")
    if read:
        none("a reader that is fast", doc, ["drop", "counters", "skblife"])
    else:
        one("a reader that is slow", doc, ["drop", "counters", "skblife"], "drop: ", "receive buffer of their socket")
finish()

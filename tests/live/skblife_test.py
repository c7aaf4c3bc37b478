#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Lives of packets that wait at chosen places: unread, unsent, uncompleted; and dropped ones."""
import socket

from lib.lives import *

need_root()
a, b = Namespace("a"), Namespace("b")
LO = f"{a}/lo"
N = 200

# 1. Datagrams that nobody reads for a while: the time is that of the socket queue. Loopback: each is sent, too.
for ms in 0, 30:
    name = f"read after {ms} ms"
    reader, sender = bound(a, socket.SOCK_DGRAM), bound(a, socket.SOCK_DGRAM)
    for left in tries(4, "a turn of ours took a millisecond"):
        attach(LO)
        first = time.monotonic()
        for i in range(N):
            sender.sendto(bytes(100), reader.getsockname())
            if not ms:
                reader.recv(2000)
        last = time.monotonic()
        if ms or last - first < N * .0009 or not left:
            break
        nicprobe("detach", LO)
    if ms:
        same(f"{name}: unread, they wait in the socket queue", fate(read(LO)[1], "rx", "socket"), {"now": N})
        time.sleep(max(0, last + ms / 1e3 - time.monotonic()))
        begin = time.monotonic()
        for i in range(N):
            reader.recv(2000)
    end = time.monotonic()
    doc, rows = read(LO)
    nicprobe("detach", LO)
    same(f"{name}: received", fate(rows, "rx"), {"read": N})
    same(f"{name}: they ended in the socket queue", fate(rows, "rx", "socket"), {"read": N})
    same(f"{name}: sent", fate(rows, "tx"), {"sent": N})
    if ms:
        between(name, rows, "rx", "socket", begin - last, end - first)
    else:
        between(name, rows, "rx", "whole", 0, .001)
    conserved(name, rows)
    speaks(name, doc, None)

# 2. Half are read, closing the socket drops the rest. And a port that nobody listens on.
attach(LO)
for i in range(N):
    sender.sendto(bytes(100), reader.getsockname())
for i in range(N // 2):
    reader.recv(2000)
same("half read: the others wait", fate(read(LO)[1], "rx"), {"read": N // 2, "now": N // 2})
gone = reader.getsockname()
reader.close()
until(lambda: not fate(read(LO)[1], "rx").get("now"))     # a socket is freed after an RCU grace period
doc, rows = read(LO)
same("closed unread: dropped", fate(rows, "rx"), {"read": N // 2, "dropped": N // 2})
same("closed unread: in the socket queue", fate(rows, "rx", "socket"), {"read": N // 2, "dropped": N // 2})
for i in range(50):
    sender.sendto(bytes(100), gone)
doc, rows = read(LO)
nicprobe("detach", LO)
stack = fate(rows, "rx", "stack")
same("closed port: dropped in the stack", stack.get("dropped"), 50)
same("closed port: nothing is lost track of", fate(rows, "rx").get("unseen", 0), 0)
conserved("closed port", rows)
sender.close()



# 3. A rate limit above the driver: the time in the qdisc is as computed. The tap is read at once.
far = tap(a, "tap0", 1, address="198.18.0.1/24")
far("read on")
a.ip("neigh add 198.18.0.2 lladdr 02:00:00:00:00:02 dev tap0")
TAP, PACKETS, FRAME = f"{a}/tap0", 100, 1042
sender = bound(a, socket.SOCK_DGRAM, "198.18.0.1")
def shaped():
    """How long it took to send, and until everything came out; and the figures then."""
    far("reset")
    attach(TAP)
    first = time.monotonic()
    for i in range(PACKETS):
        sender.sendto(bytes(1000), ("198.18.0.2", 9))
    took = time.monotonic() - first
    far(f"wait {PACKETS} 5000")
    whole = time.monotonic() - first
    doc, rows = read(TAP)
    nicprobe("detach", TAP)
    return took, whole, doc, rows


for rate in 8e6, 16e6:
    name = f"tbf of {rate / 1e6:.0f} Mbit/s"
    a.run(f"tc qdisc replace dev tap0 root tbf rate {rate:.0f} burst {FRAME + 10} limit 1000000")
    time.sleep(.05)
    for _ in tries(4, "the reader got no CPU, and so the driver is to blame"):
        took, whole, doc, rows = traced(shaped)
        if times(rows, "tx", "driver")[1] < times(rows, "tx", "qdisc")[1]:
            break
    same(f"{name}: sent", fate(rows, "tx"), {"sent": PACKETS})
    step = FRAME * 8 / rate
    middle = step * PACKETS / 2
    # A late timer costs tokens, of which there is only one packet's worth: then everything takes longer.
    between(name, rows, "tx", "qdisc", middle - took - 2 * step, max(middle, whole / 2) + 2 * step)
    conserved(name, rows)
    speaks(name, doc, "qdisc-wait")

# 4. The qdisc drops packets: their lives end there. Deleted with the rest in it: those, too.
a.run(f"tc qdisc replace dev tap0 root tbf rate 100kbit burst {FRAME + 10} limit {10 * FRAME}")
attach(TAP)
for i in range(50):
    sender.sendto(bytes(1000), ("198.18.0.2", 9))
before = fate(read(TAP)[1], "tx")
a.run("tc qdisc del dev tap0 root")
doc, rows = read(TAP)
nicprobe("detach", TAP)
check(f"full qdisc: most are dropped, few wait # {before}", 35 <= before.get("dropped", 0) <= 41 and
      sum(before.values()) == 50, str(before))
got = fate(rows, "tx")
same("full qdisc: deleted, nothing is left", got.get("dropped", 0) + got.get("sent", 0), 50)
same("full qdisc: drops are in the qdisc", fate(rows, "tx", "qdisc"), {"dropped": got["dropped"]})
conserved("full qdisc", rows)
speaks("full qdisc", doc, None)

# 5. A far end that reads late: the time is the driver's.
for ms in 0, 20:
    name = f"tap read after {ms} ms"
    far("read off")
    for left in tries(4, "a turn of ours took a millisecond"):
        attach(TAP)
        first = time.monotonic()
        for i in range(PACKETS):
            sender.sendto(bytes(100), ("198.18.0.2", 9))
            if not ms:
                far("take 1")
        last = time.monotonic()
        if ms or last - first < PACKETS * .0009 or not left:
            break
        nicprobe("detach", TAP)
    if ms:
        same(f"{name}: they are in the driver", fate(read(TAP)[1], "tx", "driver"), {"now": PACKETS})
        time.sleep(max(0, last + ms / 1e3 - time.monotonic()))
        begin = time.monotonic()
        far(f"take {PACKETS}")
    end = time.monotonic()
    doc, rows = read(TAP)
    nicprobe("detach", TAP)
    same(f"{name}: sent", fate(rows, "tx"), {"sent": PACKETS})
    same(f"{name}: they ended in the driver", fate(rows, "tx", "driver"), {"sent": PACKETS})
    if ms:
        between(name, rows, "tx", "driver", begin - last, end - first)
    conserved(name, rows)
    speaks(name, doc, None)

# 6. The ring of the tap is full: the driver drops before it returns.
a.ip("link set tap0 txqueuelen 20")
attach(TAP)
for i in range(50):
    sender.sendto(bytes(100), ("198.18.0.2", 9))
same("full ring: dropped by the driver", fate(read(TAP)[1], "tx"), {"now": 20, "dropped": 30})
far("take 20")
doc, rows = read(TAP)
nicprobe("detach", TAP)
same("full ring: the others are sent", fate(rows, "tx", "driver"), {"sent": 20, "dropped": 30})
conserved("full ring", rows)
a.ip("link set tap0 txqueuelen 1000")

# 7. More than the table holds: the excess is counted, and the others are right.
attach(LO)
reader, sender = bound(a, socket.SOCK_DGRAM, rcvbuf=64 << 20), bound(a, socket.SOCK_DGRAM)
many = 12000
for i in range(many):
    sender.sendto(b"", reader.getsockname())
doc, rows = read(LO)
got = fate(rows, "rx")
check(f"too many: some are not followed, and none is missing # {got}",
      set(got) == {"now", "table-full"} and sum(got.values()) == many and got["table-full"] > 1000, str(got))
speaks("too many", doc, "table-full")
for i in range(many):
    reader.recv(1)
doc, rows = read(LO)
nicprobe("detach", LO)
same("too many: the others are read", fate(rows, "rx"), {"read": got["now"], "table-full": got["table-full"]})
conserved("too many", rows)

# 8. Off by default; attached with packets under way: those are not followed.
nicprobe("attach", LO)
check("not attached unless asked for", "skblife" not in show(LO)["meters"])
nicprobe("detach", LO)
for i in range(N):
    sender.sendto(bytes(100), reader.getsockname())
attach(LO)
for i in range(N):
    reader.recv(2000)
same("attached with packets unread: they are nobody's", fate(read(LO)[1], "rx"), {})
nicprobe("detach", LO)
finish()

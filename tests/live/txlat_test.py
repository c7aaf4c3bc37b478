#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""From xmit to completion: the far end of a tap reads on command, so we know how many complete and when."""
import fcntl
import select
import socket
import struct
import threading

from lib.lab import *
from lib.wire import inside

need_root()
STEP = 1.125        # a histogram step


def rows(doc):
    return {r["queue"]: r for r in doc["meters"]["txlat"]}


def total(doc):
    """Completed, in flight, and untimed packets, over all queues."""
    got = {"count": 0, "in_flight": 0, "retried": 0}
    for r in rows(doc).values():
        got["count"] += r["completion_seconds"]["count"]
        got["in_flight"] += r["in_flight"]
        got["retried"] += r["retried"]
        for cause, n in r["lost"].items():
            if n:
                got[cause] = got.get(cause, 0) + n
    return got


def expected(count, in_flight=0, **lost):
    return {"count": count, "in_flight": in_flight, "retried": 0,
            **{k.replace("_", "-"): v for k, v in lost.items()}}


def within(name, doc, low, high):
    """Every sample lies between two times that we measured around it, within one step."""
    if not any(r["completion_seconds"]["count"] for r in rows(doc).values()):
        return not_ok(name, "there is no sample")
    for queue, r in rows(doc).items():
        h = r["completion_seconds"]
        for what, value in [(k, h[k]) for k in ("p50", "p90", "p99", "p999", "max")] + \
                [("a slot", float(le)) for le in h["le"]] + [("the mean", h["sum"] / max(h["count"], 1))]:
            if h["count"] and not low / STEP <= value <= high * STEP:
                return not_ok(name, f"queue {queue}: {what} is {value:.6f}, not {low:.6f} to {high:.6f}")
    return ok(f"{name} # {low * 1e3:.3f} to {high * 1e3:.3f} ms")


def pair(netns, name, queues=4, ring=1000, options="--steer"):
    """The far end of a tap, and a sender. Nothing is read until requested."""
    nic = tap(netns, name, queues, options)
    netns.ip(f"link set {name} txqueuelen {ring}")
    return nic, Nic(f"packet {name} --queues {queues}", netns)


def send(sender, counts, size=100):
    """counts: by queue. Returns the times before the first and after the last."""
    for queue, count in counts.items():
        sender(f"send {queue} {count} {size}")
    before = time.monotonic()
    sent = sender("go")
    if sent["sent"] != sum(counts.values()):
        raise RuntimeError(str(sent))
    return before, time.monotonic()


def attached(where, *args):
    nicprobe("attach", where, *args)


a = Namespace("a")
far, sender = pair(a, "tap0")
TAP = f"{a}/tap0"
COUNTS = {0: 100, 1: 250, 2: 7, 3: 400}
ALL = sum(COUNTS.values())

# 1. Batches that are read at one moment: all samples lie between the times around them.
for ms in 0, 1, 20:
    name = f"read after {ms} ms"
    attached(TAP)
    first, last = send(sender, COUNTS)
    if ms == 20:        # it takes a few ms itself
        doc = show(TAP)
        same(f"{name}: in flight", {q: r["in_flight"] for q, r in rows(doc).items()}, COUNTS)
        same(f"{name}: none completed yet", total(doc), expected(0, ALL))
    time.sleep(max(last + ms / 1e3 - time.monotonic(), 0))
    begin = time.monotonic()
    far(f"take {ALL}")
    end = time.monotonic()
    doc = show(TAP)
    nicprobe("detach", TAP)
    same(f"{name}: completed", {q: r["completion_seconds"]["count"] for q, r in rows(doc).items()}, COUNTS)
    same(f"{name}: nothing else", total(doc), expected(ALL))
    within(f"{name}: every sample", doc, max(begin - last, 0), end - first)

# 2. A reader that sleeps, then reads. It wakes some tens of microseconds late, more on a busy machine: we measure that
# from outside, as the time until it has read the batch. The delay is always a lower bound; at least half of the samples
# are below the median of the upper bounds.
for ms in 0, 1, 20:
    attached(TAP)
    far("reset")
    far(f"delay {ms}")
    far("read on")
    took, batches = [], 40
    for i in range(batches):
        first, _ = send(sender, {0: 5})
        far(f"wait {(i + 1) * 5} 10000")
        took.append(time.monotonic() - first)
    far("read off")
    doc = show(TAP)
    nicprobe("detach", TAP)
    p50, upper = rows(doc)[0]["completion_seconds"]["p50"], sorted(took)[batches // 2]
    same(f"delay of {ms} ms: completed", total(doc), expected(batches * 5))
    # a batch is 5 packets: the first wakes the reader, later ones wait that much less
    check(f"delay of {ms} ms: p50 # {p50 * 1e3:.3f} ms, at most {upper * 1e3:.3f}",
          (ms / 1e3 - .0005) / STEP <= p50 <= upper * STEP, f"{p50:.6f}, upper bound {upper:.6f}")
far("delay 0")

# 3. Some are read, some are not.
attached(TAP)
send(sender, COUNTS)
far("take 60 3")
far("take 7 2")
doc = show(TAP)
same("some read: completed", {q: r["completion_seconds"]["count"] for q, r in rows(doc).items()},
     {0: 0, 1: 0, 2: 7, 3: 60})
same("some read: in flight", {q: r["in_flight"] for q, r in rows(doc).items()}, {0: 100, 1: 250, 2: 0, 3: 340})
# 4. Detached with the rest in flight, reattached: packets begun before are not followed.
nicprobe("detach", TAP)
attached(TAP)
same("attached with packets in flight: nothing yet", total(show(TAP)), expected(0))
far(f"take {ALL - 67}")
same("attached with packets in flight: no sample of them", total(show(TAP)), expected(0))
first, last = send(sender, COUNTS)
begin = time.monotonic()
far(f"take {ALL}")
end = time.monotonic()
doc = show(TAP)
nicprobe("detach", TAP)
same("attached with packets in flight: the next are right", total(doc), expected(ALL))
within("attached with packets in flight: so are their times", doc, max(begin - last, 0), end - first)

# 5. A full ring: tun drops before its xmit returns, which is not a completion.
small, to_small = pair(a, "tap1", ring=100)
attached(f"{a}/tap1")
small("reset")
send(to_small, {q: 500 for q in range(4)})
doc, drops = show(f"{a}/tap1"), small("count")["drops"]
check("full ring: tun dropped # " + str(drops), 1000 < drops < 2000, str(drops))
same("full ring: dropped packets are no completions", total(doc),
     expected(0, 2000 - drops, freed_in_xmit=drops))
small(f"take {2000 - drops}")
doc = show(f"{a}/tap1")
nicprobe("detach", f"{a}/tap1")
same("full ring: the others are read", total(doc), expected(2000 - drops, freed_in_xmit=drops))

# 6. More in flight than the table holds: it is sized for a ring of 10, then the ring grows.
for args in [], ["--sample", 16]:
    name = "over capacity" + (", sampled" if args else "")
    a.ip("link set tap1 txqueuelen 10")
    attached(f"{a}/tap1", *args)
    a.ip("link set tap1 txqueuelen 2000")
    small("reset")
    first, last = send(to_small, {q: 1500 for q in range(4)})
    doc = show(f"{a}/tap1")
    before = total(doc)
    time.sleep(.02)
    begin = time.monotonic()
    small("take 6000")
    end = time.monotonic()
    doc = show(f"{a}/tap1")
    nicprobe("detach", f"{a}/tap1")
    after = total(doc)
    if args:
        same(f"{name}: it says so", doc.get("sample"), 16)
        check(f"{name}: one in 16, or so # {after}", 200 < after["count"] + after.get("table-full", 0) < 600,
              str(after))
        same(f"{name}: what was in flight was read", after["count"], before["in_flight"])
    else:
        check(f"{name}: the table was full # {after}", after.get("table-full", 0) > 1000, str(after))
        same(f"{name}: every packet is accounted for", after["count"] + after.get("table-full", 0), 6000)
        same(f"{name}: and so before they were read", before["in_flight"] + before.get("table-full", 0), 6000)
        check(f"{name}: a finding says it", "txlat could not follow" in said(doc, "table-full"), str(doc["findings"]))
    same(f"{name}: no other loss", {k: v for k, v in after.items() if k not in ("count", "table-full")},
         {"in_flight": 0, "retried": 0})
    same(f"{name}: no drops", small("count")["drops"], 0)
    within(f"{name}: the times of the rest", doc, begin - last, end - first)

# 7. 64 queues, 900 packets in each.
deep, to_deep = pair(a, "tap2", 64)
attached(f"{a}/tap2", "--sample", 1)
every = {q: 900 for q in range(64)}
first, last = send(to_deep, every)
doc = show(f"{a}/tap2")
same("64 queues: in flight", {q: r["in_flight"] for q, r in rows(doc).items()}, every)
same("64 queues: nothing lost", total(doc), expected(0, 57600))
begin = time.monotonic()
deep("take 57600")
end = time.monotonic()
doc = show(f"{a}/tap2")
nicprobe("detach", f"{a}/tap2")
same("64 queues: completed", {q: r["completion_seconds"]["count"] for q, r in rows(doc).items()}, every)
same("64 queues: nothing lost in the end", total(doc), expected(57600))
within("64 queues: every sample", doc, max(begin - last, 0), end - first)


# 8. TCP over a lossy wire of ours between two taps: clones, retransmissions, and (a tap without vnet headers has no
# TSO) the packets into which software GSO splits a buffer.
def open_tap(netns, name):
    def make():
        fd = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
        fcntl.ioctl(fd, 0x400454ca, struct.pack("16sH22x", name.encode(), 0x1002))  # TUNSETIFF, TAP | NO_PI
        return fd
    return inside(netns, make)


class Wire:
    """Carries frames between two descriptors, and drops every nth large one from the first."""
    def __init__(self, one, other, lose):
        self.fds, self.lose = (one, other), lose
        self.read, self.large, self.lost, self.stop = [0, 0], 0, 0, False
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        while not self.stop:
            for fd in select.select(self.fds, [], [], .05)[0]:
                for _ in range(64):
                    try:
                        frame = os.read(fd, 65536)
                    except BlockingIOError:
                        break
                    side = self.fds.index(fd)
                    self.read[side] += 1
                    if side == 0 and len(frame) > 1000:
                        self.large += 1
                        if self.large % self.lose == 0:
                            self.lost += 1
                            continue
                    try:
                        os.write(self.fds[1 - side], frame)
                    except OSError:
                        pass


b = Namespace("b")
ends = [open_tap(n, "wire0") for n in (a, b)]
for i, netns in enumerate((a, b), 1):
    netns.ip("link set wire0 up")
    netns.ip(f"addr add 198.18.0.{i}/24 dev wire0")
wire = Wire(*ends, lose=97)
attached(f"{a}/wire0")
already = wire.read[0]
server, client = (inside(n, lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM)) for n in (b, a))
server.bind(("198.18.0.2", 0))
server.listen()
client.settimeout(60)
client.connect(server.getsockname())
peer = server.accept()[0]
BYTES = 4 << 20
writer = threading.Thread(target=lambda: (client.sendall(bytes(BYTES)), client.shutdown(socket.SHUT_WR)))
writer.start()
came = 0
while got := len(peer.recv(1 << 16)):
    came += got
writer.join()
again = struct.unpack("I", client.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104)[100:])[0]
peer.close()
client.close()
server.close()
until(lambda: packets_at(show(f"{a}/wire0"), "tx-nic") == wire.read[0] - already == total(show(f"{a}/wire0"))["count"])
doc = show(f"{a}/wire0")
read = wire.read[0] - already
same("TCP: it came", came, BYTES)
check(f"TCP: the wire lost some, which were sent again # {wire.lost}, {again}", wire.lost and again >= wire.lost,
      f"{wire.lost}, {again}")
buffers = packets_at(doc, "tx-stack")
check(f"TCP: software GSO # {buffers} buffers, {read} packets", buffers < read, f"{buffers}, {read}")
dropped = int(a.ip("-j -s link show wire0").split('"tx":')[1].split('"dropped":')[1].split(",")[0])
same("TCP: completed are those that the wire read",
     total(doc), expected(read, **({"freed_in_xmit": dropped} if dropped else {})))
same("TCP: tx-nic", packets_at(doc, "tx-nic"), read + dropped)
nicprobe("detach", f"{a}/wire0")
wire.stop = True
wire.thread.join()

# 9. Devices that never complete report so; requested by name it is an error, and nothing is left behind.
veth(a, b, "eth1", 1)
for iface, why in ("eth1", "never completes"), ("lo", ""):
    where = f"{a}/{iface}"
    attached(where)
    doc = show(where)
    nicprobe("detach", where)
    check(f"{iface}: absent # {doc['absent'].get('txlat')}",
          "txlat" not in doc["meters"] and doc["absent"].get("txlat") and why in doc["absent"]["txlat"],
          str(doc["absent"]))
    r = nicprobe("attach", "-m", "txlat", where, check=False)
    check(f"{iface}: attach -m txlat is an error", r.returncode == 1 and "txlat" in r.stderr and
          doc["absent"]["txlat"] in r.stderr, f"{r.returncode}: {r.stderr}")
    check(f"{iface}: attach -m txlat leaves nothing", nicprobe("show", where, check=False).returncode == 1 and
          not os.path.exists(f"/sys/fs/bpf/nicprobe/{doc['netns']}/{iface}"))
finish()

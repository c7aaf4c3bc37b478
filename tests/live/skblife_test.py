#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Lives of packets whose stages we make: unread, unsent, uncompleted, dropped, merged, segmented."""
import socket
import threading

from lab import *

need_root()
STEP = 1.125        # a histogram step
RAW = {"NICPROBE_CANNOT": "tp_btf"}
STAGES = {"rx": ["gro", "stack", "socket"], "tx": ["qdisc", "driver"]}


def attach(where, sample=1, env=None):
    nicprobe("attach", where, "-m", "skblife", *(["--sample", sample] if sample else []), env=env)


def read(where):
    doc = show(where)
    return doc, doc["meters"]["skblife"]


def each(rows, way, stage, queue=None):
    return [r for r in rows if (r["way"], r["stage"]) == (way, stage) and queue in (None, r["queue"])]


def fate(rows, way, stage="whole", queue=None):
    """What became of packets: {"read": 25, "now": 3}, of all queues."""
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
    """Stage by stage: ends add up to those of the whole, and so do the times."""
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


def said(doc):
    return [f for f in doc["findings"] if f["meter"] == "skblife"]


def speaks(name, doc, words):
    if words is None:
        same(f"{name}: no finding", said(doc), [])
    else:
        check(f"{name}: a finding says {words!r}", any(words in f["what"] and f["try"] for f in said(doc)),
              str(said(doc)))


def bound(netns, kind, address="127.0.0.1", rcvbuf=4 << 20):
    """A socket inside, bound; the thread comes home again."""
    import ctypes
    libc = ctypes.CDLL(None, use_errno=True)
    home, there = os.open("/proc/thread-self/ns/net", os.O_RDONLY), os.open(f"/run/netns/{netns}", os.O_RDONLY)
    libc.setns(there, 0)
    s = socket.socket(socket.AF_INET, kind)
    libc.setns(home, 0)
    os.close(home)
    os.close(there)
    s.setsockopt(socket.SOL_SOCKET, 33, rcvbuf)     # SO_RCVBUFFORCE
    s.bind((address, 0))
    s.settimeout(20)
    return s


a, b = Namespace("a"), Namespace("b")
LO = f"{a}/lo"
N = 200

# 1. Datagrams that nobody reads for a while: the time is that of the socket queue. Loopback: each is sent, too.
for ms, env, words in (0, None, None), (30, None, "in the socket queue"), (30, RAW, "in the socket queue"):
    name = f"read after {ms} ms{' by raw_tp' if env else ''}"
    reader, sender = bound(a, socket.SOCK_DGRAM), bound(a, socket.SOCK_DGRAM)
    for attempt in range(4):    # on a busy machine a turn of ours may take a millisecond
        attach(LO, env=env)
        first = time.monotonic()
        for i in range(N):
            sender.sendto(bytes(100), reader.getsockname())
            if not ms:
                reader.recv(2000)
        last = time.monotonic()
        if ms or last - first < N * .0009 or attempt == 3:
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
    speaks(name, doc, words)

# 2. Half are read, the rest goes with the socket: closing drops them. And a port that nobody listens at.
attach(LO)
for i in range(N):
    sender.sendto(bytes(100), reader.getsockname())
for i in range(N // 2):
    reader.recv(2000)
same("half read: the others wait", fate(read(LO)[1], "rx"), {"read": N // 2, "now": N // 2})
gone = reader.getsockname()
reader.close()
until(lambda: not fate(read(LO)[1], "rx").get("now"))     # a socket goes after an RCU grace period
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



def tcp_transfer(from_netns, to_netns, address, pieces):
    """Sends small pieces, read late: so TCP coalesces. Closes both ends."""
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


def tcp(name, env, transfer, where, netns, iface, also=lambda rows: None):
    """TCP with the kernel's own count beside it. On some machines a few events are not traced: three tries."""
    for attempt in range(3):
        attach(where, env=env)
        before = packets(netns, iface, "rx")
        transfer()
        until(lambda: not fate(read(where)[1], "rx", "gro"), .3)
        came, (doc, rows) = packets(netns, iface, "rx") - before, read(where)
        nicprobe("detach", where)
        if sum(fate(rows, "rx").values()) == came:
            break
    got = fate(rows, "rx")
    same(f"{name}: every packet received is accounted for # {got}", sum(got.values()), came)
    # an opening and a closing handshake have packets that TCP frees unseen
    check(f"{name}: few were lost track of", got.get("unseen", 0) + got.get("now", 0) <= 12, str(got))
    conserved(name, rows)
    return got, rows


# 3. TCP: acknowledgements are used up, data is read or made part of other data. Nothing is unaccounted for.
for env in None, RAW:
    name = "TCP" + (" by raw_tp" if env else "")
    got, rows = tcp(name, env, lambda: tcp_transfer(a, a, "127.0.0.1", 300), LO, a, "lo")
    check(f"{name}: some are coalesced, read, used", all(got.get(k, 0) > 0 for k in ("coalesced", "read", "used")), str(got))
    check(f"{name}: sent ones were handed to the other side", not set(fate(rows, "tx")) - {"sent", "segmented"})

# 4. A rate limit in front of the driver: the time in the qdisc is as computed. The tap is read at once.
far = tap(a, "tap0", 1, address="198.18.0.1/24")
far("read on")
a.ip("neigh add 198.18.0.2 lladdr 02:00:00:00:00:02 dev tap0")
TAP, PACKETS, FRAME = f"{a}/tap0", 100, 1042
sender = bound(a, socket.SOCK_DGRAM, "198.18.0.1")
for env, rate in (None, 8e6), (RAW, 16e6):
    name = f"tbf of {rate / 1e6:.0f} Mbit/s"
    a.run(f"tc qdisc replace dev tap0 root tbf rate {rate:.0f} burst {FRAME + 10} limit 1000000")
    time.sleep(.05)
    for attempt in range(4):    # its timer may hand one over where nothing is traced; the reader may get no CPU
        far("reset")
        attach(TAP, env=env)
        first = time.monotonic()
        for i in range(PACKETS):
            sender.sendto(bytes(1000), ("198.18.0.2", 9))
        last = time.monotonic()
        far(f"wait {PACKETS} 5000")
        doc, rows = read(TAP)
        nicprobe("detach", TAP)
        if fate(rows, "tx") == {"sent": PACKETS} and times(rows, "tx", "driver")[1] < times(rows, "tx", "qdisc")[1]:
            break
    same(f"{name}: sent", fate(rows, "tx"), {"sent": PACKETS})
    step = FRAME * 8 / rate
    middle = step * PACKETS / 2
    between(name, rows, "tx", "qdisc", middle - (last - first) - 2 * step, middle + 2 * step)
    conserved(name, rows)
    speaks(name, doc, "in the qdisc")

# 5. The qdisc drops: they end there. Deleted with the rest in it: those, too.
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

# 6. A far end that reads late: the time is the driver's.
for ms, words in (0, None), (20, "in the driver"):
    name = f"tap read after {ms} ms"
    far("read off")
    for attempt in range(4):    # on a busy machine a turn of ours may take a millisecond
        attach(TAP)
        first = time.monotonic()
        for i in range(PACKETS):
            sender.sendto(bytes(100), ("198.18.0.2", 9))
            if not ms:
                far("take 1")
        last = time.monotonic()
        if ms or last - first < PACKETS * .0009 or attempt == 3:
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
    speaks(name, doc, words)

# 7. The ring of the tap is full: the driver drops before it returns.
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

# 8. GRO and GSO between two veths: what GRO merges ends there, and what GSO splits.
veth(a, b, mtu=1500)
for n, netns in enumerate((a, b), 1):
    netns.ip(f"addr add 198.18.1.{n}/24 dev eth0")
a.run("ethtool -K eth0 tso off gso on")
b.run("ethtool -K eth0 gro on")
got, rows = tcp("GRO", None, lambda: tcp_transfer(a, b, "198.18.1.2", 3000), f"{b}/eth0", b, "eth0")
check("GRO: some were merged", got.get("merged", 0) > 100, str(got))
same("GRO: the merged end before the stack", fate(rows, "rx", "gro"), {"merged": got.get("merged")})
attach(f"{a}/eth0")
tcp_transfer(a, b, "198.18.1.2", 3000)
doc, rows = read(f"{a}/eth0")
nicprobe("detach", f"{a}/eth0")
got = fate(rows, "tx")
check(f"GSO: some were split, the others handed to the peer # {got}", set(got) == {"sent", "segmented"}, str(got))
same("GSO: split in the qdisc", fate(rows, "tx", "qdisc"), {"segmented": got.get("segmented")})
conserved("GSO", rows)

# 9. Forwarded: the received life ends when the other interface is given the packet.
c = Namespace("c")
b.run("sysctl -qw net.ipv4.ip_forward=1")
veth(b, c, "eth1", mtu=1500)
b.ip("addr add 198.18.2.1/24 dev eth1")
c.ip("addr add 198.18.2.2/24 dev eth1")
a.ip("route add 198.18.2.0/24 via 198.18.1.2")
c.ip("route add default via 198.18.2.1")
sender, reader = bound(a, socket.SOCK_DGRAM, "198.18.1.1"), bound(c, socket.SOCK_DGRAM, "198.18.2.2")
sender.sendto(b"for arp", reader.getsockname())
reader.recv(100)
attach(f"{b}/eth0")
for i in range(N):
    sender.sendto(bytes(100), reader.getsockname())
    reader.recv(2000)
doc, rows = read(f"{b}/eth0")
same("forwarded", fate(rows, "rx"), {"forwarded": N})
same("forwarded: from the stack", fate(rows, "rx", "stack"), {"forwarded": N})
nicprobe("detach", f"{b}/eth0")
conserved("forwarded", rows)

# A bridge passes it up as its own: the life goes on, to the reader.
c.ip("link add br0 type bridge")
c.ip("addr flush dev eth1")
c.ip("link set eth1 master br0")
c.ip("addr add 198.18.2.2/24 dev br0")
c.ip("link set br0 up")
c.ip("route replace default via 198.18.2.1")
b.ip("neigh flush dev eth1")
sender.sendto(b"for arp", reader.getsockname())
reader.recv(100)
attach(f"{c}/eth1")
for i in range(N):
    sender.sendto(bytes(100), reader.getsockname())
    reader.recv(2000)
doc, rows = read(f"{c}/eth1")
nicprobe("detach", f"{c}/eth1")
same("bridge: read", fate(rows, "rx"), {"read": N})
conserved("bridge", rows)
attach(f"{c}/br0")
sender.sendto(bytes(100), reader.getsockname())
reader.recv(2000)
reader.sendto(bytes(100), sender.getsockname())
sender.recv(2000)
doc, rows = read(f"{c}/br0")
nicprobe("detach", f"{c}/br0")
same("on the bridge itself: read", fate(rows, "rx"), {"read": 1})
same("on the bridge itself: sent, by the port below", fate(rows, "tx"), {"sent": 1})

# By queue: what the driver hands up in each is read, and what is sent by each.
multi = tap(a, "tap1", 4, "--steer", address="198.18.4.1/24")
mac = a.run("cat /sys/class/net/tap1/address").strip()
sink, COUNTS = bound(a, socket.SOCK_DGRAM, "198.18.4.1"), {"0": 20, "1": 5, "3": 70}
for env in None, RAW:
    name = "by queue" + (" by raw_tp" if env else "")
    attach(f"{a}/tap1", env=env)
    for queue, count in COUNTS.items():
        multi(f"send {queue} {count} 100 v4 udp src=198.18.4.2 dst=198.18.4.1 dport={sink.getsockname()[1]} dmac={mac}")
    before = time.monotonic()
    multi("go")
    after = time.monotonic()
    time.sleep(.02)
    begin = time.monotonic()
    for i in range(sum(COUNTS.values())):
        sink.recv(2000)
    end = time.monotonic()
    doc, rows = read(f"{a}/tap1")
    nicprobe("detach", f"{a}/tap1")
    same(f"{name}: read", {r["queue"]: r["ended"]["read"] for r in each(rows, "rx", "whole")}, COUNTS)
    for queue in COUNTS:
        between(f"{name}: queue {queue}", rows, "rx", "socket", begin - after, end - before, queue)
    conserved(name, rows)

# Without the tracepoints that not every kernel has there is less to tell, and it still adds up.
for env in {"NICPROBE_CANNOT": "optional"}, {"NICPROBE_CANNOT": "optional,tp_btf"}:
    name = f"without {env['NICPROBE_CANNOT']}"
    attach(f"{a}/tap1", env=env)
    multi(f"send 0 50 100 v4 udp src=198.18.4.2 dst=198.18.4.1 dport={sink.getsockname()[1]} dmac={mac}")
    multi(f"send 1 50 100 v4 udp src=198.18.4.2 dst=198.18.4.1 dport=9 dmac={mac}")
    multi("go")
    for i in range(50):
        sink.recv(2000)
    doc, rows = read(f"{a}/tap1")
    nicprobe("detach", f"{a}/tap1")
    got = fate(rows, "rx")
    same(f"{name}: every packet is accounted for", sum(got.values()), 100)
    same(f"{name}: dropped at the closed port", got.get("dropped"), 50)
    same(f"{name}: no stage \"socket\"", fate(rows, "rx", "socket"), {})
    conserved(name, rows)
r = nicprobe("attach", LO, "-m", "skblife", check=False, env={"NICPROBE_CANNOT": "tp_btf,raw_tp"})
check("without any way: an error that says why", r.returncode == 1 and "taken away" in r.stderr, r.stderr)

# 10. One in 16, and one in 64 if nothing is said: so many, and every one of them followed to its end.
for n in 16, None:
    name, rate, many = f"--sample {n}", n or 64, 4000
    attach(f"{c}/eth1", sample=n)
    for i in range(many):
        sender.sendto(bytes(100), reader.getsockname())
        if i % 100 == 99:
            for _ in range(100):
                reader.recv(2000)
    doc, rows = read(f"{c}/eth1")
    table, metrics = (nicprobe("show", f"{c}/eth1", *args).stdout for args in ([], ["-f", "openmetrics"]))
    nicprobe("detach", f"{c}/eth1")
    got, mean = fate(rows, "rx"), many / rate
    check(f"{name}: as many as that makes # {got}", abs(got.get("read", 0) - mean) < 6 * mean ** .5, str(got))
    same(f"{name}: nothing else became of them", set(got), {"read"})
    same(f"{name}: it says so", doc["sampled"], {"skblife": rate})
    check(f"{name}: in the table, too", f"1 packet in {rate}" in table, table)
    check(f"{name}: openmetrics has it", 'nicprobe_skblife_time_seconds_bucket{' in metrics, metrics[:200])
    conserved(name, rows)

# 11. More than there is room for: those are counted, and the others are right.
attach(LO)
reader, sender = bound(a, socket.SOCK_DGRAM, rcvbuf=64 << 20), bound(a, socket.SOCK_DGRAM)
many = 12000
for i in range(many):
    sender.sendto(b"", reader.getsockname())
doc, rows = read(LO)
got = fate(rows, "rx")
check(f"too many: some are not followed, and none is missing # {got}",
      set(got) == {"now", "table-full"} and sum(got.values()) == many and got["table-full"] > 1000, str(got))
speaks("too many", doc, "not followed")
for i in range(many):
    reader.recv(1)
doc, rows = read(LO)
nicprobe("detach", LO)
same("too many: the others are read", fate(rows, "rx"), {"read": got["now"], "table-full": got["table-full"]})
conserved("too many", rows)

# 12. Not unless asked for; attached with packets on their way: those are nobody's.
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

#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Lives of packets that are merged, split or forwarded; by queue, sampled, and without some tracepoints."""
import socket

from lib.lives import *


def known(netns, iface, address, there, theirs):
    """Asks for its address no more: a request would be a packet that the kernel uses."""
    mac = there.run(f"cat /sys/class/net/{theirs}/address").strip()
    netns.ip(f"neigh replace {address} lladdr {mac} dev {iface} nud permanent")


def spin(reader, many):
    """A process on the last CPU that reads so many datagrams and never waits; after 60 s it fails."""
    pid = os.fork()
    if pid:
        return pid
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    reader.setblocking(False)
    end = time.monotonic() + 60
    while many and time.monotonic() < end:
        try:
            reader.recv(2000)
            many -= 1
        except BlockingIOError:
            pass
    os._exit(many > 0)


need_root()
a, b = Namespace("a"), Namespace("b")
LO = f"{a}/lo"
N = 200

# 1. TCP: acknowledgements are consumed, data is read or coalesced. Nothing is unaccounted for.
name = "TCP"
got, rows = tcp(name, lambda: tcp_transfer(a, a, "127.0.0.1", 300), LO, a, "lo")
check(f"{name}: some are coalesced, read, used", all(got.get(k, 0) > 0 for k in ("coalesced", "read", "used")), str(got))
check(f"{name}: sent ones were handed to the other side", not set(fate(rows, "tx")) - {"sent", "segmented"})

# 2. GRO and GSO between two veths: merged packets end at GRO, split buffers at GSO.
veth(a, b, mtu=1500)
for n, netns in enumerate((a, b), 1):
    netns.ip(f"addr add 198.18.1.{n}/24 dev eth0")
a.run("ethtool -K eth0 tso off gso on")
b.run("ethtool -K eth0 gro on")
got, rows = tcp("GRO", lambda: tcp_transfer(a, b, "198.18.1.2", 3000), f"{b}/eth0", b, "eth0")
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

# 3. Forwarded: the received life ends when the packet is given to the other interface.
c = Namespace("c")
b.run("sysctl -qw net.ipv4.ip_forward=1")
veth(b, c, "eth1", mtu=1500)
b.ip("addr add 198.18.2.1/24 dev eth1")
c.ip("addr add 198.18.2.2/24 dev eth1")
a.ip("route add 198.18.2.0/24 via 198.18.1.2")
c.ip("route add default via 198.18.2.1")
sender, reader = bound(a, socket.SOCK_DGRAM, "198.18.1.1"), bound(c, socket.SOCK_DGRAM, "198.18.2.2")
known(a, "eth0", "198.18.1.2", b, "eth0")
known(b, "eth1", "198.18.2.2", c, "eth1")
sender.sendto(b"first", reader.getsockname())
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

# 4. A bridge passes it up as its own: the life goes on, to the reader.
c.ip("link add br0 type bridge")
c.ip("addr flush dev eth1")
c.ip("link set eth1 master br0")
c.ip("addr add 198.18.2.2/24 dev br0")
c.ip("link set br0 up")
c.ip("route replace default via 198.18.2.1")
known(b, "eth1", "198.18.2.2", c, "br0")
known(c, "br0", "198.18.2.1", b, "eth1")
sender.sendto(b"first", reader.getsockname())
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

# 5. By queue: packets that the driver receives on each are read, and those sent on each.
multi = tap(a, "tap1", 4, "--steer", address="198.18.4.1/24")
mac = a.run("cat /sys/class/net/tap1/address").strip()
sink, COUNTS = bound(a, socket.SOCK_DGRAM, "198.18.4.1"), {"0": 20, "1": 5, "3": 70}
name = "by queue"
attach(f"{a}/tap1")
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
same(f"{name}: read", {str(r["queue"]): r["ended"]["read"] for r in each(rows, "rx", "whole")}, COUNTS)
for queue in COUNTS:
    between(f"{name}: queue {queue}", rows, "rx", "socket", begin - after, end - before, queue)
conserved(name, rows)

# 6. Without the tracepoints that not every kernel has, there is less detail, and it still adds up.
name = "without optional"
attach(f"{a}/tap1", env={"NICPROBE_CANNOT": "optional"})
multi(f"send 0 50 100 v4 udp src=198.18.4.2 dst=198.18.4.1 dport={sink.getsockname()[1]} dmac={mac}")
multi(f"send 1 50 100 v4 udp src=198.18.4.2 dst=198.18.4.1 dport=9 dmac={mac}")
multi("go")
for i in range(50):
    sink.recv(2000)
doc, rows = read(f"{a}/tap1")
table = " ".join(nicprobe("show", f"{a}/tap1").stdout.split())
nicprobe("detach", f"{a}/tap1")
got = fate(rows, "rx")
same(f"{name}: every packet is accounted for", sum(got.values()), 100)
same(f"{name}: dropped at the closed port", got.get("dropped"), 50)
check(f"{name}: it says what is missing # {doc['absent'].get('skblife')}",
      "sk_data_ready" in doc.get("remarks", {}).get("skblife", "") and "skblife: does without" in table, table)
same(f"{name}: no stage \"socket\"", fate(rows, "rx", "socket"), {})
conserved(name, rows)
r = nicprobe("attach", LO, "-m", "skblife", check=False, env={"NICPROBE_CANNOT": "tp_btf"})
check("without any way: an error that says why", r.returncode == 1 and "taken away" in r.stderr, r.stderr)

# 7. One in 16, and one in 64: exactly so many, and each followed to its end.
for rate in 16, 64:
    name, many = f"--sample {rate}", 4000
    attach(f"{c}/eth1", sample=rate)
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
    same(f"{name}: it says so", [doc["sample"], doc["thinned"]["skblife"]["packets"]], [rate, many])
    check(f"{name}: in the table, too", f"1 packet in {rate}" in table, table)
    check(f"{name}: openmetrics has it", 'nicprobe_skblife_time_seconds_bucket{' in metrics, metrics[:200])
    conserved(name, rows)

# 8. A program on another CPU never waits: it often reads before the socket tells that a datagram is there.
name, many = "spinning reader", 3000
attach(f"{c}/eth1")
pid = spin(reader, many)
here = os.sched_getaffinity(0)
os.sched_setaffinity(0, {min(here)})
for i in range(many):
    sender.sendto(bytes(100), reader.getsockname())
os.sched_setaffinity(0, here)
same(f"{name}: it got all", os.waitpid(pid, 0)[1], 0)
doc, rows = read(f"{c}/eth1")
nicprobe("detach", f"{c}/eth1")
same(f"{name}: read # {fate(rows, 'rx', 'stack')} in the stack", fate(rows, "rx"), {"read": many})
conserved(name, rows)
finish()

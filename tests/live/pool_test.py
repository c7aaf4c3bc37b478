#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Pages of a veth's page pools: as many as unread packets, in batches, and all returned in the end."""
import atexit
import shutil
import subprocess
import tempfile
import time

from lib.lab import *

need_root()
if tuple(map(int, os.uname().release.split(".")[:2])) < (6, 4):
    skip("pool", "veth has page pools since 6.4")
    finish()
BATCH = 64      # PP_ALLOC_CACHE_REFILL: pages that a pool takes from the kernel at once
a, b = Namespace("a"), Namespace("b")
veth(a, b, queues=2)
a.ip("addr add 198.18.0.2/16 dev eth0")
sender = Nic("packet eth0 --queues 2", b)
THEIRS = """
__attribute__((section("xdp.frags"), used)) int their_xdp(void *ctx) { return 2; }
char _license[] __attribute__((section("license"), used)) = "GPL";
"""
IFACE = f"{a}/eth0"
HOLD = """
import socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.setsockopt(socket.SOL_SOCKET, 33, 1 << 28)    # SO_RCVBUFFORCE
s.bind(("", 9))
print("ready", flush=True)
for line in sys.stdin:
    n = 0
    s.settimeout(.3)
    try:
        for _ in range(int(line)):
            s.recv(65536)
            n += 1
    except OSError:
        pass
    print(n, flush=True)
"""


def rows(doc):
    return {r["queue"]: (r["in_flight_pages"], r["taken_pages"], r["returned_pages"])
            for r in doc["meters"].get("pool", [])}


def batches(n):
    return -(-n // BATCH) * BATCH


class Reader:
    """A socket in `a` that reads a requested number of packets, and only then."""
    def __init__(self):
        self.p = subprocess.Popen(["ip", "netns", "exec", str(a), "python3", "-c", HOLD], text=True,
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=1)
        self.p.stdout.readline()

    def read(self, count):
        self.p.stdin.write(f"{count}\n")
        self.p.stdin.flush()
        return int(self.p.stdout.readline())

    def close(self):
        self.p.stdin.close()
        self.p.wait()


mac = a.run("cat /sys/class/net/eth0/address").strip()


def send(queue, count):
    """Longer than half a page: each packet has a page of its own."""
    sender(f"send {queue} {count} 3000 udp dmac={mac} src=198.18.0.1 dst=198.18.0.2 dport=9")
    sender("go")


def flush():
    """Pages of packets read on another CPU are freed when their own CPU receives again."""
    for queue in 0, 1, 0, 1:
        send(queue, 1)


def case():
    reader = Reader()
    # XDP first: it creates the pools
    nicprobe("attach", "--rx", "xdp", "-m", "pool,pktsize", IFACE)
    send(0, 200)
    send(1, 100)
    want = {0: (batches(200), batches(200), 0), 1: (batches(100), batches(100), 0)}
    until(lambda: rows(show(IFACE)) == want, 2)
    same("pool: a page a packet, in batches", rows(show(IFACE)), want)
    same("pool: all were received", reader.read(300), 300)
    send(0, 150)
    same("pool: what was freed is used again", rows(show(IFACE)), want)
    table = nicprobe("show", IFACE, env={"COLUMNS": "60"}).stdout
    check("pool: in the table", "in flight" in table and "256" in table, table)
    check("pool: openmetrics", "nicprobe_pool_in_flight_pages" in
          nicprobe("show", IFACE, "-f", "openmetrics").stdout)
    reader.read(150)
    reader.close()
    nicprobe("detach", IFACE)
    flush()


case()

# A destroyed pool checks once per second for returned pages (DEFER_TIME): let it end.
time.sleep(1.5)

# Pools that existed before attach, with pages out: the gauge knows them from their next event on.
work = tempfile.mkdtemp()
atexit.register(shutil.rmtree, work)
if shutil.which("clang"):
    with open(f"{work}/p.c", "w", encoding="ascii") as f:
        f.write(THEIRS)
    sh(f"clang -O2 -g -target bpf -c {work}/p.c -o {work}/p.o")
    a.ip(f"link set eth0 xdpdrv obj {work}/p.o sec xdp.frags")
    reader = Reader()
    send(0, 200)
    nicprobe("attach", "-m", "pool", IFACE)
    same("pool before attach: not met yet", rows(show(IFACE)), {})
    send(0, 100)
    want = {0: (batches(300), batches(300) - batches(200), 0)}
    until(lambda: rows(show(IFACE)) == want, 2)
    same("pool before attach: what it had, and what it took since", rows(show(IFACE)), want)
    a.ip("link set eth0 xdpdrv off")
    same("pool before attach: all received", reader.read(300), 300)
    want = {0: (0, batches(300) - batches(200), batches(300))}

    def given_back():
        flush()
        return rows(show(IFACE)) == want
    until(given_back, 4)
    same("pool before attach: all given back", rows(show(IFACE)), want)
    reader.close()
    nicprobe("detach", IFACE)
else:
    skip("pool before attach", "needs clang")

other = Namespace("other")
nic = tap(other)
r = nicprobe("attach", "-m", "pool", f"{other}/tap0", check=False)
check("pool on a tap: absent, and why", r.returncode == 1 and "software device" in " ".join(r.stderr.split()), r.stderr)
finish()

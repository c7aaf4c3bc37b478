# SPDX-License-Identifier: GPL-2.0
"""Packets freed in an interrupt while a free is being counted: none is missed unnoticed."""
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

from lib import bpf, left, traced
from lib.lab import *
from lib.wire import inside

# An emulated guest does less, but as large a part of it nests.
SENT, MOST = (40000, 160000) if "PACKETS" in os.environ else (150000, 1000000)
BATCH = 20000
CPUS = sorted(os.sched_getaffinity(0))

# In a task, on the interrupted CPU: netfilter drops each datagram at a point that allows softirqs.
SENDER = f"""
import os, socket, sys
os.sched_setaffinity(0, [{CPUS[-1]}])
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.setsockopt(socket.SOL_SOCKET, socket.SO_MARK, 0)
s.connect(("10.0.0.9", 9))
sys.stdin.readline()
n = 0
for i in range({SENT}):
    try:
        s.send(b"x")
    except OSError:
        pass
    n += 1
print(n, flush=True)
"""


# In a task there: datagrams that are read, which frees them as consumed; every tenth turn sends one by the tap.
READER = f"""
import os, socket, sys
os.sched_setaffinity(0, [{CPUS[-1]}])
a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.connect(("10.0.0.9", 9))
sys.stdin.readline()
for i in range({SENT}):
    a.send(b"x")
    b.recv(1)
    i % 10 or s.send(b"x")
"""


def dropped(doc):
    """{reason: packets}; a full backlog drops the same packets."""
    got = {}
    for r in doc["meters"]["drop"]:
        reason = r["reason"] if r["reason"] != "CPU_BACKLOG" else "NO_SOCKET"
        got[reason] = got.get(reason, 0) + r["packets"]
    return got


def nested(ns, nic, name, cannot):
    where = f"{ns}/tap0"
    nicprobe("attach", "-m", "drop,gro", "--stacks", where, env={"NICPROBE_CANNOT": cannot})
    recorder = subprocess.Popen([NICPROBE, "record", FILE, where, "-i", ".2"], stderr=subprocess.DEVNULL)
    time.sleep(2)               # it opens links once, after a second
    nicprobe("attach", "-m", "+txlat", where)
    watch = traced.Watch(("skb/kfree_skb",))
    sender = subprocess.Popen(["ip", "netns", "exec", str(ns), sys.executable, "-c", SENDER], text=True,
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    sender.stdin.write("\n")
    sender.stdin.flush()
    written = 0
    while sender.poll() is None and written < MOST:
        nic(f"send 0 {BATCH} 100 udp dport=9 flows=16 dst=10.0.0.1 src=10.0.0.2")
        written += nic("go")["sent"]
    sent = int(sender.stdout.read())
    until(lambda: sum(dropped(show(where)).values()) >= sent + written, 2)
    doc = show(where)
    got = dropped(doc)
    untraced = watch.untraced().get("skb/kfree_skb", 0)     # events without programs run: see lib/traced.py
    watch.close()
    programs = json.loads(sh("bpftool -j prog show"))
    nest = {p["name"]: p["recursion_misses"] for p in programs
            if p.get("recursion_misses") and p["name"].startswith(("kfree_skb", "consume_skb"))}
    print(f"# {name}: {written} received, {sent} sent, missed by the programs: {nest}; drops: {got}; "
          f"not traced: {untraced}")
    short = {"NO_SOCKET": written - got.get("NO_SOCKET", 0), "NETFILTER_DROP": sent - got.get("NETFILTER_DROP", 0)}
    check(f"{name}: each packet that was dropped is counted, but what was not traced",
          min(short.values()) >= 0 and sum(short.values()) <= untraced, f"short {short}, not traced {untraced}")
    check(f"{name}: interrupts came in the program", sum(nest.values()) > 0, f"{nest}")
    recorder.send_signal(signal.SIGINT)
    recorder.wait(20)
    kept = json.loads(subprocess.run([NICPROBE, "show", "-j", "--total", "--from", FILE], stdout=subprocess.PIPE, check=True).stdout)
    same(f"{name}: who has read since before the last meter came was told the same", kept["lost"]["events"],
         doc["lost"]["events"])
    lack = doc.get("may_lack", {})
    same(f"{name}: neither drop nor txlat may lack anything", [lack.get("drop", 0), lack.get("txlat", 0)], [0, 0])
    # an event that several want is missed by each of them
    check(f"{name}: what others may lack is what was missed",
          max(lack.values(), default=0) <= doc["lost"]["events"] <= sum(lack.values()), f"{doc['lost']}, {lack}")
    nicprobe("detach", where)


def consumed(ns, nic):
    """Pings are consumed in softirqs, and some come in the program that runs for a datagram of the task: none of these is
    a packet that the tap has sent. Those are read in a task, and each of them is seen."""
    name, where, written = "consumed", f"{ns}/tap0", 0
    ns.ip("link set tap0 txqueuelen 20000")
    nic("reset")
    nic("read on")
    nicprobe("attach", "-m", "txlat", "--sample", 1, where)
    reader = subprocess.Popen(["ip", "netns", "exec", str(ns), sys.executable, "-c", READER], text=True, stdin=subprocess.PIPE)
    reader.stdin.write("\n")
    reader.stdin.flush()
    while reader.poll() is None and written < MOST:
        nic(f"send 0 {BATCH} 100 icmp dst=10.0.0.1 src=10.0.0.2")
        written += nic("go")["sent"]
    same(f"{name}: the task ended well", reader.wait(), 0)
    until(lambda: not sum(r["in_flight"] for r in show(where)["meters"]["txlat"]), 2)
    doc, row = show(where), show(where)["meters"]["txlat"][0]
    missed = sum(p.get("recursion_misses", 0) for p in json.loads(sh("bpftool -j prog show")) if p.get("name") == "consume_skb")
    # under emulation a task is hardly ever interrupted there
    check(f"{name}: interrupts came in the program # {missed}", missed > 0 or "PACKETS" in os.environ)
    same(f"{name}: each packet that the tap has sent is completed",
         (row["completion_seconds"]["count"], nonzero(row["lost"])), (SENT // 10, {}))
    if KERNEL < (7, 0):         # since then tasks are put aside within the program
        same(f"{name}: txlat lacks nothing", (doc.get("may_lack", {}), doc["lost"]["events"]), ({}, 0))
    nicprobe("detach", where)


need_root()
DIR = tempfile.mkdtemp(prefix="nicprobe-nested-")
atexit.register(shutil.rmtree, DIR, ignore_errors=True)
FILE = f"{DIR}/nested.rec"
left.own_bpffs()
if KERNEL < (6, 4) or len(CPUS) < 2:
    skip("nested", "needs BPF netfilter programs, and two CPUs")
    finish()
space = Namespace("nested")
device = tap(space, "tap0", queues=1, address="10.0.0.1/24")
space.ip("neigh add 10.0.0.9 lladdr 02:00:00:00:00:09 dev tap0")
space.run("sysctl -qw net.ipv4.icmp_ratelimit=0 net.core.netdev_max_backlog=100000", check=False)
space.run(f"sh -c 'echo {1 << CPUS[-1]:x} > /sys/class/net/tap0/queues/rx-0/rps_cpus'")
untouched = left.Before(space)
# not ICMP's replies: they are local output, too, and dropped as well
space.run("ip route add blackhole 10.0.0.2")
rule = inside(space, lambda: bpf.netfilter(3))      # NF_INET_LOCAL_OUT
nested(space, device, "nested", "orderly")
nested(space, device, "nested, a tap as it is", "")
os.close(rule)
consumed(space, device)
untouched.check("nested: nothing is left")
finish()

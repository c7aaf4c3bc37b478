# SPDX-License-Identifier: GPL-2.0
"""Packets freed in an interrupt during another free, whose first event qdisc and skblife miss: none must seem to wait
forever."""
import subprocess
import sys

from lib import bpf
from lib.lab import *
from lib.traced import Watch
from lib.wire import inside

SENT, BATCH = 30000, 5000
CPUS = sorted(os.sched_getaffinity(0))

# In a task, on the interrupted CPU: netfilter drops each datagram at a point that allows softirqs.
SENDER = f"""
import os, socket
os.sched_setaffinity(0, [{CPUS[-1]}])
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.connect(("10.0.0.9", 9))
for i in range({SENT}):
    try:
        s.send(b"x")
    except OSError:
        pass
"""


def backlog(netns):
    return int(netns.run("tc -s qdisc show dev tap0 root").split("backlog ")[1].split("b ")[1].split("p")[0])


def one_run():
    """Figures of a storm of frees; the misses of the programs; and events for which the kernel ran none."""
    watch = Watch()
    nicprobe("attach", "-m", "qdisc,skblife,drop", "--sample", "1", where)
    sender = subprocess.Popen(["ip", "netns", "exec", str(a), sys.executable, "-c", SENDER])
    written = 0
    while sender.poll() is None and written < 60 * BATCH:
        nic(f"send 0 {BATCH} 100 udp dport=9 flows=16 dst=10.0.9.1 src=10.0.0.2")
        written += nic("go")["sent"]
    sender.wait()
    until(lambda: not backlog(a))
    until(lambda: not alive(show(where)), 2)
    doc = show(where)
    nest = {p["name"]: p["recursion_misses"] for p in json.loads(sh("bpftool -j prog show"))
            if p.get("recursion_misses") and p["name"].startswith(("kfree_skb", "consume_skb", "life_", "qdisc_"))}
    untraced = sum(watch.untraced().values())
    watch.close()
    nicprobe("detach", where)
    return doc, nest, untraced


def alive(doc):
    return {(r["way"], r["queue"], r["stage"]): r["now"] for r in doc["meters"]["skblife"] if r["now"]}


def ends():
    for _ in tries(3, "no interrupt came in the program"):
        doc, nest, untraced = one_run()
        if any(program.startswith("kfree_skb") for program in nest):
            break
    else:
        skip("ends: interrupts came in the program", "there was none in 3 runs")
    rows = [r for r in doc["meters"]["qdisc"] if r["qdisc"] == "tbf"]
    dropped = sum(r["dropped"]["by-qdisc"] for r in rows)
    drops = sum(r["packets"] for r in doc["meters"]["drop"] if r["who"] == "qdisc")
    print(f"# ends: {drops} dropped by tbf, missed by the programs: {nest}; not traced: {untraced}", flush=True)
    if not drops:
        skip("ends: the qdisc drops", "this machine was too slow for it to be full")
    same("ends: the drops are those that the meter drop has", dropped, drops)
    # Packets whose end fell where the kernel ran no program are not known to have ended; no others.
    waits = sum(r["waiting"] + r["lost"]["vanished"] for r in rows)
    check(f"ends: none waits, none vanished # {waits}", waits <= untraced, f"{waits}, and {untraced} not traced")
    lives = sum(alive(doc).values())
    check(f"ends: none lives on # {lives}", lives <= untraced, f"{alive(doc)}, and {untraced} not traced")


need_root()
if KERNEL < (6, 4) or len(CPUS) < 2:
    skip("ends", "needs BPF netfilter programs, and two CPUs")
    finish()
a = Namespace("ends")
nic = tap(a, queues=1, address="10.0.0.1/24", mtu=1500)
where = f"{a}/tap0"
nic("read on")
a.run("sysctl -qw net.ipv4.ip_forward=1 net.ipv4.conf.all.send_redirects=0 net.ipv4.conf.tap0.send_redirects=0 "
      "net.ipv4.conf.all.rp_filter=0 net.core.netdev_max_backlog=100000", check=False)
for address in "10.0.0.9", "10.0.0.3":
    a.ip(f"neigh add {address} lladdr 02:00:00:00:00:09 dev tap0")
a.ip("route add 10.0.9.0/24 via 10.0.0.3 dev tap0")
a.run("tc qdisc replace dev tap0 root tbf rate 20mbit burst 4000 limit 20000")
a.run(f"sh -c 'echo {1 << CPUS[-1]:x} > /sys/class/net/tap0/queues/rx-0/rps_cpus'")
rule = inside(a, lambda: bpf.netfilter(3))      # NF_INET_LOCAL_OUT
ends()
os.close(rule)
finish()

#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Interrupts of a real driver, counted by vector and CPU, compared with /proc/interrupts.

irq_test.py [INTERFACE]: inside a virtual machine; the interface is up and has an IPv4 address, and the first
address of its network (or the second, if the first is ours) answers pings. Without: all of the guest's cards.
"""
import ipaddress
import os
import re
import socket
import struct
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "live"))
from lib.lab import *  # noqa: E402

need_root()
if len(sys.argv) == 1:
    nicprobe("detach", "--all")     # left by an attempt that ended early
    # A virtual function has an e1000e's vectors, vmxnet3 an igb's.
    cards = [words.split("=")[1] for words in os.environ.get("NICS", "").split()
             if os.environ.get("VM") == "long" or words.split("=")[0] not in ("igbvf", "vmxnet3")]
    sys.exit(any([subprocess.run([sys.executable, __file__, card]).returncode for card in cards]))
IFACE = sys.argv[1]
CPUS = sorted(os.sched_getaffinity(0))
DRIVER = re.search(r"driver: (\S+)", sh(f"ethtool -i {IFACE}"))[1]
NAME = f"irq {os.uname().release.split('-')[0].split('+')[0]} {DRIVER}"


ASKED = "ena-mgmnt@"    # each request to this card causes an interrupt, and show makes some; it also has one per second


def interrupts():
    """{number: (name, {cpu: count})}"""
    with open("/proc/interrupts") as f:
        cpus = [int(c[3:]) for c in f.readline().split()]
        found = {}
        for line in f:
            words = line.split()
            if words[0][:-1].isdigit() and len(words) > len(cpus) + 3:
                found[int(words[0][:-1])] = words[-1], dict(zip(cpus, map(int, words[1:])))
    return found


def vectors():
    """Those of this device: listed in sysfs, or named after it."""
    for where in "device/msi_irqs", "device/../msi_irqs":
        path = f"/sys/class/net/{IFACE}/{where}"
        if os.path.isdir(path):
            mine = {int(n) for n in os.listdir(path)}
            return {n: v for n, v in interrupts().items() if n in mine and not v[0].startswith(ASKED)}
    return {n: v for n, v in interrupts().items() if v[0] == IFACE}


def grown(now, before):
    """{(name, cpu): growth}"""
    found = {}
    for n, (name, counts) in now.items():
        for cpu, count in counts.items():
            if count - before.get(n, (0, {}))[1].get(cpu, 0):
                found[name, cpu] = count - before.get(n, (0, {}))[1].get(cpu, 0)
    return found


def rows(doc):
    return {(r["vector"], int(r["cpu"])): r for r in doc["meters"]["irq"] if not r["vector"].startswith(ASKED)}


def peer():
    net = ipaddress.ip_interface(re.search(r"inet (\S+)", sh(f"ip -4 addr show dev {IFACE}"))[1])
    return next(str(h) for h in net.network.hosts() if h != net.ip)


def flood(cpu, count):
    """Pings the peer from one CPU, as fast as it replies."""
    os.sched_setaffinity(0, [cpu])
    with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP) as s:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, IFACE.encode())
        s.settimeout(.05)
        for i in range(count):
            echo = struct.pack("!BBHHH", 8, 0, 0, 0x6e70, i & 0xffff)
            total = sum(struct.unpack("!4H", echo))
            total = (total & 0xffff) + (total >> 16)
            s.sendto(echo[:2] + struct.pack("!H", total ^ 0xffff) + echo[4:], (PEER, 0))
            try:
                s.recv(2048)
            except TimeoutError:
                pass
    os.sched_setaffinity(0, CPUS)


def traffic(count=240):
    """Floods the peer from each CPU in turn, so that every transmit queue gets packets."""
    for cpu in CPUS:
        flood(cpu, count)


def quiet(act):
    """Repeats act() until no interrupt occurs meanwhile: (its result, the interrupts). Some drivers have one every 2
    seconds."""
    for _ in range(50):
        before = vectors()
        result = act()
        after = vectors()
        if before == after:
            return result, after
        time.sleep(.05)
    raise RuntimeError(f"the interface is never quiet: {grown(after, before)}")


def attached():
    """The interrupts at a quiet moment after the attach, from nicprobe and from the kernel."""
    nicprobe("attach", IFACE, "-m", "irq")
    return quiet(lambda: show(IFACE))


def counts(doc):
    """By vector and CPU: a vector requested again may have another number, and is another row."""
    found = {}
    for r in doc["meters"]["irq"]:
        key = r["vector"], int(r["cpu"])
        found[key] = found.get(key, 0) + r["interrupts"] * (not r["vector"].startswith(ASKED))
    return nonzero(found)


def compare(name, start):
    """Between two quiet moments both counted the same, on the same CPUs."""
    doc, now = quiet(lambda: show(IFACE))
    old = counts(start[0])
    got = {k: n - old.get(k, 0) for k, n in counts(doc).items() if n - old.get(k, 0)}
    want = grown(now, start[1])
    same(f"{NAME} {name}: as /proc/interrupts # {sum(want.values())} of {len({k[0] for k in want})} "
         f"vectors on {len({k[1] for k in want})} CPUs", got, want)
    bad = [k for k, r in rows(doc).items() if r["handler_seconds"]["count"] != r["interrupts"]]
    check(f"{NAME} {name}: a time for each handler", not bad, str(bad))
    same(f"{NAME} {name}: nothing lost", doc["lost"].get("irq"), 0)
    return doc


class Tracer:
    """The kernel's own trace of the polls of this interface, in an instance of ours."""
    def __init__(self):
        self.path = f"/sys/kernel/tracing/instances/irq_test{os.getpid()}"
        os.mkdir(self.path)
        self.put("buffer_size_kb", 8192)
        self.put("events/napi/napi_poll/enable", 1)

    def put(self, file, value):
        with open(f"{self.path}/{file}", "w") as f:
            f.write(str(value))

    def polls(self):
        with open(f"{self.path}/trace") as f:
            return sum(f"for device {IFACE} " in line for line in f)

    def close(self):
        self.put("events/napi/napi_poll/enable", 0)
        os.rmdir(self.path)


def trace_polls(name):
    """As many polls as in the kernel's trace, between two quiet moments."""
    try:
        tracer = Tracer()
    except OSError as e:
        return skip(f"{NAME} {name}: as many polls as traced", str(e))
    (doc, old), _ = quiet(lambda: (show(IFACE), tracer.polls()))
    traffic(100)
    (now, new), _ = quiet(lambda: (show(IFACE), tracer.polls()))
    tracer.close()
    same(f"{NAME} {name}: as many polls as traced # {new - old}",
         sum(r["polls"] for r in rows(now).values()) - sum(r["polls"] for r in rows(doc).values()), new - old)


def serves(vector):
    """The queue in a name, parsed independently of nicprobe."""
    last = re.search(r"(input|output|TxRx|Tx-Rx|rxtx|rx|tx)[-.](\d+)$", vector)
    if not last:
        return "all queues" if len(vectors()) == 1 and QUEUES > 1 else "queue 0" if len(vectors()) == 1 else "-"
    return {"input": "rx", "output": "tx", "rx": "rx", "tx": "tx"}.get(last[1], "queue") + " " + last[2]


def polls(doc, name):
    """For a receive queue: polls, and times from interrupt to poll."""
    tot = {}
    for (vector, cpu), r in rows(doc).items():
        t = tot.setdefault(vector, [r["serves"], 0, 0, 0, 0])
        for i, n in enumerate((r["interrupts"], r["polls"], r["to_poll_seconds"]["count"], r["packets"])):
            t[1 + i] += n
    for vector, (what, came, polled, timed, packets) in sorted(tot.items()):
        print(f"# {vector}: {what}: {came} interrupts, {polled} polls, {timed} timed, {packets} packets")
    busy = [v for v, t in tot.items() if t[1] >= 100 and t[0].split()[0] in ("queue", "rx", "all")]
    check(f"{NAME} {name}: every busy receive queue polled, and timed # {len(busy)}",
          busy and all(tot[v][2] and 0 < tot[v][3] <= min(tot[v][1], tot[v][2]) for v in busy), str(tot))
    check(f"{NAME} {name}: packets", sum(t[4] for t in tot.values()) >= 200 * len(CPUS), str(tot))
    return tot


def move(irq, cpu):
    try:
        with open(f"/proc/irq/{irq}/smp_affinity_list", "w") as f:
            f.write(str(cpu))
    except OSError:
        return False
    return True


def spread(place):
    """Puts each vector on the CPU that `place` returns for its rank."""
    moved = [move(irq, place(i)) for i, irq in enumerate(sorted(vectors()))]
    traffic(50)     # x86 moves an interrupt at its next occurrence
    return all(moved)


sh(f"sysctl -qw net.ipv6.conf.{IFACE}.disable_ipv6=1", check=False)
if not vectors():
    r = nicprobe("attach", IFACE, "-m", "irq", check=False)
    check(f"{NAME}: refused where there is none", r.returncode and "interrupt" in r.stderr, r.stderr)
    skip(NAME, f"{IFACE} has no interrupts of its own")
    finish()
PEER = peer()
QUEUES = len([q for q in os.listdir(f"/sys/class/net/{IFACE}/queues") if q.startswith("rx-")])

# 1. Counts equal the kernel's, by vector and CPU.
start = attached()
traffic()
doc = compare("alike", start)
polls(doc, "alike")
wrong = {v: (r["serves"], serves(v)) for (v, _), r in rows(doc).items() if r["serves"] != serves(v)}
check(f"{NAME}: what each vector serves", not wrong, str(wrong))
numbers = {(r["vector"], int(r["irq"])) for r in rows(doc).values()}
trace_polls("alike")
check(f"{NAME}: their numbers", numbers <= {(v[0], n) for n, v in vectors().items()}, str(numbers))
nicprobe("detach", IFACE)

# 2. Each moved to another CPU while attached. An interrupt that occurs while its handler still runs on the old CPU
# makes that run again, which /proc/interrupts does not count (handle_edge_irq(), IRQS_PENDING).
start = attached()
moved = spread(lambda i: CPUS[(i + 1) % len(CPUS)])
settled = quiet(lambda: show(IFACE))


def by_vector(counted):
    found = {}
    for (vector, _), n in counted.items():
        found[vector] = found.get(vector, 0) + n
    return nonzero(found)


old, new = by_vector(counts(start[0])), by_vector(counts(settled[0]))
want = by_vector(grown(settled[1], start[1]))
more = {v: n - old.get(v, 0) - want.get(v, 0) for v, n in new.items()}
check(f"{NAME} while it was moved: one handled twice at the most # {sum(more.values())} of {sum(want.values())}",
      all(0 <= n <= 1 + want.get(v, 0) // 50 for v, n in more.items()), str(nonzero(more)))
traffic()
compare("moved" if moved else "not to be moved", settled)
nicprobe("detach", IFACE)


def renewed(name, command):
    """The counts continue through `command`; vectors that it creates are counted from their first interrupt."""
    attached()
    traffic(100)
    try:
        sh(command)
    except RuntimeError as e:
        nicprobe("detach", IFACE)
        return skip(f"{NAME} {name}", str(e))
    until(lambda: sh(f"cat /sys/class/net/{IFACE}/carrier", check=False).strip() == "1", 10)
    time.sleep(1)
    traffic(50)     # the driver may have moved its interrupts
    start = quiet(lambda: show(IFACE))
    traffic(200)
    compare(name, start)
    nicprobe("detach", IFACE)


# 3. Requested again while attached.
renewed("down and up", f"ip link set {IFACE} down && ip link set {IFACE} up")
renewed("fewer queues", f"ethtool -L {IFACE} combined 1")
renewed("more queues", f"ethtool -L {IFACE} combined {QUEUES}")
finish()

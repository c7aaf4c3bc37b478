# SPDX-License-Identifier: GPL-2.0
"""The time of attach, show and detach, their system calls, and the memory of the maps.
`show` is measured after packets on every queue, and again after drops, when it has to look up names
of kernel functions. `further` is the attach of a second interface, `first_of_two` the detach of the first
while the second is attached. `true` is measured alternately, for comparison."""
import os
import re
import shutil
import statistics
import subprocess
import tempfile
import time

from children import Bench, lab, pins
from tell import Wrong, done, progress

QUEUES = [1, 4, 16, 64, 256]
METERS = ["default", "all"]
BESIDE = 64	# queues of two interfaces that are attached at once
SHOWS = 20	# in each round


def spawned(program, *args):
    """(wall ms, CPU ms) of a process that must succeed, without the overhead of Python."""
    out = os.open("/dev/null", os.O_WRONLY)
    began = time.monotonic()
    pid = os.posix_spawn(program, [program, *args], os.environ,
                         file_actions=[(os.POSIX_SPAWN_DUP2, out, 1),
                                       (os.POSIX_SPAWN_DUP2, out, 2)])
    _, status, usage = os.wait4(pid, 0)
    wall = time.monotonic() - began
    os.close(out)
    if status:
        raise RuntimeError(f"{program} {' '.join(args)}: status {status}")
    return 1000 * wall, 1000 * (usage.ru_utime + usage.ru_stime)


def timed(*args):
    return spawned(lab.NICPROBE, *args)


def shows(where, times, name, rounds):
    """Measures `show` alternately with `true`, the minimum for any process."""
    for _ in range(rounds):
        times.setdefault(name, []).append(timed("show", "--total", where))
        times["true"].append(spawned(shutil.which("true")))


def syscalls(*args):
    """{name: count}; None without strace."""
    if not shutil.which("strace"):
        return None
    with tempfile.NamedTemporaryFile("r") as out:
        r = subprocess.run(["strace", "-f", "-c", "-o", out.name, lab.NICPROBE, *args],
                           capture_output=True, text=True, timeout=60)
        table = out.read()
    if r.returncode:
        return None
    # "% time  seconds  usecs/call  calls  [errors]  syscall"
    rows = re.findall(r"^ *[\d.]+ +[\d.]+ +\d+ +(\d+) +(?:\d+ +)?(\w+)$", table, re.M)
    return {name: int(calls) for calls, name in rows if name != "total"}


def verified(*args):
    """The milliseconds that the kernel takes to verify and translate the programs of a command, if all CPUs do it at
    once; None without strace."""
    if not shutil.which("strace"):
        return None
    with tempfile.NamedTemporaryFile("r") as out:
        subprocess.run(["strace", "-f", "-T", "-e", "trace=bpf", "-o", out.name, lab.NICPROBE, *args], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=60)
        lines = out.read().splitlines()
    took, within = 0, {}	# {thread: the command of its call}
    for line in lines:
        thread, _, call = line.partition(" ")
        command = re.search(r"bpf\((\w+)", call)
        within[thread] = command[1] if command else within.get(thread)
        end = re.search(r" <([\d.]+)>$", call)
        if end and within[thread] == "BPF_PROG_LOAD":
            took += float(end[1])
    return round(1e3 * took / os.cpu_count(), 1)


def busy(packet, nic, queues, kind):
    """Sends and receives a frame on every queue, so that no row is empty."""
    for end, what in (packet, "v4 udp"), (nic, kind):
        for queue in range(queues):
            end(f"send {queue} 1 64 {what}")
        end("go")
    time.sleep(.1)


def check(where, queues, calm):
    """Checks that every queue has counts, and that packets were dropped unless `calm`."""
    counts, doc = {}, lab.show(where)
    for row in doc["meters"]["pktsize"]:
        if row["point"] in ("rx-nic", "tx-nic") and row["packet_size_bytes"]["count"]:
            counts.setdefault(row["point"], set()).add(row["queue"])
    for point in ("rx-nic", "tx-nic"):
        if len(counts.get(point, ())) != queues:
            raise Wrong(f"{len(counts.get(point, ()))} of {queues} queues have packets at {point}")
    if bool(doc["meters"]["drop"]) == calm:
        raise Wrong(f"{len(doc['meters']['drop'])} places where packets were dropped")


def early(values):
    """As the CPU is shared: of a command that was run many times the fifth percentile, of others the lower quartile."""
    values = list(values)
    return round(statistics.quantiles(values, n=20 if len(values) >= SHOWS else 4, method="inclusive")[0], 2)


class Card:
    """A tap, the NIC behind it and a sender."""
    def __init__(self, netns, name, queues, address):
        self.where, self.queues = f"{netns}/{name}", queues
        self.nic = lab.tap(netns, name, queues, "--napi --steer", address=address)
        self.packet = lab.Nic(f"packet {name} --queues {queues}", netns)
        self.packet("read on")	# otherwise received frames fill its buffers
        self.nic("read on")

    def count(self, kind):
        """Packets on every queue, of which nicprobe has counted all."""
        busy(self.packet, self.nic, self.queues, kind)
        check(self.where, self.queues, kind == "arp")

    def close(self):
        self.packet.close()
        self.nic.close()


def beside(cards, chosen, times):
    """The first of two interfaces is attached: attaches the second, and detaches the first."""
    first, second = cards
    times.setdefault("further", []).append(timed("attach", second.where, *chosen))
    for card in cards:
        card.count("v4 udp")
    times.setdefault("first_of_two", []).append(timed("detach", first.where))
    second.count("v4 udp")
    timed("detach", second.where)


def cycle(trace, netns, cards, queues, meters, rounds):
    where = cards[0].where
    chosen = [] if meters == "default" else ["-m", meters]
    times, calls = {"attach": [], "detach": [], "true": []}, {}
    for n in range(rounds):
        times["attach"].append(timed("attach", where, *chosen))
        if not n:
            memory = trace(f"maps {pins(netns, 'tap0')}")
            # the kernel ignores ARP requests for other addresses; it drops UDP to closed ports
            for name, kind in ("show", "arp"), ("show_drops", "v4 udp"):
                cards[0].count(kind)
                shows(where, times, name, SHOWS * rounds)
                calls[name] = syscalls("show", "--total", where)
        times["detach"].append(timed("detach", where))
        if len(cards) > 1:
            timed("attach", where, *chosen)
            beside(cards, chosen, times)
    row = {"queues": queues, "meters": meters, "verified_ms": verified("attach", where, *chosen),
           "memory": memory, "bytes": sum(memory.values()), "syscalls": calls}
    timed("detach", where)
    for name, took in times.items():
        row[name] = {"ms": early(t[0] for t in took), "least": round(min(took)[0], 2),
                     "cpu_ms": early(t[1] for t in took)}
    return row


def part(quick):
    trace, rows = Bench("trace"), []
    rounds = 3 if quick else 5
    for queues in [1, 64] if quick else QUEUES:
        netns = lab.Namespace(f"queues{queues}")
        cards = [Card(netns, f"tap{n}", queues, f"10.77.{n}.1/24") for n in range(1 + (queues == BESIDE))]
        for meters in METERS:
            progress(f"attach, show, detach: {queues} queues, {meters}")
            rows.append(cycle(trace, netns, cards, queues, meters, rounds))
        for card in cards:
            card.close()
        netns.delete()
    trace.close()
    done()
    return {"rounds": rounds, "rows": rows}

# SPDX-License-Identifier: GPL-2.0
"""What the tool takes: to attach, to show, to detach; system calls, and memory of maps.
`show` twice: when every queue has had packets, and when some of them were dropped besides:
then it has to find the names of functions in the kernel. Beside it `true`, which does nothing."""
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


def spawned(program, *args):
    """(ms by the clock, ms of CPU) of a process that must succeed; without Python's own."""
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
    """In turns with a process that does nothing: so much is to be had for any program."""
    for _ in range(rounds):
        times.setdefault(name, []).append(timed("show", "--total", where))
        times["true"].append(spawned(shutil.which("true")))


def syscalls(*args):
    """{name: how many}; None where strace is not to be had."""
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


def busy(packet, nic, queues, kind):
    """A frame out of every queue, and one into it: then every row has something to show."""
    for end, what in (packet, "v4 udp"), (nic, kind):
        for queue in range(queues):
            end(f"send {queue} 1 64 {what}")
        end("go")
    time.sleep(.1)


def check(where, queues, calm):
    """Every queue has something to show, and drop as we want it."""
    counts, doc = {}, lab.show(where)
    for row in doc["meters"]["pktsize"]:
        if row["point"] in ("rx-nic", "tx-nic") and row["packet_size_bytes"]["count"]:
            counts.setdefault(row["point"], set()).add(row["queue"])
    for point in ("rx-nic", "tx-nic"):
        if len(counts.get(point, ())) != queues:
            raise Wrong(f"{len(counts.get(point, ()))} of {queues} queues have packets at {point}")
    if bool(doc["meters"]["drop"]) == calm:
        raise Wrong(f"{len(doc['meters']['drop'])} places where packets were dropped")


def quartile(values):
    """The lower one: others use the CPU, too."""
    return round(statistics.quantiles(values, n=4, method="inclusive")[0], 2)


def cycle(trace, netns, nic, packet, queues, meters, rounds):
    where = f"{netns}/tap0"
    chosen = [] if meters == "default" else ["-m", meters]
    times, calls = {"attach": [], "detach": [], "true": []}, {}
    for n in range(rounds):
        times["attach"].append(timed("attach", where, *chosen))
        if not n:
            memory = trace(f"maps {pins(netns, 'tap0')}")
            # what asks for another's address the kernel takes and forgets; UDP to nobody it drops
            for name, kind in ("show", "arp"), ("show_drops", "v4 udp"):
                busy(packet, nic, queues, kind)
                check(where, queues, kind == "arp")
                shows(where, times, name, 5 * rounds)
                calls[name] = syscalls("show", "--total", where)
        times["detach"].append(timed("detach", where))
    row = {"queues": queues, "meters": meters,
           "memory": memory, "bytes": sum(memory.values()), "syscalls": calls}
    for name, took in times.items():
        row[name] = {"ms": quartile(t[0] for t in took), "least": round(min(took)[0], 2),
                     "cpu_ms": quartile(t[1] for t in took)}
    return row


def part(quick):
    trace, rows = Bench("trace"), []
    rounds = 3 if quick else 5
    for queues in [1, 64] if quick else QUEUES:
        netns = lab.Namespace(f"queues{queues}")
        nic = lab.tap(netns, "tap0", queues, "--napi --steer", address="10.77.0.1/24")
        packet = lab.Nic(f"packet tap0 --queues {queues}", netns)
        packet("read on")	# or what comes in fills its memory
        nic("read on")
        for meters in METERS:
            progress(f"attach, show, detach: {queues} queues, {meters}")
            rows.append(cycle(trace, netns, nic, packet, queues, meters, rounds))
        packet.close()
        nic.close()
        netns.delete()
    trace.close()
    done()
    return {"rounds": rounds, "rows": rows}

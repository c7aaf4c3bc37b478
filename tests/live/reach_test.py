# SPDX-License-Identifier: GPL-2.0
"""Who reads again and again leaves out the rows of queues that the interface has not got, and misses nothing when it gets
them: a recording across changes of the channels, and what its recorder reads."""
import re
import shutil
import tempfile

from lib.lab import *

need_root()
ALL, FEW, LATER = 64, 2, 40     # queues allocated; in use at first; one of those in use later
a, b = Namespace("a"), Namespace("b")
veth(a, b, queues=ALL)
a.ip("addr add 198.18.0.1/24 dev eth0")
a.ip("neigh replace 198.18.0.2 lladdr 02:00:00:00:00:02 dev eth0")
IFACE = f"{a}/eth0"
DIR = tempfile.mkdtemp(prefix="nicprobe-reach-")
atexit.register(sh, f"rm -rf {DIR}", check=False)


def queues(n):
    a.run(f"ethtool -L eth0 rx {n} tx {n}")


def by_queue(doc):
    """{queue: packets} that were sent."""
    return {q: h["count"] for q, h in sizes_at(doc, "tx-nic").items() if h["count"]}


def send(queue, count):
    """UDP datagrams by this queue alone."""
    for q in range(int(re.findall(r"TX:\s+(\d+)", a.run("ethtool -l eth0"))[1])):
        a.run(f"sh -c 'echo {'3' if q == queue else '0'} >/sys/class/net/eth0/queues/tx-{q}/xps_cpus'")
    a.run("python3 -c 'import socket; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
          f"for _ in range({count}): s.sendto(b\"x\", (\"198.18.0.2\", 9))'")


def recorder(file, interval, *prefix):
    p = subprocess.Popen([*prefix, NICPROBE, "record", file, IFACE, "-i", interval], stderr=subprocess.PIPE, text=True)
    until(lambda: os.path.exists(file) and os.path.getsize(file) > 1000 or p.poll() is not None)
    return p


def end(p, child=None):
    os.kill(child or p.pid, signal.SIGINT)
    return p.communicate(timeout=60)[1]


def from_file(file, *args):
    """Without the options that nicprobe() adds to show."""
    return json.loads(subprocess.run([NICPROBE, "show", "--from", file, "-j", *args], stdout=subprocess.PIPE, check=True).stdout)


def bytes_mapped(log):
    """How much of the map of napi was mapped, by reading."""
    readings, name = [], ""
    for line in log:
        if opened := re.search(r'BPF_OBJ_GET.*/(\w+)"', line):
            name = opened[1]
            readings += [0] if name == "napi" else []
        elif name == "napi" and (mapped := re.search(r"mmap\(NULL, (\d+), PROT_READ, MAP_SHARED, ", line)):
            readings[-1] += int(mapped[1])
    return readings


def shown(log):
    """The bytes that are mapped to show it once."""
    subprocess.run(["strace", "-qq", "-e", "trace=bpf,mmap", "-o", log, NICPROBE, "show", "-t", IFACE], check=True,
                   stdout=subprocess.DEVNULL)
    with open(log, encoding="utf-8") as f:
        return bytes_mapped(f)[0]


def test_changes():
    """Few queues, then all, then few again: each packet is in the recording, and in the window in which it went. All of it
    is over before the 16th reading, which is whole in any case."""
    queues(FEW)
    nicprobe("attach", IFACE, "-m", "pktsize,napi")
    file = f"{DIR}/changes"
    p = recorder(file, ".4")
    marks = []
    for n, queue, count in ((FEW, 1, 20), (ALL, LATER, 30), (FEW, 0, 50)):
        queues(n)
        begin = time.time()
        send(queue, count)
        time.sleep(.8)
        marks.append((queue, count, begin, time.time()))
        time.sleep(.6)
    end(p)
    for queue, count, begin, then in marks:
        window = by_queue(from_file(file, "--between", f"@{begin - .9:.3f}", f"@{then:.3f}"))
        same(f"reach: in its window: {count} packets of queue {queue}", window, {queue: count})
    whole = by_queue(from_file(file, "-t"))
    same("reach: the recording has all queues", whole, by_queue(show(IFACE)))
    same("reach: each of those that sent", {q: whole[q] for q in (1, LATER, 0)}, {1: 20, LATER: 30, 0: 50})
    nicprobe("detach", IFACE)


def test_left_out():
    """Of 64 queues it reads those that were in use at attach, from the first reading on; all once there was another; then
    those in use, but for the first reading, and now and then: seen where frames are so rare that nothing stays mapped
    between them."""
    if not shutil.which("strace"):
        skip("reach: what is read", "no strace")
        return
    queues(FEW)
    nicprobe("attach", IFACE, "-m", "pktsize,napi")
    log, file = f"{DIR}/log", f"{DIR}/few"
    near = shown(log)
    queues(ALL)
    same("reach: more queues, without packets", shown(log), near)
    send(LATER, 1)
    queues(FEW)
    far = shown(log)
    check(f"reach: all rows, once another queue had packets # {near}, {far} bytes", 0 < near < far / 8)
    same("reach: that queue is shown", by_queue(show(IFACE))[LATER], 1)
    p = recorder(file, "2.2", "strace", "-qq", "-e", "trace=bpf,mmap", "-o", log)
    time.sleep(9)
    with open(f"/proc/{p.pid}/task/{p.pid}/children", encoding="ascii") as f:
        said = end(p, int(f.read().split()[0]))
    frames = int(re.search(r"(\d+) frames", said)[1])
    with open(log, encoding="utf-8") as f:
        read = bytes_mapped(f)
    whole = [nr for nr, n in enumerate(read) if n == read[0]]
    check(f"reach: the rows of queues in use are read # {read}", len(read) >= 4 and len(whole) <= 2 + len(read) // 16 and
          all(0 < n < read[0] / 8 for nr, n in enumerate(read) if nr not in whole), f"{frames} frames: {read}")
    nicprobe("detach", IFACE)


each(test_changes, test_left_out)
finish()

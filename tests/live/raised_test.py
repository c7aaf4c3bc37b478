#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""The memory of a NAPI that another interface's had before: its polls are counted as its own at once, and its waits from
its first poll on. Both as the interface whose programs are at the events, and as one that they call."""
import fcntl
import struct

from lib import left
from lib.lab import *
from lib.wire import inside

need_root()
left.own_bpffs()
TUNSETIFF, TAP = 0x400454ca, 0x0002 | 0x1000 | 0x0100 | 0x0010    # IFF_TAP, _NO_PI, _MULTI_QUEUE, _NAPI
TIMES, FRAMES = 40, 10
FRAME = b"\xff" * 6 + b"\x02" * 6 + b"\x88\xb5" + bytes(86)     # an EtherType for experiments
space = Namespace("raised")
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})     # what was looked up is kept by CPU


def queue(name):
    """A queue of the tap, with a NAPI of its own; it ends when it is closed, and with the last one the tap."""
    fd = inside(space, lambda: os.open("/dev/net/tun", os.O_RDWR))
    fcntl.ioctl(fd, TUNSETIFF, struct.pack("16sH14x", name.encode(), TAP))
    return fd


def receive(fd, count):
    """Each frame is a poll of one, in the softirq at the end of the write."""
    for _ in range(count):
        os.write(fd, FRAME)


def napi(name):
    """(packets, polls, waits), of all queues."""
    rows = show(f"{space}/{name}")["meters"].get("napi", [])
    return [sum(r["work"]["sum"] for r in rows), sum(sum(r["polls"].values()) for r in rows),
            sum(r["wait_seconds"]["count"] for r in rows)]


def reuse(first, second, mine, other):
    """`first` and then `second` are attached; again and again a queue of `other` ends, and one of `mine` begins."""
    name = f"a queue of {mine}, {'whose programs are at the events' if mine == first else 'which is called'}"
    keep = [queue(tap) for tap in (mine, other)]
    for tap in mine, other:
        space.ip(f"link set {tap} up")
    for tap in first, second:
        nicprobe("attach", "-m", "napi", f"{space}/{tap}")
    for _ in range(TIMES):
        fd = queue(other)
        receive(fd, FRAMES)
        os.close(fd)
        fd = queue(mine)        # the allocator mostly gives it what was freed last
        receive(fd, FRAMES)
        os.close(fd)
    total = TIMES * FRAMES
    for tap in mine, other:
        packets, polls, waits = napi(tap)
        same(f"{name}: {tap}: each frame is a poll of its own", [packets, polls], [total] * 2)
        check(f"{name}: {tap}: a new queue lacks one wait at most # {polls - waits} of {polls}",
              0 <= polls - waits <= TIMES, polls - waits)
    for tap in first, second:
        nicprobe("detach", f"{space}/{tap}")
    for fd in keep:
        os.close(fd)


reuse("tap0", "tap1", "tap0", "tap1")
reuse("tap0", "tap1", "tap1", "tap0")
finish()

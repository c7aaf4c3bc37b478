# SPDX-License-Identifier: GPL-2.0
"""Detects whether the kernel ran BPF programs at all tracepoints. Some kernels for virtual machines run none while
certain processes are current (nicprobe-meters(7), Missed events): a softirq on top of those is not counted. Perf events do count it,
so the difference to an empty program was not traced: an exact test repeats its action for this reason, and for no
other."""
import ctypes
import os
import struct

from lib import bpf
from lib.lab import sh, tries

PERF_EVENT_OPEN = {"x86_64": 298, "aarch64": 241}[os.uname().machine]
EVENTS = ("net/net_dev_queue", "net/net_dev_start_xmit", "net/net_dev_xmit", "net/netif_receive_skb", "net/netif_rx",
          "net/napi_gro_receive_entry", "qdisc/qdisc_dequeue", "skb/kfree_skb", "skb/consume_skb")
RAW_TRACEPOINT, OBJ_INFO, RAW_TRACEPOINT_OPEN, ENABLE_STATS = 17, 15, 17, 32
TRIES = 6


def numbers(events):
    """The ID of each of these tracepoints, without mounting tracefs permanently."""
    read = "; ".join(f"cat /sys/kernel/tracing/events/{e}/id || echo 0" for e in events)
    # mount may fail because it is mounted already
    return [int(n) for n in sh(f"unshare -m sh -c 'mount -t tracefs tracefs /sys/kernel/tracing; {read}' 2>/dev/null",
                               check=False).split()]


def counter(number, cpu):
    attr = struct.pack("IIQ", 2, 112, number).ljust(112, b"\0")     # PERF_TYPE_TRACEPOINT
    return bpf.libc.syscall(PERF_EVENT_OPEN, ctypes.create_string_buffer(attr, 112), -1, cpu, -1, 8)


class Watch:
    """From its creation on: the number of events without a program run."""
    def __init__(self, events=EVENTS):
        self.fds, self.at = [], {}
        self.keep(bpf.call(ENABLE_STATS, struct.pack("I", 0)))
        for event, number in zip(events, numbers(events)):
            counters = [counter(number, cpu) for cpu in os.sched_getaffinity(0)] if number else [-1]
            if min(counters) >= 0:
                program = bpf.program(RAW_TRACEPOINT, 0)
                name = ctypes.create_string_buffer(event.split("/")[1].encode())
                self.keep(program, bpf.call(RAW_TRACEPOINT_OPEN,
                                            struct.pack("QI", ctypes.addressof(name), program)), *counters)
                self.at[event] = (counters, program)
        self.before = {event: (self.runs(program), self.events(counters))       # in this order: see untraced()
                       for event, (counters, program) in self.at.items()}

    def keep(self, *fds):
        self.fds += fds

    def events(self, counters):
        return sum(struct.unpack("Q", os.read(fd, 8))[0] for fd in counters)

    def runs(self, program):
        """Runs, and events while the program was already running on that CPU: nicprobe counts those as missed."""
        info = ctypes.create_string_buffer(224)
        bpf.call(OBJ_INFO, struct.pack("IIQ", program, 224, ctypes.addressof(info)))
        return sum(struct.unpack_from("QQ", info.raw, 200))

    def untraced(self):
        """{event: lower bound}: events during the reading count in favour of the programs."""
        missing = {}
        for event, (counters, program) in self.at.items():
            seen = self.events(counters) - self.before[event][1]
            missing[event] = seen - (self.runs(program) - self.before[event][0])
        return {event: n for event, n in missing.items() if n > 0}

    def close(self):
        for fd in self.fds:
            os.close(fd)


class Untraced(SystemExit):
    """No attempt ran all programs: this proves nothing; uncaught, it ends the test as skipped."""


def traced(act, *args, most=TRIES, **kwargs):
    """The result of act(), which is repeated, with a message, while the kernel did not run all programs."""
    for left in tries(most, "the kernel did not run all programs"):
        watch = Watch()
        try:
            got = act(*args, **kwargs)
            missing = watch.untraced()
        finally:
            watch.close()
        if not missing:
            return got
        said = ", ".join(f"{n} {e}" for e, n in missing.items())
        print(f"# not traced: {said}" if left else
              f"skip {act.__name__}: in {most} tries the kernel did not run all programs: {said}", flush=True)
    raise Untraced(0)

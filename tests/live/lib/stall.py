# SPDX-License-Identifier: GPL-2.0
"""A wire that can be blocked: a veth whose far end reads nothing for a chosen time."""
import contextlib
import os
import time

from lib.lab import *


class Stalled:
    """The far end of the veth takes packets in a kernel thread (threaded NAPI), which only runs while nobody else wants
    its CPU. While a process of ours does, the ring between them (256 packets) fills up, and veth stops its queue (Linux
    6.16)."""
    def __init__(self, near, far, name="veth0"):
        self.cpu = max(os.sched_getaffinity(0))
        veth(near, far, name, 1)
        far.run(f"ethtool -K {name} gro on")
        near.run(f"ethtool -K {name} tso off")      # otherwise packets bypass NAPI
        before = self.threads(name)
        far.run(f"sh -c 'echo 1 > /sys/class/net/{name}/threaded'")
        thread, = self.threads(name) - before
        os.sched_setaffinity(thread, {self.cpu})
        self.thread = thread
        self.sender = Nic(f"packet {name} --queues 1 --no-cpu-pin", near)
        others = os.sched_getaffinity(0) - {self.cpu} or {self.cpu}
        os.sched_setaffinity(0, others)
        for task in os.listdir(f"/proc/{self.sender.p.pid}/task"):
            os.sched_setaffinity(int(task), others)

    @staticmethod
    def threads(name):
        return {int(pid) for pid in sh(f"pgrep napi/{name}", check=False).split()}

    @contextlib.contextmanager
    def stalled(self, seconds):
        """Reads nothing from the beginning of the block on, for at least this long."""
        os.sched_setscheduler(self.thread, os.SCHED_IDLE, os.sched_param(0))
        ready, go = os.pipe()
        child = os.fork()
        if not child:
            os.sched_setaffinity(0, {self.cpu})
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
            os.write(go, b"x")
            end = time.monotonic() + seconds
            while time.monotonic() < end:
                pass
            os._exit(0)
        os.read(ready, 1)
        self.since = time.monotonic()
        yield
        os.waitpid(child, 0)
        os.sched_setscheduler(self.thread, os.SCHED_OTHER, os.sched_param(0))
        self.until = time.monotonic()
        os.close(ready)
        os.close(go)

    def close(self):
        self.sender.close()

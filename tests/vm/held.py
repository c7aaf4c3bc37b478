# SPDX-License-Identifier: GPL-2.0
"""In a guest: a card whose driver completes nothing for a chosen time, and a sender on it."""
import contextlib
import mmap
import os
import re
import time

from lib import lab

BUSY, REST = 1, 0   # the CPU that is kept from the driver, and that of everything else


class Held:
    """The driver completes in its poll, which runs in a kernel thread (threaded NAPI) on one CPU. While a process of
    higher priority is busy there, nothing completes; when the process ends, everything does."""
    def __init__(self, card):
        self.card = card
        # Once: 6.12 rejects it after its fair servers were changed.
        lab.sh("[ $(sysctl -n kernel.sched_rt_runtime_us) = -1 ] || "
               "sysctl -qw kernel.sched_rt_runtime_us=-1")
        if not os.path.isdir("/sys/kernel/debug/sched"):
            lab.sh("mount -t debugfs debugfs /sys/kernel/debug")
        # From 6.8 on others get 5% of a CPU all the same.
        lab.sh(f"cd /sys/kernel/debug/sched/fair_server/cpu{BUSY} 2>/dev/null && echo 0 > runtime",
               check=False)
        lab.sh(f"echo 1 > /sys/class/net/{card.name}/threaded")
        for thread in lab.sh(f"pgrep napi/{card.name}-").split():
            os.sched_setaffinity(int(thread), {BUSY})
        os.sched_setaffinity(0, {REST})     # including processes started from here on
        self.release = mmap.mmap(-1, 1)

    @contextlib.contextmanager
    def held(self):
        """Nothing completes in the block, and until `self.until` afterwards."""
        ready, go = os.pipe()
        self.release[0] = 0
        child = os.fork()
        if not child:
            os.sched_setaffinity(0, {BUSY})
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50))
            os.write(go, b"x")
            end = time.monotonic() + 20     # in case the others fail
            while not self.release[0] and time.monotonic() < end:
                pass
            os._exit(0)
        os.read(ready, 1)
        os.close(ready)
        os.close(go)
        try:
            yield
        finally:
            self.until = time.monotonic()
            self.release[0] = 1
            os.waitpid(child, 0)

    def close(self):
        lab.sh(f"echo 0 > /sys/class/net/{self.card.name}/threaded")
        os.sched_setaffinity(0, {BUSY, REST})


class Sender:
    """Sends frames on a card, by a raw socket."""
    def __init__(self, card):
        queues = len([q for q in os.listdir(f"/sys/class/net/{card.name}/queues") if q[:2] == "tx"])
        self.nic = lab.Nic(f"packet {card.name} --queues {queues} --no-cpu-pin")

    def __call__(self, count, size, queue=0, words=""):
        """Sends this many of this size; returns the times before the first and after the last."""
        self.nic(f"send {queue} {count} {size} {words}")
        before = time.monotonic()
        sent = self.nic("go")["sent"]
        if sent != count:
            raise RuntimeError(f"{sent} of {count} frames were sent")
        return before, time.monotonic()

    def close(self):
        self.nic.close()


def plain_queues(card):
    """A FIFO above each TX queue: it neither drops nor reorders waiting packets."""
    queues = len([q for q in os.listdir(f"/sys/class/net/{card.name}/queues") if q[:2] == "tx"])
    if queues == 1:
        lab.sh(f"tc qdisc replace dev {card.name} root pfifo limit 5000")
        return
    lab.sh(f"tc qdisc replace dev {card.name} root handle 1: mq")
    for queue in range(1, queues + 1):
        lab.sh(f"tc qdisc replace dev {card.name} parent 1:{queue} pfifo limit 5000")


class Limits:
    """The byte queue limits of one queue."""
    def __init__(self, card, queue=0):
        self.path = f"/sys/class/net/{card.name}/queues/tx-{queue}/byte_queue_limits"

    def __getitem__(self, name):
        with open(f"{self.path}/{name}", encoding="utf-8") as f:
            return int(re.match(r"\d+", f.read())[0])

    def __setitem__(self, name, value):
        with open(f"{self.path}/{name}", "w", encoding="utf-8") as f:
            f.write(str(value))

    def has(self, name):
        return os.path.exists(f"{self.path}/{name}")


def limit_to(card, sender, limit):
    """Limit and bytes in flight, from BQL; a new limit takes effect at a completion."""
    bql = Limits(card)
    bql["limit_max"], bql["limit_min"] = limit, limit
    for _ in range(50):
        if (bql["limit"], bql["inflight"]) == (limit, 0):
            return bql
        sender(1, 60)
        lab.until(lambda: not bql["inflight"], 2)
    raise RuntimeError(f"{card.name}: the limit is {bql['limit']}, not {limit}")

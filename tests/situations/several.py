# SPDX-License-Identifier: GPL-2.0
"""Several situations at once: most wait for the end of a window, and need little of a CPU."""
import atexit
import os
import signal
import sys

from lib import lab

CPUS = len(os.sched_getaffinity(0))
JOBS = int(os.environ.get("JOBS", min(3, CPUS * 3 // 2)))       # each needs a sixth of a CPU, but to attach


def worker(items, queue, do):
    """A process that does one after the other; which, a pipe says that all workers read."""
    pid = os.fork()
    if pid:
        return pid
    signal.signal(signal.SIGINT, signal.SIG_IGN)        # the first process ends this one
    lab.failures, status = 0, 1
    try:
        while nr := os.read(queue, 1):
            do(items[nr[0]])
        status = int(lab.failures > 0)
    finally:        # all of an exit but what faulthandler does: it waits for a thread that no fork copies
        atexit._run_exitfuncs()     # pylint: disable=protected-access
        sys.stdout.flush()
        os._exit(status)


def several(items, do):
    """do(item) for each of at most 256, as many at once as JOBS. Failures of all count."""
    sys.stdout.flush()
    queue, put = os.pipe()
    os.write(put, bytes(range(len(items))))
    os.close(put)
    pids = [worker(items, queue, do) for _ in range(min(JOBS, len(items)))]
    try:
        while pids:
            status = os.waitpid(pids[0], 0)[1]
            pids.pop(0)
            lab.failures += status == 256
            if status not in (0, 256):
                lab.not_ok("a process that makes situations", f"it ended with status {status}")
    finally:
        os.close(queue)
        for pid in pids:
            os.kill(pid, signal.SIGTERM)
        for pid in pids:
            os.waitpid(pid, 0)

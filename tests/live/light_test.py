#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Attach and show are light: bounds for their system calls and for what the verifier follows, a quarter above what they
take. Times depend on the machine; these numbers do not, except for where the shared libraries are."""
import json
import os
import re
import shutil
import struct
import tempfile

from lib import bpf
from lib.lab import *

PROG_GET_FD_BY_ID = 13
QUEUES = 64
need_root()


def calls(*args):
    """{system call: how often nicprobe makes it}."""
    with tempfile.NamedTemporaryFile("r") as out:
        sh(f"strace -f -qq -o {out.name} {NICPROBE} {' '.join(args)}")
        names = re.findall(r"^\d+ +(\w+)\(", out.read(), re.M)
    return {name: names.count(name) for name in set(names)}


def few(name, count, most):
    check(f"light: {name}, of {most} at most # {count}", 0 < count <= most, f"{count}")


def program_ids():
    return {program["id"] for program in json.loads(sh("bpftool -j prog show"))}


def verified_each(ids):
    """The number of instructions that the verifier followed in each of these programs."""
    for number in ids:
        fd = bpf.call(PROG_GET_FD_BY_ID, struct.pack("III", number, 0, 0))
        with open(f"/proc/self/fdinfo/{fd}", encoding="utf-8") as f:
            yield int(re.search(r"^verified_insns:\s*(\d+)$", f.read(), re.M)[1])
        os.close(fd)


def verified(ids):
    return sum(verified_each(ids))


a = Namespace("a")
near, other = (tap(a, name, QUEUES) for name in ("tap0", "tap1"))
ONE, TWO = f"{a}/tap0", f"{a}/tap1"


def instructions():
    before = program_ids()
    nicprobe("attach", ONE, "-m", "all")
    first = program_ids()
    nicprobe("attach", TWO, "-m", "all")
    second = program_ids()
    few("instructions that the verifier follows for the first interface", verified(first - before), 145_000)
    few("the same for a further one", verified(second - first), 145_000)
    few("those of the program with most", max(verified_each(second - first)), 18_500)
    nicprobe("detach", "--all")
    before = program_ids()
    nicprobe("attach", ONE, "-m", "all", "--rx", "driver", env={"NICPROBE_CANNOT": "tc"})
    few("the same where tracepoints serve every point", verified(program_ids() - before), 200_000)
    nicprobe("detach", "--all")


def attaching():
    if not shutil.which("strace"):
        skip("light: system calls of attach", "no strace")
        return
    for name, where in ("the first interface", ONE), ("a further one", TWO):
        made = calls("attach", "-m", "all", where)
        few(f"system calls to attach {name}, but reads", sum(made.values()) - made["read"], 3100)
        # we map the types of the kernel, or read them once, by 4 KiB; libbpf does not
        types = -(-os.stat("/sys/kernel/btf/vmlinux").st_size // 4096)
        few(f"reads to attach {name}", made["read"], types + 100 if KERNEL < (6, 16) else 60)
        few(f"bpf() calls to attach {name}", made["bpf"], 950)


def showing():
    if not shutil.which("strace"):
        skip("light: system calls of show", "no strace")
        return
    few("system calls to show an interface at rest", sum(calls("show", "--total", ONE).values()), 1300)
    for queue in range(QUEUES):
        near(f"send {queue} 3 64 v4 udp")
    near("go")
    until(lambda: packets_at(show(ONE), "rx-nic") == 3 * QUEUES)
    same("light: packets on each queue", len(sizes_at(show(ONE), "rx-nic")), QUEUES)
    few("system calls to show an interface with packets", sum(calls("show", "--total", ONE).values()), 1300)


each(instructions, attaching, showing)
nicprobe("detach", "--all")
finish()

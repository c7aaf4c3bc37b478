# SPDX-License-Identifier: GPL-2.0
"""Describes the machine of the figures without identifying it."""
import gzip
import os
import platform
import re


def cpu():
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        found = re.search(r"^model name\s*: (.*)$", f.read(), re.M)
    return found.group(1) if found else platform.machine()


def virtual():
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        return " hypervisor" in f.read()


def possible_cpus():
    with open("/sys/devices/system/cpu/possible", encoding="ascii") as f:
        return int(f.read().split("-")[-1]) + 1


def memory_gb():
    return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30)


def describe():
    return {"cpu": cpu(), "cores": os.cpu_count(), "possible_cpus": possible_cpus(),
            "memory_gb": memory_gb(), "virtual": virtual(), "kernel": platform.release()}


def line(m):
    return (f"{m['cpu']}, {m['cores']} cores{' of a virtual machine' if m['virtual'] else ''}, "
            f"{m['memory_gb']} GB, Linux {m['kernel']}")


def irq_time_apart():
    """Does the kernel account softirq time separately from the interrupted process?"""
    for path, opener in (("/proc/config.gz", gzip.open),
                         (f"/boot/config-{platform.release()}", open)):
        try:
            with opener(path, "rt", encoding="utf-8") as f:
                return "CONFIG_IRQ_TIME_ACCOUNTING=y" in f.read()
        except OSError:
            pass
    return True		# unknown: use wall time

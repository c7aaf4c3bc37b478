# SPDX-License-Identifier: GPL-2.0
"""Describes the machine of the figures without identifying it."""
import glob
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


def mitigations():
    """{vulnerability: what the kernel does about it}, of those the CPU has: they decide what a call
    by address costs, and with it a BPF program."""
    found = {}
    for path in sorted(glob.glob("/sys/devices/system/cpu/vulnerabilities/*")):
        with open(path, encoding="ascii", errors="replace") as f:
            state = f.read().strip()
        if state != "Not affected":
            found[os.path.basename(path)] = state.removeprefix("Mitigation: ")
    return found


def describe():
    return {"cpu": cpu(), "cores": os.cpu_count(), "possible_cpus": possible_cpus(),
            "memory_gb": memory_gb(), "virtual": virtual(), "kernel": platform.release(),
            "mitigations": mitigations()}


def line(m):
    return (f"{m['cpu']}, {m['cores']} cores{' of a virtual machine' if m['virtual'] else ''}, "
            f"{m['memory_gb']} GB, Linux {m['kernel']}")


def mitigated(m):
    """A sentence on the CPU's mitigations; "": not recorded."""
    if "mitigations" not in m:
        return ""
    return "Mitigations of the CPU: " + ("; ".join(
        f"{name.replace('_', ' ')}: {state.split(';')[0]}" for name, state in m["mitigations"].items()) or "none") + "."


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

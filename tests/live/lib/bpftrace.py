# SPDX-License-Identifier: GPL-2.0
"""The scripts that Debian packages with bpftrace."""
import os
import re

from lib.lab import KERNEL

PROBE = re.compile(r"\b(?:tracepoint|kprobe|kretprobe):\w")
# What they take from headers; the reasons of drops are numbered anew in Linux 6.2.
KNOWN = {"AF_INET": 2, "AF_INET6": 10, "SKB_DROP_REASON_NOT_SPECIFIED": 1 if KERNEL < (6, 2) else 2}


def path(name):
    return f"/usr/sbin/{name}.bt"


def there(name):
    return os.path.exists(path(name))


def script(name):
    """Its text. Where it needs a tracepoint, without its includes: bpftrace 0.17 would want the headers of the kernel, as it
    does not know an enum of the tracepoint's from BTF if there are includes."""
    with open(path(name), encoding="ascii") as f:
        text = f.read()
    if "tracepoint:" in text:
        text = re.sub(r"^#.*\n", "", text, flags=re.M)
        text = re.sub(r"\b(" + "|".join(KNOWN) + r")\b", lambda m: str(KNOWN[m[1]]), text)
    return text


def probes(text):
    """How many it has, without BEGIN and END."""
    return len(PROBE.findall(re.sub(r"//.*|/\*(?s:.*?)\*/", "", text)))

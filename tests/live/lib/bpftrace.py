# SPDX-License-Identifier: GPL-2.0
"""The scripts that Debian packages with bpftrace."""
import os
import re

from lib.lab import KERNEL

PROBE = re.compile(r"\b(?:tracepoint|kprobe|kretprobe):\w")
# What they take from headers; the reasons of drops are numbered anew in Linux 6.2.
KNOWN = {"AF_INET": 2, "AF_INET6": 10, "SKB_DROP_REASON_NOT_SPECIFIED": 1 if KERNEL < (6, 2) else 2,
         "TCP_SYN_SENT": 2, "TCP_FIN_WAIT1": 4, "TCP_CLOSE": 7, "TCP_LAST_ACK": 9}


def path(name):
    return f"/usr/sbin/{name}.bt"


def there(name):
    return os.path.exists(path(name))


def script(*names):
    """Their text. Where one needs a tracepoint, without the includes: bpftrace 0.17 would want the headers of the kernel, as
    it does not know an enum of the tracepoint's from BTF if there are includes. Several are one program, which takes as long
    to start as one of them: what they do at the beginning and the end is done once, but for the heads that they print."""
    text = ""
    for name in names:
        with open(path(name), encoding="ascii") as f:
            text += re.sub(r"/\*(?s:.*?)\*/|//.*", "", f.read().split("\n", 1)[1])
    if "tracepoint:" in text:
        text = re.sub(r"^#.*\n", "", text, flags=re.M)
        text = re.sub(r"\b(" + "|".join(KNOWN) + r")\b", lambda m: str(KNOWN[m[1]]), text)
    if len(names) > 1:
        states = re.findall(r"^\s*(@tcp_states\[.*;)", text, flags=re.M)
        text = re.sub(r"^(BEGIN|END)\n\{(?s:.*?)^\}", "", text, flags=re.M)
        text = "BEGIN\n{\n" + "\n".join(dict.fromkeys(states)) + "\n}\n" + text
    return text


def probes(text):
    """How many it has, without BEGIN and END."""
    return len(PROBE.findall(re.sub(r"//.*|/\*(?s:.*?)\*/", "", text)))

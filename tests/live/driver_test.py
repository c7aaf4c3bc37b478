#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The meter driver, with and without kernel support; and invalid arguments."""
import json
import os

from lib import lab
from lib.lab import Namespace, check, need_root, nicprobe, same

need_root()
ns = Namespace("drv")
ns.ip("link add va type veth peer name vb")
ns.ip("link set va up")
ns.ip("link set vb up")
iface = f"{ns}/va"


def refused(name, args, status, said, tries=None, env=None):
    """Refused in a sentence, and with -j in an object that says the same; nothing is attached."""
    r = nicprobe(*args, check=False, env=env)
    j = nicprobe(args[0], "-j", *args[1:], check=False, env=env)
    try:
        doc = json.loads(j.stderr.splitlines()[-1])
    except (ValueError, IndexError):
        doc = {}
    check(f"driver: {name}: refused", r.returncode == status == j.returncode and said in r.stderr and not r.stdout and
          (not tries or f"try: {tries}" in r.stderr), f"{r.returncode} {r.stderr}")
    check(f"driver: {name}: refused, as JSON", said in doc.get("error", "") and (not tries or tries in doc.get("try", "")),
          j.stderr)
    same(f"driver: {name}: nothing is attached", os.path.exists("/sys/fs/bpf/nicprobe") and
         [d for d in os.listdir("/sys/fs/bpf/nicprobe") if d == ns.run("stat -L -c %i /proc/self/ns/net").strip()] or [],
         [])


def described():
    doc = json.loads(nicprobe("list", "-v", "-j").stdout)
    return next(m for m in doc["meters"] if m["name"] == "driver")


def absent(env=None):
    """No kprobes and no fentry: one plain sentence for every request."""
    why = "this kernel has no kprobes" if env is None else "taken away"
    refused("by name", ["attach", iface, "-m", "driver"], 1, why, env=env)
    refused("with others", ["attach", iface, "-m", "pktsize,driver"], 1, "driver cannot be had on va", env=env)
    refused("quick look", ["driver", "veth", "--", "true"], 1, f"cannot count the functions of veth: {why}", env=env)
    doc = json.loads(nicprobe("run", "-f", "json", iface, "-m", "all", "--", "true", env=env).stdout)
    check("driver: with -m all: absent, and why", why in doc["absent"].get("driver", "") and "driver" not in doc["meters"],
          str(doc["absent"]))


def counted():
    """With kprobes: one call of veth_xmit per frame."""
    frames = "import socket; s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW); s.bind(('va', 0)); " \
             "[s.send(bytes.fromhex('ffffffffffff52540009aaaa88b5') + bytes(60)) for _ in range(25)]"
    r = nicprobe("driver", "-j", "veth", "--functions", "veth_xmit", "--", "ip", "netns", "exec", ns, "python3", "-c", frames)
    doc = json.loads(r.stdout)
    # other veths of this host are included
    check("driver: a call a frame", len(doc["meters"]["driver"]) == 1 and doc["meters"]["driver"][0]["calls"] >= 25, r.stdout)
    check("driver: of no interface", doc["interface"] is None and "all interfaces of veth together" in doc["remarks"]["driver"],
          r.stdout)


meter = described()
check("driver: list -v: it is there, on request", "on_request" in meter and meter["on_request"], str(meter))
if meter["works"]:
    counted()
else:
    check("driver: list -v: why not here", "no kprobes" in meter["why"] or "kprobe" in meter["why"], str(meter))
    check("driver: list -v: in the table, too", "not here: this kernel has no kprobes" in nicprobe("list", "-v").stdout)
    absent()
absent({"NICPROBE_CANNOT": "kprobe,fentry,kprobe.multi"})
doc = json.loads(nicprobe("run", "-f", "json", iface, "--", "true").stdout)
check("driver: by default it is not attached", "driver" not in doc["meters"] and "driver" not in doc["absent"], str(doc["absent"]))
refused("no such driver", ["driver", "nosuchdriver", "--", "true"], 1, 'no driver, module or interface is called "nosuchdriver"')
refused("one that is near", ["driver", "ixgbvf", "--", "true"], 1, '"ixgbvf"', "nicprobe driver ixgbevf")
refused("no driver at all", ["driver"], 2, "no driver given", "nicprobe driver DRIVER -- COMMAND")
refused("functions without the meter", ["attach", iface, "-m", "pktsize", "--functions", "veth_*"], 2,
        "--functions requires the meter driver", "-m driver")
refused("times without the meter", ["run", iface, "--time", "veth_*", "--", "true"], 2, "--time requires the meter driver")
for value in "0", "x", "", "100001":
    refused(f"--max-functions {value!r}", ["driver", "veth", "--max-functions", value, "--", "true"], 2,
            f'--max-functions takes a whole number from 1 to 100000, not "{value}"')
for value in "", ",":
    refused(f"--functions {value!r}", ["driver", "veth", "--functions", value, "--", "true"], 2, "--functions needs a function")
r = nicprobe("driver", "--help")
check("driver: help", "--functions GLOB" in r.stdout and "--time GLOB" in r.stdout, r.stdout)
lab.finish()

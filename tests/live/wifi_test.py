#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Without radios: what the wifi meters report. tests/vm/wifi_test.py has radios."""
import json
import os

from lib.lab import Namespace, check, finish, need_root, nicprobe, same

need_root()
here = os.path.isdir("/sys/class/ieee80211")
WHY = "wireless interface" if here else "cfg80211"
one = Namespace("wifi")
one.ip("link add plain type veth peer name other")
where = f"{one}/plain"

r = nicprobe("attach", where, "-m", "wifi", check=False)
check("wifi: asked for by name on a veth: an error", r.returncode == 1 and WHY in r.stderr, r.stderr)
r = nicprobe("attach", "-j", where, "-m", "pktsize,wifi", check=False)
check("wifi: the same as JSON", r.returncode == 1 and WHY in json.loads(r.stderr)["error"], r.stderr)
said = json.loads(nicprobe("attach", "-j", where).stdout)
check("wifi: not asked for, it is absent and says why", WHY in said["absent"].get("wifi", ""), str(said["absent"]))
nicprobe("detach", where)
r = nicprobe("wifi", where, check=False)
check("wifi: its scans: an error", r.returncode == 1 and not r.stdout and WHY in r.stderr, r.stderr)
r = nicprobe("wifi", "-j", where, check=False)
check("wifi: the same as JSON", r.returncode == 1 and WHY in json.loads(r.stderr)["error"], r.stderr)
for count in "0", "-1", "x", "1x", "":
    r = nicprobe("wifi", "-c", count, check=False)
    same(f"wifi: -c {count!r} is no count", (r.returncode, "-c takes a whole number" in r.stderr), (2, True))
finish()

# SPDX-License-Identifier: GPL-2.0
"""A loss that is over is reported with its packets and its last time; one that continues, or was too small, is not."""
import calendar
import time

from lib.lab import *

need_root()
a = Namespace("earlier")
nic = tap(a, "tap0", 4, "--napi", 1500, "198.18.0.2/16")
a.ip("neigh add 198.18.0.1 lladdr 02:00:00:00:00:01 dev tap0")
a.run("sysctl -qw net.ipv4.icmp_ratelimit=0")
nic("read on")
TAP = f"{a}/tap0"


def send(count, port=77):
    nic(f"send 0 {count} 200 dport={port}")
    nic("go")
    return time.time()


def earlier(doc):
    return {e["id"]: e for e in doc["earlier"]}


nicprobe("attach", TAP, "-m", "drop,pktsize,rxcpu")
same("just attached: nothing was earlier", show(TAP, "-w", ".1")["earlier"], [])
for _ in range(4):          # never 50 in one second
    send(20)
    time.sleep(1.1)
same("too few in any second", show(TAP, "-w", ".1")["earlier"], [])

send(300)
ended = send(300)
time.sleep(2.3)
for _ in range(3):          # it continues, below the threshold
    send(5)
doc = show(TAP, "-w", ".5")
same("it is over: nothing is found", found(doc), [])
was = earlier(doc).get("udp-port-closed", {})
same("it is over: told, alone, with all its packets", (list(earlier(doc)), was.get("packets")),
     (["udp-port-closed"], 80 + 600 + 15))
until_ = calendar.timegm(time.strptime(was.get("until", "1970-01-01T00:00:00Z"), "%Y-%m-%dT%H:%M:%SZ"))
check(f"until {was.get('until')}", ended - 2.1 <= until_ <= ended + 1.1, f"it ended at {ended}, not {until_}")
shown = nicprobe("show", TAP, "-w", ".2").stdout
check("a person is told", f"earlier   udp-port-closed: {80 + 600 + 15} packets, until " in shown, shown)
check("since attach there is no earlier", "earlier" not in show(TAP))

window = show(TAP, "-w", ".5")
same("it has no row in a window without it", window["meters"]["drop"], [])
send(100)
nicprobe("detach", TAP)
nicprobe("attach", TAP, "-m", "drop,pktsize,rxcpu")
same("attached anew: forgotten", show(TAP, "-w", ".1")["earlier"], [])
nicprobe("detach", TAP)
finish()

#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""nicprobe cost: its runs and packets are those that the test caused, its sums add up, and it leaves the statistics off."""
import json
import signal
import subprocess
import threading
import time

from lib import left
from lib.lab import *

SENT = 400	# fits in the ring of the tap: what does not is dropped, and not consumed
OTHERS = 300	# runs for other packets of this machine meanwhile, at most


def send(to, n):
    """From a socket of the namespace: 198.18.TO.77 is behind tapTO."""
    ns.run(f"""python3 -c "
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.connect(('198.18.{to}.77', 9))
for _ in range({n}): s.send(b'x' * 100)
" """)


def cost(*args):
    return json.loads(nicprobe("cost", "-j", *args).stdout)


def fails(*args):
    r = nicprobe("cost", *args, check=False)
    return r.returncode, r.stderr


def events(doc):
    return {e["event"]: e for e in doc["events"]}


def runs_of(name):
    """How often the statistics say that our programs of this name ran, if they are on."""
    return sum(p.get("run_cnt", 0) for p in json.loads(sh("bpftool -j prog show")) if p.get("name", "").startswith(name))


def meanwhile(work, *args):
    """The document of some seconds in which `work` was done, and its packets were completed."""
    worker = threading.Timer(.3, work)
    worker.start()
    doc = cost("-w", "3", *args)
    worker.join()
    return doc


def adds_up(name, doc):
    """The sums are those of the events, and per cent and per packet follow from them."""
    inside, calling = (sum(e[k] for e in doc["events"]) for k in ("inside_seconds", "calling_seconds"))
    percent = 100 * (inside + calling) / doc["seconds"]
    check(f"{name}: its events add up", abs(inside - doc["inside_seconds"]) < 1e-7 and
          abs(calling - doc["calling_seconds"]) < 1e-7 and abs(percent - doc["cpu_percent"]) < .01, doc)


need_root()
left.own_bpffs()
ns = Namespace("cost")
ns.run("sysctl -qw net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1")
nics = [tap(ns, f"tap{n}", queues=2, address=f"198.18.{n}.2/24") for n in range(2)]
for n, nic in enumerate(nics):
    nic("read on")
    ns.ip(f"neigh replace 198.18.{n}.77 lladdr 02:00:00:00:00:77 dev tap{n}")
before = left.Before(ns)

same("cost: nothing is attached", [fails()[0], "nothing is attached" in fails()[1]], [1, True])
same("cost: it is not attached", [fails(f"{ns}/tap0")[0], "is not attached" in fails(f"{ns}/tap0")[1]], [1, True])
same("cost: two interfaces are one too many", fails("a", "b")[0], 2)

nicprobe("attach", f"{ns}/tap0")
check("cost: show says how to measure it", f"cost: not measured yet: nicprobe cost {ns}/tap0" in nicprobe("show", f"{ns}/tap0").stdout)
doc = meanwhile(lambda: send(0, SENT), f"{ns}/tap0")
by = events(doc)
same("cost: packets are those of the interface", doc["packets"], SENT)
runs = by["net_dev_start_xmit"]["runs"]
check(f"cost: each ran its program once # {runs}", SENT <= runs <= SENT + OTHERS)
# at its end one, as a tap frees in tasks; two where tasks are put aside, and an interrupt in one copy runs the other alone
copies, runs = 1 + (KERNEL >= (7, 0)), by["consume_skb"]["runs"]
same("cost: the programs at its end", by["consume_skb"]["programs"], copies)
check(f"cost: each of them ran # {runs}", SENT <= runs <= copies * SENT + OTHERS)
same("cost: who wants them", [by["net_dev_start_xmit"]["points"], "txlat" in by["net_dev_start_xmit"]["meters"]], [["tx-nic"], True])
adds_up("cost", doc)
call = doc["first_program_seconds"]
check(f"cost: to call a program takes time # {call * 1e9:.1f} ns", 1e-9 < call < 2e-6 and
      abs(by["net_dev_start_xmit"]["calling_seconds"] - by["net_dev_start_xmit"]["runs"] * call) < 1e-9)
each = by["net_dev_start_xmit"]["inside_seconds"] / by["net_dev_start_xmit"]["runs"]
check(f"cost: and so does the program # {each * 1e9:.1f} ns", 5e-9 < each < 20e-6)
per = doc["seconds_per_packet"]
check("cost: per packet", abs(per * doc["packets"] - doc["inside_seconds"] - doc["calling_seconds"]) < 1e-9)

ran = runs_of("net_dev_start_x")
check("cost: they were on", ran >= SENT, ran)
send(0, 500)
same("cost: the statistics are off afterwards", runs_of("net_dev_start_x") - ran, 0)
shown = nicprobe("show", f"{ns}/tap0").stdout
line = next((x for x in shown.splitlines() if x.startswith("cost:")), "")
check(f"cost: show repeats it # {line}", "per packet, as nicprobe cost measured" in line, shown)

table = nicprobe("cost", f"{ns}/tap0", "-w", ".2").stdout
check("cost: without packets", "No packet came or went meanwhile." in table and "to call" in table, table)

# The statistics go with the process, however it ends.
p = subprocess.Popen([NICPROBE, "cost", f"{ns}/tap0", "-w", "60"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
end = time.monotonic() + 10
while runs_of("net_dev_start_x") == ran and time.monotonic() < end:
    send(0, 10)
check("cost: it measures", runs_of("net_dev_start_x") > ran)
p.send_signal(signal.SIGINT)
p.wait(10)
ran = runs_of("net_dev_start_x")
send(0, 500)
same("cost: Ctrl-C turns the statistics off", runs_of("net_dev_start_x") - ran, 0)

# A second interface shares the programs: their runs are in both, the packets are its own.
nicprobe("attach", f"{ns}/tap1")
doc = meanwhile(lambda: send(1, SENT), f"{ns}/tap1")
by = events(doc)
same("cost: a second interface: its packets", doc["packets"], SENT)
same("cost: a second interface: no further program", by["net_dev_start_xmit"]["programs"], 1)
check("cost: a second interface: its runs", SENT <= by["net_dev_start_xmit"]["runs"] <= SENT + OTHERS, by["net_dev_start_xmit"])
adds_up("cost: a second interface", doc)
doc = meanwhile(lambda: (send(0, SENT), send(1, SENT)))
same("cost: both", [sorted(doc["interfaces"]), doc["packets"]], [[f"{ns}/tap0", f"{ns}/tap1"], 2 * SENT])

r = subprocess.run(["setpriv", "--reuid=65534", "--clear-groups", NICPROBE, "cost"], capture_output=True, text=True)
check("cost: not root", r.returncode == 1 and "run it as root" in r.stderr, r.stderr)
nicprobe("detach", "--all")
before.check("cost: nothing is left")
for nic in nics:
    nic.close()
finish()

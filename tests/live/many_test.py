#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Many interfaces attached at once, four of them busy: every count equals the far end's, and the idle ones have none.
By default 12 for some seconds; by hand: MANY=100 SECONDS=600."""
import os
import threading
import time

from lib import left
from lib.lab import *
from lib.shared import links

MANY, SECONDS, BUSY = int(os.environ.get("MANY", 12)), float(os.environ.get("SECONDS", 5)), 4
BURST = 2000		# packets of a round and direction; a queue of the tap holds 500
METERS = "pktsize,ecn,rxcpu,txlat,drop,gro,napi,bql"


def locked():
    """Bytes of all BPF maps and programs."""
    return sum(o.get("bytes_memlock", 0) for kind in ("map", "prog") for o in left.listed(kind))


class Busy:
    """A tap that sends to a socket behind it, and receives from there, round after round."""
    def __init__(self, nic, number):
        self.nic, self.number, self.rounds = nic, number, 0
        self.thread = threading.Thread(target=self.run)

    def run(self):
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            self.nic(f"send {self.number % 2} {BURST} 100 raw")
            self.nic("go")
            ns.run(f"""python3 -c "
import socket, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.connect(('198.18.{self.number}.77', 9))
for n in range({BURST}):
    s.send(b'x' * 100)
    if n % 200 == 199: time.sleep(.005)
" """, timeout=600)
            self.rounds += 1


def figures(doc):
    meters = doc["meters"]
    return {"received": packets_at(doc, "rx-nic"), "sent": packets_at(doc, "tx-nic"), "queued": packets_at(doc, "tx-stack"),
            "completed": sum(r["completion_seconds"]["count"] for r in meters["txlat"]),
            "freed in xmit": sum(r["lost"]["freed-in-xmit"] for r in meters["txlat"]),
            "in flight": sum(r["in_flight"] for r in meters["txlat"])}


need_root()
left.own_bpffs()
ns = Namespace("many")
ns.run("sysctl -qw net.ipv4.ip_forward=0 net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1")
nics = [tap(ns, f"tap{n}", queues=2, address=f"198.18.{n}.2/24") for n in range(MANY)]
for n, nic in enumerate(nics):
    nic("read on")
    ns.ip(f"neigh replace 198.18.{n}.77 lladdr 02:00:00:00:00:77 dev tap{n}")
before = left.Before(ns)
empty, took, first = locked(), [], None
for n in range(MANY):
    begin = time.monotonic()
    nicprobe("attach", "-m", METERS, "--sample", 1, f"{ns}/tap{n}")
    took.append(time.monotonic() - begin)
    first = first or links()
same("many: an event runs as many programs for all of them as for one", links(), first)
memory = locked() - empty
print(f"# {MANY} interfaces: attach took {took[0] * 1e3:.0f} ms the first, {1e3 * sum(took[1:]) / (MANY - 1):.0f} ms each further"
      f" one; BPF memory {memory / 2**20:.1f} MiB in all, {memory / MANY / 2**20:.2f} each")

# the first, the last, and two between: of the first the programs run, the others' are called
chosen = [0, MANY // 3, 2 * MANY // 3, MANY - 1]
busy = [Busy(nics[n], n) for n in chosen]
for b in busy:
    b.thread.start()
for b in busy:
    b.thread.join()
sent = {b.number: b.rounds * BURST for b in busy}
print(f"# {sum(b.rounds for b in busy)} rounds, {sum(sent.values())} packets each way in {SECONDS:.0f} s")
for n in range(MANY):
    until(lambda: not figures(show(f"{ns}/tap{n}"))["in flight"])
wrong, full = {}, 0
for n in range(MANY):
    got = figures(show(f"{ns}/tap{n}"))
    want = sent.get(n, 0)
    read = sum(q["frames"] for q in nics[n]("count")["queues"])
    full += want - read     # a tap frees in xmit what finds its ring full: the far end did not read in time
    expected = {"received": want, "sent": want, "queued": want, "completed": read, "freed in xmit": want - read, "in flight": 0}
    if got != expected:
        wrong[f"tap{n}"] = (got, want)
print(f"# {full} packets found the ring of their tap full")
check(f"many: {MANY} interfaces count their own packets, and no others", not wrong and all(sent.values()), wrong)
docs = {n: show(f"{ns}/tap{n}") for n in chosen}
same("many: nothing is lost", [lost(doc) for doc in docs.values()], [{}] * len(docs))
begin = time.monotonic()
nicprobe("detach", "--all")
print(f"# detach --all took {1e3 * (time.monotonic() - begin):.0f} ms")
before.check("many: nothing is left", 30)
for nic in nics:
    nic.close()
finish()

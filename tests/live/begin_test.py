# SPDX-License-Identifier: GPL-2.0
"""Attaching during traffic: all points and meters begin at the same moment, so their totals differ only by the packets
that were between two points at that moment."""
import threading
import time

from lib import bpf
from lib.lab import *
from lib.wire import udp_socket

need_root()
CPUS = os.cpu_count()
QUEUES, RATE, SECONDS = 2, 2000, 4      # frames per second and queue
a = Namespace("begin")
a.run("sysctl -qw net.ipv4.ip_forward=0")
IFACE = f"{a}/tap0"
nic = tap(a, queues=QUEUES, address="198.18.0.2/24")
nic("read on")
a.ip("neigh replace 198.18.0.77 lladdr 02:00:00:00:00:77 dev tap0")


class Receiving(threading.Thread):
    """Sends the tap frames at a steady rate, for another host: nobody answers them."""
    def __init__(self, seconds):
        super().__init__(daemon=True)
        self.frames = int(RATE * seconds)
        for q in range(QUEUES):
            nic(f"send {q} {self.frames} 100 v4 udp pps={RATE} dmac=02:00:00:00:00:55")
        self.start()

    def run(self):
        self.done = nic("go interleave")


class Sending(threading.Thread):
    """Datagrams to a neighbour, at about the same rate."""
    def __init__(self):
        super().__init__(daemon=True)
        self.socket = udp_socket(a)
        self.going, self.sent = True, 0
        self.start()

    def run(self):
        while self.going:
            for _ in range(20):
                self.socket.sendto(bytes(100), ("198.18.0.77", 9))
            self.sent += 20
            time.sleep(20 / RATE)

    def stop(self):
        self.going = False
        self.join()
        self.socket.close()


def total(doc, meter, get, **labels):
    return sum(get(r) for r in doc["meters"][meter] if all(r.get(k) == v for k, v in labels.items()))


def near(name, got, want, within):
    """`got` and `want`: packets in the same direction. `within`: how many may be between the two at one moment."""
    check(f"{name} # {got}, {want}", abs(got - want) <= within, f"{got} and {want}: more than {within} apart")


def hwstat(doc, name):
    """The driver's counts over all queues."""
    rows = [r for r in doc["meters"]["hwstat"] if r["statistic"] == name]
    of_all = [r["value"] for r in rows if r["queue"] == "all"]
    return of_all[0] if of_all else sum(r["value"] for r in rows)


def even(name, doc):
    """There is no queue between the points of this tap: at most one packet per CPU."""
    nic_rx, stack_rx, stack_tx, nic_tx = (packets_at(doc, p) for p in ("rx-nic", "rx-stack", "tx-stack", "tx-nic"))
    check(f"{name}: packets passed # {nic_rx} {stack_tx}", nic_rx > RATE / 4 and stack_tx > RATE / 4)
    near(f"{name}: rx-stack and rx-nic", stack_rx, nic_rx, CPUS)
    near(f"{name}: tx-stack and tx-nic", stack_tx, nic_tx, CPUS)
    for point, packets in ("rx-nic", nic_rx), ("rx-stack", stack_rx), ("tx-stack", stack_tx), ("tx-nic", nic_tx):
        same(f"{name}: ecn of {point}", sum(sum(q.values()) for q in ecn_at(doc, point).values()), packets)
    same(f"{name}: rxcpu", sum(p for p, _ in rxcpu(doc).values()), nic_rx)
    near(f"{name}: gro and rx-stack", total(doc, "gro", lambda r: r["buffer_size"]["count"]), stack_rx, CPUS)
    near(f"{name}: drop and rx-stack", total(doc, "drop", lambda r: r["packets"], direction="rx"), stack_rx, CPUS)
    near(f"{name}: txlat and tx-nic", total(doc, "txlat", lambda r: r["completion_seconds"]["count"] + r["in_flight"]),
         nic_tx, CPUS)
    if "qdisc" in doc["meters"]:
        near(f"{name}: qdisc and tx-stack", total(doc, "qdisc", lambda r: r["wait_seconds"]["count"]), stack_tx, CPUS)
    ledger = [r for r in doc["meters"]["ledger"] if r["residue"] or r["between"] or r["residue_bytes"]]
    same(f"{name}: the ledger says 0", ledger, [])
    # The driver's counters are read just before the word is written: the driver alone counts packets in between.
    for stat, packets in ("rx_packets", nic_rx), ("tx_packets", nic_tx):
        near(f"{name}: {stat}", hwstat(doc, stat), packets, CPUS + RATE * QUEUES * .02)


for way, env in ("xdp, tcx", {}), ("driver, stack", {"NICPROBE_CANNOT": "xdp,tc"}):
    sending, receiving = Sending(), Receiving(SECONDS)
    time.sleep(.3)
    began = time.monotonic()
    nicprobe("attach", IFACE, "-m", "+qdisc", env=env)
    took = time.monotonic() - began
    receiving.join()
    sending.stop()
    until(lambda: not total(show(IFACE), "txlat", lambda r: r["in_flight"]))
    print(f"# {way}: attach took {took:.2f} s: {took * RATE * QUEUES:.0f} frames came meanwhile", flush=True)
    even(way, show(IFACE))
    nicprobe("detach", IFACE)

# Meters added later begin at one moment as well; the others continue.
nicprobe("attach", IFACE, "-m", "-txlat,-napi")
first = packets_at(show(IFACE), "tx-nic")
sending = Sending()
time.sleep(.3)
nicprobe("attach", IFACE, "-m", "+txlat,+qdisc")
time.sleep(.5)
sending.stop()
until(lambda: not total(show(IFACE), "txlat", lambda r: r["in_flight"]))
doc = show(IFACE)
waited, completed = (total(doc, m, lambda r: r[k]["count"]) for m, k in
                     (("qdisc", "wait_seconds"), ("txlat", "completion_seconds")))
check(f"added: they count # {waited}", waited > RATE / 8)
near("added: qdisc and txlat", waited, completed, CPUS)
same("added: the others have counted all of it", packets_at(doc, "tx-nic") - first, sending.sent)
same("added: the ledger says 0", [r for r in doc["meters"]["ledger"] if r["residue"]], [])
nicprobe("detach", IFACE)

# An attach killed half-way never begins; the next one does.
pins = f"/sys/fs/bpf/nicprobe/{os.stat(f'/run/netns/{a}').st_ino}/tap0"
p = subprocess.Popen([NICPROBE, "attach", IFACE], stdout=subprocess.DEVNULL)
check("killed: some of it was there", until(lambda: os.path.exists(f"{pins}/tc")))
p.kill()
p.wait()
same("killed: it is not whole", os.path.exists(f"{pins}/meta"), False)
same("killed: its programs do not count", bpf.word(f"{pins}/begun"), 0)
nicprobe("attach", IFACE)
same("killed: those of the next do", bpf.word(f"{pins}/begun"), 1)
nicprobe("attach", IFACE, "-m", "+qdisc")
same("killed: and what comes later", bpf.word(f"{pins}/begun"), 2)
nicprobe("detach", IFACE)
nic.close()
finish()

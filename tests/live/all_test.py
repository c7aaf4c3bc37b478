# SPDX-License-Identifier: GPL-2.0
"""Every meter at once under full load, on two interfaces: the figures agree with each other, with the kernel's counters
and with what was sent; attach and detach under that load lose nothing."""
import re

from lib import left
from lib.lab import *
from lib.lives import STAGES, fate
from lib.load import Machine, settled, stop_all, Frames, Stream
from lib.traced import Untraced, traced

need_root()
left.own_bpffs()
CYCLES = int(os.environ.get("CYCLES", 6))      # each interface, with the usual hooks and with the others
SECONDS, PPS = 1, 1000
results = []    # of one round, which is repeated if not everything was traced


def expect(name, got, want, short=0):
    """`short`: the amount by which less than `want` is accepted, too."""
    right = want - short <= got <= want if short else got == want
    results.append((name, right, difference(got, want)))


def total(rows, *path, where=lambda row: True):
    """The sum of a figure over all rows."""
    n = 0
    for value in filter(where, rows):
        for key in path:
            value = value[key]
        n += sum(value.values()) if isinstance(value, dict) else value
    return n


def at(point):
    return lambda row: row["point"] == point


def dropped(doc, direction, *reasons):
    return total(doc["meters"]["drop"], "packets",
                 where=lambda r: r["direction"] == direction and (not reasons or r["reason"] in reasons))


def agree(name, doc, veth):
    """Invariants of any traffic, once it is quiet. Misses are counted per event: only the
    programs at the end of a packet are ever interrupted by themselves. Some kernels run no tracing program while certain processes are
    current (nicprobe-meters(7), Missed events): what TCP, or a qdisc's timer, sends there makes us a little short, and never too
    many."""
    m, misses = doc["meters"], doc["lost"]["events"]
    wire = {p: packets_at(doc, p) for p in ("rx-nic", "rx-stack", "tx-stack", "tx-nic")}
    untraced = wire["rx-nic"] // 50 if veth else 0
    ecn = {p: total(m["ecn"], "packets", where=at(p)) for p in wire}
    expect(f"{name}: rx-nic: ecn", ecn["rx-nic"], wire["rx-nic"])
    expect(f"{name}: rx-nic: rxcpu", total(m["rxcpu"], "packets"), wire["rx-nic"])
    expect(f"{name}: rx-nic: flow", total(m["flow"], "estimated_packets") + doc["lost"]["flow"], wire["rx-nic"])
    gro, card = total(m["gro"], "frames"), total(m["gro"], "card", "packets") - total(m["gro"], "card", "frames")
    buffers = total(m["gro"], "buffer_size", "count")
    expect(f"{name}: gro's frames", gro + card, wire["rx-nic"])
    expect(f"{name}: gro's buffers began as frames", total(m["gro"], "frames", "held") +
           total(m["gro"], "frames", "normal") + total(m["gro"], "frames", "past"), buffers)
    expect(f"{name}: those alone have a reason", total(m["gro"], "alone"),
           total(m["gro"], "frames", "held") + total(m["gro"], "frames", "normal"))
    expect(f"{name}: gro's buffers hold all frames", total(m["gro"], "buffer_size", "sum"), wire["rx-nic"])
    expect(f"{name}: rx-stack has gro's buffers", buffers, wire["rx-stack"], untraced)
    expect(f"{name}: rx-stack has their wire packets", wire["rx-nic"], ecn["rx-stack"], untraced)
    past = total(m["gro"], "frames", "past")
    expect(f"{name}: napi's work and what goes past it", total(m["napi"], "work", "sum") + past, gro)
    for p in "tx-stack", "tx-nic":
        count, packets = (total(m["gso"], "buffer_size", what, where=at(p)) for what in ("count", "sum"))
        expect(f"{name}: {p}: gso's packets are ecn's", packets, ecn[p])
        expect(f"{name}: {p}: gso's are pktsize's", count if p == "tx-stack" else packets, wire[p])
    q, gso_nic = m["qdisc"], total(m["gso"], "buffer_size", "count", where=at("tx-nic"))
    expect(f"{name}: tx-stack: waited, dropped, lost or there",
           sum(total(q, *what) for what in (("wait_seconds", "count"), ("dropped",), ("lost",), ("waiting",))),
           wire["tx-stack"], misses)
    expect(f"{name}: tx-stack: sent or dropped", ecn["tx-nic"] + total(q, "dropped"), ecn["tx-stack"],
           ecn["tx-stack"] // 200)
    if "txlat" in m:
        expect(f"{name}: tx-nic: completed, lost or in flight", total(m["txlat"], "completion_seconds", "count") +
               total(m["txlat"], "lost") + total(m["txlat"], "in_flight"), gso_nic)
        expect(f"{name}: tx-nic: the driver's drops are freed in xmit", total(m["txlat"], "lost", "freed-in-xmit"),
               dropped(doc, "tx", "FULL_RING"))
    stops = m["bql"]
    expect(f"{name}: each stop was timed, idle or lasts", total(stops, "stops"), total(stops, "idle_stops") +
           total(stops, "stopped_queues") + sum(total(stops, f"stopped_by_{who}_seconds", "count")
                                                for who in ("bql", "driver")))
    lives = {way: fate(m["skblife"], way) for way in STAGES}
    expect(f"{name}: lives of frames", sum(lives["rx"].values()), gro, misses)
    expect(f"{name}: lives of buffers sent", sum(lives["tx"].values()), wire["tx-stack"], misses)
    for way, stages in STAGES.items():
        parts = {}
        for stage in stages:
            for what, n in fate(m["skblife"], way, stage).items():
                parts[what] = parts.get(what, 0) + n
        expect(f"{name}: lives, {way}, by stage", parts, lives[way])
    expect(f"{name}: nothing is lost", {k: n for k, n in lost(doc).items()}, {})


class Kernel:
    """The kernel's own counters of the machine, now."""
    def __init__(self, netns):
        def read(command):
            return json.loads(netns.run(command))

        self.nstat = read("nstat -asz -j")["kernel"]
        self.qdisc = {}
        for q in read("tc -s -j qdisc show"):
            if q["kind"] != "mq" and q["kind"] != "noqueue":
                sums = self.qdisc.setdefault(q["dev"], dict.fromkeys(("packets", "drops", "requeues", "overlimits"), 0))
                for key in sums:
                    sums[key] += q[key]
        self.link = {i["ifname"]: i["stats64"] for i in read("ip -s -j link show")}
        self.ethtool = {name: int(n) for name, n in re.findall(r"^ +(\w+): (\d+)$", netns.run("ethtool -S eth0"), re.M)}
        with open("/proc/net/softnet_stat") as f:
            rows = [[int(word, 16) for word in line.split()] for line in f]
        self.softnet = dict(zip(("processed", "dropped", "time_squeeze"), map(sum, zip(*rows))))

    def since(self, old):
        def grown(a, b):
            return {k: grown(v, b.get(k, {})) if isinstance(v, dict) else v - b.get(k, 0) for k, v in a.items()}
        self.__dict__ = {k: grown(v, getattr(old, k)) for k, v in self.__dict__.items()}
        return self


def counted(doc, source):
    return {r["counter"]: r["events"] for r in doc["meters"]["counters"] if r["source"] == source}


def as_the_kernel(name, docs, k, gro):
    """`k`: the growth of its counters meanwhile. softnet's count the whole machine: never less than ours."""
    tap, eth = docs
    for doc, dev in zip(docs, ("tap0", "eth0")):
        what, link = f"{name}: {dev}", k.link[dev]
        nic = {p: total(doc["meters"]["gso"], "buffer_size", "count", where=at(p)) for p in ("tx-stack", "tx-nic")}
        untraced = link["rx"]["packets"] // 50 if doc is eth else 0
        expect(f"{what}: packets received", packets_at(doc, "rx-nic") - total(doc["meters"]["gro"], "card", "packets") +
               total(doc["meters"]["gro"], "card", "frames"), link["rx"]["packets"], untraced)
        if doc is tap:
            expect(f"{what}: bytes received", bytes_at(doc, "rx-nic"), link["rx"]["bytes"])
        expect(f"{what}: packets sent, and dropped", nic["tx-nic"],
               link["tx"]["packets"] + link["tx"]["dropped"], link["tx"]["packets"] // 200)
        expect(f"{what}: the driver's drops", dropped(doc, "tx", "FULL_RING"), link["tx"]["dropped"])
        if dev in k.qdisc:
            expect(f"{what}: tc: packets", packets_at(doc, "tx-nic"), k.qdisc[dev]["packets"],
                   k.qdisc[dev]["packets"] // 200)
            expect(f"{what}: tc: drops", total(doc["meters"]["qdisc"], "dropped", "by-qdisc"), k.qdisc[dev]["drops"])
            expect(f"{what}: tc: drops, in drop", dropped(doc, "tx", "QDISC_DROP", "QDISC_OVERLIMIT"), k.qdisc[dev]["drops"])
            refused = total(doc["meters"]["qdisc"], "refused")
            expect(f"{what}: tc: requeues # {k.qdisc[dev]['requeues']}, {refused} refused",
                   refused <= k.qdisc[dev]["requeues"], True)
        said = counted(doc, "nstat")
        expect(f"{what}: counters has what nstat has", said, {n: k.nstat[n] for n in said})
        softnet = counted(doc, "softnet")
        expect(f"{what}: softnet: dropped, time_squeeze", [softnet.get(n, 0) <= k.softnet[n]
                                                           for n in ("dropped", "time_squeeze")], [True] * 2)
    # Each of their buffers reached IP, and counts as its wire packets.
    expect(f"{name}: nstat: IpInReceives", k.nstat["IpInReceives"], sum(packets_at(d, "rx-stack") for d in docs))
    marks = sum(n for key, n in k.nstat.items() if re.fullmatch(r"IpExtIn\w*(ECT|CE)\w*Pkts", key))
    expect(f"{name}: nstat: by codepoint", marks, sum(total(d["meters"]["ecn"], "packets", where=at("rx-stack"))
                                                      for d in docs))
    expect(f"{name}: nstat: UdpNoPorts", dropped(tap, "rx", "NO_SOCKET"), k.nstat["UdpNoPorts"])
    expect(f"{name}: nstat: UdpRcvbufErrors", dropped(tap, "rx", "SOCKET_RCVBUFF"), k.nstat["UdpRcvbufErrors"])
    expect(f"{name}: softnet processed # {k.softnet['processed']}", k.softnet["processed"] >=
           sum(packets_at(d, "rx-stack") for d in docs), True)
    squeezed = sum(total(d["meters"]["napi"], "squeezed_softirqs") for d in docs)
    expect(f"{name}: softnet time_squeeze # {squeezed} of {k.softnet['time_squeeze']}",
           squeezed <= k.softnet["time_squeeze"], True)
    if gro:
        work = total(eth["meters"]["napi"], "work", "sum")
        packets = sum(n for key, n in k.ethtool.items() if key.endswith("_xdp_packets"))
        expect(f"{name}: ethtool -S eth0: packets polled", work, packets, packets // 50)


def quiet(m):
    """Both documents, with nothing in flight, and the growth of the kernel's counters."""
    def documents():
        docs = [show(f"{m.here}/{dev}") for dev in ("tap0", "eth0")]
        return docs, [doc["meters"] for doc in docs]
    return settled(documents)[0]


def overflow(m):
    """Sends more than tap0's rings and qdisc hold while nobody reads, whatever the speed of this machine; returns the
    numbers sent and rejected. Of 500 frames to each of 4 queues the rings hold 4 times 100, and tbf 40 kB. The kernel
    selects queues by a hash that changes with every boot: with few flows, tbf might get none."""
    m.nic("read off")
    for queue in range(4):
        m.out(f"send {queue} 500 300 udp flows=500")
    done = m.out("go interleave")
    m.nic("read on")
    return done["sent"], done["errors"]


def one_round(m, name, tso):
    results.clear()
    for dev in "tap0", "eth0":
        nicprobe("attach", f"{m.here}/{dev}", "-m", "all", "--sample", 1)
    m.nic("reset")
    before = Kernel(m.here)
    more, refused = overflow(m)
    reader, streams, (into, out) = m.load(SECONDS)
    docs = quiet(m)
    k, far = Kernel(m.here).since(before), m.nic("count")
    print(f"# {name}: {into.sent / SECONDS:.0f} frames/s in, {out.sent / SECONDS:.0f} out, TCP "
          f"{sum(s.came for s in streams) / SECONDS / 1e6:.0f} MB/s; missed {[d['lost']['events'] for d in docs]}")
    for doc, dev in zip(docs, ("tap0", "eth0")):
        agree(f"{name}: {dev}", doc, dev == "eth0")
        # no radios, and on some kernels no kprobes and no AF_XDP diagnostics; a tap's packets complete, a veth's do not
        may = {"wifi", "station", "driver", "irq", "pool", "xsk", "devlink"} | ({"txlat"} if dev == "eth0" else set())
        for meter in doc["absent"]:
            expect(f"{name}: {dev}: {meter} may be absent", meter in may, True)
    as_the_kernel(name, docs, k, tso == "off")
    tap = docs[0]
    expect(f"{name}: what the NIC sent is at rx-nic", packets_at(tap, "rx-nic"), into.sent)
    expect(f"{name}: delivered and dropped is what it sent", reader.came + dropped(tap, "rx"), into.sent)
    expect(f"{name}: to a closed port", dropped(tap, "rx", "NO_SOCKET"), m.closed)
    came = sum(q["frames"] for q in far["queues"]) + dropped(tap, "tx", "FULL_RING")
    expect(f"{name}: tx-nic is what it read, and its ring dropped", packets_at(tap, "tx-nic"), came, came // 200)
    answers = packets_at(tap, "tx-stack") - out.sent - out.errors - more - refused
    # sendmmsg() does not report a rejected packet after others of the same call, and sends it again: only the qdisc
    # counts those.
    expect(f"{name}: sent by us, refused, and ICMP # {answers}",
           0 <= answers <= m.closed + k.qdisc["tap0"]["drops"], True)
    expect(f"{name}: TCP came whole", [s.came for s in streams], [s.sent for s in streams])
    # The kernel's view of overflow(); that ours agrees was checked above.
    expect(f"{name}: some were dropped at each place # {k.link['tap0']['tx']['dropped']}, {k.qdisc['tap0']['drops']}",
           [k.link["tap0"]["tx"]["dropped"] > 0, k.qdisc["tap0"]["drops"] > 0], [True] * 2)
    # One is detached, the other stays.
    nicprobe("detach", f"{m.here}/tap0")
    rest = show(f"{m.here}/eth0")
    expect(f"{name}: detach of the other changes nothing", rest["meters"]["pktsize"], docs[1]["meters"]["pktsize"])
    nicprobe("detach", f"{m.here}/eth0")
    expect(f"{name}: detached", nicprobe("show", f"{m.here}/eth0", check=False).returncode, 1)


def cycles(m):
    """Numbered frames through a router, from one tap to another, beside TCP; each interface in turn."""
    other = tap(m.here, "tap1", options="--no-cpu-pin", address="10.0.2.1/24", mtu=1500)
    m.here.run("sysctl -qw net.ipv4.ip_forward=1")
    m.here.run("tc qdisc del dev tap0 root")
    m.nic("delay 0 3")
    m.here.ip("neigh add 10.0.2.2 lladdr 02:00:00:00:00:03 dev tap1")
    nics = [m.nic, other]
    for dev in "tap0", "tap1":      # a queue that is not read in time must not overflow at once
        m.here.ip(f"link set {dev} txqueuelen 20000")
    for nic in nics:
        nic("read on")
        nic("reset")
    m.tso("on")
    before = left.Before(m.here, m.there)
    stats = Kernel(m.here)
    streams = [Stream(m.here, m.there, "10.0.1.2"), Stream(m.there, m.here, "10.0.1.1")]
    words = f"{PPS // 2} 200 udp seq flows=8 pps={PPS} src=10.0.{{}}.2 dst=10.0.{{}}.2"
    senders = [Frames(nics[0], words.format(0, 2)), Frames(nics[1], words.format(2, 0))]
    begin, modes = time.monotonic(), ({}, {"NICPROBE_CANNOT": "xdp,tcx"})
    for i in range(CYCLES):
        where = f"{m.here}/{('tap0', 'eth0', 'tap1')[i % 3]}"
        nicprobe("attach", where, "-m", "all", env=modes[i // 3 % 2])
        nicprobe("detach", where)
    seconds = time.monotonic() - begin
    stop_all(senders)
    stop_all(streams)
    print(f"# {CYCLES} cycles in {seconds:.1f} s, {sum(s.sent for s in senders) / seconds:.0f} packets/s, "
          f"TCP {sum(s.came for s in streams) / seconds / 1e6:.0f} MB/s")
    for i, nic in enumerate(nics):
        sent = senders[1 - i].sent
        nic(f"wait {sent} 5000")
        got = nic("seqcheck")
        same(f"{CYCLES} cycles lose no packet that comes out of tap{i}",
             [got["received"], got["missing"], got["duplicates"]], [sent, 0, 0])
    now = Kernel(m.here).since(stats)
    for dev in now.link:
        same(f"{CYCLES} cycles: the kernel dropped nothing at {dev}", [now.link[dev][way]["dropped"] + now.link[dev][way]["errors"]
                                                                    for way in ("rx", "tx")], [0, 0])
    check(f"{CYCLES} cycles: nothing could not be sent", not any(s.errors for s in senders))
    same(f"{CYCLES} cycles: TCP came whole", [s.came for s in streams], [s.sent for s in streams])
    before.check(f"{CYCLES} cycles: nothing is left")
    other.close()


m = Machine()
m.here.run("tc qdisc replace dev tap0 root handle 1: mq")
# Low enough for slow machines: frames are sent 500 at a time.
m.here.run("tc qdisc replace dev tap0 parent 1:1 tbf rate 1mbit burst 10000 limit 30000")
m.here.ip("link set tap0 txqueuelen 100")
m.nic("delay 100 3")
for tso in "on", "off":
    m.tso(tso)
    before = left.Before(m.here, m.there)
    name = f"TSO {tso}"
    try:
        traced(one_round, m, name, tso)
        for result in results:
            check(*result)
    except Untraced:
        pass        # it reported that; the next attach method may do better
    before.check(f"{name}: nothing is left")
cycles(m)
m.nic.close()
finish()

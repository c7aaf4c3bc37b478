#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Interfaces that share the programs of XDP, page pools and qdiscs each count their own, whoever comes and goes."""
import os
import shutil
import threading

from lib import left
from lib.lab import *
from lib.redirect import *
from lib.shared import links as programs
from lib.wire import inside

BATCH = 64      # pages that a pool takes from the kernel at once
PASS, DROP, ABORT, BACK = 2, 1, 0, 3
CPU = 0


class Link:
    """An interface eth0, eth1, … of one namespace with an XDP program of its own, and a sender at its far end. `want`
    are the rows that nicprobe must have since attach()."""
    def __init__(self, netns, n):
        self.netns, self.name, self.where = netns, f"eth{n}", f"{netns}/eth{n}"
        self.far = Namespace(f"far{n}")
        netns.ip(f"link add {self.name} numtxqueues 4 numrxqueues 4 type veth "
                 f"peer name {self.name} numtxqueues 4 numrxqueues 4 netns {self.far}")
        for end in netns, self.far:
            end.ip(f"link set {self.name} mtu 9000 up")
        self.far.run(f"ethtool -K {self.name} gro on")
        netns.ip(f"addr add 198.18.{n}.2/24 dev {self.name}")
        self.mac = netns.run(f"cat /sys/class/net/{self.name}/address").strip()
        self.frame = f"3000 udp dmac={self.mac} src=198.18.{n}.1 dst=198.18.{n}.2 dport=9"
        self.sender = Nic(f"packet {self.name} --queues 4 --no-cpu-pin", self.far)
        self.index, self.want = index(netns, self.name), None

    def programs(self):
        self.program = Program()
        self.program.put("cpus", CPU, 16384)        # packets: it is never full
        self.program.attach(self.netns, self.name)
        self.cpumap = f"cpumap {self.program.maps['cpus']} cpu {CPU}"

    def attach(self, meters="xdp"):
        nicprobe("attach", "-m", meters, self.where)
        self.want = {}

    def detach(self):
        nicprobe("detach", self.where)
        self.want = None

    def expect(self, *key, n):
        if self.want is not None and n:
            self.want[key] = self.want.get(key, 0) + n

    def send(self, n):
        self.sender(f"send 0 {n} {self.frame}")
        self.sender("go")

    def does(self, what, to=None):
        """What its program does with frames from now on."""
        self.action, self.to = what, to
        self.program.do(what, CPU if what == CPUMAP else to.index if to else 0)

    def counts(self, n):
        """n frames came: whose rows they are."""
        if self.action == IFINDEX:
            self.expect("redirect", f"ifindex {self.to.index}", "ok", n=n)
            self.expect("send", f"to {self.to.name}", "ok", n=n)
            self.to.expect("send", f"from {self.name}", "ok", n=n)
        elif self.action == CPUMAP:
            for event, result in ("redirect", "ok"), ("to cpu", "ok"), ("on cpu", "passed"):
                self.expect(event, self.cpumap, result, n=n)
        elif self.action == ABORT:
            self.expect("exception", "-", "XDP_ABORTED", n=n)
        elif self.action == BACK:
            self.expect("send back", "-", "ok", n=n)

    def rows(self):
        """A veth whose ring is full does not take a packet: that is counted, too."""
        got = {}
        for r in show(self.where)["meters"]["xdp"]:
            key = r["event"], r["where"], "ok" if r["result"] == "not taken" else r["result"]
            got[key] = got.get(key, 0) + r["packets"]
        return got

    def check(self, name):
        until(lambda: self.rows() == self.want, 3)
        return same(name, self.rows(), self.want)


def busy(all_of, start):
    """All at once, other numbers for each, for each of the actions."""
    for what in IFINDEX, CPUMAP, ABORT, BACK:
        for n, link in enumerate(all_of):
            link.does(what, all_of[(n + 1) % len(all_of)])
        threads = [threading.Thread(target=link.send, args=(start + 7 * n,)) for n, link in enumerate(all_of)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        for n, link in enumerate(all_of):
            link.counts(start + 7 * n)


def counted(name, attached):
    for link in attached:
        link.check(f"{name}: {link.name}")


def one_each(links):
    """Whatever several of them want has one program at each event."""
    meters = "pktsize,ecn,drop,gro,napi,gso,bql,qdisc,pool,xdp"
    links[0].attach(meters)
    first = programs()
    some = {"xdp_redirect", "xdp_cpumap_kthread", "page_pool_state_hold", "mem_connect", "qdisc_enqueue"}
    check(f"shared: one has programs at its events # {len(first)}", some < set(first), str(first))
    for link in links[1:]:
        link.attach(meters)
    same("shared: three have no more", programs(), first)
    links[0].detach()
    same("shared: without the first it is one of each", programs(), first)
    for link in links[1:]:
        link.detach()


def redirects(links):
    """They come one after the other, and go, the first one first."""
    for n, link in enumerate(links):
        link.attach()
        busy(links, 11 + n)
        counted(f"shared xdp: {n + 1} attached", links[:n + 1])
    one, two, three = links
    one.detach()
    busy(links, 20)
    counted("shared xdp: without the first", [two, three])
    one.attach()
    two.detach()
    busy(links, 30)
    counted("shared xdp: the first came back, the second went", [one, three])
    for link in three, one:
        link.detach()


class Load:
    """Frames for a link until stop(), from a CPU of its own choice."""
    def __init__(self, link):
        self.link, self.going, self.sent = link, True, 0
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        while self.going:
            self.link.sender(f"send 0 200 {self.link.frame} pps=8000")
            self.sent += self.link.sender("go")["sent"]

    def stop(self):
        self.going = False
        self.thread.join(30)
        self.link.counts(self.sent)
        return self.sent


def handed_over(links):
    """The first, whose programs are attached, goes under the load of the others, and comes back."""
    one, two, three = links
    for n, what in enumerate((IFINDEX, CPUMAP, ABORT, BACK)):
        for link, to in (two, three), (three, two):
            link.does(what, to)
        for link in links:
            link.attach()
        for name, act in ("goes", one.detach), ("comes back", one.attach), ("goes again", one.detach):
            loads = [Load(link) for link in (two, three)]
            time.sleep(.05)
            act()
            time.sleep(.05)
            sent = [load.stop() for load in loads]
            counted(f"shared xdp: {n}: the first {name} # {sent}", [two, three])
        two.detach()
        three.detach()


def batches(n):
    return -(-n // BATCH) * BATCH


def pages(link):
    """(in flight, taken, returned) of the interface."""
    found = [(r["in_flight_pages"], r["taken_pages"], r["returned_pages"]) for r in show(link.where)["meters"]["pool"]]
    return tuple(map(sum, zip(*found)))


def socket_that_holds(netns):
    """All packets for port 9, until they are read."""
    def made():
        s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        s.setsockopt(socket.SOL_SOCKET, 33, 1 << 28)    # SO_RCVBUFFORCE
        s.bind(("", 9))
        s.settimeout(2)
        return s
    return inside(netns, made)


def give_back(netns):
    """Pages that were freed on a CPU wait there until it receives next: on each, it receives."""
    cpus = os.sched_getaffinity(0)
    s = inside(netns, lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
    for cpu in cpus:
        os.sched_setaffinity(0, {cpu})
        s.sendto(b"", ("127.0.0.1", 10))
    os.sched_setaffinity(0, cpus)
    s.close()


def fill(name, links, attached, numbers):
    """Pages of packets that nobody reads, then of none: pools come with the XDP program, and go with it."""
    reader = socket_that_holds(links[0].netns)
    before = {link: pages(link) or (0, 0, 0) for link in attached}
    for link in links:
        link.program.attach(link.netns, link.name)
        link.does(PASS)
    for link, n in zip(links, numbers):
        link.send(n)
    want = {link: (batches(n), before[link][1] + batches(n), before[link][2])
            for link, n in zip(links, numbers) if link in attached}
    for link in attached:
        until(lambda l=link: pages(l) == want[l], 2)
        same(f"shared pool: {name}: {link.name}: a page for each packet", pages(link), want[link])
    for _ in range(sum(numbers)):
        reader.recv(65536)
    reader.close()
    for link in links:
        link.netns.ip(f"link set {link.name} xdpdrv off")
    for link in attached:
        left_over, taken, returned = want[link]
        end = (0, taken, returned + left_over)

        def given_back(l=link, end=end):
            for other in links:
                other.send(1)
            give_back(l.netns)
            return pages(l) == end
        until(given_back, 4)
        same(f"shared pool: {name}: {link.name}: all are given back", pages(link), end)
    if len(attached) < len(links):
        # what comes later would count once the others are attached: a pool that is gone takes its pages once a second
        give_back(links[0].netns)
        time.sleep(1.3)


def pools(links):
    one, two, three = links
    for link in links:
        link.netns.ip(f"link set {link.name} xdpdrv off")
        link.attach("pool")
    fill("three", links, links, (70, 140, 210))
    one.detach()
    # the first has no pool meanwhile: its pages that come back late would count once it is attached again
    fill("without the first", [two, three], [two, three], (130, 65))
    one.attach("pool")
    two.detach()
    fill("the first came back, the second went", links, [one, three], (100, 30, 300))
    for link in three, one:
        link.detach()
    for link in links:
        link.program.attach(link.netns, link.name)


def pools_anew(links):
    """Pools where those of others have been: each takes a batch for its first packet, which is dropped."""
    for link in links:
        link.netns.ip(f"link set {link.name} xdpdrv off")
        link.attach("pool")
    for _ in range(10):
        for link in links:
            link.program.attach(link.netns, link.name)
            link.does(DROP)
            link.send(1)
            link.netns.ip(f"link set {link.name} xdpdrv off")
    want = 0, 10 * BATCH, 10 * BATCH
    for link in links:
        until(lambda l=link: pages(l) == want, 4)
        same(f"shared pool: where those of others were: {link.name}", pages(link), want)
        link.detach()


def pools_under_load(links):
    """Pools grow while the first goes and comes back."""
    one, two, three = links
    reader = socket_that_holds(one.netns)
    for link in links:
        link.netns.ip(f"link set {link.name} xdpdrv off")
    for link in links:
        link.attach("pool")
    for link in links:
        link.program.attach(link.netns, link.name)
        link.does(PASS)
    sent = [0, 0]
    for name, act in ("goes", one.detach), ("comes back", lambda: one.attach("pool")), ("goes again", one.detach):
        loads = [Load(link) for link in (two, three)]
        time.sleep(.05)
        act()
        time.sleep(.05)
        sent = [n + load.stop() for n, load in zip(sent, loads)]
        for link, n in zip((two, three), sent):
            want = batches(n), batches(n), 0
            until(lambda l=link, w=want: pages(l) == w, 2)
            same(f"shared pool: the first {name}: {link.name}: a page for each of {n} packets", pages(link), want)
    reader.close()
    two.detach()
    three.detach()


def slot_again(links):
    """What the last interface of a slot has said of a pool is not true of the next one."""
    one, two, three = links
    reader = socket_that_holds(one.netns)
    two.netns.ip(f"link set {two.name} xdpdrv off")
    two.program.attach(two.netns, two.name)
    two.does(PASS)
    three.attach("pool")
    one.attach("pool")
    two.send(BATCH)             # a new pool, and not the first's
    one.detach()
    for _ in range(60):         # of 62 slots, one of which is the third's
        one.attach("pool")
        one.detach()
    two.attach("pool")
    two.send(3 * BATCH)
    want = 4 * BATCH, 3 * BATCH, 0
    until(lambda: pages(two) == want, 2)
    same("shared pool: in the slot of one that had refused its pool", pages(two), want)
    reader.close()
    two.detach()
    three.detach()


def split(sender, n):
    """Buffers that the qdisc splits: it tells when they are in it."""
    sender(f"send 2 {n} 9014 v4 tcp gso=1000")
    sender("go")


def qdiscs():
    netns = Namespace("qdiscs")
    names = [f"tap{n}" for n in range(3)]
    nics = [tap(netns, name, 4, "--steer") for name in names]
    senders = [Nic(f"packet {name} --queues 4 --vnet-hdr", netns) for name in names]
    for name in names:
        netns.run(f"tc qdisc replace dev {name} root tbf rate 1gbit burst 4000 limit 1000000")
        nicprobe("attach", "-m", "qdisc", f"{netns}/{name}")
    for sender, n in zip(senders, (20, 30, 40)):
        split(sender, n)
    going, sent = [True], [30, 40]

    def load(n):
        while going:
            split(senders[1 + n], 10)
            sent[n] += 10
            time.sleep(.003)    # at less than its rate: it drops none
    threads = [threading.Thread(target=load, args=(n,), daemon=True) for n in range(2)]
    for t in threads:
        t.start()
    nicprobe("detach", f"{netns}/tap0")
    time.sleep(.1)
    going.clear()
    for t in threads:
        t.join()
    split(senders[0], 5)
    for name, n in zip(names[1:], sent):
        got = show(f"{netns}/{name}")["meters"]["qdisc"]
        same(f"shared qdisc: {name}: all {n} were split by it",
             [(r["qdisc"], r["segmented"], nonzero(r["dropped"]), nonzero(r["lost"])) for r in got],
             [("tbf", 0, {}, {"split-by-qdisc": n})])
        nicprobe("detach", f"{netns}/{name}")
    for closed in (*senders, *nics):
        closed.close()


need_root()
left.own_bpffs()
if KERNEL < (6, 4) or not shutil.which("clang") or not shutil.which("bpftool"):
    skip("shared xdp", "needs clang and bpftool, and Linux 6.4")
    finish()
space = Namespace("shared")
given = [Link(space, n) for n in range(3)]
untouched = left.Before(space)
for made in given:
    made.programs()
each(one_each, redirects, handed_over, pools, pools_anew, pools_under_load, slot_again, qdiscs, links=given)
for made in given:
    space.ip(f"link set {made.name} xdpdrv off")
    sh(f"rm -f {made.program.pin}")
untouched.check("shared xdp: nothing is left")
finish()

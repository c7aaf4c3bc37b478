# SPDX-License-Identifier: GPL-2.0
"""Base of the situations: interfaces under load, what nicprobe finds, and the remedy."""
import contextlib
import json
import os
import shlex
import socket
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "live"))
from lib import bpf, lab                                            # noqa: E402
from lib.wire import HERE6, NAPI, THERE, THERE6, Wire, inside       # noqa: E402
from several import several         # noqa: E402

HERE, NET = "198.18.0.2", "198.18.0.2/16"
WINDOW = 1
LOOKS = 3           # maximum number of windows until one is as it should be
SLOW = 30           # microseconds per packet in a slow stack
situations = []     # (name, function)


def trouble(finding, remedy):
    """A situation in which `finding` must be found first; `remedy`: what silences it, for the table."""
    def add(function):
        situations.append((function.__name__, function, finding, remedy))
        return function
    return add


def healthy(function):
    """A situation without findings."""
    situations.append((function.__name__, function, None, None))
    return function


def alone(function):
    """A situation that needs the machine for itself: it is about CPU time, or fills a CPU, or sets what is the host's."""
    function.alone = True
    return function


class Skip(Exception):
    """Why this machine cannot create the situation."""


class Load(threading.Thread):
    """Calls act() every `every` seconds until stopped; `count` is the number of calls."""
    def __init__(self, act, every=0.0):
        super().__init__(daemon=True)
        self.act, self.every, self.going, self.count, self.error = act, every, True, 0, None
        self.start()

    def run(self):
        at = time.monotonic()
        try:
            while self.going:
                self.act()
                self.count += 1
                at = max(at + self.every, time.monotonic() - 1)
                time.sleep(max(0, at - time.monotonic()))
        except Exception as e:      # pylint: disable=broad-except
            self.error = e

    def stop(self):
        self.going = False
        self.join(20)
        if self.error:
            raise self.error


class World:
    """One situation: its namespaces and interfaces, and the interface that is measured."""
    def __init__(self, name):
        self.name, self.stack, self.at = name, contextlib.ExitStack(), None

    def __enter__(self):
        return self

    def __exit__(self, *why):
        self.stack.close()

    def namespace(self, name="here"):
        ns = lab.Namespace(f"{self.name[:20]}-{name}")
        self.stack.callback(ns.delete)
        return ns

    def tap(self, queues=4, options="--napi", mtu=1500):
        """A measured tap with its far end as self.nic, in the namespace self.here."""
        self.here = self.namespace()
        self.nic = lab.tap(self.here, "tap0", queues, options, mtu, NET)
        self.stack.callback(self.nic.close)
        self.here.ip(f"neigh add {THERE} lladdr 02:00:00:00:00:01 dev tap0")
        self.here.run("sysctl -qw net.ipv4.conf.all.rp_filter=0 net.ipv4.icmp_ratelimit=0")
        self.dev, self.at = "tap0", f"{self.here}/tap0"
        return self.nic

    def wire(self, queues=4, ipv6=False):
        """A measured tap whose frames are written here, byte by byte: self.wires.write(QUEUE, FRAME)."""
        self.here = self.namespace()
        self.wires = Wire(self.here, "tap0", queues, NET, NAPI)
        self.stack.callback(self.wires.close)
        self.load(self.wires.drain, .002)
        self.dev, self.at = "tap0", f"{self.here}/tap0"
        if ipv6:
            self.here.run("sysctl -qw net.ipv6.conf.all.disable_ipv6=0 net.ipv6.conf.tap0.disable_ipv6=0")
            self.here.ip(f"addr add {HERE6}/64 dev tap0 nodad")
            self.here.ip(f"neigh add {THERE6} lladdr 02:00:00:00:00:99 dev tap0")

    def packets_in(self, *packets, every=.02):
        """Keeps writing these IPv4 packets to queue 0."""
        frames = [self.wires.eth(p) for p in packets]
        return self.load(lambda: [self.wires.write(0, f) for f in frames], every)

    def veth(self, queues=2, mtu=1500):
        """A measured veth: eth0 of self.here; its peer is eth0 of self.there."""
        self.here, self.there = self.namespace(), self.namespace("there")
        lab.veth(self.here, self.there, "eth0", queues, mtu)
        for i, ns in enumerate((self.here, self.there), 1):
            ns.ip(f"addr add 10.0.1.{i}/24 dev eth0")
            ns.ip(f"addr add fd00:1::{i}/64 dev eth0 nodad", check=False)
        self.dev, self.at = "eth0", f"{self.here}/eth0"

    def attach(self, *args):
        lab.nicprobe("attach", self.at, *args)
        self.stack.callback(lab.nicprobe, "detach", self.at, check=False)

    def look(self, seconds=WINDOW):
        """nicprobe's JSON of one window."""
        return lab.show(self.at, "-w", str(seconds))

    def load(self, act, every=0.0):
        """Keeps calling act() until the situation ends."""
        load = Load(act, every)
        self.stack.callback(load.stop)
        return load

    def frames(self, *words, every=0.0, how="interleave"):
        """Keeps the far end sending these: "QUEUE COUNT SIZE words" each."""
        def act():
            for w in words:
                self.nic(f"send {w}")
            self.nic(f"go {how}")
        return self.load(act, every)

    def saturate(self, *words):
        """As frames(), at a rate for which a slow stack needs 1.1 CPUs: one is full, two have time."""
        return self.frames(*words, every=sum(int(w.split()[1]) for w in words) * SLOW * 1e-6 / 1.1)

    def reader(self, port=9, room=1 << 22, netns=None, family=socket.AF_INET):
        """A socket that is read all the time."""
        s = inside(netns or self.here, lambda: socket.socket(family, socket.SOCK_DGRAM))
        s.setsockopt(socket.SOL_SOCKET, 33, room)       # SO_RCVBUFFORCE
        s.bind(("", port))
        s.settimeout(.2)

        def act():
            with contextlib.suppress(TimeoutError):
                for _ in range(1000):       # many at a time, as it may be stopped while more arrives
                    s.recv(1)               # discards the rest of each datagram
        self.stack.callback(s.close)
        return self.load(act)

    def udp(self, netns=None):
        """A socket to send from."""
        s = inside(netns or self.here, lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        self.stack.callback(s.close)
        return s

    def slow_stack(self, us=SLOW):
        """Each received packet takes this long on this machine, at tc ingress: after RPS, before protocols."""
        self.filter("ingress", 0, us)

    def filter(self, way, answer, us=0):
        with bpf.pinned(bpf.TC, answer, us) as path:
            def put():
                lab.sh(f"tc qdisc replace dev {self.dev} clsact")
                lab.sh(f"tc filter add dev {self.dev} {way} bpf da pinned {path}")
            inside(self.here, put)

    def xdp(self, answer, mode="xdpgeneric"):
        with bpf.pinned(bpf.XDP, answer) as path:
            inside(self.here, lambda: lab.sh(f"ip link set {self.dev} {mode} pinned {path}"))

    def write(self, path, value):
        """A file of the interface, below /sys/class/net/DEV."""
        self.here.run(f"sh -c 'for f in /sys/class/net/{self.dev}/{path}; do echo {value} > $f; done'")

    def host_sysctl(self, name, value):
        """A sysctl set on the host, as namespaces have none of their own, until the situation ends."""
        path = "/proc/sys/" + name.replace(".", "/")
        with open(path, encoding="ascii") as f:
            old = f.read().strip()

        def put(words):
            with open(path, "w", encoding="ascii") as f:
                f.write(str(words))
        self.stack.callback(put, old)
        if value is not None:
            put(value)

    def need_free_cpu(self):
        """While other work takes all CPU time, an imbalance costs nothing, and is not a finding."""
        def idle():
            with open("/proc/stat", encoding="ascii") as f:
                rows = [[*map(int, line.split()[1:9])] for line in f if line.startswith("cpu") and line[3] != " "]
            return [(sum(r), r[3] + r[4]) for r in rows]
        before = idle()
        time.sleep(.5)
        shares = [(b[1] - a[1]) / max(1, b[0] - a[0]) for a, b in zip(before, idle())]
        if min(shares) < .75:
            raise Skip(f"other work leaves {min(shares):.0%} of a CPU free: needs 75%")

    def fix(self, doc, finding):
        """Runs the commands of the finding, unchanged."""
        f = next(f for f in doc["findings"] if f["id"] == finding)
        lab.check(f"{self.name}: {finding} has a command", f["fix"], str(f))
        for argv in f["fix"]:
            env = {**os.environ, "PATH": f"{os.path.dirname(lab.NICPROBE)}:{os.environ['PATH']}"}
            lab.sh(shlex.join(argv), env=env)

    def expect(self, finding, fix=True, remedy=None, settle=.3, seconds=WINDOW, then=()):
        """`finding` is found first; its own commands are run, or remedy() if that is impossible; then nothing is found,
        except those in `then`, while packets still flow: silence proves nothing without packets."""
        time.sleep(settle)
        doc = self.until(seconds, lambda d: lab.found(d)[:1] == [finding])
        first = lab.found(doc)[:1]
        says = doc["findings"][0]["what"] if first else "nothing was found"
        if not lab.same(f"{self.name}: finds {finding} # {says}", first, [finding]):
            return doc
        self.sound(doc)
        self.ask(seconds, 3, [finding])
        if fix:
            self.fix(doc, finding)
        if remedy:
            remedy()
        time.sleep(settle)
        after = self.until(seconds, lambda d: not self.spoken(d, then) and self.packets(d))
        self.silent("silenced", after, then)
        went = self.packets(after)
        lab.check(f"{self.name}: packets go on # {went} in the window", went, "no packet")
        return doc

    def ask(self, seconds, status, first):
        """doctor, which measures beside what is attached, says the same: its exit status, and what it finds first. It
        has more meters: what was found by itself may be found to follow from another, beneath which it stands then."""
        for _ in lab.tries(LOOKS, f"{self.name}: doctor asked again"):
            r = lab.nicprobe("doctor", "-j", self.at, "--for", f"{seconds}s", check=False)
            one = json.loads(r.stdout)["interfaces"][0] if r.stdout else {"measured": {"findings": []}}
            top = lab.found(one["measured"])[:1]
            below = [f["id"] for f in one["measured"]["findings"] if top and f["follows"] == top[0]]
            got = (r.returncode, first if first and first[0] in below else top)
            if got == (status, first):
                break
            went = self.packets(one["measured"]) if {"pktsize", "connect", "dns", "dnsname", "icmp"} & set(one["measured"].get("meters", {})) else "no"
            print(f"# {self.name}: {[f['what'] for f in one['measured']['findings']]} of {went} packets {r.stderr.strip()}")
        lab.same(f"{self.name}: doctor says so", got, (status, first))
        for f in one["measured"]["findings"]:
            harm = f["harm"]
            lab.check(f"{self.name}: {f['id']} has its cost", harm["packets_per_second"] or
                      harm["kind"] == "risk" and harm["value"], str(harm))

    def until(self, seconds, good):
        """The first of three windows that is as it should be: other work may take a CPU for the length of one."""
        for _ in lab.tries(LOOKS, f"{self.name}: another window"):
            doc = self.look(seconds)
            if good(doc):
                break
            print(f"# {self.name}: {[f['what'] for f in doc['findings']]}")
        return doc

    def sound(self, doc):
        """Each finding has all its parts."""
        for f in doc["findings"]:
            whole = f["what"] and f["means"] and f["since"] < doc["time"] and f["harm"]["value"] is not None and \
                f["severity"] in ("info", "warning", "critical") and (f["try"] or f["follows"])
            lab.check(f"{self.name}: {f['id']} is whole", whole, str(f))

    def spoken(self, doc, then=()):
        return [f"{f['id']}: {f['what']}" for f in doc["findings"] if not f["follows"] and f["id"] not in then]

    def silent(self, name, doc, then=()):
        lab.same(f"{self.name}: {name}", self.spoken(doc, then), [])

    def packets(self, doc):
        """Or, of a host, attempts to connect, connections that came, queries of names, and echo requests; or what its
        sockets got."""
        counts = {"connect": "attempts", "accept": "connections", "dns": "asked_queries", "dnsname": "asked_queries",
                  "icmp": "asked_requests"}
        if set(doc["meters"]) == {"sockmem"}:
            counts = {"sockmem": "packets"}
        if set(counts) & set(doc["meters"]):
            return sum(row[what] for meter, what in counts.items() for row in doc["meters"].get(meter, []))
        return max(lab.packets_at(doc, p) for p in ("rx-nic", "rx-stack", "tx-stack", "tx-nic"))

    def quiet(self, seconds=WINDOW, least=1, settle=.3):
        """Nothing is found, in any window, until enough packets went by."""
        time.sleep(settle)
        for _ in lab.tries(LOOKS, f"{self.name}: another window"):
            doc = self.look(seconds)
            seen = self.packets(doc)
            self.silent("nothing is found", doc)
            if seen >= least:
                break
        self.ask(seconds, 0, [])
        if 0 < seen < least:
            lab.skip(f"{self.name}: there is a load", f"other work left it {seen} packets per second, not {least}")
        else:
            lab.check(f"{self.name}: there is a load # {seen} packets", seen, "no packet")
        return doc


def one(name, function, finding):
    started = time.monotonic()
    try:
        with World(name) as world:
            function(world)
    except Skip as e:
        lab.skip(f"{name}: {finding or 'silence'}", str(e))
    except Exception as e:      # pylint: disable=broad-except
        lab.not_ok(f"{name}: {finding or 'silence'}", f"{type(e).__name__}: {e}")
    print(f"# {name}: {time.monotonic() - started:.1f} s", flush=True)


def run(wanted):
    """Runs the situations whose names are given, one by one; or all, and those first that leave the machine free, a few at a time."""
    lab.need_root()
    sys.stdout.reconfigure(line_buffering=True)
    todo = [s[:3] for s in situations if not wanted or s[0] in wanted]
    beside = [] if wanted else [s for s in todo if not getattr(s[1], "alone", False)]
    several(beside, lambda situation: one(*situation))
    for situation in todo:
        if situation not in beside:
            one(*situation)
    lab.finish()

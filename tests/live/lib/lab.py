# SPDX-License-Identifier: GPL-2.0
"""Base of the live tests: network namespaces, the test NIC, nicprobe, and checks."""
import atexit
import faulthandler
import inspect
import json
import os
import signal
import socket
import subprocess
import sys
import time
import traceback

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
NICPROBE = os.environ.get("NICPROBE", os.path.join(ROOT, "nicprobe"))
NIC = os.environ.get("NIC", os.path.join(ROOT, "build", "tests", "nic"))
KERNEL = tuple(map(int, os.uname().release.split("-")[0].split("+")[0].split(".")[:2]))
failures = 0
signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))     # so that cleanup runs
# tests/run interrupts tests that hang: print the place first.
faulthandler.dump_traceback_later(int(os.environ.get("LIMIT", 500)) * .9)


def sh(command, check=True, timeout=120, **kwargs):
    """Runs a shell command and returns its standard output. Raises if it fails, unless check=False."""
    r = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=timeout, **kwargs)
    if check and r.returncode:
        raise RuntimeError(f"{command}: {r.stderr.strip() or r.returncode}")
    return r.stdout


def whole(args):
    """Arguments for `show`: totals since attach, in whole tables, unless the test asks for a window."""
    args = [*map(str, args)]
    if args and args[0] == "show" and not {"-i", "-w", "-c", "-t", "--total", "--help"} & set(args):
        args[1:1] = ["--total", "--queues"]
    return args


def nicprobe(*args, env=None, check=True):
    """Runs nicprobe; returns its CompletedProcess."""
    r = subprocess.run([NICPROBE, *whole(args)], capture_output=True, text=True, timeout=120,
                       env={**os.environ, **(env or {})})
    if check and r.returncode:
        raise RuntimeError(f"nicprobe {' '.join(map(str, args))}: {r.returncode}: {r.stderr.strip()}")
    return r


def show(iface, *args):
    """The JSON document of one snapshot, since attach. No finding may be truncated: there is room for 359 bytes."""
    doc = json.loads(nicprobe("show", "-j", iface, *args).stdout)
    for f in doc["findings"]:
        if len(f["what"].encode()) >= 359:
            not_ok(f"{f['id']}: a finding is whole", f["what"])
    return doc


def found(doc, folded=False):
    """The IDs of the findings, worst first; `folded`: including those that follow from others."""
    return [f["id"] for f in doc["findings"] if folded or not f["follows"]]


def said(doc, *ids):
    """The findings whose ID begins with one of these, each as "ID: sentence: what to try"."""
    return " | ".join(f"{f['id']}: {f['what']}: {f['try']}" for f in doc["findings"] if f["id"].startswith(ids))


def ok(name):
    print(f"ok {name}", flush=True)


def not_ok(name, why):
    global failures
    failures += 1
    print(f"not ok {name}: {why}", flush=True)


def skip(name, why):
    print(f"skip {name}: {why}", flush=True)


def tries(most, why):
    """For a loop that repeats a load until it has the effect to be measured, and checks nothing before: yields the
    number of attempts left. Each but the first is printed with the reason, and counted by tests/run."""
    for left in reversed(range(most)):
        if left < most - 1:
            print(f"# made again: {why}", flush=True)
        yield left


def check(name, condition, why=""):
    if condition:
        ok(name)
    else:
        not_ok(name, why or "it is not so")
    return condition


def same(name, got, want):
    """Passes if both are equal; otherwise prints the first difference."""
    return check(name, got == want, difference(got, want))


def difference(got, want, path=""):
    if isinstance(got, dict) and isinstance(want, dict):
        for key in sorted(set(got) | set(want), key=str):
            if got.get(key) != want.get(key):
                return difference(got.get(key), want.get(key), f"{path}/{key}")
    if isinstance(got, list) and isinstance(want, list) and len(got) == len(want):
        for i, (a, b) in enumerate(zip(got, want)):
            if a != b:
                return difference(a, b, f"{path}/{i}")
    return f"{path or 'it'} is {got!r}, not {want!r}"


tests_known = set()


def each(*tests, after=None, **given):
    """Runs these functions, or those that the command line names, with what their parameters are called; after() after
    each. What one raises is its failure, and the others still run."""
    tests_known.update(test.__name__ for test in tests)
    for test in tests:
        if sys.argv[1:] and test.__name__ not in sys.argv[1:]:
            continue
        try:
            test(**{name: given[name] for name in inspect.signature(test).parameters})
        except Exception as e:      # pylint: disable=broad-except
            traceback.print_exc()
            not_ok(test.__name__, f"{type(e).__name__}: {e}")
        if after:
            after()


def finish():
    unknown = set(sys.argv[1:]) - tests_known if tests_known else None
    if unknown:
        not_ok(" ".join(unknown), f"no such test; there are: {' '.join(sorted(tests_known))}")
    sys.exit(1 if failures else 0)


def need_root():
    if os.geteuid():
        skip(os.path.basename(sys.argv[0]), "needs root")
        sys.exit(0)


class Namespace:
    """A network namespace with a unique name, deleted when the test ends."""
    def __init__(self, name):
        self.name = f"np{os.getpid()}-{name}"
        sh(f"ip netns add {self.name}")
        atexit.register(self.delete)
        self.run("sysctl -qw net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1")
        self.run("ip link set lo up")

    def run(self, command, **kwargs):
        return sh(f"ip netns exec {self.name} {command}", **kwargs)

    def ip(self, command, **kwargs):
        return sh(f"ip -n {self.name} {command}", **kwargs)

    def delete(self):
        """Removes what a failed test left attached, too."""
        inode = sh(f"stat -L -c %i /run/netns/{self.name}", check=False).strip()
        sh(f"ip netns del {self.name}", check=False)
        if inode:
            sh(f"rm -rf /sys/fs/bpf/nicprobe/{inode}; rmdir /sys/fs/bpf/nicprobe", check=False)

    def __str__(self):
        return self.name


class Nic:
    """tests/nic: the other end of a tap, or a sender of frames. nic("send 0 25 60") returns a dict."""
    def __init__(self, args, netns=None):
        inside = ["ip", "netns", "exec", str(netns)] if netns else []
        self.p = subprocess.Popen([*inside, NIC, *args.split()], bufsize=1,
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        atexit.register(self.close)
        self.hello = self.answer("start")

    def answer(self, line):
        got = self.p.stdout.readline()
        if not got:
            raise RuntimeError(f"nic went away at: {line}")
        got = json.loads(got)
        if "error" in got:
            raise RuntimeError(f"{line}: {got['error']}")
        return got

    def __call__(self, line):
        self.p.stdin.write(line + "\n")
        self.p.stdin.flush()
        return self.answer(line)

    def close(self):
        if self.p.stdin and not self.p.stdin.closed:
            self.p.stdin.close()
        return self.p.wait()


def tap(netns, name="tap0", queues=4, options="", mtu=9000, address=None):
    """A multi-queue tap that is up, with the test NIC behind it."""
    nic = Nic(f"tap {name} --queues {queues} {options}", netns)
    netns.ip(f"link set {name} mtu {mtu}")
    netns.ip(f"link set {name} up")
    if address:
        netns.ip(f"addr add {address} dev {name}")
    return nic


def veth(one, other, name="eth0", queues=4, mtu=9000):
    """A pair of veths, up, both called `name`, one in each namespace."""
    one.ip(f"link add {name} numtxqueues {queues} numrxqueues {queues} type veth "
           f"peer name {name} numtxqueues {queues} numrxqueues {queues} netns {other}")
    for netns in (one, other):
        netns.ip(f"link set {name} mtu {mtu}")
        netns.ip(f"link set {name} up")


def narrow(listener):
    """Keeps TCP's data in flight below the 256 packets that fit in the ring of a veth with NAPI: a full ring stops the
    queue, and 6.18 can forget to restart it. Then nothing arrives any more, with or without nicprobe."""
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 16)


def narrow_all(netns):
    """The same for everything that listens in a namespace."""
    netns.run("sysctl -qw net.ipv4.tcp_rmem='4096 65536 131072'")


def until(condition, seconds=5):
    """Waits until condition() is true; returns whether it was in time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(.01)
    return bool(condition())


def global_sysctl(name, value):
    """Sets a sysctl shared by all namespaces until this test ends; waits for others that do the same."""
    import fcntl
    lock = open("/run/lock/nicprobe-tests", "w")
    fcntl.flock(lock, fcntl.LOCK_EX)
    path = "/proc/sys/" + name.replace(".", "/")
    with open(path) as f:
        old = f.read().strip()

    def put(text):
        with open(path, "w") as f:
            f.write(str(text))

    put(value)
    atexit.register(lambda: (put(old), lock.close()))


# What packet meters should report for the frames that a test sends: computed independently of nicprobe.
SIZE_CLASSES = [64, 127, 255, 511, 1023, 1518, 2047, 4095, 9216, 16383, 32767, 65535]
CODEPOINTS = ["not-ect", "ect1", "ect0", "ce"]


def size_class(size):
    return next((str(bound) for bound in SIZE_CLASSES if size <= bound), "+Inf")


def codepoint(words):
    """For a frame that `nic` sends with these words."""
    ip = "arp" not in words and "raw" not in words
    ecn = next((int(w[4:]) for w in words if w.startswith("ecn=")), 0)
    return CODEPOINTS[ecn] if ip else "not-ip"


class Expected:
    """Frames by queue: sizes, codepoints, and the sources of CE frames."""
    def __init__(self):
        self.sizes, self.ecn, self.sources = {}, {}, {}

    def add(self, queue, count, size, words=()):
        sizes = self.sizes.setdefault(queue, {})
        sizes[size] = sizes.get(size, 0) + count
        mark = codepoint(words)
        ecn = self.ecn.setdefault(queue, {})
        ecn[mark] = ecn.get(mark, 0) + count
        if mark == "ce":
            default = "2001:2::1" if "v6" in words else "198.18.0.1"
            source = next((w[4:] for w in words if w.startswith("src=")), default)
            self.sources[source] = self.sources.get(source, 0) + count

    def pktsize(self):
        return {queue: histogram(sizes) for queue, sizes in self.sizes.items()}

    def rxcpu(self):
        return {queue: (h["count"], h["sum"]) for queue, h in self.pktsize().items()}

    def count(self):
        return sum(h["count"] for h in self.pktsize().values())


def histogram(sizes):
    """{size: packets} as pktsize shows it."""
    le = {}
    for size, count in sizes.items():
        le[size_class(size)] = le.get(size_class(size), 0) + count
    return {"count": sum(sizes.values()), "sum": sum(s * n for s, n in sizes.items()), "le": le}


def nonzero(d):
    return {k: v for k, v in d.items() if v}


def sizes_at(doc, point):
    """{queue: histogram} of the meter pktsize."""
    return {row["queue"]: dict(row["packet_size_bytes"], le=nonzero(row["packet_size_bytes"]["le"]))
            for row in doc["meters"]["pktsize"] if row["point"] == point}


def ecn_at(doc, point):
    return {row["queue"]: nonzero(row["packets"])
            for row in doc["meters"]["ecn"] if row["point"] == point}


def packets_at(doc, point):
    return sum(h["count"] for h in sizes_at(doc, point).values())


def bytes_at(doc, point):
    return sum(h["sum"] for h in sizes_at(doc, point).values())


def sources(doc):
    return {row["source"]: row["packets"] for row in doc["meters"].get("ecn_source", [])}


def rxcpu(doc):
    """{queue: (packets, bytes)}, over all CPUs."""
    got = {}
    for row in doc["meters"].get("rxcpu", []):
        packets, size = got.get(row["queue"], (0, 0))
        got[row["queue"]] = packets + row["packets"], size + row["bytes"]
    return got


def lost(doc):
    """Counts that found no room. Not missed events, such as skbs freed by an interrupt of the program that counts frees.
    """
    return {meter: n for meter, n in doc["lost"].items() if n and meter != "events"}


def random_frames(nic, random, total, l4=("udp",), queues=4, kinds=("v4", "v6", "arp", "raw"), each=200):
    """Queues `total` frames with `nic`, of every size class and its bounds, `each` kinds per queue; returns the
    expectation."""
    borders = [64, 65, 127, 128, 255, 256, 511, 512, 1023, 1024, 1518, 1519, 2047, 2048, 4095, 4096, 9000]
    want, batches = Expected(), each * queues
    for i in range(batches):
        kind = random.choice(kinds)
        tag = random.choice(["", "", "vlan=7", "qinq=100,7"])
        size = borders[i // queues] if i // queues < len(borders) else random.randint(60, 9000)
        words = [kind, tag] if tag else [kind]
        if kind in ("v4", "v6"):
            words += [random.choice(l4), f"ecn={random.randrange(4)}", f"flows={random.choice([1, 16])}",
                      "src=" + (f"198.18.1.{random.randrange(256)}" if kind == "v4" else
                                f"2001:2::{random.randrange(1, 256):x}:1")]
            size = max(size, 14 + 4 * len(tag.split(",")) * bool(tag) + (20 if kind == "v4" else 40) +
                       (20 if "tcp" in words else 8))
        if tag and KERNEL < (6, 11):    # from 4 KiB on it is in pages, and its codepoint is lost, and reported as lost
            size = min(size, 4000)
        if i // queues >= batches // queues - 2:
            words, size = ["v4", "udp", "ecn=2"], (60, 64)[i // queues % 2]
        count = total // batches + (i < total % batches)
        nic(f"send {i % queues} {count} {size} {' '.join(words)}")
        want.add(i % queues, count, size, words)
    return want

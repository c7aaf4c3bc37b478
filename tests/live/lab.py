# SPDX-License-Identifier: GPL-2.0
"""What the live tests stand on: network namespaces of their own, the test NIC, nicprobe, and checks."""
import atexit
import json
import os
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
NICPROBE = os.environ.get("NICPROBE", os.path.join(ROOT, "nicprobe"))
NIC = os.environ.get("NIC", os.path.join(ROOT, "build", "tests", "nic"))
failures = 0


def sh(command, check=True, **kwargs):
    """Runs a shell command; its standard output. Raises when it fails, unless told not to."""
    r = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=120, **kwargs)
    if check and r.returncode:
        raise RuntimeError(f"{command}: {r.stderr.strip() or r.returncode}")
    return r.stdout


def nicprobe(*args, env=None, check=True):
    """Runs nicprobe; its CompletedProcess."""
    r = subprocess.run([NICPROBE, *map(str, args)], capture_output=True, text=True, timeout=120,
                       env={**os.environ, **(env or {})})
    if check and r.returncode:
        raise RuntimeError(f"nicprobe {' '.join(map(str, args))}: {r.returncode}: {r.stderr.strip()}")
    return r


def show(iface, *args):
    """The JSON document of one snapshot."""
    return json.loads(nicprobe("show", "-j", iface, *args).stdout)


def ok(name):
    print(f"ok {name}", flush=True)


def not_ok(name, why):
    global failures
    failures += 1
    print(f"not ok {name}: {why}", flush=True)


def skip(name, why):
    print(f"skip {name}: {why}", flush=True)


def check(name, condition, why=""):
    if condition:
        ok(name)
    else:
        not_ok(name, why or "it is not so")
    return condition


def same(name, got, want):
    """Passes when both are equal; says where they first differ otherwise."""
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


def finish():
    sys.exit(1 if failures else 0)


def need_root():
    if os.geteuid():
        skip(os.path.basename(sys.argv[0]), "needs root")
        sys.exit(0)


class Namespace:
    """A network namespace with a name of its own, gone when the test ends."""
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
        sh(f"ip netns del {self.name}", check=False)

    def __str__(self):
        return self.name


class Nic:
    """tests/nic: the other end of a tap, or frames on an interface. nic("send 0 25 60") answers a dict."""
    def __init__(self, args, netns):
        self.p = subprocess.Popen(["ip", "netns", "exec", str(netns), NIC, *args.split()], bufsize=1,
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
    """A multi-queue tap that is up, and the NIC behind it."""
    nic = Nic(f"tap {name} --queues {queues} {options}", netns)
    netns.ip(f"link set {name} mtu {mtu}")
    netns.ip(f"link set {name} up")
    if address:
        netns.ip(f"addr add {address} dev {name}")
    return nic


def veth(one, other, name="eth0", queues=4, mtu=9000):
    """A pair of veths, both called `name`, one in each namespace, up."""
    one.ip(f"link add {name} numtxqueues {queues} numrxqueues {queues} type veth "
           f"peer name {name} numtxqueues {queues} numrxqueues {queues} netns {other}")
    for netns in (one, other):
        netns.ip(f"link set {name} mtu {mtu}")
        netns.ip(f"link set {name} up")


def until(condition, seconds=5):
    """Waits until condition() is true; whether it was in time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(.01)
    return bool(condition())

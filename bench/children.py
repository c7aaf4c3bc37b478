# SPDX-License-Identifier: GPL-2.0
"""Child processes of the bench: the parts of `bench`, driven by lines of text, and nicprobe."""
import atexit
import faulthandler
import json
import os
import subprocess
import sys
from contextlib import closing

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "..", "tests", "live"))
from lib import bpftrace, lab            # noqa: E402,F401

faulthandler.cancel_dump_traceback_later()	# lab's time limit is for tests

BENCH = os.path.join(os.environ.get("B", "build"), "bench", "bench")
HEADLINE = "pktsize,ecn,rxcpu,txlat"


class Bench:
    """A part of `bench`: bench("go 100") returns its answer. Close `trace` after use: its run-time
    statistics slow down every BPF program of the machine."""
    def __init__(self, *args, netns=None):
        inside = ["ip", "netns", "exec", str(netns)] if netns else []
        self.args = [str(arg) for arg in args]
        self.p = subprocess.Popen([*inside, BENCH, *self.args], stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE, text=True, bufsize=1)
        atexit.register(self.close)

    def __call__(self, line):
        self.p.stdin.write(line + "\n")
        return self.answer(line)

    def answer(self, line="start"):
        got = self.p.stdout.readline()
        if not got:
            sys.exit(f"bench {self.args[0]} ended during: {line}")
        return json.loads(got)

    def close(self):
        if not self.p.stdin.closed:
            self.p.stdin.close()
        self.p.wait(20)


def pins(netns, device):
    return f"/sys/fs/bpf/nicprobe/{os.stat(f'/run/netns/{netns}').st_ino}/{device}"


def followed(meters):
    """--sample where the cost of following is measured: all packets, by skblife alone one in 64. flow, and
    the default meters or all at once, follow as many as by default."""
    return {"all": None, None: None, "flow": None, "skblife": 64}.get(meters, 1)


class Attached:
    """with Attached(...): nicprobe is attached to the interface."""
    def __init__(self, netns, device, rx=None, meters=None, env=None, sample=None):
        self.where = f"{netns}/{device}"
        self.args = [*(["--rx", rx] if rx else []), *(["-m", meters] if meters else []),
                     *(["--sample", sample] if sample else [])]
        self.env, self.pins = env, pins(netns, device)

    def __enter__(self):
        lab.nicprobe("attach", self.where, *self.args, env=self.env)
        return self

    def programs(self, trace):
        """{id: (name, hook)}, tracing programs only."""
        return {pin["id"]: (name.split("__")[0], pin["hook"])
                for name, pin in trace(f"pins {self.pins}").items() if pin["hook"]}

    def hooks(self):
        """The tracepoints of its programs, one entry per program; and "tcx"."""
        with closing(Bench("trace")) as trace:
            found = trace(f"pins {self.pins}")
        return [pin["hook"] or "tcx" for name, pin in found.items() if pin["hook"] or name == "tc"]

    def show(self):
        return lab.show(self.where)

    def __exit__(self, *_):
        lab.nicprobe("detach", self.where)


def xdp_id(netns, device):
    """The id of the attached XDP program."""
    return json.loads(netns.ip(f"-j link show {device}"))[0]["xdp"]["prog"]["id"]


def mac(netns, device):
    return json.loads(netns.ip(f"-j link show {device}"))[0]["address"]


def meters_known():
    """{meter: why it is not attached by default, or ""}, in nicprobe's order."""
    out, name = {}, ""
    for line in lab.nicprobe("list", "-v").stdout.split("\n\n")[0].splitlines()[1:]:
        if line[:3].strip():
            name = line.split()[0]
            out[name] = ""
        elif "only on request" in line:
            out[name] = line.split(": ", 1)[1]
    return out

# SPDX-License-Identifier: GPL-2.0
"""Asks questions of stable probes while a test makes the events: what the live tests of `trace` share."""
import atexit
import functools
import json
import os
import re
import signal
import subprocess
import sys
import traceback

from lib import talk as conversations
from lib.lab import KERNEL, NICPROBE, ROOT, tries
from lib.wire import inside

TALK = os.path.join(ROOT, "tests", "live", "lib", "talk.py")


def talk(ns, kind, *args):
    """A conversation of talk.py in a namespace, by a process of its own; returns what it printed. It is forked, as Python
    takes seconds to start in a guest."""
    sys.stdout.flush()
    read, write = os.pipe()
    child = os.fork()
    if not child:
        conversation(ns, write, getattr(conversations, kind), args)
    os.close(write)
    with open(read, encoding="utf-8") as f:
        said = f.read()
    if os.waitpid(child, 0)[1]:
        raise RuntimeError(f"{kind} {' '.join(map(str, args))}: {said}")
    return said


def conversation(ns, out, function, args):
    """The forked process: it ends here."""
    status = 1
    try:
        os.dup2(out, 1)
        os.dup2(out, 2)
        signal.alarm(60)
        inside(ns, lambda: function(*map(str, args)))
        status = 0
    except BaseException:       # pylint: disable=broad-except
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def talker(ns, *args):
    """The same in the background, once it has printed a line."""
    p = subprocess.Popen(["ip", "netns", "exec", str(ns), "python3", TALK, *map(str, args)], text=True,
                         stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    p.stdout.readline()
    return p


class Trace:
    """`nicprobe trace ARGUMENTS -j` in a namespace (None: here), attached when this returns. `may_miss`: the kernel may put a
    task aside within a program (7.0), and runs that program for no other task of the CPU: `missed` tells how often."""
    def __init__(self, ns, *args, env=None, may_miss=False):
        self.may_miss, self.missed = may_miss and KERNEL >= (7, 0), 0
        where = ["ip", "netns", "exec", str(ns)] if ns else []
        self.p = subprocess.Popen([*where, NICPROBE, "trace", *args, "-j"], text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, **(env or {})})
        atexit.register(self.p.kill)
        self.said = ""
        for line in self.p.stderr:
            self.said += line
            if "tracing " in line:
                return
        raise RuntimeError(f"trace {' '.join(args)}: {self.said}")

    def end(self):
        """Ends it; the documents that it printed."""
        self.p.send_signal(signal.SIGINT)
        out, err = self.p.communicate(timeout=60)
        self.said += err
        if self.p.returncode:
            raise RuntimeError(f"trace ended with {self.p.returncode}: {self.said}")
        return [json.loads(line) for line in out.splitlines()]

    def rows(self):
        """Of an aggregation: [{field: value, "count": n}], and nothing may be lost: but see `may_miss`."""
        doc, = self.end()
        self.missed = doc["lost"].pop("missed", 0) if self.may_miss else 0
        if doc["lost"]:
            raise RuntimeError(f"lost: {doc['lost']}")
        return doc["rows"]

    def short(self, got, want):
        """Is that all, but for the events that are said to be missed?"""
        return got.keys() == want.keys() and all(want[k] - self.missed <= got[k] <= want[k] for k in want)

    def counts(self, *fields):
        """{the fields of a key: count}; with one field, the value alone is the key."""
        key = lambda r: r[fields[0]] if len(fields) == 1 else tuple(r[f] for f in fields)
        return {key(r): r["count"] for r in self.rows()}

    def events(self):
        events = self.end()
        if "lost:" in self.said:
            raise RuntimeError(self.said)
        return events


@functools.cache        # a kernel keeps what it has, and `list` takes seconds in a guest
def seen_by(probe, here=True):
    """{what --source calls it: (its name, its grade)} of a probe: those that are here, or the others."""
    kinds = {"netfilter": "nf", "tp_btf": "tp", "fentry": "function", "fexit": "function", "cgroup_skb": "cgroup", "sockops": "cgroup",
             "cgroup": "cgroup"}
    said = json.loads(subprocess.run([NICPROBE, "list", "-v", "-j", probe], check=True, capture_output=True).stdout)[0]["sources"]
    return {kinds[re.split("[ /]", s["source"])[0]]: (s["source"], s["grade"]) for s in said if ("absent" not in s) == here}


def sent_again(ns):
    """Segments, as the kernel counts them."""
    names, numbers = (line.split() for line in ns.run("grep ^Tcp: /proc/net/snmp").splitlines())
    return int(numbers[names.index("RetransSegs")])


def bulk_bytes(ns, address, *more):
    """{probe: bytes of a million that are sent}; made again where segments were sent again, as in a guest that is slow."""
    for _ in tries(5, "a segment was sent again"):
        before = sent_again(ns)
        t = Trace(ns, "tcp:::send,tcp:::receive", "--by", "probename", "--sum", "tcp_plength", *more)
        talk(ns, "bulk", address, 1000000)
        rows = t.rows()
        if sent_again(ns) == before:
            break
    return {r["probename"]: r["sum"] for r in rows}


def counted(ns, probes, what, *, by="probename", where=None, more=()):
    """What happens while what() runs: {key: count}."""
    args = [probes, "--by", by, *(["--where", where] if where else []), *more]
    t = Trace(ns, *args)
    what()
    return t.counts(*by.split(","))

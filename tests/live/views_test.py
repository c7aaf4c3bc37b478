#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Every view, and every command of docs/dtrace.md, runs, or is refused with a reason that names what is missing."""
import json
import os
import re
import shlex
import subprocess
import tempfile

from lib import left
from lib.lab import *
from lib.oneliners import LACKING, ROWS

VIEWS = sorted(os.listdir(os.path.join(ROOT, "views")))
# What a kernel may lack, as refusals say it.
REASONS = r"this kernel|needs|older than|no probe|not have|cannot be|no interface"


def page():
    """The commands that the page names, without its placeholders, and the clauses of D that it has on the left."""
    with open(os.path.join(ROOT, "docs", "dtrace.md"), encoding="utf-8") as f:
        rows = re.findall(r"^\| (.*) \| `nicprobe ([^`]*)` \|", f.read(), flags=re.M)
    return [shlex.split(words) for _, words in rows], [theirs.strip("`") for theirs, _ in rows
                                                       if re.match(r"`(syscall|tcp|udp|ip):.*\{.*\}`$", theirs)]


def ran(ns, *words):
    r = subprocess.run(["ip", "netns", "exec", str(ns), NICPROBE, *words], capture_output=True, text=True, timeout=60)
    return r.returncode, r.stdout, r.stderr


def right(status, err):
    return status == 0 or (status == 1 and re.search(REASONS, err))


def views(ns):
    before = left.Before()
    for name in VIEWS:
        status, _, err = ran(ns, "trace", f"@{name}", "-d", ".1")
        check(f"views: @{name}", right(status, err), (status, err))
    before.check("views: nothing stays attached")


def commands(ns):
    lists, _ = page()
    check("views: the page has commands", len(lists) > 45, len(lists))
    for words in [w for w in lists if w[0] == "list"]:
        status, out, err = ran(ns, *words)
        check(f"views: {' '.join(words)}", status == 0 and out, (status, err))


def clauses(ns):
    """The one-liners of DTrace, as they are written."""
    _, told = page()
    check("views: the page has clauses of D", len(told) >= 10, told)
    for clause in told:
        status, _, err = ran(ns, "trace", "-n", clause, "-d", ".1")
        check(f"views: {clause}", right(status, err), (status, err))


def oneliners(ns):
    """Those of other tools, as options and as D: what differs is only how they are asked."""
    before, same_questions = left.Before(), 0
    for row in ROWS:
        words = shlex.split(row.words)
        asked = [words] if words[0] == "list" else [[*words, "-d", ".1", "-j"]]
        if row.clause:
            asked.append(["trace", "-n", row.clause, "-d", ".1", "-j"])
        docs = []
        for words in asked:
            status, out, err = ran(ns, *words)
            lacks = row.needs and re.search(LACKING[row.needs], err)
            check(f"one-liners: {' '.join(words)}", right(status, err) or lacks, (status, err))
            docs += [json.loads(out)] if status == 0 and row.clause else []
        if len(docs) == 2:
            same_questions += 1
            same(f"one-liners: D asks the same: {row.clause}", *({k: v for k, v in d.items() if k not in ("seconds", "rows", "lost")}
                                                                 for d in docs))
    check("one-liners: some are the same question", same_questions >= 10, same_questions)
    before.check("one-liners: nothing stays attached")


def of_users(ns):
    """A file of the user comes before a view of that name, and takes more options."""
    with tempfile.TemporaryDirectory() as config:
        os.makedirs(f"{config}/nicprobe/views")
        with open(f"{config}/nicprobe/views/netsize", "w", encoding="utf-8") as f:
            f.write("# How many packets are mine?\nip:::send --by 'ip_saddr'\n")
        env = {**os.environ, "XDG_CONFIG_HOME": config}
        say = lambda *words: subprocess.run([NICPROBE, *words], capture_output=True, text=True, env=env, timeout=60)
        check("views: list has the question of a user", "How many packets are mine?" in say("list", "@netsize").stdout)
        r = say("trace", "@netsize", "-d", ".1", "-j", "--top", "3")
        check("views: a view of a user runs", r.returncode == 0 and json.loads(r.stdout)["probes"] == ["ip:::send"], r)


def told():
    """The views as JSON; and the nearest name for one that is misspelt."""
    doc = json.loads(nicprobe("list", "-j", "@").stdout)
    same("views: JSON has all", sorted(v["view"] for v in doc if v["view"][1:] in VIEWS), [f"@{v}" for v in VIEWS])
    one, = json.loads(nicprobe("list", "-j", "@netsize").stdout)
    check("views: JSON of one", one["question"] == "Of which sizes are packets at the driver?" and "--quantize" in one["words"], one)
    for wrong, try_ in (("@netsizes", "trace @netsize"), ("@nothing-like-it", "list @")):
        said = nicprobe("trace", wrong, check=False).stderr
        check(f"views: {wrong}", f"nicprobe {try_}\n" in said, said)


def metrics(ns):
    """Counters only grow, with --interval, too; and the older format has its own names and no end."""
    docs = {}
    for form in "openmetrics", "prometheus":
        p = subprocess.Popen(["ip", "netns", "exec", str(ns), NICPROBE, "trace", "ip:::send", "--by", "ip_daddr", "-f", form, "-i", ".3",
                              "-d", "1"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        p.stderr.readline()
        ns.run("ping -q -c3 -i .2 127.0.0.1")
        docs[form] = p.communicate(timeout=20)[0]
    for form, out in docs.items():
        counts = [int(n) for n in re.findall(r'events_total\{ip_daddr="127.0.0.1"\} (\d+)', out)]
        check(f"trace: {form}: a counter grows to what was sent", counts == sorted(counts) and counts[-1:] == [6], out)
    same("trace: how both formats call and end it",
         ["# TYPE nicprobe_trace_events counter" in docs["openmetrics"], "# TYPE nicprobe_trace_events_total counter" in docs["prometheus"],
          "# EOF" in docs["openmetrics"], "# EOF" in docs["prometheus"]], [True, True, True, False])


need_root()
left.own_bpffs()
ns = Namespace("views")
ns.run("ip link set lo up")
each(views, commands, clauses, oneliners, of_users, told, metrics, ns=ns)
finish()

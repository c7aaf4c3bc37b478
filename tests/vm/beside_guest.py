#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""In a guest: asks DTrace and nicprobe the same of the same traffic, and prints a line of JSON for each of the rows.
usage: beside_guest.py ROOT, which tests/vm/ancestors made"""
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "live"))
from lib.asking import TALK
from lib.lab import NICPROBE

# What the traffic is, and how it is made.
TRAFFIC = {
    "a ping to 127.0.0.1": "ping -qc1 127.0.0.1",
    "3 pings to ::1": "ping -6 -i .2 -qc3 ::1",
    "an orderly TCP conversation of 11 segments, 127.0.0.1": f"python3 {TALK} orderly 127.0.0.1",
    "an orderly TCP conversation of 11 segments, ::1": f"python3 {TALK} orderly ::1",
    "a connection to the closed port 20007": f"python3 {TALK} refused 127.0.0.1",
    "a connection that is reset once it is established": f"python3 {TALK} reset 127.0.0.1",
    "an echo of 11 bytes by UDP": f"python3 {TALK} udp 127.0.0.1",
    "a datagram to a closed port": f"python3 {TALK} udp_closed 127.0.0.1",
    "20 connections": f"python3 {TALK} many 127.0.0.1 20",
    "3 sends of 11 bytes": f"python3 {TALK} sends 3",
}
PING, PING6, TCP, TCP6, REFUSED, RESET, UDP, CLOSED, MANY, SENDS = TRAFFIC
LO = "127.0.0.1"
# The traffic, a clause for both, and what is right: {(keys): figure}.
ROWS = [
    (PING, "ip:::send { @[args[2]->ip_saddr] = count(); }", {(LO,): 2}),
    (PING, "ip:::receive { @[args[2]->ip_saddr] = count(); }", {(LO,): 2}),
    (PING6, "ip:::send { @[args[2]->ip_saddr] = count(); }", {("::1",): 6}),
    (PING6, "ip:::receive { @[args[2]->ip_saddr] = count(); }", {("::1",): 6}),
    (TCP, "tcp:::send { @[args[2]->ip_daddr] = count(); }", {(LO,): 11}),
    (TCP, "tcp:::receive { @[args[2]->ip_saddr] = count(); }", {(LO,): 11}),
    # 2 segments of 40 bytes with options, 9 of 32, and 16 bytes of data
    (TCP, "tcp:::send { @[args[2]->ip_daddr] = sum(args[2]->ip_plength); }", {(LO,): 384}),
    (TCP, "ip:::send { @[args[2]->ip_daddr] = count(); }", {(LO,): 11}),
    (TCP, "tcp:::connect-request { @[args[4]->tcp_dport] = count(); }", {("20080",): 1}),
    (TCP, "tcp:::connect-established { @[args[4]->tcp_sport] = count(); }", {("20080",): 1}),
    (TCP, "tcp:::accept-established { @[args[4]->tcp_dport] = count(); }", {("20080",): 1}),
    (TCP6, "tcp:::send { @[args[2]->ip_daddr] = count(); }", {("::1",): 11}),
    (TCP6, "tcp:::receive { @[args[2]->ip_daddr] = count(); }", {("::1",): 11}),
    (REFUSED, "tcp:::accept-refused { @[args[2]->ip_daddr, args[4]->tcp_sport] = count(); }", {(LO, "20007"): 1}),
    (REFUSED, "tcp:::connect-refused { @[args[2]->ip_saddr, args[4]->tcp_sport] = count(); }", {(LO, "20007"): 1}),
    (REFUSED, "tcp:::send { @[args[2]->ip_daddr] = count(); }", {(LO,): 2}),
    (REFUSED, "tcp:::receive { @[args[2]->ip_daddr] = count(); }", {(LO,): 2}),
    (RESET, "tcp:::accept-refused { @[args[2]->ip_daddr] = count(); }", {}),
    (RESET, "tcp:::connect-refused { @[args[2]->ip_saddr] = count(); }", {}),
    (UDP, "udp:::send { @[args[4]->udp_dport] = sum(args[4]->udp_length); }", {("20053",): 19, ("20054",): 19}),
    (UDP, "udp:::receive { @[args[4]->udp_dport] = sum(args[4]->udp_length); }", {("20053",): 19, ("20054",): 19}),
    (CLOSED, "udp:::send { @[args[4]->udp_dport] = count(); }", {("20099",): 1}),
    (MANY, "tcp:::accept-established { @[args[4]->tcp_dport] = count(); }", {("20080",): 20}),
    (MANY, "tcp:::connect-established { @[args[4]->tcp_sport] = count(); }", {("20080",): 20}),
    (SENDS, "syscall::sendto:entry { @[execname] = sum(arg2); }", {("python3",): 33}),
]


def root_made(root):
    """A copy that bears uprobes, which DTrace needs; with what it reads of this kernel."""
    there = tempfile.mkdtemp()
    run = lambda command: subprocess.run(command, shell=True, check=True, stdout=subprocess.DEVNULL)
    subprocess.run("mount -t debugfs debugfs /sys/kernel/debug", shell=True, check=False, stderr=subprocess.DEVNULL)
    run(f"cp -a {root}/. {there}/")
    for name in "proc", "sys", "dev":
        run(f"mount --rbind /{name} {there}/{name}")
    run(f"chroot {there} ldconfig")
    return there


def script(numbers):
    """The clauses of these rows with an aggregation each, and what prints them at the end."""
    lines, ends = ["#pragma D option quiet", "dtrace:::BEGIN { printf(\"ready\\n\"); }"], []
    for n in numbers:
        lines.append(ROWS[n][1].replace("@[", f"@r{n}["))
        ends.append(f"printf(\"row {n}\\n\"); printa(@r{n});")
    return "\n".join([*lines, f"dtrace:::END {{ {' '.join(ends)} }}"]) + "\n"


def parsed(out):
    """{row: {(keys): figure}}"""
    found, at = {}, None
    for line in out.splitlines():
        words = line.split()
        if words[:1] == ["row"]:
            at = found.setdefault(int(words[1]), {})
        elif at is not None and len(words) >= 2:
            at[tuple(words[:-1])] = int(words[-1])
    return found


def make(traffic):
    subprocess.run(TRAFFIC[traffic], shell=True, check=True, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL, timeout=60)
    time.sleep(.5)


def theirs(root, traffic, numbers):
    """What DTrace answers to these rows, or ({}, why it does not)."""
    with open(f"{root}/tmp/rows.d", "w", encoding="ascii") as f:
        f.write(script(numbers))
    with open(f"{root}/tmp/out", "w+", encoding="utf-8") as out:
        p = subprocess.Popen(["chroot", root, "dtrace", "-s", "/tmp/rows.d"], stdout=out, stderr=subprocess.PIPE, text=True)
        for _ in range(600):
            time.sleep(.1)
            if p.poll() is not None:
                return {}, p.stderr.read().strip().splitlines()[-1]
            with open(f"{root}/tmp/out", encoding="utf-8") as so_far:
                if "ready" in so_far.read():
                    break
        time.sleep(1)
        make(traffic)
        p.send_signal(signal.SIGINT)
        said = p.communicate(timeout=120)[1]
        out.seek(0)
        return parsed(out.read()), said.strip()


def ours(traffic, clause):
    p = subprocess.Popen([NICPROBE, "trace", "-n", clause, "-j"], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    said = p.stderr.readline()
    if "tracing " not in said:
        p.communicate(timeout=60)
        return None, said.strip()
    make(traffic)
    p.send_signal(signal.SIGINT)
    doc = json.loads(p.communicate(timeout=60)[0])
    lost = f"lost: {doc['lost']}" if doc["lost"] else ""
    figure = "sum" if "= sum(" in clause else "count"
    return {tuple(str(v) for k, v in r.items() if k not in ("sum", "count")): r[figure] for r in doc["rows"]}, lost


def plain(rows):
    return None if rows is None else sorted([*keys, figure] for keys, figure in rows.items())


def main(root):
    open("/proc/sys/net/ipv6/conf/lo/disable_ipv6", "w", encoding="ascii").write("0")
    root = root_made(root)
    print(json.dumps({"kernel": os.uname().release, "dtrace": re.sub(r"^.*?([\d.]+)$", r"\1", subprocess.run(
        ["chroot", root, "dtrace", "-V"], capture_output=True, text=True).stdout.strip())}), flush=True)
    for traffic in TRAFFIC:
        numbers = [n for n, row in enumerate(ROWS) if row[0] == traffic]
        got, why = theirs(root, traffic, numbers)
        for n in numbers:
            mine, lost = ours(traffic, ROWS[n][1])
            print(json.dumps({"row": n, "traffic": traffic, "clause": ROWS[n][1], "right": plain(ROWS[n][2]),
                              "dtrace": plain(got.get(n)), "dtrace_said": why, "nicprobe": plain(mine), "nicprobe_said": lost}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])

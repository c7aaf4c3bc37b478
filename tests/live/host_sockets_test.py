#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""nicprobe host sockets: a line for each socket that ends, with both ends and what it moved, and no other."""
import os
import time

from lib.datagrams import INET6, LO, LO6, PORT, RAW, STREAM, bound, connected, make, namespaces
from lib.host_lines import ME, PID, Host, sure
from lib.lab import *


def line(local, remote=None, family="inet", protocol="udp", sent=(0, 0), received=(0, 0), interface=None):
    return {"event": "sockets", "process": ME, "pid": PID, "local": local[0], "local_port": local[1],
            "remote": remote and remote[0], "remote_port": remote and remote[1], "interface": interface, "family": family,
            "protocol": protocol, "sent_bytes": sent[0], "received_bytes": received[0], "sends": sent[1], "receives": received[1]}


def test_lines(ns, stranger):
    """A line for each as it ends, with both ends and what it moved."""
    before = bound(ns, port=PORT + 1)
    host = Host("sockets", ns)
    server, c, six = bound(ns), connected(ns, (LO, PORT)), connected(ns, (LO6, PORT), INET6)
    at, there = c.getsockname(), six.getsockname()[:2]
    for _ in range(3):
        c.send(b"x" * 100)
        server.recv(1000)
    make(stranger).close()
    raw = make(ns, kind=RAW, protocol=200)
    raw.bind((LO, 0))
    begun = time.monotonic()
    time.sleep(.2)
    for s in c, server, six, raw, before:
        s.close()
    make(ns, kind=STREAM).close()
    waited = time.monotonic() - begun
    got = host.stop()
    old = line((LO, PORT + 1))
    old.update(dict.fromkeys(("sent_bytes", "received_bytes", "sends", "receives")))
    same("lines: each socket that ended", sure(got), [
        line(at, (LO, PORT), sent=(300, 3), interface="lo"), line((LO, PORT), received=(300, 3)),
        line(there, (LO6, PORT), "inet6", interface="lo"), line((LO, None), protocol="raw-200"), old, line(("0.0.0.0", None), protocol="tcp")])
    check("lines: how long", all(.2 <= x["seconds"] <= waited + .2 for x in got[:4]), [x["seconds"] for x in got])
    same("lines: unknown of one from before", got[4]["seconds"], None)


def test_filters(ns):
    """By port, remote host and process."""
    ways = {("--port", str(PORT)): 2, ("--remote", LO): 1, ("--process", ME): 3, ("--process", str(PID)): 3, ("--process", "x"): 0,
            ("-c", "1"): 1}
    for args, nr in ways.items():
        host = Host("sockets", ns, *args)
        for s in bound(ns), connected(ns, (LO, PORT)), make(ns):
            s.close()
        same(f"filters: {' '.join(args)}", len([x for x in host.stop() if x["process"] == ME]), nr)


def test_own(ns):
    """nicprobe asks for names and settings through sockets of its own, which are none of the host's."""
    nicprobe("attach", f"{ns}/host", "-m", "socklife")
    host = Host("sockets", ns)
    for _ in range(2):
        doc = show(f"{ns}/host")
    make(ns).close()
    same("own: the test's socket alone", [x["process"] for x in host.stop()], [ME])
    same("own: no row", [r["process"] for r in doc["meters"]["socklife"] if r["process"] == "nicprobe"], [])
    host = Host("sockets", ns)
    ns.run(f"{sys.executable} -c 'import ctypes, os, socket; os.setuid(65534); ctypes.CDLL(None).prctl(15, b\"nicprobe\"); "
           "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).close()'")
    same("own: another user does not hide by the name", [x["process"] for x in host.stop()], ["nicprobe"])
    same("own: and has a row", [r["protocol"] for r in show(f"{ns}/host")["meters"]["socklife"] if r["process"] == "nicprobe"], ["udp"])
    nicprobe("detach", f"{ns}/host")


def test_table(ns):
    """The columns, for people."""
    host = Host("sockets", ns, json_lines=False)
    s = connected(ns, (LO, PORT))
    s.send(b"x" * 1500)
    s.close()
    head, *got = host.stop()
    same("table: its columns", head.split(), "time process pid family protocol local remote lasted sent received sends receives interface rx/tx".split())
    same("table: a line", [" ".join(x.split()[1:6] + x.split()[6:7] + x.split()[9:15]) for x in got],
         [f"{ME} {PID} inet udp {got[0].split()[5]} {LO}:{PORT} 1500 B 0 B 1 0"])


def test_said(ns):
    """Why there are none."""
    got = nicprobe("host", "sockets", f"{ns}/host", env={**os.environ, "NICPROBE_CANNOT": "cgroup"}, check=False)
    check("said: why there are no lines", got.returncode == 1 and "cannot follow sockets" in got.stderr, got.stderr)


need_root()
one, two = namespaces()
each(test_lines, test_filters, test_own, test_table, test_said, ns=one, stranger=two)
finish()

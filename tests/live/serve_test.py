#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""nicprobe serve: its numbers are the packets that were sent, read without any capability, in few series and little
time, while interfaces come and go."""
import contextlib
import os
import re
import socket
import subprocess

from lib import lab, left
from lib.lab import Namespace, check, nicprobe, same, tap, until
from lib.served import GROUP, NO_CAPS, Server, USER, enter, families, samples, value

QUEUES = 64
CHANGING = ("nicprobe_spread_", "nicprobe_finding", "nicprobe_link_", "nicprobe_packet_size", "nicprobe_gso",
            "nicprobe_drop", "nicprobe_counters", "nicprobe_hwstat", "nicprobe_qdisc")


def numbers(nic, netns):
    """What was sent is what is served, in the same words as by show."""
    sent = {0: 300, 1: 100, 7: 25}
    server = Server("--listen", "127.0.0.1:0")
    before = samples(server.metrics())
    for queue, count in sent.items():
        nic(f"send {queue} {count} 100 udp sport={1000 + queue} dport=9 src=198.18.1.{queue + 1} ecn=3 flows=30")
    nic("go interleave")
    text = server.metrics()
    have = samples(text)
    rx = {"interface": "tap0", "point": "rx-nic"}
    grew = {name: value(have, name, **rx, **more) - (value(before, name, **rx, **more) or 0) for name, more in (
        ("nicprobe_packet_size_bytes_count", {}), ("nicprobe_packet_size_bytes_sum", {}),
        ("nicprobe_ecn_packets_total", {"codepoint": "ce"}))}
    same("serve: packets, bytes and CE marks are those that were sent", grew, {
        "nicprobe_packet_size_bytes_count": 425, "nicprobe_packet_size_bytes_sum": 42500, "nicprobe_ecn_packets_total": 425})
    same("serve: the busiest queue, the idlest, and their shares", [
        value(have, "nicprobe_spread_queue", **rx, which="busiest"), value(have, "nicprobe_spread_queue", **rx, which="idlest"),
        round(value(have, "nicprobe_spread_ratio", **rx, which="busiest"), 6),
        value(have, "nicprobe_spread_ratio", **rx, which="idlest"),
        round(value(have, "nicprobe_spread_imbalance_ratio", **rx), 5)],
        [0, 2, round(300 / 425, 6), 0, round(300 / 425 * QUEUES, 5)])
    r = subprocess.run(["setpriv", f"--reuid={USER}", f"--regid={USER}", f"--groups={GROUP}", *NO_CAPS, server.binary, "show", "-t",
                        "-f", "openmetrics"], capture_output=True, text=True, check=True)
    same("serve: the names are those of show -f openmetrics", sorted(families(text)), sorted(families(r.stdout)))
    shown = samples(r.stdout)
    still = lambda d: {k: v for k, v in d.items() if not k[0].startswith(CHANGING) and
                       not any(w in k[0] for w in ("irq", "napi", "missed", "ledger"))}
    same("serve: the numbers, too", still(have), still(shown))
    check("serve: there is something to compare", len(still(have)) > 50, f"{len(still(have))} samples")
    each = Server("--listen", "127.0.0.1:0", "--per-queue", "-m", "pktsize,ecn")
    got = samples(each.metrics())
    same("serve: --per-queue has the packets of each", {
        q: value(got, "nicprobe_packet_size_bytes_count", **rx, queue=str(q)) for q in sent}, dict(sent))
    same("serve: only the meters that were chosen", sorted(n for n in families(each.metrics()) if n.startswith(
        ("nicprobe_napi", "nicprobe_irq", "nicprobe_rxcpu"))), [])
    same("serve: both end", [server.end(), each.end()], [0, 0])


def send_away(netns):
    """Packets to 1000 ports through the tap, over all its queues, and 400 that find no neighbour."""
    for port in range(400):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            s.connect(("198.18.0.78", 1000 + port))
            try:
                s.send(b"x" * port * 3)
            except OSError:
                pass
    netns.ip("neigh replace 198.18.0.77 lladdr 02:00:00:00:00:77 dev tap0")
    for port in range(1000):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            s.connect(("198.18.0.77", 1000 + port))
            s.send(b"x" * port)


def cost(nic, netns):
    """Series and time with all default meters of 64 queues."""
    for queue in range(QUEUES):
        nic(f"send {queue} 100 {100 + 20 * queue} udp sport={1000 + queue} dport=9 src=198.18.1.{queue} ecn=3 flows=30")
    nic("go interleave")
    send_away(netns)
    server = Server("--listen", "127.0.0.1:0")
    text = server.metrics()
    check("serve: under 1500 series for 64 queues", 200 < len(samples(text)) < 1500, f"{len(samples(text))} series")
    rounds = []
    for _ in range(5):
        before = server.spent()
        for _ in range(20):
            status, headers, body = server.ask(headers={"Accept-Encoding": "gzip"})
        rounds.append((server.spent() - before) / 20 * 1e3)
    print(f"# a scrape takes {min(rounds):.2f} ms of a CPU: {len(samples(text))} series, {len(text)} bytes, {len(body)} as gzip")
    # bench has the figure; a shared machine may be three times as slow
    check("serve: a scrape costs no more than a slow machine makes of 10 ms", status == 200 and min(rounds) <= 30, f"{rounds} ms")
    server.end()


def rights(netns):
    """No capability, whoever starts it; and who may not read is told."""
    none = "0000000000000000"
    for name, prefix in ("a member", None), ("root", []):
        server = Server("--listen", "127.0.0.1:0", prefix=prefix)
        with open(f"/proc/{server.p.pid}/status", encoding="ascii") as f:
            caps = dict(line.split(":\t") for line in f.read().splitlines() if line.startswith(("Cap", "NoNew")))
        same(f"serve: started by {name}, it has no capability", caps, {**{f"Cap{k}": none for k in
             ("Inh", "Prm", "Eff", "Bnd", "Amb")}, "NoNewPrivs": "1"})
        check(f"serve: started by {name}, it reads", value(samples(server.metrics()), "nicprobe_interfaces") == 1)
        server.end()
    other = Server("--listen", "127.0.0.1:0", prefix=["setpriv", f"--reuid={USER}", f"--regid={USER}", f"--groups={USER}", *NO_CAPS])
    status, _, body = other.ask()
    same("serve: who may not read is told so", [status, b"Permission denied" in body, b"--group" in body], [503, True, True])
    same("serve: it is healthy all the same", other.ask("/-/healthy")[0], 200)
    check("serve: and says so once", other.said.count(b"Permission denied") <= 1 and not other.read(.2).count(b"Permission denied") > 1,
          other.said)
    other.end()


def locations(netns):
    """Where packets were dropped is told by name, or by a word: an address would tell everybody where the kernel lies."""
    send_away(netns)
    for name, prefix, pattern in ("root", [], r"\w+\+0x[0-9a-f]+( \[\w+\])?"), ("a member", None, "unknown-[0-9a-f]{8}"):
        server = Server("--listen", "127.0.0.1:0", prefix=prefix)
        first, again = server.metrics(), server.metrics()
        where = lambda text: {dict(pairs).get("location") for _, pairs in samples(text)} - {None}
        check(f"serve: started by {name}, where packets were dropped", where(first) and
              all(re.fullmatch(pattern, w) for w in where(first)) and where(first) == where(again), where(first))
        check(f"serve: started by {name}, it tells no address", not re.search("ffff[0-9a-f]{12}", first + server.ask("/")[2].decode()))
        server.end()


def held(server):
    """(maps that it has in memory, BPF objects that it has open)"""
    with open(f"/proc/{server.p.pid}/maps", encoding="ascii") as f:
        maps = sum("anon_inode:bpf" in line for line in f)
    fds, opened = f"/proc/{server.p.pid}/fd", 0
    for fd in os.listdir(fds):
        with contextlib.suppress(FileNotFoundError):    # closed meanwhile
            opened += "bpf" in os.readlink(f"{fds}/{fd}")
    return maps, opened


def holds(nic, netns):
    """Between scrapes the maps stay open and in memory; not beyond a detach, even if nobody scrapes."""
    server = Server("--listen", "127.0.0.1:0")
    rows = lambda: value(samples(server.metrics()), "nicprobe_packet_size_bytes_count", interface="tap0", point="rx-nic") or 0
    until(lambda: rows() >= 0 and min(held(server)) > 5, 5)     # not while the pins are young
    before = rows()
    check("serve: maps stay open and in memory between scrapes", min(held(server)) > 5, held(server))
    nic("send 0 50 100")
    nic("go")
    same("serve: what they count meanwhile is served", rows() - before, 50)
    nicprobe("detach", "--all")
    until(lambda: held(server) == (0, 0), 5)
    same("serve: none stays beyond a detach, unscraped", held(server), (0, 0))
    nicprobe("attach", "--group", str(GROUP), f"{netns}/tap0")
    nic("send 0 7 100")
    nic("go")
    same("serve: attached anew, new maps are read", rows(), 7)
    until(lambda: rows() == 7 and min(held(server)) > 5, 5)
    check("serve: and stay", min(held(server)) > 5, held(server))
    server.end()


def come_and_go(netns):
    """Interfaces are attached, renamed, removed and detached between scrapes."""
    server = Server("--listen", "127.0.0.1:0")
    names = lambda: sorted({dict(pairs)["interface"] for (n, pairs) in samples(server.metrics()) if n == "nicprobe_interface_info"})
    same("serve: one interface", names(), ["tap0"])
    netns.ip("link add d0 type veth peer name d1")
    nicprobe("attach", "--group", str(GROUP), f"{netns}/d0")
    same("serve: another comes", names(), ["d0", "tap0"])
    nicprobe("attach", f"{netns}/d1")
    have = samples(server.metrics())
    same("serve: one that the group may not read is counted", [value(have, "nicprobe_scrape_errors"),
         value(have, "nicprobe_interfaces")], [1, 2])
    nicprobe("detach", f"{netns}/d1")
    nicprobe("detach", f"{netns}/d0")
    nicprobe("attach", "--group", str(GROUP), f"{netns}/d0")
    same("serve: attached anew", [names(), value(samples(server.metrics()), "nicprobe_scrape_errors")], [["d0", "tap0"], 0])
    netns.ip("link del d0")
    state = [dict(pairs).get("state") for (n, pairs) in samples(server.metrics()) if n == "nicprobe_interface_info"
             and dict(pairs)["interface"] == "d0"]
    check("serve: one that was deleted is said to be", state and state[0], state)
    nicprobe("detach", "--all")
    text = server.metrics()
    same("serve: nothing is attached, and it says so", [value(samples(text), "nicprobe_interfaces"),
         value(samples(text), "nicprobe_scrape_errors"), "nicprobe_interface_info" in text, text.endswith("# EOF\n")],
         [0, 0, False, True])
    check("serve: on the page for people, too", b"Nothing is attached" in server.ask("/")[2])
    nicprobe("attach", "--group", str(GROUP), f"{netns}/tap0")
    same("serve: and attached again", names(), ["tap0"])
    same("serve: it ends", server.end(), 0)


def main():
    netns = Namespace("serve")
    nic = tap(netns, queues=QUEUES, address="198.18.0.2/24")
    before = left.Before(netns)
    nicprobe("attach", "--group", str(GROUP), f"{netns}/tap0")
    enter(netns)
    lab.each(numbers, cost, rights, locations, holds, come_and_go, nic=nic, netns=netns)
    nicprobe("detach", "--all", check=False)
    before.check("serve: it leaves nothing")
    nic.close()


lab.need_root()
left.own_bpffs()
main()
lab.finish()

#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""The meter `xsk` reports the losses of an AF_XDP socket to the packet: tests/xsk causes them."""
from lib.lab import *
from lib.sockets import COUNTS, NO_DIAG, Xsk, told

ZERO = dict.fromkeys(COUNTS, 0)


def rows(iface, *args):
    """{(queue, socket): row}"""
    return {(r["queue"], r["socket"]): r for r in show(iface, *args)["meters"].get("xsk", [])}


def row_of(iface, xsk, *args):
    """The only row of a process; a process without losses has none."""
    mine = [r for r in rows(iface, *args).values() if r["pid"] == xsk.pid]
    return mine[0] if len(mine) == 1 else ZERO if not mine else {"rows": len(mine)}


def counts(row):
    return {name: row.get(name) for name in COUNTS}


def hw(iface):
    return json.loads(nicprobe("show", "-j", iface, "hw").stdout)["hw"]


class Place:
    """A veth: eth0 of `here` is measured, `nic` sends from the other end."""
    def __init__(self):
        self.here, self.there = Namespace("here"), Namespace("there")
        veth(self.here, self.there, "eth0", 2, 3000)
        self.iface, self.nic = f"{self.here}/eth0", Nic("packet eth0 --queues 1", self.there)

    def send(self, count, size, xsk, more):
        """Sends packets until the socket's own counts have grown by `more`; returns the counts before."""
        before = xsk.counts()
        self.nic(f"send 0 {count} {size}")
        self.nic("go")
        want = {**before, **{k: before[k] + n for k, n in more.items()}}
        until(lambda: xsk.counts() == want)
        return before


def untold(at):
    """A kernel without sock_diag: reported as absent, by name it is an error, and nothing is attached."""
    r = nicprobe("attach", at.iface, "-m", "xsk", check=False)
    same("not told: asked for by name", (r.returncode, NO_DIAG in r.stderr), (1, True))
    nicprobe("attach", at.iface)
    doc = show(at.iface)
    same("not told: absent", (doc["absent"].get("xsk"), "xsk" in doc["meters"]), (NO_DIAG, False))
    nicprobe("detach", at.iface)
    same("not told: hw, without sockets", ("AF_XDP" in hw(at.iface)["absent"], hw(at.iface)["af_xdp"]), (False, []))
    xsk = Xsk("eth0 0", at.here)
    check("not told: hw, with a socket", "CONFIG_XDP_SOCKETS_DIAG" in hw(at.iface)["absent"].get("AF_XDP", ""),
          str(hw(at.iface)["absent"]))
    xsk.close()
    skip("what sockets lose", NO_DIAG)


def received(at, xsk):
    """Each cause with a distinct number: no frame, an unread ring, a packet longer than a frame."""
    xsk("fill 20")
    at.send(50, 100, xsk, {"rx_dropped": 30, "fill_ring_empty_events": 30})
    same("fill ring empty: 20 frames, 50 packets", counts(row_of(at.iface, xsk)),
         {**ZERO, "rx_dropped": 30, "fill_ring_empty_events": 30})
    xsk("read")
    xsk("free")
    xsk("fill 100")
    at.send(90, 100, xsk, {"rx_ring_full": 26})
    same("RX ring full: 64 descriptors, 90 packets", counts(row_of(at.iface, xsk)),
         {**ZERO, "rx_dropped": 30, "fill_ring_empty_events": 30, "rx_ring_full": 26})
    xsk("read")
    at.send(7, 2000, xsk, {"rx_dropped": 7})
    same("longer than a frame: 7 packets", counts(row_of(at.iface, xsk)),
         {**ZERO, "rx_dropped": 37, "fill_ring_empty_events": 30, "rx_ring_full": 26})
    # The kernel skips them and counts them in the fill ring, not in the RX ring.
    xsk("fillbad 5")
    xsk("read")
    same("addresses in the fill ring that are no frames: the kernel tells of none",
         row_of(at.iface, xsk)["rx_invalid_descriptors"], 0)


def sent(at, xsk):
    before = counts(row_of(at.iface, xsk))
    same("descriptors that are refused: 9 are sent", xsk("sendbad 9")["sent"], 9)
    same("descriptors that are refused: 9", row_of(at.iface, xsk)["tx_invalid_descriptors"],
         before["tx_invalid_descriptors"] + 9)
    before = row_of(at.iface, xsk)["tx_ring_empty_events"]
    kernel = xsk.counts()["tx_ring_empty_events"]
    xsk("kick 11")
    grew = xsk.counts()["tx_ring_empty_events"] - kernel
    check(f"TX ring empty: asked 11 times # the kernel counts {grew}", grew == 11, f"{grew}")
    same("TX ring empty: as many", row_of(at.iface, xsk)["tx_ring_empty_events"] - before, grew)
    sent_now = xsk("send 40 100")
    same("frames are sent, all the same", sent_now["sent"], 40)
    same("all six are what the kernel says to the socket's own program", counts(row_of(at.iface, xsk)), xsk.counts())


def window(at, xsk):
    """A window contains only its own counts."""
    p = subprocess.Popen([NICPROBE, "show", "-j", "-w", "3", at.iface], stdout=subprocess.PIPE, text=True)
    time.sleep(1)
    before = at.send(33, 2000, xsk, {"rx_dropped": 33})
    row = next(r for r in json.loads(p.communicate()[0])["meters"]["xsk"] if r["pid"] == xsk.pid)
    same("a window: what came in it", counts(row), {**ZERO, "rx_dropped": 33})
    same("and since attach", counts(row_of(at.iface, xsk))["rx_dropped"], before["rx_dropped"] + 33)


def whose(at, xsk):
    row = row_of(at.iface, xsk)
    same("whose", {k: row[k] for k in ("queue", "process", "uid", "mode")},
         {"queue": 0, "process": "xsk", "uid": 0, "mode": "copy"})
    link = sh(f"readlink /proc/{xsk.pid}/fd/* | grep -c 'socket:.{row['socket']}.'")
    same("its socket is one that the process has", int(link) > 0, True)
    doc = json.loads(sh(f"unshare --pid --fork --mount-proc {NICPROBE} show -j --total {at.iface}"))
    same("where the process cannot be seen: socket and uid",
         [(r["process"], r["pid"], r["socket"], r["uid"]) for r in doc["meters"]["xsk"]],
         [("unknown", None, row["socket"], 0)])
    table = nicprobe("show", at.iface, "xsk").stdout
    line = next((s.split() for s in table.splitlines() if s.startswith("  q0 ")), [])
    want = [str(row[k]) for k in ("process", "pid", "socket", "rx_dropped", "rx_ring_full")]
    same("the table has process, socket and losses", [w for w in want if w not in line], [])
    om = nicprobe("show", "-f", "openmetrics", at.iface).stdout
    line = [s for s in om.splitlines() if s.startswith("nicprobe_xsk_rx_ring_full_packets_total{")]
    check("OpenMetrics", len(line) == 1 and 'queue="0"' in line[0] and 'process="xsk"' in line[0] and
          float(line[0].split()[-1]) == row["rx_ring_full"] and "pid=" not in line[0], str(line))


def queues(at, xsk):
    """A socket on another queue, and both in `hw`."""
    other = Xsk("eth0 1 --no-program --rx 32 --fill 256", at.here)
    other("sendbad 4")
    row = row_of(at.iface, other)
    same("another queue", (row["queue"], counts(row)["tx_invalid_descriptors"], counts(row)["rx_dropped"]), (1, 4, 0))
    told_of = [{k: s[k] for k in s if k not in ("socket", "uid", "umem")} for s in hw(at.iface)["af_xdp"]]
    same("hw: both, with their rings", told_of, [
        {"queue": 0, "process": "xsk", "pid": xsk.pid, "mode": "copy", "rx_ring": 64, "tx_ring": 64, "fill_ring": 128,
         "completion_ring": 64},
        {"queue": 1, "process": "xsk", "pid": other.pid, "mode": "copy", "rx_ring": 32, "tx_ring": 64, "fill_ring": 256,
         "completion_ring": 64}])
    words = " ".join(nicprobe("show", at.iface, "hw").stdout.split())
    want = f"AF_XDP queue 0: xsk (pid {xsk.pid}, copy), queue 1: xsk (pid {other.pid}, copy)"
    check("hw: in the table", want in words, words)
    other.close()
    until(lambda: len(rows(at.iface)) == 1)
    same("it ends: its row goes", [r["pid"] for r in rows(at.iface).values()], [xsk.pid])


def elsewhere(at, xsk):
    """A socket in another namespace, on an interface with the same index."""
    index = lambda netns: int(netns.run("cat /sys/class/net/eth0/ifindex"))
    same("another namespace: the same index", index(at.there), index(at.here))
    other = Xsk("eth0 0 --no-program", at.there)
    other("sendbad 6")
    same("another namespace: is none of ours", [r["pid"] for r in rows(at.iface).values()], [xsk.pid])
    same("another namespace: hw", [s["pid"] for s in hw(at.iface)["af_xdp"]], [xsk.pid])
    other.close()


def anew(at, xsk):
    """The program restarts: the new socket's losses count from 0."""
    xsk.close()
    until(lambda: not rows(at.iface))
    same("gone: no row", rows(at.iface), {})
    second = Xsk("eth0 0", at.here)
    at.send(5, 100, second, {"rx_dropped": 5, "fill_ring_empty_events": 5})
    same("made anew: its own losses", {r["pid"]: counts(r) for r in rows(at.iface).values()},
         {second.pid: {**ZERO, "rx_dropped": 5, "fill_ring_empty_events": 5}})
    second.close()


def shared(at):
    """Two sockets that share a UMEM: the kernel reports the count of their fill ring for each."""
    xsk = Xsk("eth0 0 --share", at.here)
    at.send(8, 100, xsk, {"rx_dropped": 8, "fill_ring_empty_events": 8})
    mine = [r for r in rows(at.iface).values() if r["pid"] == xsk.pid]
    same("shared frames: one memory", len({r["umem"] for r in mine}), 1)
    same("shared frames: one fill ring", [r["fill_ring_empty_events"] for r in mine], [8, 8])
    same("shared frames: what each lost", sorted(r["rx_dropped"] for r in mine), [0, 8])
    xsk.close()


def ledger(at):
    """The sockets' losses appear beside the driver's counts."""
    nicprobe("detach", at.iface)
    nicprobe("attach", at.iface, "-m", "xsk,ledger")
    xsk = Xsk("eth0 0", at.here)
    at.send(12, 100, xsk, {"rx_dropped": 12, "fill_ring_empty_events": 12})
    xsk("sendbad 3")
    xsk("send 1 100")       # a direction without counts has no row
    got = {r["direction"]: r["af_xdp"] for r in show(at.iface)["meters"]["ledger"] if r["queue"] == "all"}
    same("ledger: names what AF_XDP lost", got, {"rx": 12, "tx": 3})
    xsk.close()
    nicprobe("detach", at.iface)


def main():
    need_root()
    at = Place()
    if not told():
        untold(at)
        finish()
    xsk = Xsk("eth0 0", at.here)
    at.send(3, 100, xsk, {"rx_dropped": 3, "fill_ring_empty_events": 3})
    nicprobe("attach", at.iface, "-m", "xsk")
    same("attached: what was before is taken off", counts(row_of(at.iface, xsk)), ZERO)
    # getsockopt() returns totals: the test compares the growth
    xsk.offset = xsk.counts()
    received(at, xsk)
    whole = xsk.counts()
    same("since attach: less what was before", counts(row_of(at.iface, xsk)),
         {k: whole[k] - xsk.offset[k] for k in whole})
    xsk.close()
    until(lambda: not rows(at.iface))
    xsk = Xsk("eth0 0", at.here)
    sent(at, xsk)
    at.send(4, 2000, xsk, {"rx_dropped": 4})
    xsk("fill 100")
    at.send(70, 100, xsk, {"rx_ring_full": 6})
    window(at, xsk)
    whose(at, xsk)
    queues(at, xsk)
    elsewhere(at, xsk)
    anew(at, xsk)
    shared(at)
    ledger(at)
    finish()


main()

#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""How long TCP holds data back: a peer by hand answers after known times, and each wait is counted once, for its cause,
with the time that it took."""
import socket
import struct
import time

from lib.connections import PORT, attach, client, listen, read, rows
from lib.lab import *
from lib.peer import ACK, MSS, PSH, Peer

REMOTE = "198.18.0.1"
CORK, NODELAY, MORE, MAX_PACING_RATE, INFO = 3, 1, socket.MSG_MORE, 47, 11


def held(ns, remote=REMOTE):
    """{cause: (waits, seconds, bytes)} of a remote host."""
    doc = show(f"{ns}/host")
    same("nothing is lost", lost(doc), {})
    return {r["cause"]: (r["held_seconds"]["count"], r["held_seconds"]["sum"], r["held_bytes"])
            for r in doc["meters"]["tcpwait"] if r["remote"] == remote and r["held_seconds"]["count"]}


def expect(name, got, cause, count, size, least, most):
    """So many waits of one cause, and none of another; at least the time that the test slept, and at most that from
    before what began them to after what ended them."""
    same(f"{name}: waits by cause, and their bytes", {c: (n, b) for c, (n, _, b) in got.items()}, {cause: (count, size)})
    took = got.get(cause, (0, 0, 0))[1]
    check(f"{name}: {cause} took as long as it did", least <= took <= most, f"{least}, {took}, {most}")


def established(peer, nodelay=False, rtt=0):
    """A socket that waits, and the last segment of it."""
    s, syn = peer.connect()
    time.sleep(rtt)
    got = peer.accept(syn)
    s.settimeout(10)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    if nodelay:
        s.setsockopt(socket.IPPROTO_TCP, NODELAY, 1)
    return s, got


def info(s, at, kind="Q"):
    """A member of struct tcp_info."""
    return struct.unpack_from(kind, s.getsockopt(socket.IPPROTO_TCP, INFO, 232), at)[0]


def rwnd_limited(s):
    return info(s, 176) / 1e6


def test_nagle(ns, peer):
    """Six times two small writes; each time the peer acknowledges the one before after 200 ms."""
    attach(ns, "-m", "tcpwait")
    s, _ = established(peer)
    s.send(b"x" * 100)
    seg, waited = peer.next(PSH), 0
    for i in range(6):
        began = time.monotonic()
        s.send(b"y" * 30)
        time.sleep(.1)
        s.send(b"z" * (10 + i))
        time.sleep(.1)
        peer.send(seg, ACK)
        waited += time.monotonic() - began
        seg = peer.next(PSH)
        same(f"nagle: the peer gets both in one, {i}", len(seg.data), 40 + i)
    peer.send(seg, ACK)
    expect("nagle", held(ns), "nagle", 6, 6 * 40 + 15, 6 * .2, waited)
    s.setsockopt(socket.IPPROTO_TCP, NODELAY, 1)
    for _ in range(4):
        s.send(b"x" * 100)
        peer.send(peer.next(PSH), ACK)
    same("nagle: none with TCP_NODELAY", held(ns)["nagle"][0], 6)
    s.close()


def test_cork(ns, peer):
    """TCP_CORK for 100 ms; MSG_MORE, for 60 ms; and data that is still corked as the socket is reset."""
    attach(ns, "-m", "tcpwait")
    s, _ = established(peer)
    began = time.monotonic()
    s.setsockopt(socket.IPPROTO_TCP, CORK, 1)
    s.send(b"x" * 300)
    time.sleep(.1)
    s.setsockopt(socket.IPPROTO_TCP, CORK, 0)
    waited = time.monotonic() - began
    peer.send(peer.next(PSH), ACK)
    began = time.monotonic()
    s.send(b"x" * 200, MORE)
    time.sleep(.06)
    s.send(b"x" * 50)
    waited += time.monotonic() - began
    peer.send(peer.next(PSH), ACK)
    expect("cork", held(ns), "cork", 2, 550, .16, waited)
    began = time.monotonic()
    s.setsockopt(socket.IPPROTO_TCP, CORK, 1)
    s.send(b"x" * 70)
    time.sleep(.05)
    s.close()
    waited += time.monotonic() - began
    until(lambda: held(ns)["cork"][0] == 3)
    expect("cork, and never sent", held(ns), "cork", 3, 550, .21, waited)


def test_rwnd(ns, peer):
    """The window is closed for 300 ms, three times, and opens; the kernel's own total says the same."""
    attach(ns, "-m", "tcpwait")
    s, _ = established(peer)
    waited = 0
    for _ in range(3):
        s.send(b"x" * 1000)
        seg = peer.next(PSH)
        peer.send(seg, ACK, window=0)
        until(lambda: not info(s, 24, "I"))       # all is acknowledged
        began = time.monotonic()
        s.send(b"y" * 1200)
        time.sleep(.15)
        s.send(b"y" * 100)
        time.sleep(.15)
        peer.send(seg, ACK)
        waited += time.monotonic() - began
        seg = peer.next(PSH)
        same("rwnd: the peer gets all at once", len(seg.data), 1300)
        peer.send(seg, ACK)
        until(lambda: not info(s, 24, "I"))
    got = held(ns)
    expect("rwnd", got, "rwnd", 3, 3900, .9, waited)
    check("rwnd: the kernel says the same, to a tick for each", abs(got["rwnd"][1] - rwnd_limited(s)) <= 3 * .008,
          f"{got['rwnd'][1]}, {rwnd_limited(s)}")
    s.close()


def test_cwnd(ns, peer):
    """Ten segments leave; the others wait until these are acknowledged, after a round trip of 100 ms."""
    attach(ns, "-m", "tcpwait")
    s, _ = established(peer, rtt=.1)
    began = time.monotonic()
    s.send(b"x" * 20 * MSS)
    got = peer.data(10 * MSS)
    time.sleep(.1)
    peer.send(got[-1], ACK)
    waited = time.monotonic() - began
    got = peer.data(10 * MSS)
    peer.send(got[-1], ACK)
    now = held(ns)
    size = now.get("cwnd", (0, 0, 0))[2]
    check("cwnd: what left first is some of what waited", MSS <= size <= 10 * MSS and not size % MSS, size)
    expect("cwnd", now, "cwnd", 1, size, .1, waited)
    s.close()


def acknowledge(peer, octets):
    """At once; returns how much came in each segment."""
    came, ends = [], set()
    while sum(came) < octets:
        seg = peer.next()
        if seg.data and seg.end not in ends:
            ends.add(seg.end)
            came.append(len(seg.data))
            peer.send(seg, ACK)
    return came


def paced(ns, peer, name, rate=100000, rtt=0):
    """Twenty segments at 100 kB/s, after ten that are not paced: 14 ms between two. Or at another rate."""
    attach(ns, "-m", "tcpwait")
    ns.run("sysctl -qw net.ipv4.tcp_tso_rtt_log=0 net.ipv4.tcp_min_tso_segs=1")
    for _ in tries(5, f"{name}: the test was stopped while it wrote, and the first wait has no event"):
        s, _ = established(peer, nodelay=True, rtt=rtt)
        s.send(b"x" * 10 * MSS)
        acknowledge(peer, 10 * MSS)
        before = held(ns)
        s.setsockopt(socket.SOL_SOCKET, MAX_PACING_RATE, rate)
        began = time.monotonic()
        s.send(b"y" * 20 * MSS)
        wrote = time.monotonic()
        came = acknowledge(peer, 20 * MSS)
        took = time.monotonic() - began
        if wrote - began < .01:
            break
        s.close()
    same(f"{name}: segments are full", came, [MSS] * 20)
    got = held(ns)
    for cause, (count, seconds, size) in before.items():
        got[cause] = tuple(a - b for a, b in zip(got[cause], (count, seconds, size)))
    s.close()
    return {cause: x for cause, x in got.items() if x[0]}, took


def test_pacing(ns, peer):
    """By TCP's own timer."""
    got, took = paced(ns, peer, "pacing")
    same("pacing: each but the first waits", {c: (n, size) for c, (n, _, size) in got.items()}, {"max-rate": (19, 19 * MSS)})
    seconds = got["max-rate"][1]
    check("pacing: as long as the rate says, and no longer than all took", .9 * 19 * MSS / 1e5 <= seconds <= took,
          f"{seconds}, {19 * MSS / 1e5}, {took}")


def test_pacing_own(ns, peer):
    """A rate that is allowed, and not reached: that of congestion control, of windows and a round trip of 100 ms."""
    got, took = paced(ns, peer, "its own pace", 10**8, .1)
    count, seconds, _ = got.get("pacing", (0, 0, 0))
    check("its own pace: it is not the program's", "max-rate" not in got and count, got)
    check("its own pace: no longer than all took", 0 < seconds <= took, f"{got} {took}")


def test_pacing_fq(ns, peer):
    """By the qdisc fq, which gets the time of departure with each segment."""
    if not has_qdisc(ns, "fq"):
        skip("pacing with fq", "this kernel has no fq")
        return
    ns.run("tc qdisc replace dev tap0 root fq")
    got, took = paced(ns, peer, "pacing with fq")
    ns.run("tc qdisc del dev tap0 root")
    count, seconds, size = got["max-rate"]
    same("pacing with fq: each but the first waits", (count, size), (19, 19 * MSS))
    check("pacing with fq: as long as the rate says, and no longer than all took",
          .9 * 19 * MSS / 1e5 <= seconds <= took, f"{seconds}, {19 * MSS / 1e5}, {took}")
    check("pacing with fq: what fq has makes TCP wait", "small-queues" in got, got)


def has_qdisc(ns, kind):
    try:
        ns.run(f"tc qdisc replace dev lo root {kind}")
        ns.run("tc qdisc del dev lo root")
        return True
    except Exception:       # pylint: disable=broad-except
        return False


def test_pacing_then_window(ns, peer):
    """A segment waits for its pace, and then for the window, which was closed meanwhile. Nothing tells of the moment
    between, and the program writes once more long after it."""
    attach(ns, "-m", "tcpwait")
    ns.run("sysctl -qw net.ipv4.tcp_tso_rtt_log=0 net.ipv4.tcp_min_tso_segs=1")
    for _ in tries(5, "a pace, then a window: the window was not closed in time"):
        s, _ = established(peer, nodelay=True)
        s.send(b"x" * 10 * MSS)
        acknowledge(peer, 10 * MSS)
        before, limited = held(ns), rwnd_limited(s)
        s.setsockopt(socket.SOL_SOCKET, MAX_PACING_RATE, 2 * MSS * 10)      # 50 ms between two segments
        began = time.monotonic()
        s.send(b"y" * 2 * MSS)
        seg = peer.next()
        peer.send(seg, ACK, window=0)
        if time.monotonic() - began < .03:
            break
        s.close()
    time.sleep(.15)
    s.send(b"y" * 100)
    time.sleep(.15)
    peer.send(seg, ACK)
    acknowledge(peer, MSS + 100)
    took = time.monotonic() - began
    got = {cause: tuple(a - b for a, b in zip(now, before.get(cause, (0, 0, 0)))) for cause, now in held(ns).items()}
    got = {cause: now for cause, now in got.items() if now[0]}
    same("a pace, then a window: a wait for each, and its bytes", {c: (n, size) for c, (n, _, size) in got.items()},
         {"max-rate": (2, 100), "rwnd": (1, MSS)})
    pace, window = got.get("max-rate", (0, 0, 0))[1], got.get("rwnd", (0, 0, 0))[1]
    check("a pace, then a window: the pace took no longer than the rate says", .04 <= pace <= .11, f"{pace} {window}")
    check("a pace, then a window: together no longer than all took", .25 <= pace + window <= took, f"{pace} {window} {took}")
    check("a pace, then a window: the kernel says the same of the window, to two ticks",
          abs(window - (rwnd_limited(s) - limited)) <= 2 * .008, f"{window}, {rwnd_limited(s) - limited}")
    s.close()


def test_small_queues(ns, peer):
    """A qdisc of 1 Mbit/s holds what was sent; TCP keeps back the rest."""
    attach(ns, "-m", "tcpwait")
    ns.run("sysctl -qw net.ipv4.tcp_limit_output_bytes=10000")
    ns.run("sysctl -qw net.ipv4.tcp_tso_rtt_log=0 net.ipv4.tcp_min_tso_segs=1")
    ns.run("tc qdisc replace dev tap0 root tbf rate 1mbit burst 1600 limit 1000000")
    for _ in tries(5, "small queues: a segment was sent again, which lowers the congestion window"):
        before = held(ns)
        s, _ = established(peer, nodelay=True, rtt=.1)
        s.send(b"x" * 100)                                # after it TCP knows a rate
        acknowledge(peer, 100)
        began = time.monotonic()
        s.send(b"x" * 10 * MSS)
        acknowledge(peer, 10 * MSS)
        took = time.monotonic() - began
        if not info(s, 100, "I"):                         # tcpi_total_retrans
            break
        s.close()
    ns.run("tc qdisc del dev tap0 root")
    got = {cause: tuple(a - b for a, b in zip(now, before.get(cause, (0, 0, 0)))) for cause, now in held(ns).items()}
    got = {cause: now for cause, now in got.items() if now[0]}
    each_takes = (MSS + 54) * 8 / 1e6
    check("small queues: no other cause", list(got) == ["small-queues"], got)
    count, seconds, size = got["small-queues"]
    # two leave at once; where a write is slow, as in a guest, the qdisc has sent some before TCP asks for the next
    check("small queues: each other waits", 5 <= count <= 8 and size == count * MSS, got)
    check("small queues: for one before it to leave", (count - 1) * each_takes - .002 <= seconds <= took,
          f"{seconds}, {each_takes}, {took}")
    s.close()


def test_none(ns, stranger, peer):
    """A connection that is held by nothing, and one of another namespace that is."""
    attach(ns, "-m", "tcpwait")
    s, _ = established(peer, nodelay=True)
    for _ in range(5):
        s.send(b"x" * 100)
        peer.send(peer.next(PSH), ACK)
    server = listen(stranger)
    c = client(stranger, "127.0.0.1")
    t = server.accept()[0]
    for _ in range(5):
        c.send(b"x" * 10)
    read(t, 50)
    for x in (c, t, server, s):
        x.close()
    same("none", [r for r in rows(ns, "tcpwait") if r["held_seconds"]["count"]], [])


def test_older(ns, peer):
    """A connection that was there before attach, and was held then."""
    s, _ = established(peer)
    s.send(b"x" * 100)
    seg, began = peer.next(PSH), time.monotonic()
    s.send(b"y" * 100)
    attach(ns, "-m", "tcpwait")
    time.sleep(.1)
    peer.send(seg, ACK)
    waited = time.monotonic() - began
    peer.next(PSH)
    expect("older", held(ns), "nagle", 1, 100, .1, waited)
    s.close()


ns, stranger = Namespace("a"), Namespace("b")
stranger.ip("link set lo up")
peer = Peer(ns)
# reno does not pace, as bbr does; a loss probe or a timer would send what waits
ns.run("sysctl -qw net.ipv4.tcp_congestion_control=reno net.ipv4.tcp_early_retrans=0")
ns.ip("route add 198.18.0.1/32 dev tap0 rto_min 20s")


def after():
    nicprobe("detach", f"{ns}/host", check=False)
    peer.wire.drain()


each(test_nagle, test_cork, test_rwnd, test_cwnd, test_pacing, test_pacing_own, test_pacing_fq, test_pacing_then_window,
     test_small_queues, test_none, test_older, after=after, ns=ns, stranger=stranger, peer=peer)
peer.close()
finish()

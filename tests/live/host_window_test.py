#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""nicprobe host window: what a connection may send, and what limits it, while its other end answers as the test says."""
import re
import socket

from lib.host_lines import ME, PID, Host
from lib.lab import *
from lib.peer import ACK, MSS, Peer, sack

TOLD = "cwnd", "ssthresh", "congestion", "limit", "in_flight", "receiver_window_bytes"
WINDOW = 65535


def told(line):
    return tuple(line[k] for k in TOLD)


def established(peer, port=80):
    s, syn = peer.connect(port)
    peer.accept(syn)
    return s


def abort(s):
    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    s.close()


def end(peer, s, host):
    abort(s)
    lines = host.stop()
    while peer.wire.read(0) is not None:
        pass
    return lines


def test_growth(ns, peer):
    """Slow start, as Reno has it: the window doubles with each round trip; the last 30 of 100 segments are all there is."""
    host = Host("window", ns, "--port", "80")
    s, other = established(peer), established(peer, 81)
    other.send(b"z")    # none of this port is asked for
    peer.send(peer.data(1)[-1], ACK)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
    same("window: all is written", s.send(b"x" * 100 * MSS), 100 * MSS)
    for segments in 10, 20, 40, 30:
        peer.send(peer.data(segments * MSS)[-1], ACK)
    lines = [host.next() for _ in range(4)]
    same("window: it doubles, until nothing is left to send", [told(x) for x in lines],
         [(n, None, "open", why, flight, WINDOW) for n, why, flight in ((10, "cwnd", 10), (20, "cwnd", 20), (40, "cwnd", 40),
                                                                        (80, "application", 30))])
    same("window: whose it is", [(x["process"], x["pid"], x["local_port"], x["remote"], x["remote_port"], x["interface"]) for x in lines],
         [(ME, PID, s.getsockname()[1], "198.18.0.1", 80, "tap0")] * 4)
    check("window: the round trip is known", all(0 < x["rtt_seconds"] < 5 for x in lines), str([x["rtt_seconds"] for x in lines]))
    same("window: what was not needed does not grow", end(peer, s, host), [])
    abort(other)


def test_loss(ns, peer):
    """A segment of ten is lost, then all of them: half the window, then one segment, as it happens."""
    host, s = Host("window", ns), established(peer)
    s.send(b"x" * 10 * MSS)
    got = peer.data(10 * MSS)
    peer.send(got[-1], ACK, ack=got[0].seq, options=sack((got[-1].seq, got[-1].end)))
    lines = [host.next()]
    while lines[-1]["congestion"] != "recovery":
        lines.append(host.next())
    same("window: a gap, then one is taken for lost", [x["congestion"] for x in lines], ["open", "disorder", "recovery"])
    same("window: half of it is the threshold", [x["ssthresh"] for x in lines], [None, None, 5])
    while lines[-1]["congestion"] != "loss":
        lines.append(host.next())
    same("window: the timer leaves one segment", told(lines[-1])[:3], (1, 5, "loss"))
    end(peer, s, host)


def test_limits(ns, peer):
    """The receiver's window, and Nagle's algorithm."""
    host, s = Host("window", ns), established(peer)
    s.send(b"x" * 4 * MSS)
    peer.send(peer.data(4 * MSS)[-1], ACK, window=2 * MSS)
    s.send(b"x" * 3 * MSS)
    last = peer.data(2 * MSS)[-1]
    peer.send(last, ACK, window=WINDOW)
    peer.send(peer.data(MSS)[-1], ACK)
    s.send(b"y" * 10)
    s.send(b"y" * 10)
    peer.send(peer.data(10)[-1], ACK)
    got = [host.next() for _ in range(4)]
    same("window: what limits it", [(x["limit"], x["receiver_window_bytes"]) for x in got],
         [("application", WINDOW), ("rwnd", 2 * MSS), ("application", WINDOW), ("nagle", WINDOW)])
    end(peer, s, host)


def test_no_room(ns, peer):
    """A send buffer for four segments, of which more would be sent."""
    host, s = Host("window", ns), established(peer)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4 * MSS)
    sent = 0
    try:
        while True:
            sent += s.send(b"x" * MSS)
    except BlockingIOError:
        pass
    peer.send(peer.data(sent)[-1], ACK)
    s.send(b"x" * MSS)
    peer.send(peer.data(MSS)[-1], ACK)
    got = [host.next() for _ in range(2)]
    same("window: no room to write, and room again", [(x["limit"], x["in_flight"]) for x in got],
         [("send-buffer", sent // MSS), ("application", 1)])
    end(peer, s, host)


def test_text(ns, peer):
    host, s = Host("window", ns, json_lines=False), established(peer)
    s.send(b"x" * 10 * MSS)
    peer.send(peer.data(10 * MSS)[-1], ACK)
    heads, line, last = end(peer, s, host)
    same("window: all columns", heads.split(), "time process pid local remote cwnd ssthresh state limit in flight receiver rtt interface rx/tx".split())
    check("window: a line", re.search(r" 198\.18\.0\.1:80 +10 +- +open +application +10 +65\.5\d kB ", line), line)
    check("window: what the last ACK changed is told as it ends", re.search(r" 198\.18\.0\.1:80 +20 +- +open +application +0 ", last), last)


def main():
    need_root()
    ns = Namespace("window")
    peer = Peer(ns)
    ns.run("sysctl -qw net.ipv4.tcp_congestion_control=reno net.ipv4.tcp_early_retrans=0")
    each(test_growth, test_loss, test_limits, test_no_room, test_text, ns=ns, peer=peer)
    finish()


main()

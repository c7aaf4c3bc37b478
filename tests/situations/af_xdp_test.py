#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""AF_XDP sockets that do not keep up are found and remedied; one that keeps up gives silence. Needs sock_diag."""
import sys

from world import Skip, alone, healthy, lab, run, trouble
from lib.sockets import NO_DIAG, Xsk, told  # pylint: disable=wrong-import-order

EVERY = .02         # seconds between bursts, which slow machines, even emulated ones, keep up with
BURST = 20


def socket_of(w, options=""):
    """A socket on the only queue of a veth, and packets sent to it from the other end."""
    if not told():
        raise Skip(NO_DIAG)
    w.veth(queues=1)
    xsk = Xsk(f"eth0 0 {options}", w.here)
    w.stack.callback(xsk.close)
    w.attach()
    far = lab.Nic("packet eth0 --queues 1", w.there)
    w.stack.callback(far.close)

    def send():
        far(f"send 0 {BURST} 200")
        far("go")
    return xsk, send


@trouble("xsk-fill-empty", "the program gives its frames back")
@alone
def frames_not_given_back(w):
    """An AF_XDP program that reads its ring and never refills the fill ring."""
    xsk, send = socket_of(w)
    xsk("leak 64 1000")
    xsk("fill 100")
    w.load(send, EVERY)

    def mend():
        xsk("free")
        xsk("serve 64 0")
    doc = w.expect("xsk-fill-empty", fix=False, remedy=mend, settle=1)
    names(w, doc, xsk, "fill ring of 128 frames")


@trouble("xsk-rx-full", "the program reads as fast as packets come")
@alone
def reader_too_slow(w):
    """An AF_XDP program that takes 8 packets, then pauses 50 ms, and so reads a sixth of what arrives."""
    xsk, send = socket_of(w)
    xsk("serve 8 50000")
    w.load(send, EVERY)
    doc = w.expect("xsk-rx-full", fix=False, remedy=lambda: xsk("serve 64 0"), settle=1)
    names(w, doc, xsk, "RX ring of 64 descriptors")


@healthy
@alone
def socket_that_keeps_up(w):
    """An AF_XDP program that reads everything and returns the frames at once."""
    xsk, send = socket_of(w)
    xsk("serve 64 0")
    w.load(send, EVERY)
    before = xsk("stats")["served"]
    w.quiet(least=BURST, settle=1)
    lab.check(f"{w.name}: it has a load", xsk("stats")["served"] - before > BURST, str(xsk("stats")))
    lost = {k: n for k, n in xsk.counts().items() if n and k != "tx_ring_empty_events"}
    lab.same(f"{w.name}: it lost none", lost, {})


def names(w, doc, xsk, ring):
    """It names the program and the ring; and its figure is what the socket lost, no more."""
    first = doc["findings"][0]
    named = f"xsk (pid {xsk.pid}) on queue 0" in first["what"] and ring in first["what"]
    lab.check(f"{w.name}: names the program", named, first["what"])
    lost = sum(r[k] for r in doc["meters"]["xsk"] for k in ("rx_dropped", "rx_ring_full"))
    lab.same(f"{w.name}: its figure is the meter's", round(first["harm"]["value"] * doc["seconds"]), lost)


if __name__ == "__main__":
    run(sys.argv[1:])

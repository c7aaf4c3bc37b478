# SPDX-License-Identifier: GPL-2.0
"""What situations of TCP connections share."""
import contextlib
import struct

from lib import lab

RESET = struct.pack("ii", 1, 0)     # SO_LINGER: closed by a reset, which leaves no TIME_WAIT


def host(w, *args):
    """Two namespaces; the host of the first is measured."""
    w.veth()
    lab.narrow_all(w.there)
    w.dev, w.at = "eth0", f"{w.here}/host"
    w.attach(*args)


def drain(server):
    with contextlib.suppress(BlockingIOError):
        while True:
            server.accept()[0].close()

# SPDX-License-Identifier: GPL-2.0
"""AF_XDP sockets for tests: drives tests/xsk, and checks whether this kernel reports them."""
import os
import socket
import struct
import subprocess

from lib import lab

XSK = os.path.join(os.path.dirname(lab.NIC), "xsk")
NO_DIAG = "this kernel does not report AF_XDP sockets (CONFIG_XDP_SOCKETS_DIAG)"
# nicprobe's names, and those of tests/xsk, which uses getsockopt().
COUNTS = {"rx_dropped": "rx_dropped", "rx_invalid_descriptors": "rx_invalid", "rx_ring_full": "rx_ring_full",
          "fill_ring_empty_events": "fill_ring_empty", "tx_invalid_descriptors": "tx_invalid",
          "tx_ring_empty_events": "tx_ring_empty"}


class Xsk(lab.Nic):
    """A socket on a queue of an interface: xsk("fill 20") returns a dict."""
    def __init__(self, args, netns):  # pylint: disable=super-init-not-called
        self.p = subprocess.Popen(["ip", "netns", "exec", str(netns), XSK, *args.split()], bufsize=1,
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        lab.atexit.register(self.close)
        self.pid = self.answer("start")["pid"]

    def counts(self):
        """The kernel's statistics for the socket's own program, under nicprobe's names."""
        stats = self("stats")
        return {name: stats[theirs] for name, theirs in COUNTS.items()}


def told():
    """Does this kernel report such sockets? Asks without nicprobe; loads the module."""
    lab.sh("modprobe -q xsk_diag", check=False)
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 4) as s:     # NETLINK_SOCK_DIAG
        s.send(struct.pack("=IHHII BBHIIQ", 36, 20, 0x301, 1, 0, 44, 0, 0, 0, 1, 0))    # a dump of AF_XDP
        kind = struct.unpack_from("=H", s.recv(65536), 4)[0]
    return kind != 2    # NLMSG_ERROR

# SPDX-License-Identifier: GPL-2.0
"""Fixed traffic on a tap: the same number of frames sent and received."""
import sys
import time
from collections import namedtuple

from children import lab

Shape = namedtuple("Shape", "name size segs")	# of a buffer: its bytes, and its wire packets
SHAPES = [Shape("64 B", 64, 1), Shape("512 B", 512, 1), Shape("1500 B", 1500, 1),
          Shape("GSO, 16 packets", 54 + 16 * 1448, 16)]


class Traffic:
    """tap0, and tap1, which stays idle, in a namespace of their own."""
    def __init__(self, batch, shape=SHAPES[0], queues=4, frames=40000):
        self.batch, self.shape, self.queues = batch, shape, queues
        self.frames = frames // batch * batch
        self.hooks = {}
        vnet = "--vnet-hdr" if shape.segs > 1 else ""
        self.netns = lab.Namespace(f"bench{batch}-{shape.size}-{queues}")
        self.tap = lab.tap(self.netns, "tap0", queues, f"--napi --steer {vnet}")
        self.idle = lab.tap(self.netns, "tap1", queues, "--napi")
        self.packet = lab.Nic(f"packet tap0 --queues {queues} {vnet}", self.netns)
        self.tap("read on")
        self.packet("read on")		# otherwise received frames fill its buffers

    def send(self, nic, batch, ecn=2):
        kind = f"tcp gso=1448 ecn={ecn}" if self.shape.segs > 1 else f"udp ecn={ecn}"
        for queue in range(self.queues):
            n = batch // self.queues + (queue < batch % self.queues)
            if n:
                nic(f"send {queue} {n} {self.shape.size} v4 {kind} src=10.0.0.{queue + 2}")
        sent = nic("go")["sent"]
        if sent != batch:
            sys.exit(f"bench: sent only {sent} of {batch} frames")

    def out(self):
        self.tap("reset")
        for sent in range(self.batch, self.frames + 1, self.batch):
            self.send(self.packet, self.batch)
            read = self.tap(f"wait {sent} 20000")["frames"]
            if read != sent:
                sys.exit(f"bench: the tap read only {read} of {sent} frames")

    def into(self):
        for _ in range(self.frames // self.batch):
            self.send(self.tap, self.batch)
        time.sleep(.05)			# wait for the last NAPI poll

    def marked(self, count):
        """Receives frames marked CE."""
        self.send(self.tap, count, ecn=3)
        time.sleep(.05)

    def close(self):
        for nic in (self.packet, self.tap, self.idle):
            nic.close()
        self.netns.delete()

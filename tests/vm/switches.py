# SPDX-License-Identifier: GPL-2.0
"""In a guest: faults of our own cards (model/), controlled by words in their PCI configuration space."""
import os
import struct

AT = 0xc0       # as in model/switches.h, in the order of model.h
WORDS = ("hold", "lose", "reverse", "starve", "packets", "bytes_out", "bytes_in",
         "held", "lost", "reversed", "starved")
HOLD_ON = 0xffffffff


class Switches:
    """card.switches["hold"] = microseconds; "held" and later ones are counts by the card."""
    def __init__(self, card):
        self.path = f"/sys/class/net/{card.name}/device/config"

    def at(self, name):
        return AT + 4 * WORDS.index(name)

    def __getitem__(self, name):
        fd = os.open(self.path, os.O_RDONLY)
        try:
            return struct.unpack("<I", os.pread(fd, 4, self.at(name)))[0]
        finally:
            os.close(fd)

    def __setitem__(self, name, value):
        fd = os.open(self.path, os.O_RDWR)
        try:
            os.pwrite(fd, struct.pack("<I", value), self.at(name))
        finally:
            os.close(fd)

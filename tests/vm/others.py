# SPDX-License-Identifier: GPL-2.0
"""In a guest: foreign XDP programs in libxdp's dispatcher, which count and pass."""
import atexit
import ctypes
import json
import os

from lib import lab

OBJECT = os.environ.get("PASS", os.path.join(lab.ROOT, "build", "tests", "vm", "pass.bpf.o"))
NATIVE = 1      # enum xdp_attach_mode


class Others:
    """Programs on one card by priority: lower ones run first."""
    def __init__(self):
        self.lib = ctypes.CDLL("libxdp.so.1")
        self.lib.xdp_program__open_file.restype = ctypes.c_void_p
        self.there, self.card = {}, None
        atexit.register(self.remove)

    def add(self, card, order):
        lib = self.lib
        prog = ctypes.c_void_p(lib.xdp_program__open_file(OBJECT.encode(), b"xdp", None))
        lib.xdp_program__set_run_prio(prog, order)
        lib.xdp_program__set_chain_call_enabled(prog, 2, True)
        index = int(lab.sh(f"cat /sys/class/net/{card.name}/ifindex"))
        error = lib.xdp_program__attach(prog, index, NATIVE, 0)
        if error:
            raise RuntimeError(f"another XDP program on {card.name}: {os.strerror(-error)}")
        self.there[order], self.card = (prog, lib.xdp_program__id(prog)), index

    def counts(self):
        """{order: packets}"""
        found = {}
        for order, (_, number) in self.there.items():
            prog = json.loads(lab.sh(f"bpftool -j prog show id {number}"))
            maps = [json.loads(lab.sh(f"bpftool -j map dump id {m}")) for m in prog["map_ids"]]
            found[order] = sum(v["value"] for m in maps for e in m for v in e["formatted"]["values"])
        return found

    def remove(self):
        for prog, _ in self.there.values():
            self.lib.xdp_program__detach(prog, self.card, NATIVE, 0)
            self.lib.xdp_program__close(prog)
        self.there = {}

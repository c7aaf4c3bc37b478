# SPDX-License-Identifier: GPL-2.0
"""An XDP program that does with frames what the test says."""
import atexit
import itertools
import os
import shutil
import struct
import tempfile

from lib.lab import json, sh

SOURCE = """
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

/* What to do with a frame, and with which ifindex, slot or CPU. */
struct { __uint(type, BPF_MAP_TYPE_ARRAY); __uint(max_entries, 2); __type(key, __u32); __type(value, __u32); }
	todo SEC(".maps");
struct { __uint(type, BPF_MAP_TYPE_DEVMAP); __uint(max_entries, 8); __type(key, __u32); __type(value, __u32); }
	devs SEC(".maps");
struct { __uint(type, BPF_MAP_TYPE_CPUMAP); __uint(max_entries, 8); __type(key, __u32); __type(value, __u32); }
	cpus SEC(".maps");

SEC("xdp.frags")
int np_test_xdp(struct xdp_md *ctx)
{
	__u32 zero = 0, one = 1;
	__u32 *what = bpf_map_lookup_elem(&todo, &zero), *where = bpf_map_lookup_elem(&todo, &one);

	if (!what || !where)
		return XDP_PASS;
	if (*what == 100)
		return bpf_redirect(*where, 0);
	if (*what == 101)
		return bpf_redirect_map(&devs, *where, 0);
	if (*what == 102)
		return bpf_redirect_map(&cpus, *where, 0);
	return *what;
}

char _license[] SEC("license") = "GPL";
"""
IFINDEX, DEVMAP, CPUMAP = 100, 101, 102
numbers = itertools.count()


class Program:
    """The program above, loaded, with its maps known by ID; unloaded when the test ends."""
    def __init__(self):
        work = tempfile.mkdtemp()
        self.pin = f"/sys/fs/bpf/np-test-{os.getpid()}-{next(numbers)}"
        atexit.register(lambda: (shutil.rmtree(work), sh(f"rm -f {self.pin}", check=False)))
        with open(f"{work}/p.c", "w", encoding="ascii") as f:
            f.write(SOURCE)
        sh(f"clang -O2 -g -target bpf -I/usr/include/$(gcc -print-multiarch) -c {work}/p.c -o {work}/p.o")
        sh(f"bpftool prog load {work}/p.o {self.pin}")
        prog = json.loads(sh(f"bpftool -j prog show pinned {self.pin}"))
        self.id = prog["id"]
        self.maps = {m["name"]: m["id"] for m in
                     (json.loads(sh(f"bpftool -j map show id {i}")) for i in prog["map_ids"])}

    def put(self, name, slot, value, netns=None, extra=b""):
        words = " ".join(str(b) for b in struct.pack("=I", value) + extra)
        key = " ".join(str(b) for b in struct.pack("=I", slot))
        command = f"bpftool map update id {self.maps[name]} key {key} value {words}"
        netns.run(command) if netns else sh(command)

    def do(self, what, where=0):
        self.put("todo", 0, what)
        self.put("todo", 1, where)

    def attach(self, netns, name):
        sh(f"nsenter --net=/run/netns/{netns} ip link set {name} xdpdrv pinned {self.pin}")  # ip -n mounts another /sys


def index(netns, name):
    return int(netns.run(f"cat /sys/class/net/{name}/ifindex"))

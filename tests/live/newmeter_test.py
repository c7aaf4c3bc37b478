# SPDX-License-Identifier: GPL-2.0
"""Adding a packet meter is three files and two lines: done in a copy of the tree, built, and asked."""
import glob
import os
import shutil
import tempfile

import lab

lab.need_root()
copy = tempfile.mkdtemp(prefix="nicprobe-newmeter-")
try:
    for folder in ("cmd", "render", "lib", "xdp", "bpf", "drivers", "trial", "findings"):
        shutil.copytree(os.path.join(lab.ROOT, folder), os.path.join(copy, folder))
    shutil.copy(os.path.join(lab.ROOT, "Makefile"), copy)
    added = glob.glob(os.path.join(lab.ROOT, "tests", "newmeter", "small.*"))
    for file in added:
        shutil.copy(file, os.path.join(copy, "xdp"))
    lines = sum(len(open(file).readlines()) for file in added)
    lab.check("newmeter: at most 60 lines", len(added) == 3 and lines <= 60, f"{lines} lines")
    lab.sh(f"sed -i 's/M(pktsize)/M(pktsize) M(small)/' {copy}/lib/core/abi.h")
    lab.sh(f"sed -i 's/^#include \"xdp.rxcpu.bpf.h\"/&\\n#include \"xdp\\/small.bpf.h\"/' {copy}/xdp/packet.bpf.h")
    lab.sh(f"make -s -j2 -C {copy} B=build all 2>&1", timeout=450)
    lab.NICPROBE = os.path.join(copy, "nicprobe")

    netns = lab.Namespace("newmeter")
    nic = lab.tap(netns)
    lab.nicprobe("attach", f"{netns}/tap0", "-m", "small")
    for batch in ("send 2 25 100", "send 2 5 200", "send 3 7 127"):
        nic(batch)
    nic("go")
    rows = lab.show(f"{netns}/tap0", "small")["meters"]["small"]
    got = {row["queue"]: row["packets"] for row in rows if row["point"] == "rx-nic"}
    lab.same("newmeter: it counts", got, {2: 25, 3: 7})
    lab.check("newmeter: it is in every format",
              "nicprobe_small_packets_total" in lab.nicprobe("show", "-f", "openmetrics").stdout and
              "small" in lab.nicprobe("show", f"{netns}/tap0").stdout)
    lab.nicprobe("detach", f"{netns}/tap0")
finally:
    shutil.rmtree(copy)
lab.finish()

# SPDX-License-Identifier: GPL-2.0
"""The recipes of docs/contributing.md work as written: done in a copy of the tree, built once, and tried on packets."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

from lib import lab, recipe

sys.path.insert(0, os.path.join(lab.ROOT, "tests"))
sys.dont_write_bytecode = True
import drivers_test             # noqa: E402

B = os.environ.get("B", "build")
METER, DRIVER, FINDING = "Adding a packet meter", "Adding a driver", "Adding a finding"


def included(tree, file, seen):
    """Adds a file of the tree to those seen, with those that it includes, and that these do."""
    if file not in seen and os.path.exists(os.path.join(tree, file)):
        seen.add(file)
        with open(os.path.join(tree, file), encoding="utf-8") as f:
            for other in re.findall(r'^#\s*include "(.*)"', f.read(), flags=re.M):
                included(tree, other, seen)
    return seen


def keep_programs(tree, changed):
    """BPF programs that include no file that is `changed` are as they were built, which takes the most time: make takes
    their objects for made since, and makes the others anew, with all of C."""
    kept = 0
    for source in lab.sh(f"cd {tree} && find . -name '*.bpf.c' -printf '%P\\n'").split():
        name = os.path.basename(source).removesuffix(".bpf.c")
        for part in (f"{name}.bpf.o", f"{name}.skel.h") if not included(tree, source, set()) & changed else ():
            built = os.path.join(lab.ROOT, B, "skel", part)
            if os.path.exists(built):
                shutil.copyfile(built, os.path.join(tree, "build", "skel", part))
                kept += 1
    return kept


def counted(iface):
    """{queue: packets} of the new meter at rx-nic."""
    rows = lab.show(iface, "small")["meters"]["small"]
    return {row["queue"]: row["packets"] for row in rows if row["point"] == "rx-nic"}


def send(nic, *batches):
    for batch in batches:
        nic(f"send {batch}")
    nic("go")


def spoken(iface):
    """[(queue, packets)] that the new finding speaks of."""
    return [(f["queue"], f["evidence"]["small"]["value"])
            for f in lab.show(iface)["findings"] if f["id"] == "small-packets"]


def test_meter(iface, nic):
    send(nic, "2 25 100", "2 5 200", "3 7 127")
    lab.same("recipes, meter: it counts", counted(iface), {2: 25, 3: 7})
    lab.check("recipes, meter: it is in every format",
              "nicprobe_small_packets_total" in lab.nicprobe("show", "-f", "openmetrics").stdout and
              "small" in lab.nicprobe("show", iface).stdout)


def test_finding(iface, nic):
    lab.same("recipes, finding: silent of a few small packets", spoken(iface), [])
    send(nic, "2 200 100", "3 200 1000")
    lab.same("recipes, finding: it speaks of the queue that is full of them", spoken(iface), [(2, 225)])
    lab.check("recipes, finding: explain has it, with its limits",
              "90% of its packets" in " ".join(lab.nicprobe("explain", "small-packets").stdout.split()))
    lab.nicprobe("detach", iface)
    lab.nicprobe("attach", iface, "-m", "small,rxcpu")
    send(nic, "2 150 100", "2 150 1000")
    lab.same("recipes, finding: the meter counts them", counted(iface), {2: 150})
    lab.same("recipes, finding: silent where half of the packets are large", spoken(iface), [])


def test_driver(folder):
    text = lab.nicprobe("drivers", "acme").stdout
    lab.check("recipes, driver: its table is printed", "acme_poll" in text and "rx_queue_N_packets" in text, text)
    lab.check("recipes, driver: the overview has it", "\nacme " in lab.nicprobe("drivers").stdout)
    names = "acme_interrupt acme_poll acme_start_xmit acme_clean_tx"
    for release, without, want in (("6.12.0-test", "", []),
                                   ("6.12.0-test", "acme_poll", ["acme_poll"]),
                                   ("6.12.0-test", "acme_clean_tx", ["acme_clean_tx"]),
                                   ("6.1.0-test", "acme_clean_tx", [])):
        made = drivers_test.module(folder, "acme", " ".join(n for n in names.split() if n != without), release=release)
        r = subprocess.run([lab.NICPROBE, "drivers", "-j", "--check", made], capture_output=True, text=True, timeout=60)
        got = [f["name"] for f in json.loads(r.stdout)["functions"] if f["expected"] and not f["there"]]
        lab.same(f"recipes, driver: a module of {release} {'without ' + without if without else 'with all'}", got, want)


lab.need_root()
copy = tempfile.mkdtemp(prefix="nicprobe-recipes-")
try:
    tree = os.path.join(copy, "tree")
    shutil.copytree(lab.ROOT, tree, symlinks=True, ignore=shutil.ignore_patterns("build", ".git"))
    recipes = recipe.read(os.path.join(lab.ROOT, "docs", "contributing.md"))
    for name in METER, DRIVER, FINDING:
        recipe.apply(recipes[name], tree)
    made = [step.text for step in recipes[METER] if step.after is None]
    lines = sum(text.count("\n") for text in made)
    lab.check("recipes, meter: three files of at most 60 lines", len(made) == 3 and lines <= 60, f"{lines} lines")
    os.makedirs(os.path.join(tree, "build", "skel"))
    kept = keep_programs(tree, {step.file for name in (METER, DRIVER, FINDING) for step in recipes[name]})
    print(f"# {kept} files of BPF programs are kept", flush=True)
    # without optimization C takes a third of the time
    lab.sh(f"make -s -j2 -C {tree} B=build CFLAGS=-O0 all 2>&1", timeout=450)
    layers = lab.sh(f"sh {tree}/tests/layers.sh", check=False)
    lab.check("recipes: includes go one way", "not ok" not in layers and "ok layers" in layers, layers)
    lab.NICPROBE = os.path.join(tree, "nicprobe")

    netns = lab.Namespace("recipes")
    nic, iface = lab.tap(netns), f"{netns}/tap0"
    lab.nicprobe("attach", iface, "-m", "small,rxcpu")
    test_meter(iface, nic)
    test_finding(iface, nic)
    lab.nicprobe("detach", iface)
    test_driver(copy)
finally:
    shutil.rmtree(copy)
lab.finish()

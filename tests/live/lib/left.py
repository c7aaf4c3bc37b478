# SPDX-License-Identifier: GPL-2.0
"""A test must leave nothing behind: checks, and a private BPF file system."""
import glob
import json
import os
import sys
import time

from lib.lab import not_ok, ok, sh

BPFFS = "/sys/fs/bpf"
HOST = "/mnt/bpf"	# the host's BPF file system, while ours hides it


def own_bpffs():
    """Restarts the test in a mount namespace with an empty BPF file system, so that others' attachments are invisible,
    and `detach --all` affects only ours."""
    if os.environ.get("OWN_BPFFS") != str(os.getpid()):
        os.environ["OWN_BPFFS"] = str(os.getpid())
        os.execvp("unshare", ["unshare", "-m", sys.executable, *sys.argv])
    sh(f"mount -t tmpfs tmpfs {os.path.dirname(HOST)} && mkdir {HOST} && mount --bind {BPFFS} {HOST}"
       f" && mount -t bpf bpf {BPFFS}")


def held():
    """The IDs held by running processes, so not left behind."""
    ids = {"prog": set(), "map": set(), "link": set()}
    for fd in glob.glob("/proc/[0-9]*/fd/*"):
        try:
            if not os.readlink(fd).startswith("anon_inode:bpf"):
                continue
            with open(fd.replace("/fd/", "/fdinfo/"), encoding="ascii") as f:
                info = dict(line.split(":", 1) for line in f if ":" in line)
        except OSError:
            continue
        # a map may have a prog_id as well, or a link: the first match decides the kind
        for kind in ("link", "map", "prog"):
            if f"{kind}_id" in info:
                ids[kind].add(int(info[f"{kind}_id"]))
                break
    return ids


def listed(kind, within=""):
    """bpftool's list; it fails if an object disappears meanwhile, so try again."""
    for _ in range(20):
        try:
            return json.loads(sh(f"{within} bpftool -f -j {kind} show"))
        except (RuntimeError, ValueError):
            pass
    return json.loads(sh(f"{within} bpftool -f -j {kind} show"))


def elsewhere():
    """A process in each mount namespace that has a BPF file system of its own, as another test has."""
    known = {os.stat(at).st_dev for at in (BPFFS, HOST) if os.path.isdir(at)}
    for root in glob.glob("/proc/[0-9]*/root"):
        try:
            device = os.stat(root + BPFFS).st_dev
        except OSError:
            continue
        if device not in known:
            known.add(device)
            yield root.split("/")[2]


def pinned_elsewhere(kind):
    ids = set()
    for pid in elsewhere():
        try:
            ids |= {o["id"] for o in listed(kind, f"nsenter -t {pid} -m") if o.get("pinned")}
        except (RuntimeError, ValueError):      # it has ended
            pass
    return ids


def objects():
    """All BPF objects but those of others: {(kind, id): name}."""
    kinds = ("link", "prog", "map")
    all_of = {kind: listed(kind) for kind in kinds}
    theirs = held()
    for kind in kinds:
        theirs[kind] |= {o["id"] for o in all_of[kind]
                         if any(p.startswith(HOST) for p in o.get("pinned", []))}
        theirs[kind] |= pinned_elsewhere(kind)
    theirs["prog"] |= {o.get("prog_id") for o in all_of["link"] if o["id"] in theirs["link"]}
    for prog in all_of["prog"]:
        if prog["id"] in theirs["prog"]:
            theirs["map"] |= set(prog.get("map_ids", []))
    # A program array that somebody opens by its ID, as this list does, while it goes, stays for good: its clearing takes
    # a reference each time, and is scheduled once (prog_array_map_clear(), seen in 6.18).
    used = {nr for prog in all_of["prog"] for nr in prog.get("map_ids", [])}
    theirs["map"] |= {m["id"] for m in all_of["map"] if m["type"] == "prog_array" and m["id"] not in used and not m.get("pinned")}
    # nic_…: of the test NIC, in this or another test
    return {(kind, o["id"]): o.get("name", str(o.get("type", "?")))
            for kind in kinds for o in all_of[kind]
            if o["id"] not in theirs[kind] and not o.get("name", "").startswith("nic_")}


def pins():
    return [os.path.join(at, name) for at, dirs, files in os.walk(BPFFS) for name in dirs + files]


def network(*namespaces):
    """Qdiscs, filters, XDP and features of all interfaces in these namespaces."""
    all_of = []
    for ns in namespaces:
        qdiscs = json.loads(sh(f"tc -n {ns} -j qdisc show") or "[]")
        all_of += [(str(ns), q["dev"], q["kind"], q["handle"]) for q in qdiscs]
        for link in json.loads(sh(f"ip -n {ns} -j -d link show") or "[]"):
            name = link["ifname"]
            all_of.append((str(ns), name, "xdp", str(link.get("xdp"))))
            if any(q["dev"] == name and q["kind"] == "clsact" for q in qdiscs):
                for way in "ingress", "egress":
                    all_of.append((str(ns), name, way, sh(f"tc -n {ns} filter show dev {name} {way}")))
    return sorted(all_of)


class Before:
    """Remembers the state; left() lists what was added since."""
    def __init__(self, *namespaces):
        self.namespaces = namespaces
        self.objects = set(objects())
        self.pins = pins()
        self.network = network(*namespaces)

    def left(self, seconds=10):
        """A list, empty if all is well. Programs are freed some time after their last use: this waits."""
        end = time.monotonic() + seconds
        remains = {}
        found = [f"pin {p}" for p in pins() if p not in self.pins]
        found += [f"{x} is new" for x in network(*self.namespaces) if x not in self.network]
        found += [f"{x} is gone" for x in self.network if x not in network(*self.namespaces)]
        for n in range(1 << 30):
            now = objects()
            # what is new and stays
            remains = {k: v for k, v in now.items() if k not in self.objects and (not n or k in remains)}
            if not remains or time.monotonic() > end:
                break
            time.sleep(.02)
        return found + [f"{kind} {nr} {name}" for (kind, nr), name in sorted(remains.items())]

    def check(self, name, seconds=10):
        left = self.left(seconds)
        if left:
            more = f"; and {len(left) - 8} more" if len(left) > 8 else ""
            not_ok(name, "left behind: " + "; ".join(left[:8]) + more)
        else:
            ok(name)
        return not left

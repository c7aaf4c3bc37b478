# SPDX-License-Identifier: GPL-2.0
"""The fate of interfaces: renamed, deleted, made again, with other queues; nothing mixes, nothing gets lost."""
import json

from lib import lab, left
from lib.lab import Namespace, Nic, check, nicprobe, same, sh, show, tap, until, veth
from lib.points import counts, put, state


def renamed():
    ns = Namespace("renamed")
    nic = tap(ns)
    before = left.Before(ns)
    nicprobe("attach", f"{ns}/tap0")
    put(nic, 5)
    ns.ip("link set tap0 down")
    ns.ip("link set tap0 name new0")
    ns.ip("link set new0 up")
    put(nic, 6)
    for name in ("tap0", "new0"):
        same(f"interfaces: renamed: shown as {name}", [state(f"{ns}/{name}"), counts(f"{ns}/{name}")["rx-nic"]],
             ["tap0 is called new0 now", 11])
    r = nicprobe("attach", f"{ns}/new0", check=False)
    check("interfaces: renamed: it is attached already", r.returncode == 1 and "attached already" in r.stderr, r.stderr)
    # another interface takes the old name
    other = tap(ns)
    put(other, 100)
    same("interfaces: renamed: another with the old name does not mix in", counts(f"{ns}/new0")["rx-nic"], 11)
    r = nicprobe("attach", f"{ns}/tap0", check=False)
    check("interfaces: renamed: another with the old name does not push it out",
          r.returncode == 1 and "new0 is still attached under its former name tap0" in r.stderr and "detach new0" in r.stderr, r.stderr)
    same("interfaces: renamed: it counts on", counts(f"{ns}/new0")["rx-nic"], 11)
    nicprobe("detach", f"{ns}/new0")
    nicprobe("attach", f"{ns}/tap0")
    put(other, 3)
    same("interfaces: renamed: when it is detached, the other can be attached", counts(f"{ns}/tap0")["rx-nic"], 3)
    nicprobe("detach", f"{ns}/tap0")
    other.close()
    ns.ip("link set new0 down")
    ns.ip("link set new0 name tap0")
    ns.ip("link set tap0 up")
    before.check("interfaces: renamed: nothing is left")
    nicprobe("attach", f"{ns}/tap0")
    ns.ip("link set tap0 down")
    ns.ip("link set tap0 name new0")
    nicprobe("detach", f"{ns}/new0")
    ns.ip("link set new0 name tap0")
    ns.ip("link set tap0 up")
    before.check("interfaces: renamed: detached by its new name, nothing is left")
    nic.close()


def deleted():
    ns = Namespace("deleted")
    before = left.Before(ns)
    nic = tap(ns)
    nicprobe("attach", f"{ns}/tap0")
    put(nic, 13)
    nic.close()
    check("interfaces: deleted: show says so", until(lambda: "tap0 is gone" in state(f"{ns}/tap0")), state(f"{ns}/tap0"))
    same("interfaces: deleted: and shows the last figures", counts(f"{ns}/tap0")["rx-nic"], 13)
    rows = json.loads(nicprobe("list", "-j").stdout)
    check("interfaces: deleted: list says so", "gone" in rows[0].get("state", ""), str(rows))
    nic = tap(ns)
    put(nic, 50)
    said = state(f"{ns}/tap0")
    same("interfaces: recreated: the new one of that name does not mix in", counts(f"{ns}/tap0")["rx-nic"], 13)
    check("interfaces: recreated: show says that it is another one", "tap0 is gone" in said and "another" in said, said)
    nicprobe("attach", f"{ns}/tap0")
    put(nic, 2)
    same("interfaces: recreated: attach works, and counts from nothing", counts(f"{ns}/tap0")["rx-nic"], 2)
    nicprobe("detach", f"{ns}/tap0")
    nic.close()
    before.check("interfaces: recreated: nothing is left")
    nic = tap(ns)
    nicprobe("attach", f"{ns}/tap0")
    nic.close()
    until(lambda: "tap0" not in ns.ip("link show"))
    nicprobe("detach", f"{ns}/tap0")
    before.check("interfaces: deleted: detach leaves nothing")
    for rx in ("driver", "xdp"):	# the kernel gives the next device another index, unless one is requested
        ns.ip("link add index 77 a0 type veth peer name b0")
        ns.ip("link set a0 up")
        ns.ip("link set b0 up")
        nicprobe("attach", "--rx", rx, f"{ns}/a0")
        ns.ip("link del a0")
        ns.ip("link add index 77 a0 type veth peer name b0")
        ns.ip("link set a0 up")
        ns.ip("link set b0 up")
        said = state(f"{ns}/a0")
        check(f"interfaces: recreated with the same index, {rx}: show says that it is another one", "another" in said, said)
        r = nicprobe("attach", "--rx", rx, f"{ns}/a0", check=False)
        same(f"interfaces: recreated with the same index, {rx}: attach works", r.returncode, 0)
        far = Nic("packet b0", ns)
        put(far, 3)
        far.close()
        until(lambda: counts(f"{ns}/a0")["rx-stack"] == 3)
        got = counts(f"{ns}/a0")
        same(f"interfaces: recreated with the same index, {rx}: and counts", [got["rx-nic"], got["rx-stack"]], [3, 3])
        nicprobe("detach", f"{ns}/a0")
        ns.ip("link del a0")
    unlinked(ns)
    before.check("interfaces: recreated with the same index: nothing is left")


def unlinked(ns):
    """None of our programs is detached when an interface goes; the new one has its index, name and address."""
    name = "interfaces: recreated with the same index and address"

    def make(frames):
        ns.ip("link add index 77 a0 address 02:00:00:00:00:77 type veth peer name b0")
        ns.ip("link set a0 up")
        ns.ip("link set b0 up")
        far = Nic("packet b0", ns)
        put(far, frames)
        far.close()

    make(5)
    nicprobe("attach", "-m", "hwstat,counters", f"{ns}/a0")
    ns.ip("link del a0")
    make(50)
    said = state(f"{ns}/a0")
    check(f"{name}: show says that it is another one", "a0 is gone, and another a0 has its index" in said, said)
    doc = show(f"{ns}/a0")
    same(f"{name}: nothing is read of the new one", [doc["meters"].get(m, []) for m in ("hwstat", "counters")], [[], []])
    r = nicprobe("attach", "-m", "+napi", f"{ns}/a0", check=False)
    check(f"{name}: no meter is added to it", r.returncode == 1 and "is gone" in r.stderr, r.stderr)
    r = nicprobe("attach", "-m", "hwstat", f"{ns}/a0", check=False)
    same(f"{name}: attach works", [r.returncode, r.stderr], [0, ""])
    far = Nic("packet b0", ns)
    put(far, 3)
    far.close()
    doc = show(f"{ns}/a0")
    same(f"{name}: and counts", {r["value"] for r in doc["meters"]["hwstat"] if r["statistic"] == "rx_packets"}, {3})
    same(f"{name}: it is this one", doc.get("state", ""), "")
    ns.ip("link set a0 down")
    ns.ip("link set a0 name c0")
    ns.ip("link set c0 up")
    same(f"{name}: called otherwise it is the same", state(f"{ns}/a0"), "a0 is called c0 now")
    nicprobe("detach", f"{ns}/c0")
    ns.ip("link del c0")


def queues_changed():
    one, two = Namespace("q1"), Namespace("q2")
    veth(one, two, queues=4)
    before = left.Before(one, two)
    nicprobe("attach", f"{one}/eth0")
    far = Nic("packet eth0 --queues 4", two)
    for q in range(4):
        put(far, 10, q)
    one.run("ethtool -L eth0 rx 2 tx 2")
    same("interfaces: queues changed: show says so", state(f"{one}/eth0"),
         "eth0 has 2 rx and 2 tx queues now; it had 4 and 4")
    for q in range(4):
        put(far, 5, q)
    until(lambda: counts(f"{one}/eth0")["rx-stack"] == 60)
    got = counts(f"{one}/eth0")
    same("interfaces: fewer queues: the numbers remain right", [got["rx-nic"], got["rx-stack"]], [60, 60])
    one.run("ethtool -L eth0 rx 4 tx 4")
    same("interfaces: as many queues again: nothing to say", show(f"{one}/eth0").get("state", ""), "")
    nicprobe("detach", f"{one}/eth0")
    # attached with fewer queues than it can have: more are added later
    one.run("ethtool -L eth0 rx 1 tx 1")
    nicprobe("attach", f"{one}/eth0")
    one.run("ethtool -L eth0 rx 4 tx 4")
    for q in range(4):
        put(far, 10 + q, q)
    until(lambda: counts(f"{one}/eth0")["rx-stack"] == 46)
    rows = [r for r in show(f"{one}/eth0")["meters"]["pktsize"] if r["point"] == "rx-nic"]
    same("interfaces: more queues than at attach: each has its row",
         {r["queue"]: r["packet_size_bytes"]["count"] for r in rows}, {0: 10, 1: 11, 2: 12, 3: 13})
    nicprobe("detach", f"{one}/eth0")
    far.close()
    before.check("interfaces: queues changed: nothing is left")


def dotted():
    """VLAN names contain dots, which bpffs forbids in file names."""
    ns = Namespace("dots")
    ns.ip("link add name a.b type veth peer name c.100")
    for name in ("a.b", "c.100"):
        ns.ip(f"link set {name} up")
    before = left.Before(ns)
    nicprobe("attach", f"{ns}/a.b")
    nicprobe("attach", f"{ns}/c.100")
    far = Nic("packet c.100", ns)
    put(far, 21)
    until(lambda: counts(f"{ns}/a.b")["rx-stack"] == 21)
    same("interfaces: a name with a dot", [counts(f"{ns}/a.b")["rx-nic"], counts(f"{ns}/c.100")["tx-nic"]], [21, 21])
    same("interfaces: names with dots are listed", sorted(r["name"] for r in json.loads(nicprobe("list", "-j").stdout)),
         [f"{ns}/a.b", f"{ns}/c.100"])
    far.close()
    # killed before it was complete: only the name is known
    for name in ("a.b", "c.100"):
        sh(f"rm {left.BPFFS}/nicprobe/*/{name.replace('.', ':')}/meta")
    for name in ("a.b", "c.100"):
        nicprobe("detach", f"{ns}/{name}")
    before.check("interfaces: names with dots leave nothing")


def other_name():
    """A name longer than 15 characters, as udev gives them: every command takes it that attach takes."""
    ns = Namespace("altname")
    nic = tap(ns)
    before = left.Before(ns)
    longer = f"{ns}/a_name_of_more_than_15_characters"
    ns.ip(f"link property add dev tap0 altname {longer.split('/')[1]}")
    nicprobe("attach", longer)
    put(nic, 7)
    same("interfaces: alternative name: shown", counts(longer)["rx-nic"], 7)
    r = nicprobe("cost", "-w", ".05", longer, check=False)
    check("interfaces: alternative name: cost", r.returncode == 0, r.stderr)
    r = nicprobe("trace", "nic:::rx-packet", "--dev", longer, "-d", ".1", check=False)
    check("interfaces: alternative name: traced", "no interface" not in r.stderr, r.stderr)
    r = nicprobe("top", "-b", "-n", "1", "-i", ".2", longer, check=False)
    check("interfaces: alternative name: top has what is attached", "not attached" not in r.stdout and "tap0" in r.stdout, r.stdout + r.stderr)
    ns.ip("link property add dev tap0 altname short")
    same("interfaces: short alternative name: shown", counts(f"{ns}/short")["rx-nic"], 7)
    nicprobe("detach", longer, check=False)
    before.check("interfaces: alternative name: detached")
    for where in (["--dev", f"{ns}/nosuch"], ["--netns", str(ns), "--dev", "nosuch"]):
        r = nicprobe("trace", "nic:::rx-packet", *where, check=False)
        check("interfaces: trace tells where to look for the name", r.returncode == 1 and f"ip -n {ns} link" in r.stderr, r.stderr)
    nic.close()


lab.need_root()
left.own_bpffs()
lab.each(renamed, deleted, queues_changed, dotted, other_name, after=lambda: nicprobe("detach", "--all", check=False))
lab.finish()

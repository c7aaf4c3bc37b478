# SPDX-License-Identifier: GPL-2.0
"""`show IFACE hw` shows what lies above the driver: XDP and tc programs, qdiscs, masters and stacked devices."""
import json
import os
import re
import struct
import subprocess

from lib import bpf
from lib.lab import Namespace, check, each, finish, need_root, nicprobe, same, sh, skip, veth
from lib.setup import hw, table
from lib.wire import inside


def words(iface):
    """The table, in one line."""
    return " ".join(table(iface, 200).split())


def programs(iface):
    """The hook of each program, in order, and whether it is ours."""
    return [(p["hook"], p["name"], p["own"]) for p in hw(iface)["hw"]["programs"]]


def of_prog(fd):
    """The ID of a program."""
    with open(f"/proc/self/fdinfo/{fd}", encoding="ascii") as f:
        return int(re.search(r"^prog_id:\s+(\d+)", f.read(), re.M)[1])


def xdp(netns):
    """Native and generic: the programs that may take the packet."""
    iface, pin = f"{netns}/eth0", "/sys/fs/bpf/hw_test"
    prog = bpf.program(bpf.XDP, 2)
    bpf.pin(prog, pin)
    for mode, hook, said in (("xdpdrv", "xdp-native", "native"), ("xdpgeneric", "xdp-generic", "generic")):
        sh(f"nsenter --net=/run/netns/{netns} ip link set eth0 {mode} pinned {pin}")
        same(f"hw: {mode}", hw(iface)["hw"]["programs"],
             [{"hook": hook, "id": of_prog(prog), "name": "test", "own": False}])
        check(f"hw: {mode}: in the table", f'programs XDP {said} "test" (id {of_prog(prog)})' in words(iface), words(iface))
        netns.ip(f"link set eth0 {mode} off")
    os.unlink(pin)
    os.close(prog)
    same("hw: XDP is off", programs(iface), [])
    check("hw: XDP is off: in the table", " programs none " in words(iface), words(iface))


def tcx(netns):
    iface = f"{netns}/eth0"
    index = int(netns.run("cat /sys/class/net/eth0/ifindex"))
    progs = [bpf.program(bpf.TC, -1) for _ in range(3)]
    try:    # 46 and 47: BPF_TCX_INGRESS and _EGRESS
        links = [inside(netns, lambda p=p, hook=hook: bpf.call(bpf.LINK_CREATE, struct.pack("IIII", p, index, hook, 0)))
                 for p, hook in zip(progs, (46, 46, 47))]
    except OSError as e:
        return skip("hw: tcx", f"this kernel has none: {e}")
    same("hw: tcx: in the order they run", [(p["hook"], p["id"]) for p in hw(iface)["hw"]["programs"]],
         list(zip(("tcx-ingress", "tcx-ingress", "tcx-egress"), map(of_prog, progs))))
    check("hw: tcx: in the table", f'tcx egress "test" (id {of_prog(progs[2])})' in words(iface), words(iface))
    for fd in links + progs:
        os.close(fd)
    same("hw: tcx is gone", programs(iface), [])


def filters(netns):
    """BPF filters by name, others as a number; hash tables of u32 do not count."""
    iface, pin = f"{netns}/eth0", "/sys/fs/bpf/hw_test"
    prog = bpf.program(bpf.TC, 0)
    bpf.pin(prog, pin)
    netns.run("tc qdisc add dev eth0 clsact")
    sh(f"nsenter --net=/run/netns/{netns} tc filter add dev eth0 ingress prio 3 bpf da pinned {pin}")
    wanted, kinds = {"ingress": 1, "egress": 0}, ("matchall classid 1:1", "u32 match u32 0 0 classid 1:1")
    for kind, way in zip(kinds, ("ingress", "egress")):
        if subprocess.run(f"ip netns exec {netns} tc filter add dev eth0 {way} prio 5 protocol ip {kind}", shell=True,
                          capture_output=True).returncode:
            skip(f"hw: filters: {kind.split()[0]}", "this kernel has none")
        else:
            wanted[way] += 1
    doc = hw(iface)["hw"]
    same("hw: filters: how many", doc["filters"], wanted)
    same("hw: filters: those of BPF", doc["programs"], [{"hook": "tc-ingress", "id": of_prog(prog), "name": "test", "own": False}])
    check("hw: filters: in the table", f'tc filter at ingress "test" (id {of_prog(prog)})' in words(iface) and
          all((f"1 tc filter without BPF at {way}" in words(iface)) == (n > bpf_too) for (way, n), bpf_too in
              zip(wanted.items(), (1, 0))), words(iface))
    netns.run("tc qdisc del dev eth0 clsact")
    if not subprocess.run(f"ip netns exec {netns} tc qdisc add dev eth0 ingress", shell=True, capture_output=True).returncode:
        sh(f"nsenter --net=/run/netns/{netns} tc filter add dev eth0 parent ffff: prio 3 bpf da pinned {pin}")
        same("hw: the qdisc ingress: counted once", (hw(iface)["hw"]["filters"], programs(iface)),
             ({"ingress": 1, "egress": 0}, [("tc-ingress", "test", False)]))
        netns.run("tc qdisc del dev eth0 ingress")
    os.unlink(pin)
    os.close(prog)
    same("hw: filters are gone", (programs(iface), hw(iface)["hw"]["filters"]), ([], {"ingress": 0, "egress": 0}))


def own(netns):
    """nicprobe's own programs are marked, others beside them are not."""
    iface = f"{netns}/eth0"
    nicprobe("attach", "--rx", "xdp", iface)
    taps = json.loads(nicprobe("show", "-j", iface).stdout)["hooks"]
    got = programs(iface)
    if taps["rx-nic"] == "xdp":
        check("hw: our XDP program", ("xdp-native", "nicprobe_rx", True) in got, str(got))
        check("hw: our XDP program: in the table", re.search(r'XDP native "nicprobe_rx" \(id \d+, nicprobe\'s own\)', words(iface)),
              words(iface))
    same("hw: what is ours is marked", [p for p in got if p[2] != p[1].startswith("nicprobe_")], [])
    nicprobe("detach", iface)
    nicprobe("attach", "-m", "pktsize", iface, env={"NICPROBE_CANNOT": "tcx"})
    if json.loads(nicprobe("show", "-j", iface).stdout)["hooks"]["rx-stack"] == "clsact":
        check("hw: our filter", ("tc-ingress", "nicprobe_tc", True) in programs(iface), str(programs(iface)))
    nicprobe("detach", iface)
    nicprobe("attach", iface)
    if json.loads(nicprobe("show", "-j", iface).stdout)["hooks"]["rx-stack"] == "tcx":
        check("hw: our tcx program", ("tcx-ingress", "nicprobe_tc", True) in programs(iface), str(programs(iface)))
    nicprobe("detach", iface)
    same("hw: ours are gone", programs(iface), [])


def qdisc(netns):
    iface = f"{netns}/eth0"
    same("hw: a veth has no qdisc", hw(iface)["hw"]["qdisc"], {"kind": "noqueue", "beneath": {}})
    for command, want, said in (
            ("root tbf rate 1gbit burst 100k latency 50ms", {"kind": "tbf", "beneath": {}}, "qdisc tbf"),
            ("root mq", {"kind": "mq", "beneath": 4}, "qdisc mq, beneath it 4 ")):
        if subprocess.run(f"ip netns exec {netns} tc qdisc replace dev eth0 {command}", shell=True,
                          capture_output=True).returncode:
            skip(f"hw: qdisc {want['kind']}", "this kernel has none")
            continue
        got = hw(iface)["hw"]["qdisc"]
        if want["beneath"]:
            got["beneath"] = sum(got["beneath"].values())
        same(f"hw: qdisc {want['kind']}", got, want)
        check(f"hw: qdisc {want['kind']}: in the table", said in words(iface), words(iface))
    if subprocess.run(f"ip netns exec {netns} tc qdisc replace dev eth0 root handle 1: htb", shell=True,
                      capture_output=True).returncode:
        skip("hw: qdisc htb", "this kernel has none")
    else:
        for number in (10, 20):
            netns.run(f"tc class add dev eth0 parent 1: classid 1:{number} htb rate 100mbit")
            netns.run(f"tc qdisc add dev eth0 parent 1:{number} pfifo limit 99")
        same("hw: qdisc htb", hw(iface)["hw"]["qdisc"], {"kind": "htb", "beneath": {"pfifo": 2}})
        check("hw: qdisc htb: in the table", " qdisc htb, beneath it 2 pfifo " in words(iface), words(iface))
    netns.run("tc qdisc del dev eth0 root")


def stacked(netns):
    """A master, and upper devices; a veth's peer is none."""
    iface = f"{netns}/eth0"
    netns.ip("link add pair0 type veth peer name pair1")
    doc = hw(f"{netns}/pair0")["hw"]
    same("hw: neither master nor devices above", (doc["master"], doc["stacked"]), (None, []))
    netns.ip("link del pair0")
    for kind, prepare in (("bridge", ""), ("bond", "link set eth0 down"), ("vrf table 7", "")):
        if subprocess.run(f"ip -n {netns} link add up0 type {kind}", shell=True, capture_output=True).returncode:
            skip(f"hw: master: {kind}", "this kernel has none")
            continue
        if prepare:
            netns.ip(prepare)
        netns.ip("link set eth0 master up0")
        doc, kind = hw(iface)["hw"], kind.split()[0]
        same(f"hw: master: {kind}", (doc["master"], doc["stacked"]), ({"name": "up0", "kind": kind}, []))
        check(f"hw: master: {kind}: in the table", f" master up0, a {kind} " in words(iface), words(iface))
        netns.ip("link del up0")
        netns.ip("link set eth0 up")
    if not subprocess.run(f"ip -n {netns} link add eth0.100 link eth0 type vlan id 100", shell=True, capture_output=True).returncode:
        for tag in range(101, 120):
            netns.ip(f"link add eth0.{tag} link eth0 type vlan id {tag}")
        doc = hw(iface)["hw"]
        same("hw: stacked: twenty", (len(doc["stacked"]), doc["absent"].get("other devices on it")), (16, "there are more than 16"))
        for tag in range(100, 120):
            netns.ip(f"link del eth0.{tag}")
    else:
        skip("hw: stacked: twenty", "this kernel has no VLANs")
    want = []
    for name, kind in (("eth0.7", "vlan id 7"), ("mv0", "macvlan mode bridge")):
        if not subprocess.run(f"ip -n {netns} link add {name} link eth0 type {kind}", shell=True, capture_output=True).returncode:
            want.append({"name": name, "kind": kind.split()[0]})
    if not want:
        return skip("hw: stacked", "this kernel has neither VLANs nor macvlan")
    same("hw: stacked", sorted(hw(iface)["hw"]["stacked"], key=lambda d: d["name"]), want)
    check("hw: stacked: in the table", all(f"{d['name']} ({d['kind']})" in words(iface) for d in want), words(iface))
    for d in want:
        netns.ip(f"link del {d['name']}")


need_root()
one, other = Namespace("one"), Namespace("other")
veth(one, other, mtu=1500)      # no veth accepts XDP with more
each(xdp, tcx, filters, own, qdisc, stacked, netns=one)
finish()

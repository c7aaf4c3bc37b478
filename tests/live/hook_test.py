# SPDX-License-Identifier: GPL-2.0
"""Hooks that lost their view: programs that came before ours or replaced them are reported, and reattaching helps."""
import os
import re
import struct

from lib import bpf, left
from lib.lab import *
from lib.wire import inside

BEFORE = 1 << 3     # BPF_F_BEFORE: without another program named, first of all
TCX_INGRESS = 46
TCX = KERNEL >= (6, 6)
NEXT, PASS = -1, 0  # TCX_NEXT, TCX_PASS


def put(nic, count, words=""):
    nic(f"send 0 {count} 200 {words}")
    nic("go")


def blind_metric(where):
    """{point: 0 or 1}"""
    text = nicprobe("show", "-f", "openmetrics", where).stdout
    return {p: int(n) for p, n in re.findall(r'^nicprobe_hook_blind\{.*point="([a-z-]+)".*\} ([01])$', text, re.M)}


def tell(name, where, points, *words):
    """Exactly these points are reported as blind, with these words, in every output."""
    doc = show(where)
    blind = doc.get("blind", {})
    same(f"{name}: JSON names the points", sorted(blind), sorted(points))
    same(f"{name}: so do the metrics", {p for p, n in blind_metric(where).items() if n}, set(points))
    table = " ".join(nicprobe("show", where, env={"COLUMNS": "1000"}).stdout.split())
    for point in points:
        said_of = blind.get(point, "")
        check(f"{name}: {point}: it is said why", all(w in said_of for w in words), said_of)
        check(f"{name}: {point}: and in the table", f"{point} is blind: {said_of}" in table, table[:600])
    same(f"{name}: it is a finding where it is so", "hook-blind" in found(doc, True), bool(points))
    return doc


def mend(name, where, env=None):
    """The commands of the finding."""
    doc = show(where)
    fixes = next((f["fix"] for f in doc["findings"] if f["id"] == "hook-blind"), [])
    same(f"{name}: the remedy is to attach anew", [f[:2] for f in fixes], [["nicprobe", "detach"], ["nicprobe", "attach"]])
    for fix in fixes:
        nicprobe(*fix[1:], env=env)


def rx_stack(where):
    return packets_at(show(where), "rx-stack")


def tcx(ns, ifindex, answer, flags=BEFORE):
    """A foreign tcx program, which stays until the result is closed."""
    prog = bpf.program(bpf.TC, answer)
    link = inside(ns, lambda: bpf.call(bpf.LINK_CREATE, struct.pack("IIII", prog, ifindex, TCX_INGRESS, flags)))
    os.close(prog)
    return link


def order_of_tcx(ns, nic):
    where, index = f"{ns}/tap0", nic.hello["ifindex"]
    nicprobe("attach", where)
    tap_of = show(where)["hooks"]["rx-stack"]
    if tap_of != "tcx":
        skip("hooks: order of tcx", f"rx-stack is {tap_of} here")
        nicprobe("detach", where)
        return
    put(nic, 5)
    tell("hooks: alone", where, [])
    behind = tcx(ns, index, PASS, 0)
    put(nic, 5)
    tell("hooks: a tcx program behind ours", where, [])
    same("hooks: a tcx program behind ours: all are seen", rx_stack(where), 10)
    before = tcx(ns, index, PASS)
    put(nic, 20)
    doc = tell("hooks: a tcx program before ours", where, ["rx-stack"], 'tcx program "test"', "before ours")
    same("hooks: a tcx program before ours that passes: none are seen", packets_at(doc, "rx-stack"), 10)
    check("hooks: a tcx program before ours: nothing else is blamed",
          not said(doc, "unseen", "uncounted"), said(doc, "unseen", "uncounted"))
    mend("hooks: a tcx program before ours", where)
    put(nic, 7)
    tell("hooks: attached anew, before it", where, [])
    same("hooks: attached anew, before it: all are seen", rx_stack(where), 7)
    os.close(before)
    os.close(behind)
    sh(f"bpftool link detach pinned /sys/fs/bpf/nicprobe/{os.stat(f'/run/netns/{ns}').st_ino}/tap0/tc")
    tell("hooks: our tcx link cut off", where, ["rx-stack"], "no longer attached")
    mend("hooks: our tcx link cut off", where)
    put(nic, 3)
    same("hooks: our tcx link cut off, and attached anew", [rx_stack(where), show(where).get("state", "")], [3, ""])
    nicprobe("detach", where)


def tcx_alone(ns, nic):
    """The only link of ours that ends with its device: without it, the device is there all the same."""
    where = f"{ns}/tap0"
    nicprobe("attach", "--rx", "driver", where)
    if show(where)["hooks"]["rx-stack"] != "tcx":
        skip("hooks: tcx alone", "rx-stack is not tcx here")
        nicprobe("detach", where)
        return
    put(nic, 5)
    sh(f"bpftool link detach pinned /sys/fs/bpf/nicprobe/{os.stat(f'/run/netns/{ns}').st_ino}/tap0/tc")
    doc = tell("hooks: tcx alone, cut off", where, ["rx-stack"], "no longer attached")
    same("hooks: tcx alone, cut off: the interface is not said to be gone", doc.get("state", ""), "")
    same("hooks: tcx alone, cut off: rx-nic counts on", packets_at(doc, "rx-nic"), 5)
    mend("hooks: tcx alone, cut off", where)
    nicprobe("detach", where)


def generic_xdp(ns, nic):
    """It was added later: tc gets packets without their Ethernet header."""
    where = f"{ns}/tap0"
    nicprobe("attach", "--rx", "driver", where)
    if show(where)["hooks"]["rx-stack"] != "tcx":
        skip("hooks: generic XDP", "rx-stack is not tcx here")
        nicprobe("detach", where)
        return
    with bpf.pinned(bpf.XDP, 2) as path:
        sh(f"nsenter --net=/run/netns/{ns} ip link set tap0 xdpgeneric pinned {path}")
    tell("hooks: generic XDP came", where, ["rx-stack"], 'generic XDP program "test"', "Ethernet header")
    mend("hooks: generic XDP came", where)
    put(nic, 9, "ecn=3")
    doc = tell("hooks: generic XDP came, attached anew", where, [])
    same("hooks: generic XDP came, attached anew: sizes and codepoints are right",
         [bytes_at(doc, "rx-stack"), ecn_at(doc, "rx-stack")], [1800, {0: {"ce": 9}}])
    nicprobe("detach", where)
    ns.ip("link set tap0 xdpgeneric off")


def clsact(ns, nic):
    where, env = f"{ns}/tap0", {"NICPROBE_CANNOT": "tcx"}
    ns.run("tc qdisc add dev tap0 clsact")
    nicprobe("attach", "-m", "pktsize", where, env=env)
    same("hooks: clsact: it is the hook", show(where)["hooks"]["rx-stack"], "clsact")
    tell("hooks: clsact", where, [])
    with bpf.pinned(bpf.TC, 0) as path:     # TC_ACT_OK: to the stack; no later filter runs
        sh(f"nsenter --net=/run/netns/{ns} tc filter add dev tap0 ingress prio 3 bpf da pinned {path}")
    put(nic, 6)
    doc = tell("hooks: a filter before ours", where, ["rx-stack"], "priority 3", "before ours")
    same("hooks: a filter before ours: none are seen", packets_at(doc, "rx-stack"), 0)
    mend("hooks: a filter before ours", where, env)
    put(nic, 6)
    same("hooks: a filter before ours, and attached anew", rx_stack(where), 6)
    tell("hooks: a filter before ours, and attached anew", where, [])
    ns.run("tc qdisc del dev tap0 clsact")
    tell("hooks: the clsact qdisc taken away", where, ["rx-stack"], "no longer attached")
    nicprobe("detach", where)


def xdp_replaced(ns, nic):
    where = f"{ns}/tap0"
    nicprobe("attach", "--rx", "xdp", where)
    put(nic, 4)
    tell("hooks: XDP", where, [])
    pin = f"/sys/fs/bpf/nicprobe/{os.stat(f'/run/netns/{ns}').st_ino}/tap0/xdp_link"
    if show(where)["hooks"]["rx-nic"] != "xdp":
        skip("hooks: XDP replaced", "it is in a dispatcher here")
        nicprobe("detach", where)
        return
    sh(f"bpftool link detach pinned {pin}")
    doc = tell("hooks: our XDP link cut off", where, ["rx-nic"], "no longer attached")
    same("hooks: our XDP link cut off: the interface is not said to be gone", doc.get("state", ""), "")
    prog = bpf.program(bpf.XDP, 1)
    link = inside(ns, lambda: bpf.call(bpf.LINK_CREATE, struct.pack("IIII", prog, nic.hello["ifindex"], 37, 0)))
    os.close(prog)
    put(nic, 50)
    tell("hooks: another XDP program in our place", where, ["rx-nic"], 'XDP program "test"', "has replaced it")
    os.close(link)
    mend("hooks: our XDP link cut off", where)
    put(nic, 8)
    same("hooks: XDP, attached anew", packets_at(show(where), "rx-nic"), 8)
    nicprobe("detach", where)


def moved(env):
    name = f"hooks: moved{', clsact' if env else ''}"
    one, two = Namespace("here"), Namespace("there")
    one.ip("link add mv0 type veth peer name peer0")
    for port in ("mv0", "peer0"):
        one.ip(f"link set {port} up")
    where = f"{one}/mv0"
    if env:     # it has no clsact qdisc, or `tc` would not be used
        one.run("tc qdisc add dev mv0 clsact")
    nicprobe("attach", "--rx", "driver", where, env=env)
    hooks = show(where)["hooks"]
    same(f"{name}: the hook of rx-stack", hooks["rx-stack"], "clsact" if env else "tcx")
    tell(f"{name}: not yet", where, [])
    one.ip(f"link set mv0 netns {two}")
    want = [p for p, how in hooks.items() if how and how != "tcx"]
    tell(name, where, want, "network namespace")
    two.ip("link set mv0 up")
    until(lambda: json.loads(one.ip("-j link show peer0"))[0]["operstate"] == "UP")
    far = Nic("packet peer0", one)
    put(far, 30)
    far.close()
    until(lambda: packets_at(show(where), "rx-stack") == 30, 1)
    same(f"{name}: rx-stack counts on where nothing else was said", packets_at(show(where), "rx-stack"),
         0 if env else 30)
    same(f"{name}: the metrics have every point", sorted(blind_metric(where)), sorted(hooks))
    doc = show(where)
    advice = said(doc, "hook-blind")
    check(f"{name}: it is said where to attach", f"nicprobe attach {two}/mv0" in advice, advice)
    mend(name, where)
    tell(f"{name}, and attached there", f"{two}/mv0", [])
    nicprobe("detach", f"{two}/mv0")
    one.delete()
    two.delete()


def stacked():
    """Devices that are given packets inside the stack: which points see them, and which report that they cannot."""
    one, two = Namespace("below"), Namespace("far")
    veth(one, two, queues=1)
    far = Nic("packet eth0 --queues 1", two)
    for kind, words in (("vlan id 7", "vlan=7 "), ("macvlan mode bridge", ""), ("bridge", ""),
                        ("bond mode active-backup", "")):
        word = kind.split()[0]
        where = f"{one}/up0"
        below = "" if word in ("bridge", "bond") else "link eth0 "
        try:
            one.ip(f"link add {below}name up0 type {kind}")
        except RuntimeError:
            skip(f"hooks: {word}", "ip cannot make one here")
            continue
        if not below:
            one.ip(f"link set eth0 {'down' if word == 'bond' else 'up'}")
            one.ip("link set eth0 master up0")
        mac = one.ip("-o link show up0").split("link/ether ")[1][:17]
        one.ip("link set up0 up")
        for cannot in ("", "tcx") if TCX else ("",):
            name = f"hooks: {word}{cannot and ' without '}{cannot}"
            nicprobe("attach", where, env={"NICPROBE_CANNOT": cannot})
            for _ in range(3):
                far(f"send 0 10 300 udp {words}dmac={mac}")
                far("go")
            doc = show(where)
            sees = {"rx-nic": word == "bridge", "rx-stack": word == "bridge" or (TCX and not cannot)}
            until(lambda: all(packets_at(show(where), p) >= 30 for p in sees if sees[p]), 2)
            doc = show(where)
            same(f"{name}: what sees packets counts them, and no other hook is there",
                 {p: packets_at(doc, p) if doc["hooks"][p] else None for p in sees},
                 {p: 30 if sees[p] else None for p in sees})
            for p in sees:
                why = doc["absent"].get(p, "")
                check(f"{name}: {p}: why not", sees[p] or "receives for" in why, why)
            same(f"{name}: nothing is said to be unseen", said(doc, "unseen", "uncounted"), "")
            nicprobe("detach", where)
        if word != "bridge":
            nicprobe("attach", "--rx", "driver", where)
            tell(f"hooks: {word}, --rx driver all the same", where, ["rx-nic"], "receives for")
            nicprobe("detach", where)
        one.ip("link del up0")
    far.close()
    one.delete()
    two.delete()


need_root()
left.own_bpffs()
os.makedirs(f"{left.BPFFS}/xdp", exist_ok=True)     # libxdp leaves it behind if it has a dispatcher
space = Namespace("hooks")
device = tap(space)
untouched = left.Before(space)
if TCX:     # without it none of these is detected; and an XDP program of ours is in a dispatcher
    order_of_tcx(space, device)
    xdp_replaced(space, device)
    tcx_alone(space, device)
    generic_xdp(space, device)
clsact(space, device)
stacked()
if TCX:
    moved({})
moved({"NICPROBE_CANNOT": "tcx"})
untouched.check("hooks: nothing is left")
finish()

# SPDX-License-Identifier: GPL-2.0
"""Namespaces: equal names and numbers do not mix, nothing gets lost when an interface or its namespace goes."""
import json
import os
import subprocess

from lib import lab, left
from lib.lab import NIC, NICPROBE, Namespace, Nic, check, nicprobe, packets_at, same, sh, show, tap, until
from lib.points import counts, put, state


def inode(ns):
    return os.stat(f"/run/netns/{ns}").st_ino


def twins():
    """The same name and the same index in two namespaces, traffic in both."""
    one, two = Namespace("twin1"), Namespace("twin2")
    nics = [tap(one), tap(two)]
    same("netns: the twins have the same index", nics[0].hello["ifindex"], nics[1].hello["ifindex"])
    before = left.Before(one, two)
    for rx in ("xdp", "driver", "tc"):
        nicprobe("attach", "--rx", rx, f"{one}/tap0")
        put(nics[0], 25)
        put(nics[1], 1000)
        got = counts(f"{one}/tap0")
        same(f"netns: {rx}: the twin that is not attached does not mix in",
             [got["rx-nic"], got["rx-stack"]], [25 if rx != "tc" else 0, 25])
        r = nicprobe("show", f"{two}/tap0", check=False)
        check(f"netns: {rx}: and is not shown", r.returncode == 1 and "is not attached" in r.stderr, r.stderr)
        nicprobe("attach", "--rx", rx, f"{two}/tap0")
        put(nics[0], 10)
        put(nics[1], 7)
        got = [counts(f"{ns}/tap0")["rx-stack"] for ns in (one, two)]
        same(f"netns: {rx}: both attached, each has its own", got, [35, 7])
        sent = [txed(ns, nic) for ns, nic in ((one, nics[0]), (two, nics[1]))]
        got = [counts(f"{ns}/tap0")["tx-nic"] for ns in (one, two)]
        same(f"netns: {rx}: sent packets, too", got, sent)
        docs = [json.loads(line) for line in nicprobe("show", "-j").stdout.splitlines()]
        same(f"netns: {rx}: show without an interface shows both",
             sorted((d["interface"], d["netns"]) for d in docs), sorted(("tap0", inode(ns)) for ns in (one, two)))
        same(f"netns: {rx}: list, too", sorted((d["name"], d["interface"], d["netns_name"]) for d in json.loads(nicprobe("list", "-j").stdout)),
             sorted((f"{ns}/tap0", "tap0", str(ns)) for ns in (one, two)))
        same(f"netns: {rx}: show has the same names", sorted((d["name"], d["netns_name"]) for d in docs),
             sorted((f"{ns}/tap0", str(ns)) for ns in (one, two)))
        if rx == "xdp":
            nicprobe("detach", f"{one}/tap0")
            same("netns: one detached, the other counts on", counts(f"{two}/tap0")["rx-stack"], 7)
            nicprobe("detach", f"{two}/tap0")
        else:
            nicprobe("detach", "--all")
    before.check("netns: the twins leave nothing")
    for nic in nics:
        nic.close()


def txed(ns, nic):
    """Frames that the stack sends: how many the other end must receive."""
    nic("read on")
    sender = Nic("packet tap0 --queues 2", ns)
    before = sum(q["frames"] for q in nic("count")["queues"])
    amount = 40 if "1" in str(ns)[-1] else 60
    sender(f"send 0 {amount} 100")
    sender("go")
    nic(f"wait {before + amount}")
    sender.close()
    return amount


def inside():
    """`ip netns exec` hides the host's bpffs; nsenter --net does not."""
    ns = Namespace("inside")
    nic = tap(ns)
    before = left.Before(ns)
    for args in ("attach tap0", "show tap0", "detach tap0", "list", "show", "run tap0 -- true"):
        r = subprocess.run(["ip", "netns", "exec", str(ns), NICPROBE, *args.split()], capture_output=True, text=True)
        lines = r.stderr.splitlines()
        check(f"netns: inside `ip netns exec`: {args} says in a sentence what to do",
              r.returncode == 1 and len(lines) == 2 and "is not the host's" in lines[0] and "  try: " in lines[1],
              f"{r.returncode}: {r.stderr!r} {r.stdout!r}")
    before.check("netns: inside `ip netns exec`, nothing is left")
    enter = ["nsenter", f"--net=/run/netns/{ns}", NICPROBE]
    subprocess.run([*enter, "attach", "tap0"], check=True, stdout=subprocess.DEVNULL)
    put(nic, 12)
    doc = json.loads(subprocess.run([*enter, "show", "--total", "-j", "tap0"], check=True, capture_output=True).stdout)
    same("netns: by nsenter, a plain name works", [doc["interface"], packets_at(doc, "rx-nic")], ["tap0", 12])
    same("netns: and from outside it has its namespace's name", counts(f"{ns}/tap0")["rx-nic"], 12)
    subprocess.run([*enter, "detach", "tap0"], check=True)
    before.check("netns: by nsenter, nothing is left")
    nic.close()


def nameless():
    """A namespace without a name: a plain interface name inside, netns:INODE outside."""
    before = left.Before()
    p = subprocess.Popen(["unshare", "-n", NIC, "tap", "tap0", "--queues", "2"], text=True, bufsize=1,
                         stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    p.stdout.readline()
    enter = f"nsenter --net=/proc/{p.pid}/ns/net"
    sh(f"{enter} ip link set tap0 up")
    number = os.stat(f"/proc/{p.pid}/ns/net").st_ino
    sh(f"{enter} {NICPROBE} attach tap0")
    p.stdin.write("send 0 9 100\ngo\n")
    p.stdout.readline(), p.stdout.readline()
    docs = [json.loads(line) for line in nicprobe("show", "-j").stdout.splitlines()]
    same("netns: nameless: shown from outside", [(d["netns"], packets_at(d, "rx-nic")) for d in docs], [(number, 9)])
    rows = json.loads(nicprobe("list", "-j").stdout)
    same("netns: nameless: listed by a name that commands take", [(r["name"], r["netns_name"]) for r in rows],
         [(f"netns:{number}/tap0", None)])
    same("netns: nameless: shown by that name", counts(f"netns:{number}/tap0")["rx-nic"], 9)
    check("netns: nameless: and it says so", "no name" in docs[0].get("state", ""), docs[0].get("state"))
    r = nicprobe("detach", f"netns:{number}/tap0", check=False)
    same("netns: nameless: detached by that name", [r.returncode, r.stderr], [0, ""])
    before.check("netns: nameless: nothing is left")
    sh(f"{enter} {NICPROBE} attach tap0")
    p.stdin.close()
    p.wait()
    said = json.loads(nicprobe("show", "-j").stdout).get("state", "")
    check("netns: nameless and gone: show says so", "gone" in said, said)
    nicprobe("detach", "--all")
    before.check("netns: nameless and gone: detach --all leaves nothing")


def cut_short():
    """What an interrupted attach left in a namespace; an interface here has the same name, and a clsact qdisc."""
    ns = Namespace("cutshort")
    nic = tap(ns)
    before = left.Before(ns)
    nicprobe("attach", "--rx", "tc", f"{ns}/tap0", env={"NICPROBE_CANNOT": "tcx"})
    os.unlink(f"/sys/fs/bpf/nicprobe/{inode(ns)}/tap0/meta")
    sh("ip tuntap add tap0 mode tap && tc qdisc add dev tap0 clsact")
    r = nicprobe("detach", "--all", check=False)
    same("netns: cut short: detach --all", [r.returncode, r.stderr], [0, ""])
    check("netns: cut short: the clsact of the interface here stays", "clsact" in sh("tc qdisc show dev tap0"))
    sh("ip link del tap0")
    before.check("netns: cut short: nothing is left in the namespace")
    nic.close()


def moved():
    one, two = Namespace("from"), Namespace("to")
    for rx in ("driver", "xdp", "xdp-generic"):
        one.ip("link add mv0 type veth peer name peer0")
        for name in ("mv0", "peer0"):
            one.ip(f"link set {name} up")
        before = left.Before(one, two)
        far = Nic("packet peer0", one)
        nicprobe("attach", "--rx", rx, f"{one}/mv0")
        put(far, 8)
        until(lambda: counts(f"{one}/mv0")["rx-stack"] == 8)
        one.ip(f"link set mv0 netns {two}")
        two.ip("link set mv0 up")
        # the peer sends nothing either before its link is back
        until(lambda: json.loads(one.ip("-j link show peer0"))[0]["operstate"] == "UP")
        put(far, 100)
        said = state(f"{one}/mv0")
        check(f"netns: moved, {rx}: show says where to, and what to do",
              said.startswith(f"mv0 moved to the network namespace {two}, as mv0") and "only XDP and tcx count on" in said
              and f"attach {two}/mv0" in said, said)
        r = nicprobe("attach", f"{two}/mv0", "--rx", "driver", check=False)
        same(f"netns: moved, {rx}: it can be attached where it is now", [r.returncode, r.stderr], [0, ""])
        put(far, 4)
        until(lambda: counts(f"{two}/mv0")["rx-stack"] == 4)
        got = counts(f"{two}/mv0"), counts(f"{one}/mv0")
        # a tcx link or an XDP program goes with the device, which show reported
        same(f"netns: moved, {rx}: the new attachment counts its own", [got[0]["rx-nic"], got[0]["rx-stack"]], [4, 4])
        goes = {p: how.startswith(("xdp", "tcx")) for p, how in show(f"{one}/mv0")["hooks"].items() if how}
        same(f"netns: moved, {rx}: the old one counts on where show said so",
             {p: got[1][p] for p in ("rx-nic", "rx-stack")},
             {p: 112 if goes[p] else 8 for p in ("rx-nic", "rx-stack")})
        nicprobe("detach", f"{two}/mv0")
        nicprobe("detach", f"{one}/mv0")
        far.close()
        two.ip(f"link set mv0 netns {one}")
        one.ip("link set mv0 up")
        before.check(f"netns: moved, {rx}: nothing is left")
        one.ip("link del mv0")


def namespace_deleted():
    before = left.Before()
    ns = Namespace("gone")
    nic = tap(ns)
    nicprobe("attach", f"{ns}/tap0")
    put(nic, 3)
    nic.close()
    number = inode(ns)
    sh(f"ip netns del {ns}")
    said = state(f"netns:{number}/tap0")
    check("netns: its namespace is gone: show says so", "gone" in said, said)
    r = nicprobe("detach", f"netns:{number}/tap0", check=False)
    same("netns: its namespace is gone: detach works", [r.returncode, r.stderr], [0, ""])
    before.check("netns: its namespace is gone: nothing is left")


def inode_again():
    """The kernel reuses the inode number of a namespace: what was attached does not belong to the new one."""
    before = left.Before()
    ns = Namespace("first")
    nic = tap(ns)
    nicprobe("attach", f"{ns}/tap0", "-m", "txlat,hwstat,counters")   # none of these is a link
    number, index = inode(ns), nic.hello["ifindex"]
    nic.close()
    sh(f"ip netns del {ns}")
    for n in range(50):
        new = Namespace(f"again{n}")
        if inode(new) == number:
            break
    else:
        lab.skip("netns: the inode number of another", f"{number} was not used again")
        nicprobe("detach", "--all")
        return
    nic = tap(new)
    same("netns: the inode number of another: and the index, too", nic.hello["ifindex"], index)
    said = state(f"{new}/tap0")
    check("netns: the inode number of another: show says that it is another's", "namespace is gone" in said, said)
    doc = show(f"{new}/tap0")
    same("netns: the inode number of another: nothing is read of the new one",
         [doc["meters"].get(m, []) for m in ("hwstat", "counters")], [[], []])
    rows = json.loads(nicprobe("list", "-j").stdout)
    check("netns: the inode number of another: list, too", "namespace is gone" in rows[0].get("state", ""), str(rows))
    r = nicprobe("attach", f"{new}/tap0", check=False)
    same("netns: the inode number of another: attach works", [r.returncode, r.stderr], [0, ""])
    put(nic, 4)
    same("netns: the inode number of another: and counts", [counts(f"{new}/tap0")["rx-nic"], show(f"{new}/tap0").get("state", "")], [4, ""])
    nicprobe("detach", f"{new}/tap0")
    before.check("netns: the inode number of another: nothing is left")
    nic.close()


lab.need_root()
left.own_bpffs()
lab.each(twins, inside, nameless, cut_short, moved, namespace_deleted, inode_again,
         after=lambda: nicprobe("detach", "--all", check=False))
lab.finish()

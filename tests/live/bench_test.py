#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""`nicprobe bench` counts what it sends, leaves others' traffic alone, and leaves nothing behind."""
import signal
import subprocess

from lib import bpf
from lib.lab import *

need_root()
SHORT = ("--seconds", ".5", "-j")
a, b = Namespace("a"), Namespace("b")
veth(a, b)
narrow_all(a), narrow_all(b)
a.ip("link add v0 type veth peer name v1")
a.ip("link set v0 up")
a.ip("link set v1 up")
IFACE, PEER = f"{a}/eth0", f"{b}/eth0"


features = {netns: netns.run("ethtool -k eth0") for netns in (a, b)}


def bench(*args, iface=IFACE):
    """{scenario: its object}"""
    doc = json.loads(nicprobe("bench", iface, *SHORT, *args).stdout)
    return {s["scenario"]: s for s in doc["scenarios"]}


def refused(name, words, *args, iface=IFACE, status=1):
    """It reports why in one sentence, and does nothing."""
    r = nicprobe("bench", iface, "--seconds", ".5", *args, check=False)
    lines = [line for line in r.stderr.splitlines() if not line.startswith("  try: ")]
    check(f"bench {name}", r.returncode == status and len(lines) == 1 and words in lines[0] and not r.stdout,
          f"{r.returncode}: {r.stderr.strip()} {r.stdout[:200]}")


def nothing_left(name):
    """No program, no pin, no address; and what the kernel disables for XDP is enabled again."""
    for netns in a, b:
        links = netns.ip("-d link show eth0")
        check(f"bench {name}: no program on {netns}", "xdp" not in links, links)
        check(f"bench {name}: no address on {netns}", not netns.ip("-o addr show dev eth0").strip())
        same(f"bench {name}: features of {netns} are what they were", netns.run("ethtool -k eth0"), features[netns])
        inode = sh(f"stat -L -c %i /run/netns/{netns}").strip()
        check(f"bench {name}: no pins of {netns}", not os.path.exists(f"/sys/fs/bpf/nicprobe/{inode}"))


def account(s):
    """{(stage, kind): packets}"""
    got = {}
    for line in s["account"]:
        key = line["stage"], line["kind"]
        got[key] = got.get(key, 0) + line["packets"]
    return got


def adds_up(name, s, stages=1):
    """Sent equals arrived plus lost, nothing is unexplained, and something was sent."""
    got = account(s)
    for stage in range(stages):
        sent, lost, arrived = (got.get((stage, k), 0) for k in ("sent", "lost", "arrived"))
        check(f"bench {name}: the account of stage {stage} adds up",
              sent and arrived and sent == lost + arrived and got.get((stage, "unexplained")) == 0, str(got))
    if s["scenario"] == "rx-drop":
        same(f"bench {name}: by queue and CPU it is as many", [sum(row["packets"] for row in s[k]) for k in
                                                              ("queues", "cpus")], [s["packets"]] * 2)


def xdp_counted(netns):
    """The driver's counts of the frames that its XDP program saw, summed over queues."""
    lines = sh(f"ip netns exec {netns} ethtool -S eth0").splitlines()
    return sum(int(line.split(":")[1]) for line in lines if "_xdp_packets:" in line)


def test_scenarios():
    before = xdp_counted(a)
    got = bench("rx-drop")["rx-drop"]
    adds_up("rx-drop", got)
    # and the few that probed the transmit path
    more = xdp_counted(a) - before - account(got)[0, "arrived"]
    check("bench rx-drop: the driver saw as many", 0 <= more <= 64, str(more))
    check("bench rx-drop: polls", got["polls_per_packet"] > 0)
    got = bench("rx-pass", "tx", "redirect")
    same("bench: the scenarios that were asked for, in order", list(got), ["rx-pass", "tx", "redirect"])
    adds_up("rx-pass", got["rx-pass"])
    check("bench rx-pass: it is said where the stack drops", sum(d["packets"] for d in got["rx-pass"]["dropped"]) > 0)
    adds_up("tx", got["tx"])
    adds_up("redirect", got["redirect"], stages=2)
    nothing_left("after it")


def test_kinds():
    for words in ("--ipv6", "--vlan 7 --ecn ce --size 1514", "--generator packet", "--generator packet --ipv6 --vlan 9",
                  "--threads 1 --flows 1", "--size 60"):
        adds_up(f"rx-drop {words}", bench("rx-drop", *words.split())["rx-drop"])
    # four queues, whatever the hash: one flow uses one of them, many use all
    one = bench("rx-drop", "--generator", "packet", "--flows", "1")["rx-drop"]
    same("bench: one flow is one queue", len(one["queues"]), 1)
    many = bench("rx-drop", "--generator", "packet", "--flows", "256")["rx-drop"]
    same("bench: many flows are in all queues", len(many["queues"]), 4)


def test_sockets():
    got = bench("rx-tcp", "tx-tcp")
    for name in "rx-tcp", "tx-tcp":
        lines = {line["kind"]: line["bytes"] for line in got[name]["account"]}
        check(f"bench {name}: what was written was read", lines["sent"] == lines["arrived"] > 0 and
              lines["unexplained"] == 0, str(lines))
        check(f"bench {name}: it is told by queue", sum(q["packets"] for q in got[name]["queues"]) > 0)
    nothing_left("sockets")
    refused("the loopback instead of TCP", "same network namespace", "rx-tcp", "--peer", f"{a}/v1", iface=f"{a}/v0")


def test_tap():
    """A foreign sender, and the receiver of its packets."""
    nic = tap(a, "tap0")
    p = subprocess.Popen([NICPROBE, "bench", f"{a}/tap0", "rx-drop", "-j", "--seconds", "4"], stdout=subprocess.PIPE,
                         text=True)
    check("bench tap: it runs", until(lambda: "xdp" in a.ip("-d link show tap0")))
    time.sleep(1)  # so that earlier packets are not counted
    for queue in range(4):
        nic(f"send {queue} 500 100")
    nic("go")
    got = json.loads(p.communicate(timeout=30)[0])["scenarios"][0]
    same("bench tap: what its owner sent", (got["packets"], got["bytes"]), (2000, 200000))
    same("bench tap: by queue", [q["packets"] for q in got["queues"]], [500] * 4)
    same("bench tap: nobody here sent", got["sent_per_second"], None)
    for how in "live", "packet":
        nic("reset")
        nic("read on")
        got = bench("tx", "--generator", how, "--rate", "5000", iface=f"{a}/tap0")["tx"]
        adds_up(f"tap tx {how}", got)
        taken = lambda: sum(q["frames"] for q in nic("count")["queues"])
        until(lambda: taken() >= account(got)[0, "arrived"])
        more = taken() - account(got)[0, "arrived"]
        check(f"bench tap tx {how}: its owner had as many", 0 <= more <= 64, str(more))
        check(f"bench tap tx {how}: completions, of skbs", (got["completion_p50_ns"] or 0) > 0 if how == "packet" else
              got["completion_p50_ns"] is None)
    nic("read off")
    got = bench("tx", "--rate", "30000", iface=f"{a}/tap0")["tx"]
    adds_up("tap tx that nobody reads", got)
    check("bench tap tx that nobody reads: it is said", account(got)[0, "lost"] > 0 and "no room" in got["limit"],
          f"{account(got)} {got['limit']}")
    nic.close()
    nic = tap(a, "tap0")
    room = int(a.ip("-j link show tap0").split('"txqlen":')[1].split("}")[0].split(",")[0]) * 4
    got = bench("tx", "--rate", "30000", "--generator", "packet", iface=f"{a}/tap0")["tx"]
    same("bench tap tx packets that nobody reads: nothing is unexplained", account(got)[0, "unexplained"], 0)
    waiting = [x["packets"] for x in got["account"] if "waiting in the rings" in x["what"]]
    check("bench tap tx packets that nobody reads: they wait", len(waiting) == 1 and 0 < waiting[0] <= room,
          f"{waiting} of {room}: {got['account']}")
    nic.close()
    refused("an owner that has gone", "no interface", iface=f"{a}/tap0")


def test_rate():
    for how in "live", "packet":
        got = bench("rx-drop", "--rate", "2000", "--generator", how)["rx-drop"]
        sent = account(got)[0, "sent"]
        # .5 s, less what a slow machine loses; the probes of the transmit path are not in the account
        check(f"bench {how}: no more than the rate", 0 < sent <= 1010, str(sent))
        adds_up(f"{how} at a rate", got)


def test_no_xdp():
    """A macvlan has no XDP: its packets were skbs before; and the peer of its parent takes no frames."""
    b.ip("link add mv0 link eth0 type macvlan")
    b.ip("link set mv0 up")
    got = bench("rx-drop", "rx-pass", "--peer", IFACE, "--rate", "5000", iface=f"{b}/mv0")
    for name in got:
        adds_up(f"{name} without XDP", got[name])
    check("bench: it says that the program is a generic one", "generic XDP" in " ".join(got["rx-drop"]["remarks"]))
    check("bench: it says why there are no live frames", "other end" in " ".join(got["rx-drop"]["remarks"]))
    refused("live frames that cannot be", "other end", "rx-drop", "--peer", IFACE, "--generator", "live",
            iface=f"{b}/mv0")
    b.ip("link del mv0")


def test_cable():
    """Two ports of one namespace, whatever connects them."""
    b.ip("link add cable type bridge")
    b.ip("link set cable up")
    for n in "0", "1":
        a.ip(f"link add p{n} type veth peer name x{n} netns {b}")
        b.ip(f"link set x{n} master cable")
        b.ip(f"link set x{n} up")
        a.ip(f"link set p{n} up")
    until(lambda: b.ip("-o link show master cable").count("LOWER_UP") == 2)
    got = bench("--peer", f"{a}/p1", "--rate", "5000", iface=f"{a}/p0")
    adds_up("cable rx-drop", got["rx-drop"])
    adds_up("cable rx-pass", got["rx-pass"])
    adds_up("cable tx", got["tx"])
    lost = account(got["redirect"])
    check("bench cable redirect: what cannot be redirected is said to be so", lost[1, "sent"] == lost[1, "lost"] > 0 and
          lost[1, "unexplained"] == 0 and "not redirected" in got["redirect"]["limit"], str(lost))
    check("bench cable redirect: as a table", "0 packets/s" in nicprobe(
        "bench", f"{a}/p0", "--peer", f"{a}/p1", "--seconds", ".3", "redirect").stdout)
    check("bench cable: TCP is not for one namespace", "same network namespace" in got["rx-tcp"]["cannot"])
    for n in "0", "1":
        a.ip(f"link del p{n}")


def test_not_connected():
    """A peer that is not at the other end: all packets are lost, and it says what to check."""
    a.ip(f"link add q0 type veth peer name q1 netns {a}")
    for n in "q0", "q1":
        a.ip(f"link set {n} up")
    got = bench("tx", "--peer", f"{a}/q0", "--rate", "5000", "--seconds", ".5", iface=f"{b}/eth0")["tx"]
    check("bench tx, not connected: a hint", "is it connected to" in " ".join(got["remarks"]), str(got))
    a.ip("link del q0")


def test_others_xdp():
    """A foreign program stays in any case; with --force we do without one of ours."""
    path = f"/sys/fs/bpf/np-bench-{os.getpid()}"
    for netns in a, b:
        netns.ip("link set eth0 mtu 1500")
    try:
        bpf.pin(bpf.program(bpf.XDP, 2), path)  # XDP_PASS
        sh(f"nsenter --net=/run/netns/{a} ip link set eth0 xdpdrv pinned {path}")
        refused("somebody's XDP program", "another XDP program", "rx-pass")
        refused("somebody's XDP program, which is in the way", "another XDP program", "rx-drop", "--force")
        got = bench("rx-pass", "--force")["rx-pass"]
        adds_up("rx-pass with somebody's XDP", got)
        check("bench rx-pass with somebody's XDP: the meters tell the queues", got["queues"])
        check("bench: somebody's XDP program is still there", "xdp" in a.ip("-d link show eth0"))
    finally:
        a.ip("link set eth0 xdpdrv off", check=False)
        sh(f"rm -f {path}")


def test_nameless():
    """A peer that no name leads to."""
    p = subprocess.Popen(["unshare", "-n", "sleep", "60"])
    until(lambda: os.readlink(f"/proc/{p.pid}/ns/net") != os.readlink("/proc/self/ns/net"))
    a.ip(f"link add w0 type veth peer name w1 netns {p.pid}")
    a.ip("link set w0 up")
    refused("a peer in a nameless namespace", "no name", iface=f"{a}/w0")
    p.kill()
    p.wait()


def test_losses():
    """Packets that the qdisc rejects are attributed to it."""
    try:
        b.ip("link set eth0 txqueuelen 100")
        b.run("tc qdisc add dev eth0 root tbf rate 1mbit burst 3kb latency 20ms")
    except RuntimeError as e:
        skip("bench: losses in a qdisc", e)
        return
    got = bench("rx-drop", "--generator", "packet", "--size", "1000", "--threads", "1")["rx-drop"]
    adds_up("a slow qdisc", got)
    lost = [line["what"] for line in got["account"] if line["kind"] == "lost"]
    check("bench a slow qdisc: it is named", len(lost) == 1 and "qdisc" in lost[0] and "qdisc" in got["limit"],
          f"{lost} {got['limit']}")
    b.run("tc qdisc del dev eth0 root")


def test_refusals():
    refused("no such scenario", "no scenario", "rx-dorp", status=2)
    refused("no such interface", "no interface", iface=f"{a}/nothing")
    refused("a size that is too small", "at least", "--ipv6", "--size", "60")
    refused("a size beyond the MTU", "exceed the MTU", "--size", "9100")
    refused("its own peer", "own peer", "--peer", IFACE)
    refused("the loopback", "loopback", iface=f"{a}/lo")
    b.ip("link set eth0 down")
    refused("a peer that is down", "no carrier")
    refused("one that is down", "is down", iface=PEER)
    b.ip("link set eth0 up")
    a.run("sysctl -qw net.ipv4.conf.eth0.forwarding=1")
    refused("a router", "forwarding enabled", "rx-pass")
    adds_up("rx-drop on a router", bench("rx-drop")["rx-drop"])
    a.run("sysctl -qw net.ipv4.conf.eth0.forwarding=0")
    a.ip("tuntap add mode tun name tun0")
    a.ip("link set tun0 up")
    refused("what is no Ethernet", "not an Ethernet", iface=f"{a}/tun0")
    a.ip("addr add 192.0.2.1/24 dev eth0")
    a.ip("route add default via 192.0.2.2 dev eth0")
    refused("the default route", "default route")
    check("bench --force: the default route", "rx-drop" in bench("rx-drop", "--force"))
    a.ip("addr flush dev eth0")
    nicprobe("attach", IFACE, "-m", "drop")
    refused("attached", "is attached")
    nicprobe("detach", IFACE)


def start(*args):
    return subprocess.Popen([NICPROBE, "bench", IFACE, "--seconds", "20", *args], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True)


def under_way():
    return "xdp" in a.ip("-d link show eth0")


def test_ends():
    for name, number in ("Ctrl-C", signal.SIGINT), ("kill", signal.SIGTERM), ("kill -9", signal.SIGKILL):
        p = start("rx-drop", "--rate", "1000")
        check(f"bench {name}: it runs", until(under_way))
        p.send_signal(number)
        out, err = p.communicate(timeout=20)
        check(f"bench {name}: it ends soon, and silently", p.returncode in (128 + number, -number) and
              not out and not err, f"{p.returncode}: {out} {err}")
        until(lambda: not under_way())
        nothing_left(name)
    # connections need addresses; the kernel removes what a kill leaves of them
    p = start("rx-tcp")
    check("bench kill -9: it has addresses", until(lambda: a.ip("-o addr show dev eth0")))
    p.kill()
    p.communicate()
    left = json.loads(a.ip("-j addr show dev eth0"))[0]["addr_info"]
    check("bench kill -9: its addresses end by themselves", len(left) == 1 and left[0]["valid_life_time"] <= 31,
          str(left))
    for netns in a, b:
        netns.ip("addr flush dev eth0")
    # one scenario is done, the next is interrupted
    p = start("rx-drop", "tx", "-j", "--rate", "1000", "--seconds", "1")
    until(lambda: under_way())
    check("bench Ctrl-C: it was done with the first", until(lambda: not under_way()))
    p.send_signal(signal.SIGINT)
    out = p.communicate(timeout=20)[0]
    same("bench Ctrl-C: what was done is shown", [s["scenario"] for s in json.loads(out)["scenarios"]], ["rx-drop"])
    adds_up("after all that", bench("rx-drop")["rx-drop"])


each(*[f for name, f in list(globals().items()) if name.startswith("test_")])
finish()

# SPDX-License-Identifier: GPL-2.0
"""Drops by programs, in both directions: tc, XDP and netfilter; each under its reason, with the exact count."""
from lib import bpf
from lib.drops import *
from lib.lab import *
from lib.wire import *

need_root()
a = Namespace("drop")
w = Wire(a, "tap0")
TAP = f"{a}/tap0"
closed = w.eth(udp(9))


def tc():
    a.run("tc qdisc add dev tap0 clsact")
    for hook, queue in ("ingress", 1), ("egress", None):
        with Case(TAP, f"tc {hook}") as c:
            r = a.run(f"tc filter add dev tap0 {hook} bpf da bytecode '1,6 0 0 2' && echo it can", check=False)
            if "it can" not in r:
                skip(f"tc {hook}", "no cls_bpf here")
                continue
            if hook == "ingress":
                w.write(1, closed, 11)
            else:
                with udp_socket(a) as s:
                    for _ in range(11):
                        s.sendto(bytes(50), (THERE, 9))
            a.run(f"tc filter del dev tap0 {hook}")
            c.expect(f"TC_{hook.upper()}", "tc", "rx" if queue else "tx", queue, 11)
    a.run("tc qdisc del dev tap0 clsact")


def xdp():
    for mode in "xdpgeneric", "xdpdrv":
        with Case(TAP, f"{mode}") as c, bpf.pinned(bpf.XDP, 1) as path:
            inside(a, lambda: sh(f"ip link set tap0 {mode} pinned {path}"))
            w.write(2, closed, 12)
            a.ip(f"link set tap0 {mode} off")
            if mode == "xdpgeneric":
                c.expect("NOT_SPECIFIED", "xdp", "rx", 2, 12)
            else:       # no skb exists yet that could be dropped: tun counts it
                c.expect("NOT_SPECIFIED", "xdp", "rx", 2, 0, rx_dropped=12)


def netfilter():
    try:
        nf = {hook: lambda hook=hook: inside(a, lambda: bpf.netfilter(hook)) for hook in (1, 3)}
        for hook, queue in (1, 3), (3, None):
            with Case(TAP, f"netfilter hook {hook}") as c:
                link = nf[hook]()
                if hook == 1:
                    w.write(3, closed, 13)
                else:
                    with udp_socket(a) as s:
                        for _ in range(13):
                            try:
                                s.sendto(bytes(50), (THERE, 9))
                            except PermissionError:
                                pass
                os.close(link)
                c.expect("NETFILTER_DROP", "netfilter", "rx" if queue else "tx", queue, 13)
    except OSError as e:
        skip("netfilter", f"{e}")


def veth_xdp():
    """XDP of a veth gets what its peer sent and drops it in the driver: counted as received, and as dropped by XDP."""
    one, two = Namespace("xdp1"), Namespace("xdp2")
    veth(one, two, queues=2, mtu=1500)
    nicprobe("attach", "-m", "drop,pktsize", "--rx", "driver", f"{one}/eth0")
    with bpf.pinned(bpf.XDP, 1) as path:
        inside(one, lambda: sh(f"ip link set eth0 xdpdrv pinned {path}"))
    far = Nic("packet eth0 --queues 2", two)
    far("send 1 40 200 udp")
    far("go")
    mine = "NOT_SPECIFIED", "xdp", "rx", 1
    until(lambda: mine in rows(show(f"{one}/eth0")))
    same("veth: XDP drops", {k: n for k, n in rows(show(f"{one}/eth0")).items() if k == mine or k[2] != "rx"}, {mine: 40})
    far.close()
    nicprobe("detach", f"{one}/eth0")


nicprobe("attach", TAP, "-m", "drop,counters")
each(tc, xdp, netfilter)
same("nothing lost", lost(show(TAP)), {})
nicprobe("detach", TAP)
each(veth_xdp)
finish()

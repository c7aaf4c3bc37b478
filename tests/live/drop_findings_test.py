# SPDX-License-Identifier: GPL-2.0
"""Findings about drops: each reports drops made for it, and is silent below its threshold and once they are remedied.
"""
from lib import bpf
from lib.lab import *
from lib.wire import *

need_root()
a = Namespace("findings")
a.run("sysctl -qw net.ipv4.conf.all.forwarding=1 net.ipv4.conf.all.rp_filter=0")
w = Wire(a, "tap0")
TAP = f"{a}/tap0"


def findings(name, act, finding, tries="", meters="drop,counters,pktsize", least=10):
    """act(n) drops n packets. From `least` on only `finding` is found; None: nothing is."""
    nicprobe("attach", TAP, "-m", meters)
    act(least - 1)
    few = show(TAP)
    act(least + 1)
    many = show(TAP)
    nicprobe("detach", TAP)
    same(f"{name}, {least - 1}: silent", said(few, ""), "")
    check(f"{name}, {least - 1}: they were counted", counted(few) >= least - 1, str(few["meters"]))
    if not finding:
        same(f"{name}, {2 * least}: silent", said(many, ""), "")
        check(f"{name}, {2 * least}: they came by", came(many) >= 2 * least, str(many["meters"]["pktsize"]))
        return
    same(f"{name}: {finding}", found(many, folded=True), [finding])
    check(f"{name}: of {2 * least}, and what to try",
          f"{2 * least} packets" in said(many, finding) and tries in said(many, finding),
          said(many, ""))


def came(doc):
    """Packets received and sent: silence proves nothing without packets."""
    return packets_at(doc, "rx-stack") + packets_at(doc, "tx-stack")


def counted(doc):
    """Those packets, or drops, if they reached no point."""
    return max(came(doc) if "pktsize" in doc["meters"] else 0, sum(r["packets"] for r in doc["meters"]["drop"]))


def wrote(frame, queue=1):
    return lambda n: w.write(queue, frame, n)


def with_sysctl(name, value, act):
    def run(n):
        old = a.run(f"sysctl -n {name}").strip()
        a.run(f"sysctl -qw {name}={value}")
        act(n)
        a.run(f"sysctl -qw {name}={old}")
    return run


def rcvbuf(room):
    def act(n):
        with udp_socket(a, (HERE, 5000), room) as s:
            w.write(1, w.eth(udp(5000, 1000)), n + (4 if room < 10000 else 0))
            for _ in range(4):
                s.recv(2000)
    return act


def send(n, to=THERE):
    with udp_socket(a, (HERE, 4000)) as s:
        for _ in range(n):
            try:
                s.sendto(bytes(900), (to, 9))
            except PermissionError:
                pass


def ring(n):
    w.drain()
    a.ip("link set tap0 txqueuelen 10")
    send(n + 10)
    a.ip("link set tap0 txqueuelen 1000")
    w.drain()


def qdisc(n):
    a.run("tc qdisc add dev tap0 root tbf rate 8kbit burst 1000 limit 2000")
    send(n + 3)             # one passes, two wait


def unshape(n):
    a.run("tc qdisc del dev tap0 root")


def filtered(hook, act):
    def run(n):
        a.run("tc qdisc add dev tap0 clsact")
        a.run(f"tc filter add dev tap0 {hook} bpf da bytecode '1,6 0 0 2'")
        act(n)
        a.run("tc qdisc del dev tap0 clsact")
    return run


def netfilter(n):
    link = inside(a, lambda: bpf.netfilter(1))
    w.write(1, w.eth(udp(9)), n)
    os.close(link)


def generic_xdp(n):
    with bpf.pinned(bpf.XDP, 1) as path:
        inside(a, lambda: sh(f"ip link set tap0 xdpgeneric pinned {path}"))
    w.write(1, w.eth(udp(9)), n)
    a.ip("link set tap0 xdpgeneric off")


def no_neighbour(n):
    def failed():
        return sum(r["packets"] for r in show(TAP)["meters"]["drop"] if r["reason"] == "NEIGH_FAILED")
    before = failed()
    send(n, "198.18.0.201")
    until(lambda: failed() == before + n)
    w.drain()


def open_port(n):
    with udp_socket(a, (HERE, 5002)):
        w.write(1, w.eth(udp(5002)), n)


def bridged():
    """A port of a bridge whose MTU is smaller than that of another: to the long frames nothing is said."""
    ns = Namespace("bridged")
    ports = [Wire(ns, f"tap{nr}", 1, address=None) for nr in range(2)]
    ns.ip("link add br0 type bridge")
    ns.run("sysctl -qw net.bridge.bridge-nf-call-iptables=0", check=False)      # it would make fragments of them
    for name in "tap0", "tap1", "br0":
        ns.ip(f"link set {name} up" + (" master br0 mtu 9000" if name != "br0" else ""))
    until(lambda: ns.run("bridge link").count("state forwarding") == 2)
    for mtu, want in (1500, ["packet-too-big"]), (9000, []):
        ns.ip(f"link set tap1 mtu {mtu}")
        nicprobe("attach", f"{ns}/tap1", "-m", "drop,counters,pktsize")
        ports[0].write(0, ports[0].eth(udp(9, 3000), dst=b"\x02\1\1\1\1\1"), 20)
        doc = show(f"{ns}/tap1")
        nicprobe("detach", f"{ns}/tap1")
        same(f"bridged to a port with MTU {mtu}", found(doc), want)
        same(f"bridged to a port with MTU {mtu}: do they pass?", packets_at(doc, "tx-nic") >= 20, not want)
    for port in ports:
        port.close()


def full_table():
    """A full table of neighbours: that of IPv6, which all namespaces share. Its remedy is not that of IPv4."""
    if sh("ip -6 neigh show | grep -v FAILED", check=False):
        return skip("full table of IPv6", "this machine has neighbours of IPv6 that it needs")
    a.ip("addr add 2001:2::2/64 dev tap0 nodad")
    nicprobe("attach", TAP, "-m", "drop,counters")
    global_sysctl("net.ipv6.neigh.default.gc_thresh3", 1)
    with inside(a, lambda: socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)) as s:
        for n in range(20):
            try:
                s.sendto(bytes(50), (f"2001:2::1:{n:x}", 9))
            except OSError:
                pass
    doc = show(TAP)
    nicprobe("detach", TAP)
    w.drain()
    check("full table of IPv6: it speaks", "neighbour-table-full" in found(doc), str(doc["meters"]["drop"]))
    same("full table of IPv6: what to do", [f["fix"] for f in doc["findings"] if f["id"] == "neighbour-table-full"],
         [[["sysctl", "-w", "net.ipv6.neigh.default.gc_thresh3=4"]]])
    return None


def full_queue():
    """A neighbour tells its address late, and more packets wait than its queue holds. The remedy is of both families."""
    ns, short = Namespace("late"), "unres_qlen_bytes"
    wire = Wire(ns, "tap0")
    ns.run("sysctl -qw net.ipv6.conf.tap0.disable_ipv6=0")
    ns.ip("addr add 2001:2::2/64 dev tap0 nodad")
    for n, family, address in (4, socket.AF_INET, "198.18.0.77"), (6, socket.AF_INET6, "2001:2::77"):
        for way in 4, 6:
            ns.run(f"sysctl -qw net.ipv{way}.neigh.tap0.{short}=32768")
        for what, want in ("", ["neighbour-queue-full"]), (", after that", []):
            nicprobe("attach", f"{ns}/tap0", "-m", "drop,counters,pktsize")
            with inside(ns, lambda family=family: socket.socket(family, socket.SOCK_DGRAM)) as s:
                for _ in range(40):
                    s.sendto(bytes(1400), (address, 9))
            ns.ip(f"neigh replace {address} dev tap0 lladdr 02:00:00:00:00:77 nud reachable")
            doc = show(f"{ns}/tap0")
            nicprobe("detach", f"{ns}/tap0")
            ns.ip(f"neigh del {address} dev tap0")
            wire.drain()
            name = f"a short queue of a neighbour, IPv{n}{what}"
            same(name, found(doc), want)
            dropped = sum(row["packets"] for row in doc["meters"]["drop"])
            same(f"{name}: what was not dropped is sent", 40 - dropped <= packets_at(doc, "tx-nic"), True)
            same(f"{name}: dropped", dropped >= 10, bool(want))
            for finding in doc["findings"]:
                same(f"{name}: what to do", finding["fix"],
                     [["ip", "netns", "exec", str(ns), "sysctl", "-w", *(f"net/ipv{way}/neigh/tap0/{short}=131072" for way in (4, 6))]])
                sh(" ".join(finding["fix"][0]))
    wire.close()


closed, foreign = w.eth(udp(9)), w.eth(udp(5003, src="10.0.0.1"))
findings("closed port", wrote(closed), "udp-port-closed", "tcpdump -nni tap0", least=50)
findings("open port", open_port, None)
nicprobe("attach", TAP, "-m", "drop,counters")
rcvbuf(4096)(60)
doc = show(TAP)
nicprobe("detach", TAP)
same("full socket buffer", found(doc, folded=True), ["socket-full"])
findings("large socket buffer", rcvbuf(1 << 20), None)
keeper = udp_socket(a, (HERE, 5003))
findings("rp_filter", with_sysctl("net.ipv4.conf.tap0.rp_filter", 1, wrote(foreign)),
         "rp-filter", "sysctl -w net/ipv4/conf/tap0/rp_filter=2")
a.ip("route add 10.0.0.0/24 dev lo")        # a route, but through another interface: rp_filter=2 accepts it
findings("rp_filter, as it says", with_sysctl("net/ipv4/conf/tap0/rp_filter", 2, wrote(foreign)), None)
a.ip("route del 10.0.0.0/24 dev lo")
keeper.close()
findings("bad UDP checksums", wrote(w.eth(udp(9, spoil=1))), "checksum-bad", "ethtool -S tap0")
findings("bad TCP checksums", wrote(w.eth(tcp(9, spoil=1))), "checksum-bad", "ethtool -S tap0")
findings("bad IP checksums", wrote(w.eth(ip4(17, bytes(40), spoil=1))), "checksum-bad", "ethtool -S tap0")
findings("no hops left", wrote(w.eth(udp(9, dst="198.18.0.77", ttl=1))), "no-hops-left", "tcpdump -nvi tap0", least=50)
findings("no route", wrote(w.eth(udp(9, dst="10.1.1.1"))), "no-route-in",
         "ip route get DESTINATION iif tap0")
findings("no forwarding", with_sysctl("net.ipv4.conf.tap0.forwarding", 0, wrote(w.eth(udp(9, dst="198.18.0.77")))),
         "not-forwarding", "net/ipv4/conf/tap0/forwarding=1")
# the kernel has one reason for both, and in IPv6 no sysctl helps
nowhere = struct.pack("!IHBB", 6 << 28, 40, 17, 64) + socket.inet_pton(socket.AF_INET6, "2001:db8::1") + bytes(16 + 40)
a.run("sysctl -qw net.ipv6.conf.tap0.disable_ipv6=0")
findings("IPv6 to ::", wrote(w.eth(nowhere, 0x86dd)), None)
findings("other hosts", wrote(w.eth(udp(9), dst=b"\x02\1\1\1\1\1")), None)
findings("full ring", ring, "tx-ring-full")
findings("room in the ring", lambda n: (send(n), w.drain()), None)
for name, meters in ("qdisc", "drop,counters"), ("qdisc, without drop", "counters"):
    nicprobe("attach", TAP, "-m", meters)
    qdisc(30)
    doc = show(TAP)
    nicprobe("detach", TAP)
    unshape(0)
    w.drain()
    same(f"{name}: it speaks", found(doc, folded=True), ["qdisc-drops"])
    check(f"{name}: what to try", "tc -s qdisc show dev tap0" in said(doc, "qdisc-drops"), said(doc, ""))
findings("tc ingress", filtered("ingress", wrote(closed)), "tc-ingress-drops",
         "tc -s filter show dev tap0 ingress")
findings("tc egress", filtered("egress", send), "tc-egress-drops", "tc -s filter show dev tap0 egress")
findings("generic XDP", generic_xdp, "xdp-drops", "bpftool net show dev tap0", meters="drop,counters")
a.run("sysctl -qw net.ipv4.neigh.tap0.retrans_time_ms=10 net.ipv4.neigh.tap0.mcast_solicit=1")
findings("no neighbour", no_neighbour, "neighbour-dead", "ip neigh show dev tap0")
try:
    os.close(inside(a, lambda: bpf.netfilter(1)))
    findings("netfilter", netfilter, "firewall-drops", "nft list ruleset")
except OSError as e:
    skip("netfilter", str(e))
bridged()
full_queue()
full_table()
finish()

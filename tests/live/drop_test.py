# SPDX-License-Identifier: GPL-2.0
"""Drops caused on purpose, each under its reason, direction and queue, with the exact count."""
import re
import socket

from lib import bpf
from lib.drops import *
from lib.lab import *
from lib.redirect import IFINDEX, Program
from lib.wire import *

need_root()


def nstat(netns):
    """The output of nstat, without its history."""
    return json.loads(netns.run("nstat -asj"))["kernel"]


def history():
    """nstat's default file, in case a user has one."""
    path = f"/tmp/.nstat.u{os.geteuid()}"
    return os.path.exists(path) and os.stat(path).st_mtime


def packet_socket(netns, name, room=None):
    """For whole frames: everything, of what was sent too."""
    def make():
        s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
        if room:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, room)
        s.bind((name, 0))
        return s
    return inside(netns, make)


def queued(s):
    """The number of datagrams waiting at a socket, which are read."""
    s.setblocking(False)
    n = 0
    try:
        while s.recv(65536) is not None:
            n += 1
    except BlockingIOError:
        return n


a = Namespace("drop")
a.run("sysctl -qw net.ipv4.conf.all.forwarding=1 net.ipv4.conf.all.rp_filter=0")
w = Wire(a, "tap0")
TAP = f"{a}/tap0"
frame = {
    "closed": w.eth(udp(9)), "other": w.eth(udp(9), dst=b"\x02\1\1\1\1\1"), "unknown": w.eth(bytes(46), 0x88cc),
}


def received():
    with Case(TAP, "closed port") as c:
        w.write(1, frame["closed"], 20)
        w.write(3, frame["closed"], 4)
        c.expect("NO_SOCKET", "kernel", "rx", 1, 20)
        c.expect("NO_SOCKET", "kernel", "rx", 3, 4, UdpNoPorts=24)
    with Case(TAP, "full socket buffer") as c:
        s = udp_socket(a, (HERE, 5000), 4096)
        w.write(2, w.eth(udp(5000, 1000)), 50)
        left = 50 - queued(s)
        check(f"full socket buffer: it was full # {left}", 30 < left < 50)
        c.expect("SOCKET_RCVBUFF", "socket", "rx", 2, left, UdpRcvbufErrors=left)
        s.close()
    with Case(TAP, "bad checksums") as c:
        w.write(0, w.eth(udp(9, spoil=0x55)), 6)
        w.write(1, w.eth(tcp(9, spoil=0x55)), 7)
        w.write(2, w.eth(ip4(17, bytes(30), spoil=0x55)), 8)
        c.expect("UDP_CSUM", "kernel", "rx", 0, 6, UdpInCsumErrors=6)
        c.expect("TCP_CSUM", "kernel", "rx", 1, 7, TcpInCsumErrors=7)
        c.expect("IP_CSUM", "kernel", "rx", 2, 8, IpExtInCsumErrors=8)
    with Case(TAP, "no hops left, no route") as c:
        w.write(3, w.eth(udp(9, dst="198.18.0.77", ttl=1)), 5)
        w.write(0, w.eth(udp(9, dst="10.1.1.1")), 6)
        c.expect("IP_INHDR", "kernel", "rx", 3, 5, IpInHdrErrors=5)
        c.expect("IP_INNOROUTES", "kernel", "rx", 0, 6, IpExtInNoRoutes=6)
    with Case(TAP, "rp_filter") as c:
        a.run("sysctl -qw net.ipv4.conf.tap0.rp_filter=1")
        w.write(1, w.eth(udp(9, src="10.0.0.1")), 9)
        a.run("sysctl -qw net.ipv4.conf.tap0.rp_filter=0")
        c.expect("IP_RPFILTER", "kernel", "rx", 1, 9, TcpExtIPReversePathFilter=9)
    with Case(TAP, "for others, for nobody") as c:
        w.write(2, frame["other"], 33)
        w.write(3, frame["unknown"], 3)
        c.expect("OTHERHOST", "kernel", "rx", 2, 33)
        c.expect("UNHANDLED_PROTO", "kernel", "rx", 3, 3, rx_dropped=3)


def off_device():
    """TCP clears skb->dev, UDP overwrites it."""
    with Case(TAP, "of a listener, off its device") as c:
        s = inside(a, lambda: socket.create_server((HERE, 6000)))
        w.write(3, w.eth(tcp(6000, 16, ack=77)), 5)
        s.close()
        c.expect("TCP_FLAGS", "kernel", "rx", 3, 5)
    if "TCP_FLAGS" not in REASONS:
        return
    with Case(TAP, "unread when its socket was closed") as c:
        s = udp_socket(a, (HERE, 5001))
        w.write(2, w.eth(udp(5001)), 4)
        s.close()
        until(lambda: more(rows(show(TAP)), rows(Case.last)))
        c.expect("NOT_SPECIFIED", "socket", "unsure", 2, 4)


def sent():
    with Case(TAP, "full ring") as c:
        for q in range(4):
            while w.read(q):
                pass
        w.netns.ip("link set tap0 txqueuelen 10")
        with udp_socket(a, (HERE, 4000)) as s:
            for i in range(100):
                s.sendto(bytes(100), (THERE, 9))
        left = w.drain()
        w.netns.ip("link set tap0 txqueuelen 1000")
        check(f"full ring: it was full # {left}", 10 <= sum(left.values()) < 100)
        queue = list(left)[0]           # one flow, one queue
        c.expect("FULL_RING", "driver", "tx", queue, 100 - sum(left.values()), tx_dropped=100 - sum(left.values()))
    with Case(TAP, "qdisc") as c:
        a.run("tc qdisc add dev tap0 root tbf rate 8kbit burst 2000 limit 3000")
        with udp_socket(a, (HERE, 4000)) as s:      # the same flow, the same queue
            for i in range(40):
                s.sendto(bytes(958), (THERE, 9))
        dropped = json.loads(a.run("tc -j -s qdisc show dev tap0 root"))[0]["drops"]
        check(f"qdisc: it was full # {dropped}", 30 < dropped < 40)
        name = next(n for n in ("QDISC_OVERLIMIT", "QDISC_DROP") if known(n) == n)
        now = show(TAP)
        got = more(rows(now), rows(Case.last))
        name = next((r for r, *_ in got if r.startswith("QDISC_")), name)
        c.expect(name, "qdisc", "tx", queue, dropped)
        same("qdisc: tc's counter", [n for k, n in more(counters(now), counters(Case.last)).items()
                                            if k.startswith("tbf")], [dropped])
    a.run("tc qdisc del dev tap0 root")     # packets waiting in it are dropped by the reset, not by its limit
    Case.last = show(TAP)
    with Case(TAP, "a neighbour that does not answer") as c:
        a.run("sysctl -qw net.ipv4.neigh.tap0.retrans_time_ms=10 net.ipv4.neigh.tap0.mcast_solicit=1")
        with udp_socket(a) as s:
            for _ in range(3):
                s.sendto(bytes(50), ("198.18.0.200", 9))
            until(lambda: "NEIGH_FAILED" in str(rows(show(TAP))))
        a.run("ip neigh flush dev tap0 to 198.18.0.200")
        w.drain()
        c.expect("NEIGH_FAILED", "kernel", "tx", None, 3)


def on_its_way_out():
    """A packet that goes back to where it came from, and one in a tunnel: neither is dropped on RX."""
    a.run("sysctl -qw net.ipv4.neigh.tap0.retrans_time_ms=10 net.ipv4.neigh.tap0.mcast_solicit=1 "
          "net.ipv4.conf.all.send_redirects=0 net.ipv4.conf.tap0.send_redirects=0")
    with Case(TAP, "forwarded to where it came from, to a neighbour that does not answer") as c:
        w.write(2, w.eth(udp(9, dst="198.18.0.201")), 3)
        until(lambda: "NEIGH_FAILED" in str(more(rows(show(TAP)), rows(Case.last))))
        c.expect("NEIGH_FAILED", "kernel", "tx", None, 3)
    a.ip(f"link add vx0 type vxlan id 7 dev tap0 remote {THERE} dstport 4789")
    a.ip("link set vx0 up")
    w.drain()
    try:
        link = inside(a, lambda: bpf.netfilter(4))      # at POSTROUTING
    except OSError:
        link = None
        skip("in a tunnel", "no netfilter programs here")
    if link is not None:
        with Case(TAP, "in a tunnel") as c, packet_socket(a, "vx0") as s:
            for _ in range(5):
                s.send(w.eth(udp(9)))
            c.expect("NETFILTER_DROP", "netfilter", "tx", None, 5)
        os.close(link)
    a.ip("link del vx0")
    w.drain()


def whole_frames():
    """They are complete frames again as they are dropped, as if they were sent: received ones are none."""
    with Case(TAP, "redirected by generic XDP to nowhere") as c:
        program = Program()
        program.do(IFINDEX, 4711)
        inside(a, lambda: sh(f"ip link set tap0 xdpgeneric pinned {program.pin}"))
        w.write(1, frame["closed"], 4)
        a.ip("link set tap0 xdpgeneric off")
        c.expect("XDP", "xdp", "rx", 1, 4)
    with Case(TAP, "a listener to frames without room") as c, packet_socket(a, "tap0", 1) as s:
        w.write(1, frame["unknown"], 20)
        got = queued(s)
        check(f"a listener to frames without room: it was full # {got}", 0 < got < 20)
        with udp_socket(a) as sender:
            for _ in range(20):
                sender.sendto(bytes(50), (THERE, 9))
        c.expect("PACKET_SOCK_ERROR", "kernel", "rx", 1, 20 - got)
        same("a listener to frames without room: all were sent", sum(w.drain().values()), 20)


def many_keys():
    """More kinds than a CPU has rows for in its array, on each CPU, in turns: the rest are in the hash."""
    kinds = {
        "NO_SOCKET": frame["closed"], "OTHERHOST": frame["other"], "UNHANDLED_PROTO": frame["unknown"],
        "UDP_CSUM": w.eth(udp(9, spoil=0x55)), "TCP_CSUM": w.eth(tcp(9, spoil=0x55)),
        "IP_CSUM": w.eth(ip4(17, bytes(30), spoil=0x55)), "IP_INNOROUTES": w.eth(udp(9, dst="10.1.1.1")),
    }
    cpus = sorted(os.sched_getaffinity(0))
    with Case(TAP, "many keys") as c:
        for nr in range(3 * len(cpus)):
            os.sched_setaffinity(0, {cpus[nr % len(cpus)]})
            for q in range(4):
                for i, (reason, what) in enumerate(kinds.items()):
                    w.write(q, what, 1 + q + i)
                    key = known(reason), "kernel", "rx", q
                    c.want[key] = c.want.get(key, 0) + 1 + q + i
        os.sched_setaffinity(0, cpus)
    home = f"/sys/fs/bpf/nicprobe/{os.stat(f'/run/netns/{a}').st_ino}/tap0"
    near, far = (json.loads(sh(f"bpftool -j map dump pinned {home}/{name}")) for name in ("drop_near", "drop"))
    keys = [tuple(r[of] for of in ("reason", "location", "who", "direction", "queue"))
            for r in show(TAP)["meters"]["drop"]]
    same("many keys: one row of each", len(keys), len(set(keys)))
    check(f"many keys: the array has some # {len(near)}", any(int(b, 16) for row in near for b in row["value"]))
    check(f"many keys: and the hash some # {len(far)}", far)


def another():
    """An interface with the same index in another namespace; packets with a device, and without."""
    with Case(TAP, "another's drops") as c:
        other.write(1, other.eth(udp(9)), 20)
        s = inside(b, lambda: socket.create_server((HERE, 6000)))
        other.write(3, other.eth(tcp(6000, 16, ack=77)), 5)
        s.close()
        with udp_socket(b) as s:
            b.ip("link set tap0 txqueuelen 1")
            for _ in range(10):
                s.sendto(bytes(50), (THERE, 9))
        other.drain()


def shorter():
    """A ring made shorter than its content: the driver drops the rest, without a reason."""
    ring = Wire(c, "tap0", 1)
    nicprobe("attach", f"{c}/tap0", "-m", "drop")
    with udp_socket(c) as s:
        for _ in range(5):
            s.sendto(bytes(50), (THERE, 9))
    c.ip("link set tap0 txqueuelen 2")
    got = rows(show(f"{c}/tap0"))
    nicprobe("detach", f"{c}/tap0")
    ring.close()
    same("a ring that is made shorter", got, {("NOT_SPECIFIED", "driver", "tx", 0): 3})


def buffers():
    """A dropped buffer counts as its wire packets."""
    nic = tap(c, "tap0", options="--vnet-hdr", address=HERE + "/24")
    c.ip(f"neigh add {THERE} lladdr 02:00:00:00:00:99 dev tap0")
    where = f"{c}/tap0"
    nicprobe("attach", where, "-m", "drop")
    nic("send 2 5 6054 v4 tcp gso=1000 dport=9")
    nic("go")
    c.run("tc qdisc add dev tap0 clsact")
    can = "it can" in c.run("tc filter add dev tap0 egress bpf da bytecode '1,6 0 0 2' && echo it can", check=False)
    if can:
        with udp_socket(c) as s:
            s.setsockopt(socket.IPPROTO_UDP, 103, 1000)         # UDP_SEGMENT
            for _ in range(7):
                s.sendto(bytes(3500), (THERE, 9))
    got = rows(show(where))
    nicprobe("detach", where)
    nic.close()
    same("received buffers of 6 packets", got.get(("NO_SOCKET", "kernel", "rx", 2)), 30)
    if not can:
        return skip("sent buffers of 4 packets", "no cls_bpf here")
    same("sent buffers of 4 packets", got.get(("TC_EGRESS", "tc", "tx", None)), 28)


def quiet():
    """No drops, no counts: a TCP stream, UDP in both directions, ARP."""
    one, two = Namespace("one"), Namespace("two")
    veth(one, two, "eth0")
    for netns, address in (one, "198.18.1.1/24"), (two, "198.18.1.2/24"):
        netns.ip(f"addr add {address} dev eth0")
    nicprobe("attach", f"{one}/eth0", "-m", "drop")
    server = inside(two, lambda: socket.create_server(("198.18.1.2", 7000)))
    client = inside(one, lambda: socket.create_connection(("198.18.1.2", 7000)))
    peer = server.accept()[0]
    came = 0
    for _ in range(64):
        client.sendall(bytes(65536))
        peer.sendall(bytes(65536))
        for end in client, peer:
            left = 65536
            while left:
                left -= len(end.recv(left))
            came += 65536
    there, here = udp_socket(two, ("198.18.1.2", 7001)), udp_socket(one, ("198.18.1.1", 7002))
    for _ in range(200):
        here.sendto(bytes(500), ("198.18.1.2", 7001))
        there.sendto(bytes(500), ("198.18.1.1", 7002))
        came += len(there.recv(1000)) + len(here.recv(1000))
    one.run("ip neigh flush dev eth0")
    here.sendto(bytes(500), ("198.18.1.2", 7001))
    there.recv(1000)
    for s in client, peer, server, there, here:
        s.close()
    same("quiet: all of it came", came, 64 * 2 * 65536 + 200 * 1000)
    # The rest of a closed stream is purged, not read: that is benign.
    same("quiet: nothing was dropped", [r for r in show(f"{one}/eth0")["meters"]["drop"] if not r.get("benign")], [])
    table = nicprobe("show", f"{one}/eth0").stdout
    check("quiet: no finding", "try:" not in table, table)
    nicprobe("detach", f"{one}/eth0")


def stacks():
    nicprobe("attach", TAP, "-m", "drop", "--stacks")
    w.write(1, frame["closed"], 20)
    doc = show(TAP)["meters"]["drop"]
    stack = [line.split("+")[0] for line in doc[0].get("stack", [])]
    check("stacks: in JSON", len(doc) == 1 and doc[0]["packets"] == 20 and "__udp4_lib_rcv" in stack and
          "tun_get_user" in stack and not [s for s in stack if s.startswith("bpf_")], str(doc))
    same("stacks: the location is in it", doc[0]["location"] in doc[0]["stack"], True)
    table = nicprobe("show", TAP).stdout.splitlines()
    check("stacks: beneath the row in the table", any(line.startswith("      tun_get_user+") for line in table), str(table))
    check("stacks: as a label in OpenMetrics", ';tun_get_user+' in nicprobe("show", "-f", "openmetrics").stdout)
    # A kernel that hides its addresses: in a mount namespace where every address in kallsyms reads 0.
    fake = f"/tmp/nicprobe-kallsyms-{os.getpid()}"
    with open(fake, "w") as f:
        f.write("0000000000000000 T _stext\n0000000000000000 t kfree\n")
    hidden = json.loads(sh(f"unshare -m sh -c 'mount --bind {fake} /proc/kallsyms && {NICPROBE} show -j --total {TAP}'"))
    os.unlink(fake)
    same("hidden addresses: they have their names", hidden["meters"]["drop"], doc)
    nicprobe("detach", TAP)


b = Namespace("other")
other = Wire(b, "tap0")
index = [n.ip("-o link show tap0").split(":")[0] for n in (a, b)]
same("both interfaces have the same index", index[0], index[1])
before, was = nstat(a), history()
nicprobe("attach", TAP, "-m", "drop,counters")
Case.last = None
each(received, off_device, sent, on_its_way_out, whole_frames, many_keys, another)
doc = show(TAP)
same("nothing lost", lost(doc), {})
grown, ours = more(nstat(a), before), {r["counter"]: r["events"] for r in doc["meters"]["counters"]
                                       if r["source"] == "nstat"}
same(f"nstat says the same # {len(ours)} counters", ours, {k: grown.get(k) for k in ours})
same("no loss of nstat's is left out", [k for k in grown if k not in ours and re.search(
    "Drop|Discard|CsumErr|InErr|BufErr|NoPorts|NoRoutes|HdrErr|AddrErr|PathFilter", k)], [])
same("its history is as it was", history(), was)
nicprobe("detach", TAP)
c = Namespace("buffers")
each(shorter, buffers, stacks, quiet)
finish()

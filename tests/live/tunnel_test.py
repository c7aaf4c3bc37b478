# SPDX-License-Identifier: GPL-2.0
"""Buffers of many packets in a tunnel: what one end of a veth counts as sent, the other counts as received."""
from lib.lab import *
from lib.wire import inside

need_root()
BYTES = 1 << 21
a, b = Namespace("a"), Namespace("b")
veth(a, b, mtu=1500)


def tunnel(words):
    try:
        for ns, own, far in (a, 1, 2), (b, 2, 1):
            ns.ip(f"link add vx0 type vxlan id 0xabcdef {words.format(own=own, far=far)} dstport 4789")
            ns.ip("link set vx0 up")
            ns.ip(f"addr add 10.9.0.{own}/24 dev vx0")
    except RuntimeError as e:
        skip("tunnel", f"no VXLAN here: {e}")
        return False
    return True


def stream():
    server = inside(b, lambda: socket.create_server(("10.9.0.2", 7000)))
    narrow(server)
    client = inside(a, lambda: socket.create_connection(("10.9.0.2", 7000)))
    peer, left = server.accept()[0], BYTES
    while left:
        client.sendall(bytes(1 << 15))
        part = 1 << 15
        while part:
            part -= len(peer.recv(part))
        left -= 1 << 15
    for s in client, peer, server:
        s.close()


def classes(doc, point):
    """Packets by size, over all queues."""
    got = {}
    for queue in sizes_at(doc, point).values():
        for size, count in queue["le"].items():
            got[size] = got.get(size, 0) + count
    return got


def whole():
    """What was measured at both ends."""
    return [show(f"{ns}/eth0") for ns in (a, b)]


for side, address in (a, 1), (b, 2):
    side.ip(f"addr add 198.18.0.{address}/24 dev eth0")
if tunnel("remote 198.18.0.{far} local 198.18.0.{own}"):
    for end in a, b:
        nicprobe("attach", f"{end}/eth0", "--rx", "driver", "-m", "pktsize,rxcpu,gso")
    stream()
    until(lambda: packets_at(whole()[0], "tx-nic") == packets_at(whole()[1], "rx-nic"))
    sent, came = whole()
    packets, buffers = packets_at(sent, "tx-nic"), packets_at(sent, "tx-stack")
    for end in a, b:
        nicprobe("detach", f"{end}/eth0")
    check(f"tunnel: buffers of several packets # {buffers}, {packets}", 2 * buffers < packets)
    same("tunnel: packets and bytes", (packets_at(came, "rx-nic"), bytes_at(came, "rx-nic")),
         (packets, bytes_at(sent, "tx-nic")))
    same("tunnel: sizes", classes(came, "rx-nic"), classes(sent, "tx-nic"))
    same("tunnel: rxcpu", tuple(map(sum, zip(*rxcpu(came).values()))), (packets, bytes_at(sent, "tx-nic")))
finish()

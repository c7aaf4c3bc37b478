# SPDX-License-Identifier: GPL-2.0
"""What the stack already had is not received from the driver: copies of broadcasts sent, and what comes from an ifb."""
from lib.lab import *
from lib.lives import fate
from lib.wire import *

need_root()
GROUP, PORT, MULTICASTS, BROADCASTS = "239.1.2.3", 5005, 20, 7
WAYS = {"xdp": ["--rx", "xdp"], "driver": ["--rx", "driver"]}


def points(where):
    """Packets at both points, what the meter gro counts: frames of the driver, and buffers of the stack; and the fates of
    packets received and sent."""
    doc = show(where)
    gro, lives = doc["meters"]["gro"], doc["meters"]["skblife"]
    return {**{point: packets_at(doc, point) for point in ("rx-nic", "rx-stack", "tx-nic")},
            "lives": fate(lives, "rx"), "sent": fate(lives, "tx"),
            "frames": sum(n for row in gro for n in row["frames"].values()),
            "buffers": sum(row["buffer_size"]["count"] for row in gro)}


def measured(where, way, load, cannot=""):
    nicprobe("attach", where, *WAYS[way], "-m", "pktsize,gro,skblife", "--sample", 1, env={"NICPROBE_CANNOT": cannot})
    load()
    got = points(where)
    nicprobe("detach", where)
    return got


def read(s, count):
    """Reads so many datagrams, and returns how many came at all."""
    s.settimeout(5)
    for _ in range(count):
        s.recv(2000)
    s.setblocking(False)
    try:
        return count + bool(s.recv(2000))
    except BlockingIOError:
        return count


def looped(way):
    """A host that listens to its own multicasts and broadcasts, as mDNS does."""
    ns = Namespace(f"loop-{way}")
    wire = Wire(ns, "tap0")
    listener, sender = udp_socket(ns, ("", PORT)), udp_socket(ns)
    listener.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, socket.inet_aton(GROUP) + socket.inet_aton(HERE))
    sender.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton(HERE))
    sender.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
    time.sleep(1.5)         # until IGMP has said twice that somebody listens
    wire.drain()
    sent, out = MULTICASTS + BROADCASTS, []

    def load():
        for _ in range(MULTICASTS):
            sender.sendto(bytes(100), (GROUP, PORT))
        for _ in range(BROADCASTS):
            sender.sendto(bytes(100), ("198.18.0.255", PORT))
        same(f"own broadcasts, {way}: the listener has them", read(listener, sent), sent)
        wire.write(1, wire.eth(udp(PORT)), 3)
        same(f"own broadcasts, {way}: and what was received", read(listener, 3), 3)
        out.append(sum(wire.drain().values()))

    got = measured(f"{ns}/tap0", way, load)
    same(f"own broadcasts, {way}: all left", 0 <= out[0] - sent <= 2, True)    # IGMP, if late
    same(f"own broadcasts, {way}", got,
         {"lives": {"read": 3}, "sent": {"sent": out[0]}, "rx-nic": 3, "frames": 3, "rx-stack": sent + 3,
          "buffers": sent + 3, "tx-nic": out[0]})
    listener.close()
    sender.close()
    wire.close()


def shaped(way, cannot=""):
    """Packets are shaped on their way in: tc redirects them to an ifb, which hands them back."""
    name, ns = f"by an ifb, {way}{cannot and ' without ' + cannot}", Namespace(f"ifb-{way}{cannot}")
    wire = Wire(ns, "tap0")
    listener = udp_socket(ns, ("", PORT))
    ns.ip("link add ifb0 type ifb")
    ns.ip("link set ifb0 up")
    try:
        ns.run("tc qdisc add dev tap0 handle ffff: ingress")
        ns.run("tc filter add dev tap0 parent ffff: protocol all u32 match u32 0 0 action mirred egress redirect dev ifb0")
    except RuntimeError as e:
        return skip(name, f"no u32 and mirred here: {e}")

    def load():
        wire.write(1, wire.eth(udp(PORT)), 30)
        same(f"{name}: all come, once", read(listener, 30), 30)

    same(name, measured(f"{ns}/tap0", way, load, cannot),
         {"lives": {"read": 30}, "sent": {}, "rx-nic": 30, "frames": 30, "rx-stack": 30, "buffers": 30, "tx-nic": 0})
    listener.close()
    return wire.close()


def same_number():
    """Broadcasts come to a macvlan from the card below it, which has its number in another namespace: nobody had them there."""
    name, below, ns = "below a macvlan of the same number", Namespace("below"), Namespace("above")
    for n in range(8):      # each namespace has tunnels of its own, which have the first numbers
        below.ip(f"link add v{n} type veth peer name w{n}")
    wire = Wire(below, "tap0")
    number = json.loads(below.ip("-j link show tap0"))[0]["ifindex"]
    try:
        ns.ip(f"link add link if{number} link-netns {below} name mac0 index {number} type macvlan mode bridge")
    except RuntimeError as e:
        return skip(name, f"no such macvlan can be made here: {e}")
    ns.ip("addr add 198.18.0.3/24 dev mac0")
    ns.ip("link set mac0 up")
    listener = udp_socket(ns, ("", PORT))

    def load():
        wire.write(1, wire.eth(udp(PORT, dst="198.18.0.255"), dst=b"\xff" * 6), 5)
        same(f"{name}: all come", read(listener, 5), 5)

    got = measured(f"{ns}/mac0", "driver", load)
    same(name, {k: got[k] for k in ("rx-nic", "frames")}, {"rx-nic": 5, "frames": 5})
    listener.close()
    return wire.close()


for each_way in WAYS:
    looped(each_way)
    shaped(each_way)
shaped("driver", "tc")
same_number()
finish()

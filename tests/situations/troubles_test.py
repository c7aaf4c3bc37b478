# SPDX-License-Identifier: GPL-2.0
"""Troubles caused on purpose: each is the first finding, and its remedy, applied here, silences it."""
import os
import socket
import sys
import time

from world import HERE, THERE, Skip, alone, bpf, inside, lab, run, trouble

# Bursts that overflow one CPU's backlog on any machine: the CPU takes the whole queue when it begins
# (process_backlog()), so that is twice its length. Shared between CPUs they fit, even if that CPU begins late.
BACKLOG, BURST, EVERY = 600, 1440, .15


def steered():
    """Packets that RPS moved to CPU 1."""
    with open("/proc/net/softnet_stat", encoding="ascii") as f:
        return next(int(line.split()[9], 16) for line in f if int(line.split()[12], 16) == 1)


def bursts(w):
    """A tap whose packets RPS moves to both CPUs, with a slow stack; ports that go to CPU 1, and to CPU 0."""
    w.host_sysctl("net.core.netdev_max_backlog", BACKLOG)
    w.tap()
    w.slow_stack()
    w.write("queues/rx-*/rps_cpus", 3)
    w.reader()
    ports = [], []
    for port in range(1000, 1400):      # CPU 0 writes to queue 0: packets for itself it processes at once
        before = steered()
        w.nic(f"send 0 1 200 sport={port}")
        w.nic("go")
        time.sleep(.002)
        ports[steered() == before].append(port)
        if min(map(len, ports)) >= 16:
            break
    w.attach()
    return ports


def send(w, burst, ports, queue=0, every=EVERY):
    return w.frames(*(f"{queue} {burst // len(ports)} 200 sport={port}" for port in ports), every=every)


@trouble("rps-one-cpu", "echo 3 > rps_cpus")
@alone
def rps_to_one_cpu(w):
    """rps_cpus of all queues names only CPU 1; bursts that overflow one CPU's backlog, but not two."""
    far, near = bursts(w)
    w.write("queues/rx-*/rps_cpus", 2)
    send(w, BURST, far[:6] + near[:10])
    w.expect("rps-one-cpu", settle=.6)


@trouble("rx-one-flow", "the sender uses 16 flows")
@alone
def elephant_flow(w):
    """Bursts of a single flow that overflow one CPU's backlog, with RPS to both."""
    far, near = bursts(w)
    load = send(w, BURST, far[:1])

    def several():
        load.stop()
        send(w, BURST, far[:6] + near[:10])
    w.expect("rx-one-flow", fix=False, remedy=several, settle=.6)


@trouble("backlog-full", "sysctl net.core.netdev_max_backlog")
@alone
def backlog_too_short(w):
    """Bursts of 16 flows that RPS moves to one CPU, longer than its backlog."""
    far, _ = bursts(w)
    send(w, 1920, far[:16])
    w.expect("backlog-full", settle=.6)


def saturate(w, *words, queues=4, options="--napi"):
    """One CPU is full of softirqs, another has time."""
    w.need_free_cpu()
    w.tap(queues, options)
    w.slow_stack()
    w.attach("--sample", "64")      # enough per second to know the number of flows
    w.reader(room=1 << 25)              # it gets the CPU time that the stack leaves
    return w.saturate(*words)


@trouble("rx-flows-collide", "echo 3 > rps_cpus")
@alone
def two_flows_on_a_queue(w):
    """Two flows on one of four queues, more than a CPU can process, with a slow stack."""
    # RPS must map these ports' flows to different CPUs, or it would not help: try until it does
    saturate(w, "0 300 200 sport=1000", "0 300 200 sport=1001")
    w.expect("rx-flows-collide", settle=.5, then=("rx-cpus-full",))


@trouble("rx-queues-uneven", "echo 3 > rps_cpus")
@alone
def all_flows_on_one_queue(w):
    """64 flows on the first queue and hardly any on the second, with a slow stack."""
    saturate(w, "0 600 200 flows=64", "1 10 200 flows=64")
    w.expect("rx-queues-uneven", settle=.5)


@trouble("rx-one-queue", "echo 3 > rps_cpus")
@alone
def one_queue_for_all(w):
    """64 flows on a card with one queue, with a slow stack."""
    saturate(w, "0 600 200 flows=64", queues=1)
    w.expect("rx-one-queue", settle=.5)


def segments(w):
    """TCP to a closed port on four queues, 100,000 per second: each is answered, and the ring holds a burst's answers.
    """
    w.frames(*(f"{q} 100 1000 tcp dport=9" for q in range(4)), every=.004)


@trouble("gro-off", "ethtool -K gro on")
@alone
def gro_switched_off(w):
    """ethtool -K gro off; TCP segments of 1000 bytes on four queues."""
    w.tap()
    w.nic("read on")
    w.here.run("ethtool -K tap0 gro off")
    w.attach()
    segments(w)
    w.expect("gro-off")


@trouble("gro-generic-xdp", "ip link set xdpgeneric off")
@alone
def generic_xdp_in_the_way(w):
    """A generic XDP program that passes everything; TCP segments of 1000 bytes."""
    w.tap()
    w.nic("read on")
    w.xdp(2)
    w.attach()
    segments(w)
    w.expect("gro-generic-xdp", fix=False, remedy=lambda: w.here.ip("link set tap0 xdpgeneric off"))


@trouble("ecn-marked", "the queue on the way is empty again")
def marks_from_one_source(w):
    """Every tenth packet is marked CE, all of these from one address."""
    w.tap()
    w.attach()
    w.reader()
    marked = w.frames("0 90 500 ecn=2", "0 10 500 ecn=3 src=198.18.0.77", every=.02)

    def mend():
        marked.stop()
        w.frames("0 100 500 ecn=2", every=.02)
    doc = w.expect("ecn-marked", fix=False, remedy=mend)
    lab.check(f"{w.name}: names the source", "100% of them from 198.18.0.77" in doc["findings"][0]["what"],
              doc["findings"][0]["what"])


@trouble("xdp-drops", "ip link set xdp off")
def xdp_program_drops(w):
    """A generic XDP program that returns XDP_DROP."""
    w.tap()
    w.xdp(1)
    w.attach()
    w.reader()
    w.frames("0 100 200", every=.02)
    w.expect("xdp-drops", fix=False, remedy=lambda: w.here.ip("link set tap0 xdpgeneric off"))


@trouble("xdp-aborted", "ip link set xdp off")
def xdp_program_aborts(w):
    """A generic XDP program that returns XDP_ABORTED."""
    w.tap()
    w.xdp(0)
    w.attach()
    w.reader()
    w.frames("0 100 200", every=.02)
    w.expect("xdp-aborted", fix=False, remedy=lambda: w.here.ip("link set tap0 xdpgeneric off"))


@trouble("tc-ingress-drops", "tc filter del")
def tc_filter_drops(w):
    """A tc program at ingress that returns TC_ACT_SHOT."""
    w.tap()
    w.filter("ingress", 2)
    w.attach()
    w.reader()
    w.frames("0 100 200", every=.02)
    w.expect("tc-ingress-drops", fix=False, remedy=lambda: w.here.run("tc filter del dev tap0 ingress"))


@trouble("firewall-drops", "the rule is taken away")
def firewall_drops(w):
    """A netfilter program that drops everything."""
    w.tap()
    try:
        link = inside(w.here, lambda: bpf.netfilter(1))
    except OSError as e:
        raise Skip(f"no netfilter programs: {e}") from e
    w.attach()
    w.reader()
    w.frames("0 100 200", every=.02)
    w.expect("firewall-drops", fix=False, remedy=lambda: os.close(link))


@trouble("socket-full", "sysctl rmem_default, and restart the program")
@alone
def socket_buffer_too_small(w):
    """Bursts of a few datagrams more than the socket's buffer holds."""
    w.host_sysctl("net.core.rmem_default", 100000)
    w.host_sysctl("net.core.rmem_max", None)
    w.tap()
    held = [None]

    def program():
        if held[0]:
            held[0].close()
        held[0] = inside(w.here, lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        held[0].bind((HERE, 9))
        held[0].setblocking(False)

    def burst(nr):
        """Sends this many at once, then the program reads; returns how many it got."""
        w.nic(f"send 0 {nr} 700")
        w.nic("go")
        time.sleep(.01)
        got = 0
        try:
            while held[0].recv(3000):
                got += 1
        except (BlockingIOError, OSError):
            return got
    program()
    w.stack.callback(lambda: held[0].close())
    room = min(burst(1000) for _ in range(4))   # reading does not free the room at once (udp_rmem_release())
    lab.check(f"{w.name}: the socket holds some # {room}", 20 < room < 900, str(room))
    w.attach()
    load = w.load(lambda: burst(room + 4), .05)

    def anew():
        load.stop()
        program()
        w.load(lambda: burst(room + 4), .05)
    w.expect("socket-full", remedy=anew)


@trouble("udp-port-closed", "the program is started")
def nothing_listens(w):
    """Datagrams to a port without a socket. The far end reads the answers, or the ring of the tap is full of them."""
    w.tap()
    w.nic("read on")
    w.attach()
    w.frames("0 10 200", every=.02)
    w.expect("udp-port-closed", fix=False, remedy=w.reader)


@trouble("accept-queue-full", "listen() with a longer backlog")
def accept_queue_too_short(w):
    """Connections to a listener with backlog 1 that accepts none."""
    w.veth()
    w.attach()
    held = [inside(w.here, lambda: socket.create_server(("", 5002), backlog=1))]
    clients = []

    def connect():
        s = inside(w.there, lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM))
        s.setblocking(False)
        s.connect_ex(("10.0.1.1", 5002))
        clients.append(s)
        if len(clients) > 100:
            clients.pop(0).close()

    def longer():
        held[0].listen(4096)
    w.stack.callback(lambda: [s.close() for s in held + clients])
    w.load(connect, .02)
    w.expect("accept-queue-full", fix=False, remedy=longer)


@trouble("rp-filter", "sysctl rp_filter=2")
def asymmetric_route(w):
    """Strict rp_filter, and a source that is routed through another interface."""
    w.tap()
    w.here.run("sysctl -qw net.ipv4.conf.tap0.rp_filter=1")
    w.here.ip("route add 10.9.0.0/16 dev lo")
    w.attach()
    w.reader()
    w.frames("0 10 200 src=10.9.0.1", every=.02)
    w.expect("rp-filter")


@trouble("no-route-in", "ip route add")
def router_without_a_route(w):
    """Forwarding is on; packets to a network without a route."""
    w.tap()
    w.nic("read on")
    w.here.run("sysctl -qw net.ipv4.conf.all.forwarding=1")
    w.attach()
    w.frames("0 10 200 dst=10.9.9.9", every=.02)
    w.expect("no-route-in", fix=False, remedy=lambda: w.here.ip(f"route add 10.9.0.0/16 via {THERE} dev tap0"))


@trouble("not-forwarding", "sysctl forwarding=1")
def taken_for_a_router(w):
    """Forwarding is off; packets to another network, which has a route."""
    w.tap()
    w.nic("read on")
    w.here.ip(f"route add 10.9.0.0/16 via {THERE} dev tap0")
    w.attach()
    w.frames("0 10 200 dst=10.9.9.9", every=.02)
    w.expect("not-forwarding", fix=False, remedy=lambda: w.here.run("sysctl -qw net.ipv4.conf.tap0.forwarding=1"))


@trouble("packet-too-big", "ip link set mtu 1500")
def smaller_mtu_behind(w):
    """Packets of 1400 bytes with DF, forwarded to a route with MTU 1000."""
    w.tap()
    w.nic("read on")
    w.here.run("sysctl -qw net.ipv4.conf.all.forwarding=1")
    w.here.ip(f"route add 10.9.0.0/16 via {THERE} dev tap0 mtu lock 1000")
    w.attach()
    w.frames("0 10 1400 dst=10.9.9.9", every=.02)
    w.expect("packet-too-big", fix=False, remedy=lambda: w.here.ip(f"route replace 10.9.0.0/16 via {THERE} dev tap0"))


if __name__ == "__main__":
    run(sys.argv[1:])

#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Troubles of paths, as the errors of ICMP tell of them to a host, and a host that heeds them."""
import contextlib
import socket
import sys
import threading

from world import healthy, inside, lab, run, trouble

FAR, ROUTER, HIDDEN = "10.0.3.2", "10.0.2.1", "172.30.0.1"
PORT = 8000


def host(w):
    """The host of the first namespace, a router, and behind a line of 1400 bytes a host that takes 1500. The router's errors
    come from an address to which there is no way."""
    w.here, router, far = w.namespace(), w.namespace("router"), w.namespace("far")
    w.dev, w.at = "eth0", f"{w.here}/host"
    lab.veth(w.here, router, "eth0", 1, 1500)
    lab.veth(router, far, "eth1", 1, 1500)
    router.ip("link set eth1 mtu 1400")
    router.run("sysctl -qw net.ipv4.ip_forward=1")
    for ns, dev, address in (router, "eth0", f"{HIDDEN}/32"), (w.here, "eth0", "10.0.2.2/24"), (router, "eth0", f"{ROUTER}/24"), \
            (router, "eth1", "10.0.3.1/24"), (far, "eth1", f"{FAR}/24"):
        ns.ip(f"addr add {address} dev {dev}")
    router.ip(f"route change 10.0.2.0/24 dev eth0 src {HIDDEN}")
    w.here.ip(f"route add 10.0.3.0/24 via {ROUTER}")
    far.ip("route add default via 10.0.3.1")
    w.attach("-m", "icmp")
    reader(w, far)
    w.load(lambda: w.here.run(f"ping -qc1 -W1 {FAR}"), .2)


def reader(w, far):
    """Takes connections, and all that they send."""
    def listen():
        s = socket.create_server((FAR, PORT), backlog=128)
        s.settimeout(.2)
        return s
    server = inside(far, listen)
    w.stack.callback(server.close)

    def take(s):
        with contextlib.suppress(OSError), s:
            while s.recv(1 << 16):
                pass

    def act():
        with contextlib.suppress(TimeoutError):
            s = server.accept()[0]
            s.settimeout(2)
            threading.Thread(target=take, args=(s,), daemon=True).start()
    w.load(act)


def senders(w, every=.1):
    """Keeps opening connections that send 20 kB and close; those that hang are given up after a while."""
    going = []
    w.stack.callback(lambda: [s.close() for s in going])

    def act():
        s = inside(w.here, socket.socket)
        s.settimeout(2)
        s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        with contextlib.suppress(OSError):
            s.connect((FAR, PORT))
            s.send(b"x" * 20000)
        going.append(s)
        if len(going) > 10:
            going.pop(0).close()
    w.load(act, every)


@trouble("icmp-mtu-unheeded", "rp_filter that takes the router's address")
def router_has_a_strange_address(w):
    """A path of 1400 bytes, where rp_filter drops the errors of the router, whose address has no route."""
    host(w)
    w.here.run("sysctl -qw net.ipv4.conf.eth0.rp_filter=1")
    senders(w)
    w.expect("icmp-mtu-unheeded", fix=False, settle=2, seconds=4, remedy=lambda: w.here.run(
        "sysctl -qw net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.eth0.rp_filter=0"))


@healthy
def path_is_narrow(w):
    """Connections over a path of 1400 bytes, which the kernel learns; and a program that tries larger datagrams on purpose."""
    host(w)
    w.here.run("sysctl -qw net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.eth0.rp_filter=0")
    senders(w)
    s = w.udp()
    s.setsockopt(socket.IPPROTO_IP, 10, 3)      # IP_MTU_DISCOVER, IP_PMTUDISC_PROBE

    def probe():
        with contextlib.suppress(OSError):
            s.sendto(b"x" * 1450, (FAR, 9))
    w.load(probe, .05)
    w.quiet(seconds=4, least=3, settle=2)


if __name__ == "__main__":
    run(sys.argv[1:])

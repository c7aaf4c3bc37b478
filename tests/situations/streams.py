# SPDX-License-Identifier: GPL-2.0
"""TCP between two namespaces, for the duration of a situation."""
import socket

from world import inside


def connected(w, here, there, port, to):
    """The sockets of a client here and of its server there; they wait for half a second at most."""
    family = socket.AF_INET6 if ":" in to else socket.AF_INET
    listener = inside(there, lambda: socket.create_server((to, port), family=family))
    client = inside(here, lambda: socket.create_connection((to, port)))
    peer = listener.accept()[0]
    for s in listener, client, peer:
        w.stack.callback(s.close)
        s.settimeout(.5)
    return client, peer


def bursts(w, here, there, size, port=5001, to="10.0.1.2"):
    """This many bytes at once, again and again: the next when all have been read at the other end."""
    client, peer = connected(w, here, there, port, to)
    left, asked = [size], [False]

    def read():
        try:
            left[0] -= len(peer.recv(left[0]))
        except TimeoutError:
            return
        if not left[0]:
            left[0] = size
            peer.send(b"x")

    def write():
        try:
            if not asked[0]:
                asked[0] = True
                client.sendall(bytes(size))
            client.recv(1)
            asked[0] = False
        except TimeoutError:
            pass
    w.load(read)
    w.load(write)


def stream(w, here, there, port=5001, to="10.0.1.2", pace=None):
    """At full speed, or at this many bytes per second; read at the other end."""
    client, peer = connected(w, here, there, port, to)
    if pace:
        client.setsockopt(socket.SOL_SOCKET, 47, pace)      # SO_MAX_PACING_RATE

    def read():
        try:
            peer.recv(1 << 20)
        except TimeoutError:
            pass

    def write():
        try:
            client.send(bytes(1 << 16))
        except TimeoutError:
            pass
    w.load(read)
    w.load(write)

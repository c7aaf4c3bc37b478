# SPDX-License-Identifier: GPL-2.0
"""TCP between two namespaces, for the duration of a situation."""
import socket

from world import inside


def stream(w, here, there, port=5001, to="10.0.1.2", pace=None):
    """At full speed, or at this many bytes per second; read at the other end."""
    family = socket.AF_INET6 if ":" in to else socket.AF_INET
    listener = inside(there, lambda: socket.create_server((to, port), family=family))
    client = inside(here, lambda: socket.create_connection((to, port)))
    peer = listener.accept()[0]
    for s in listener, client, peer:
        w.stack.callback(s.close)
        s.settimeout(.5)
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

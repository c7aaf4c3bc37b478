# SPDX-License-Identifier: GPL-2.0
"""A name server that answers as the first label of the question says, whatever its case."""
import contextlib
import socket
import struct
import threading

from lib.wire import inside

OK, SERVFAIL, NXDOMAIN, REFUSED, NOTIMP = 0, 2, 3, 5, 4
TRUNCATED = 0x0200
ADDRESS = b"\xc0\x0c" + struct.pack("!HHIH", 1, 1, 60, 4) + bytes([192, 0, 2, 7])     # of the name that was asked for
servers = []     # that run


def query(number, name, kind=1):
    """`name`: "ok.example.com", or a list of labels, which are bytes; `kind`: the type of the records."""
    labels = [label.encode() for label in name.split(".")] if isinstance(name, str) else name
    return struct.pack("!HHHHHH", number, 0x0100, 1, 0, 0, 0) + b"".join(bytes([len(label)]) + label for label in labels) + \
        struct.pack("!BHH", 0, kind, 1)


class Server:
    """"ok", "code-3", "after-200" ms, "twice", "cut", "silent"; "host-200": after 200 ms, with an address."""
    def __init__(self, ns, address, port=53):
        self.s = inside(ns, lambda: socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_DGRAM))
        self.s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
        self.s.bind((address, port))
        servers.append(self)
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        while True:
            try:
                data, who = self.s.recvfrom(512)
            except OSError:
                return
            if not data:        # closed
                return
            name, _, value = data[13:][:sum(data[12:13])].decode("latin-1").lower().partition("-")
            flags = 0x8180 | (int(value) if name == "code" else TRUNCATED if name == "cut" else 0)
            answer = data[:2] + struct.pack("!H", flags) + data[4:]
            if name == "host":
                answer = answer[:6] + b"\0\1" + answer[8:] + ADDRESS
            if name in ("after", "host") and int(value or 0):
                threading.Timer(int(value) / 1000, self.s.sendto, [answer, who]).start()
                continue
            for _ in range({"silent": 0, "twice": 2}.get(name, 1)):
                self.s.sendto(answer, who)

    def close(self):
        with contextlib.suppress(OSError):      # which ends its recvfrom()
            self.s.shutdown(socket.SHUT_RDWR)
        self.thread.join()
        self.s.close()


def servers_close():
    while servers:
        servers.pop().close()

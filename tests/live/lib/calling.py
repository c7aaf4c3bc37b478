#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Calls of sockets of known number and result, for the tests of probes: `calling.py KIND ARGUMENTS`, in a namespace."""
import errno
import os
import socket
import sys


def inet(kind=socket.SOCK_STREAM):
    return socket.socket(socket.AF_INET, kind)


def expect(error, call, *args):
    try:
        call(*args)
    except OSError as e:
        assert e.errno == error, e
        return
    raise SystemExit(f"{call} did not fail")


def failures():
    """An error of each call, and calls on what is no socket. Prints the port that was free."""
    s, other, u = inet(), inet(), inet(socket.SOCK_DGRAM)
    s.bind(("127.0.0.1", 0))
    expect(errno.EADDRINUSE, other.bind, ("127.0.0.1", s.getsockname()[1]))
    s.listen(1)
    s.setblocking(False)
    expect(errno.EAGAIN, s.accept)
    expect(errno.EOPNOTSUPP, u.listen, 1)
    expect(errno.ECONNREFUSED, other.connect, ("127.0.0.1", 20007))
    u.connect(("127.0.0.1", 20009))
    with open("/dev/null", encoding="utf-8") as f:
        no = socket.socket(fileno=os.dup(u.fileno()))
        os.dup2(f.fileno(), no.fileno())
        expect(errno.ENOTSOCK, no.connect, ("127.0.0.1", 20007))
        os.close(no.detach())
    print(s.getsockname()[1])


def shared(times):
    """Sockets of three file descriptors and two processes each, which end without a close(2)."""
    held = []
    for _ in range(int(times)):
        s = inet(socket.SOCK_DGRAM)
        held += [s, os.dup(s.fileno())]
    if not os.fork():
        os._exit(0)
    os.wait()
    os._exit(0)


def unix(name):
    """An abstract socket: bound, connected to, accepted."""
    s, c = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)
    s.bind("\0" + name)
    s.listen(1)
    c.connect("\0" + name)
    s.accept()[0].close()


def waits():
    """A call of accept(2) that began before its line is read; then another."""
    s = inet()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.bind(("127.0.0.1", 20080))
    s.listen(4)
    print("ready", flush=True)
    for _ in range(2):
        s.accept()[0].close()


def many(times):
    """Connections, by as many threads as there are CPUs."""
    import threading
    server = inet()
    server.bind(("127.0.0.1", 20090))
    server.listen(64)

    def connects():
        for _ in range(int(times)):
            c = inet()
            c.connect(("127.0.0.1", 20090))
            c.close()
    threads = [threading.Thread(target=connects) for _ in range(4)]
    for t in threads:
        t.start()
    for _ in range(4 * int(times)):
        server.accept()[0].close()
    for t in threads:
        t.join()


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])

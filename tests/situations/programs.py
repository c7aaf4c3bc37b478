# SPDX-License-Identifier: GPL-2.0
"""What situations of programs that read datagrams share."""
import contextlib
import socket
import subprocess
import sys

from lib import lab


def sends(w, s, to, sizes=(300,), every=.01, each=5):
    """Keeps sending these to there, whether that succeeds or not."""
    def act():
        for size in sizes * each:
            with contextlib.suppress(OSError):
                s.sendto(bytes(size), to)
    return w.load(act, every)


def program(w, lines):
    """A Python program in the measured namespace; `s` is its UDP socket on port 9. Returns its process."""
    code = f"import socket\ns = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n{lines}"
    p = subprocess.Popen(["ip", "netns", "exec", str(w.here), sys.executable, "-c", code], stdout=subprocess.PIPE)
    w.stack.callback(p.wait)
    w.stack.callback(p.stdout.close)
    w.stack.callback(p.kill)
    p.stdout.readline()
    return p


def named(w, doc, *words):
    """The suggestion of the finding has all these words, and no command that would not help."""
    f = doc["findings"][0]
    lab.check(f"{w.name}: names the program, and why", all(word in f["try"] for word in words), f["try"])
    lab.same(f"{w.name}: no command", f["fix"], [])

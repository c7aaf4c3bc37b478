# SPDX-License-Identifier: GPL-2.0
"""What it takes to watch: the CPU time of `top` and `record` at one reading a second, the size of a recording, and the
time and size of a scrape of `serve`. A tap of 64 queues with all meters; every queue has packets in each second."""
import fcntl
import http.client
import os
import pty
import re
import signal
import statistics
import struct
import subprocess
import tempfile
import termios
import threading
import time

from children import lab
from lifecycle import Card, timed
from tell import Wrong, done, progress

QUEUES = 64
SCRAPES = 40
SCREEN = 60, 200        # lines and columns of the terminal of top
PORT = 29920            # of serve, on the loopback interface


class Load(threading.Thread):
    """A few packets to and from every queue, four times a second."""
    def __init__(self, card):
        super().__init__(daemon=True)
        self.card, self.going = card, True
        self.start()

    def run(self):
        while self.going:
            for end in self.card.packet, self.card.nic:
                for queue in range(QUEUES):
                    end(f"send {queue} 3 200 v4 udp")
                end("go")
            time.sleep(.25)

    def close(self):
        self.going = False
        self.join()


def cpu_ns(pid):
    """The CPU time of a process so far."""
    with open(f"/proc/{pid}/schedstat", encoding="ascii") as f:
        return int(f.read().split()[0])


class Top:
    """top on a terminal of its own, whose screen nobody reads but who drains it."""
    def __init__(self, where):
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", *SCREEN, 0, 0))
        self.p = subprocess.Popen([lab.NICPROBE, "top", where], stdin=theirs, stdout=theirs, stderr=theirs,
                                  env={**os.environ, "TERM": "xterm-256color"}, start_new_session=True)
        os.close(theirs)
        self.end, self.bytes = ours, 0
        threading.Thread(target=self.drain, daemon=True).start()

    def drain(self):
        try:
            while got := os.read(self.end, 65536):
                self.bytes += len(got)
        except OSError:
            pass                # top has ended, and its terminal with it

    def close(self):
        os.write(self.end, b"q")
        if self.p.wait(20):
            raise Wrong(f"top: status {self.p.returncode}")


class Recorder:
    def __init__(self, where, path):
        self.path = path
        self.p = subprocess.Popen([lab.NICPROBE, "record", path, where], stderr=subprocess.DEVNULL)

    def close(self):
        self.p.send_signal(signal.SIGINT)
        if self.p.wait(20):
            raise Wrong(f"record: status {self.p.returncode}")


def watched(where, seconds):
    """Both at once: each is charged for its own CPU time."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "bench.rec")
        both = {"top": Top(where), "record": Recorder(where, path)}
        time.sleep(3.5)         # what they do once
        before = {name: cpu_ns(one.p.pid) for name, one in both.items()}
        size, bytes_, began = os.path.getsize(path), both["top"].bytes, time.monotonic()
        for left in range(seconds, 0, -1):
            progress(f"top and record: {left} s")
            time.sleep(1)
        took = time.monotonic() - began
        rows = {name: {"cpu_percent": round((cpu_ns(one.p.pid) - before[name]) / took / 1e7, 2)}
                for name, one in both.items()}
        rows["record"]["mb_per_hour"] = round((os.path.getsize(path) - size) / took * 3600 / 1e6, 1)
        rows["top"]["bytes_per_second"] = round((both["top"].bytes - bytes_) / took)
        for one in both.values():
            one.close()
    return {**rows, "seconds": seconds}


def scraped(*args):
    """{ms, cpu_ms, series, bytes} of a scrape: medians."""
    p = subprocess.Popen([lab.NICPROBE, "serve", "--listen", f"127.0.0.1:{PORT}", *args],
                         stderr=subprocess.DEVNULL)
    try:
        lab.until(lambda: scrape() is not None)
        took, text = [], ""
        before = cpu_ns(p.pid)
        for n in range(SCRAPES):
            progress(f"serve {' '.join(args)}: {n}")
            began = time.monotonic()
            text = scrape()
            took.append(time.monotonic() - began)
            time.sleep(.05)
        cpu = (cpu_ns(p.pid) - before) / SCRAPES / 1e6
    finally:
        p.terminate()
        p.wait(20)
    return {"ms": round(1e3 * statistics.median(took), 1), "cpu_ms": round(cpu, 1), "bytes": len(text),
            "series": len(re.findall(rb"^[^#\n]", text, re.M))}


def scrape():
    """The page, or None if nobody listens yet."""
    c = http.client.HTTPConnection("127.0.0.1", PORT, timeout=20)
    try:
        c.request("GET", "/metrics")
        r = c.getresponse()
        text = r.read()
        if r.status != 200:
            raise Wrong(f"serve: status {r.status}")
        return text
    except ConnectionRefusedError:
        return None
    finally:
        c.close()


def part(quick):
    netns = lab.Namespace("faces")
    card = Card(netns, "tap0", QUEUES, "10.78.0.1/24")
    timed("attach", card.where, "-m", "all")
    load = Load(card)
    doc = {"queues": QUEUES, "interval": 1, "rows": []}
    doc["watched"] = watched(card.where, 20 if quick else 64)
    for name, args in ("serve", []), ("serve --per-queue", ["--per-queue"]):
        doc["rows"].append({"what": name, **scraped(*args)})
    load.close()
    timed("detach", card.where)
    card.close()
    netns.delete()
    done()
    return doc

# SPDX-License-Identifier: GPL-2.0
"""What it takes to watch: the CPU time of `top` and `record` at one reading a second, the size of a recording, and the
time and size of a scrape of `serve`. A tap of 64 queues with all meters; every queue has packets in each second."""
import fcntl
import http.client
import os
import pty
import re
import shutil
import signal
import socket
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
GROUP = 4242            # may read the meters
AS_READER = "setpriv", "--reuid=4000", "--regid=4000", f"--groups={GROUP}", "--bounding-set=-all"
BPFFS = "/sys/fs/bpf"


def beside(netns, *command):
    """A command in the network namespace of the interface, as all are on an ordinary host."""
    return ["nsenter", f"--net=/run/netns/{netns.name}", *command]


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
    def __init__(self, netns, iface):
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", *SCREEN, 0, 0))
        self.p = subprocess.Popen(beside(netns, lab.NICPROBE, "top", iface), stdin=theirs, stdout=theirs, stderr=theirs,
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
    def __init__(self, netns, iface, path):
        self.path = path
        self.p = subprocess.Popen(beside(netns, lab.NICPROBE, "record", path, iface), stderr=subprocess.DEVNULL)

    def close(self):
        self.p.send_signal(signal.SIGINT)
        if self.p.wait(20):
            raise Wrong(f"record: status {self.p.returncode}")


def watched(netns, iface, seconds):
    """Both at once: each is charged for its own CPU time."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "bench.rec")
        both = {"top": Top(netns, iface), "record": Recorder(netns, iface, path)}
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


class Served:
    """serve as its unit runs it: a user who may read the meters, and a socket that is passed. port: of this process's
    namespace."""
    START = 'LISTEN_PID=$$ LISTEN_FDS=1 exec "$@" 3<&0 </dev/null'

    def __init__(self, netns, *args):
        self.folder = tempfile.TemporaryDirectory()
        os.chmod(self.folder.name, 0o755)
        binary = shutil.copy(lab.NICPROBE, self.folder.name)
        with socket.create_server(("127.0.0.1", 0)) as ours:
            self.port = ours.getsockname()[1]
            command = beside(netns, *AS_READER, binary, "serve", *args)
            self.p = subprocess.Popen(["sh", "-c", self.START, "sh", *command], stdin=ours, stderr=subprocess.DEVNULL)

    def close(self):
        self.p.terminate()
        self.p.wait(20)
        self.folder.cleanup()


def scraped(netns, *args):
    """{ms, cpu_ms, series, bytes} of a scrape: medians."""
    serve = Served(netns, *args)
    try:
        took, text = [], scrape(serve.port)
        before = cpu_ns(serve.p.pid)
        for n in range(SCRAPES):
            progress(f"serve {' '.join(args)}: {n}")
            began = time.monotonic()
            text = scrape(serve.port)
            took.append(time.monotonic() - began)
            time.sleep(.05)
        cpu = (cpu_ns(serve.p.pid) - before) / SCRAPES / 1e6
    finally:
        serve.close()
    return {"ms": round(1e3 * statistics.median(took), 1), "cpu_ms": round(cpu, 1), "bytes": len(text),
            "series": len(re.findall(rb"^[^#\n]", text, re.M))}


def scrape(port):
    c = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    try:
        c.request("GET", "/metrics")
        r = c.getresponse()
        text = r.read()
        if r.status != 200:
            raise Wrong(f"serve: status {r.status}")
        return text
    finally:
        c.close()


def part(quick):
    netns = lab.Namespace("faces")
    lab.sh(f"mount -t bpf -o mode=0755 bpf {BPFFS}")     # the host's may have no room for a group
    card = Card(netns, "tap0", QUEUES, "10.78.0.1/24")
    timed("attach", card.where, "-m", "all", "--group", str(GROUP))
    load = Load(card)
    doc = {"queues": QUEUES, "interval": 1, "rows": []}
    doc["watched"] = watched(netns, "tap0", 20 if quick else 64)
    for name, args in ("serve", []), ("serve --per-queue", ["--per-queue"]):
        doc["rows"].append({"what": name, **scraped(netns, *args)})
    load.close()
    timed("detach", card.where)
    card.close()
    netns.delete()
    lab.sh(f"umount {BPFFS}")
    done()
    return doc

# SPDX-License-Identifier: GPL-2.0
"""`nicprobe serve` as an unprivileged user, and an HTTP client for it."""
import atexit
import ctypes
import http.client
import os
import re
import select
import shutil
import subprocess
import tempfile

from lib.lab import NICPROBE, sh
from lib.left import BPFFS

USER, GROUP = 4000, 4242
NO_CAPS = ["--inh-caps=-all", "--ambient-caps=-all", "--bounding-set=-all", "--no-new-privs"]
OPENMETRICS = "application/openmetrics-text;version=1.0.0"


def enter(netns):
    """Moves this process, which has mounts of its own, into a network namespace with its /sys: its servers listen there,
    and its clients connect there."""
    with open(f"/run/netns/{netns}", encoding="ascii") as f:
        if ctypes.CDLL(None, use_errno=True).setns(f.fileno(), 0x40000000):
            raise OSError(ctypes.get_errno(), "setns")
    sh(f"mkdir /mnt/ours && mount --bind {BPFFS} /mnt/ours && mount -t sysfs sysfs /sys && mount --bind /mnt/ours {BPFFS} && "
       "mount -t tracefs tracefs /sys/kernel/tracing")


class Server:
    """Runs serve as a member of the group, without any capability, or as `prefix` says. `ports`: that it listens on."""
    def __init__(self, *args, prefix=None, ports=1, **kwargs):
        path = tempfile.mkdtemp()
        atexit.register(shutil.rmtree, path)
        os.chmod(path, 0o755)
        self.binary = shutil.copy(NICPROBE, path)
        os.chmod(self.binary, 0o755)
        if prefix is None:
            prefix = ["setpriv", f"--reuid={USER}", f"--regid={USER}", f"--groups={GROUP}", *NO_CAPS]
        self.p = subprocess.Popen([*prefix, self.binary, "serve", *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  **kwargs)
        atexit.register(self.p.kill)
        self.said = b""
        self.ports = []
        while len(self.ports) < ports:
            got = self.read()
            if not got:
                raise RuntimeError(f"serve ended: {self.p.wait()}: {self.said.decode()}")
            self.ports = [int(p) for p in re.findall(rb"serving on http://\S+:(\d+)/metrics\n", self.said)]

    def read(self, seconds=10):
        """What it prints to stderr next; b"": nothing in this time, or it ended."""
        ready = select.select([self.p.stderr], [], [], seconds)[0]
        got = os.read(self.p.stderr.fileno(), 65536) if ready else b""
        self.said += got
        return got

    def ask(self, path="/metrics", method="GET", headers=None, body=None, host="127.0.0.1", port=None):
        """(status, headers, body)"""
        c = http.client.HTTPConnection(host, port or self.ports[0], timeout=30)
        c.request(method, path, body=body, headers=headers or {})
        r = c.getresponse()
        out = r.status, r.headers, r.read()
        c.close()
        return out

    def metrics(self, accept=OPENMETRICS):
        status, _, body = self.ask(headers={"Accept": accept})
        if status != 200:
            raise RuntimeError(f"{status}: {body.decode()}")
        return body.decode()

    def spent(self):
        """CPU time so far, in seconds."""
        with open(f"/proc/{self.p.pid}/schedstat", encoding="ascii") as f:
            return int(f.read().split()[0]) * 1e-9

    def end(self, signal=15):
        self.p.send_signal(signal)
        return self.p.wait(10)


def samples(text):
    """{(name, labels): number}, where labels are sorted pairs."""
    out = {}
    for line in text.splitlines():
        m = re.match(r'(\w+)(?:\{(.*)\})? (\S+)$', line)
        if m and not line.startswith("#"):
            key = m[1], tuple(sorted(re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', m[2] or "")))
            if key in out:
                raise RuntimeError(f"twice: {line}")
            out[key] = float(m[3])
    return out


def families(text):
    return set(re.findall(r"^# TYPE (\S+) ", text, flags=re.M))


def value(have, name, **labels):
    """The only sample of this name that has these labels, or None."""
    got = [v for (n, pairs), v in have.items() if n == name and set(labels.items()) <= set(pairs)]
    return got[0] if len(got) == 1 else None

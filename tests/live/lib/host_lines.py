# SPDX-License-Identifier: GPL-2.0
"""nicprobe host, while the test causes events, and what its lines should be."""
import json
import os
import select
import signal
import subprocess
import time

from lib.lab import NICPROBE

ME, PID = "lines-test", os.getpid()
UNSURE = {"time", "seconds", "rx_queue", "tx_queue", "retransmits"}      # checked where the test knows them
with open("/proc/self/comm", "w", encoding="ascii") as comm:
    comm.write(ME)


class Host:
    """nicprobe host EVENT, from when it follows on. stop(): its lines, as JSON; `said`: what it says beside them."""
    def __init__(self, event, ns, *args, json_lines=True, env=None):
        self.json, self.read = json_lines, ""
        self.p = subprocess.Popen([NICPROBE, "host", event, f"{ns}/host", *(["-j"] if json_lines else []), *args],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, **(env or {})})
        self.said = self.p.stderr.readline()
        if "following" not in self.said:
            raise RuntimeError(self.said + self.p.stderr.read())

    def next(self, seconds=15):
        """The next line, as soon as it is there."""
        while "\n" not in self.read:
            if not select.select([self.p.stdout], [], [], seconds)[0]:
                raise TimeoutError("no line")
            self.read += os.read(self.p.stdout.fileno(), 1 << 16).decode()
        one, self.read = self.read.split("\n", 1)
        return json.loads(one)

    def stop(self):
        time.sleep(.1)
        self.p.send_signal(signal.SIGINT)
        return self.end()

    def end(self):
        out, err = self.p.communicate(timeout=60)
        self.said += err
        lines = (self.read + out).splitlines()
        return [json.loads(line) for line in lines] if self.json else lines


def sure(lines):
    return [{k: v for k, v in line.items() if k not in UNSURE} for line in lines]


def line(event, local, remote=None, **more):
    """What a line has besides times and queues; an end is (address, port)."""
    got = {"event": event, "process": ME, "pid": PID, "local": local[0], "local_port": local[1], **more}
    if event not in ("listen", "bind"):
        got["remote"], got["remote_port"] = remote or (None, None)
    if event in ("connect", "accept", "sessions", "retransmits", "window"):
        got.setdefault("interface", "eth0")
    return got

# SPDX-License-Identifier: GPL-2.0
"""A terminal that a test drives: tmux, with a server of its own."""
import atexit
import os
import re
import shlex
import time

from lib.lab import sh, until


def units(text):
    """The number that "12.35k" says."""
    m = re.fullmatch(r"([0-9.]+)([kMGT]?)", text)
    return float(m[1]) * {"": 1, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}[m[2]] if m else None


class Terminal:
    """Runs one command; `env` are its variables, None: without this one."""
    def __init__(self, command, width=80, height=24, env=None):
        self.socket = f"np{os.getpid()}-{id(self):x}"
        self.tmux = f"tmux -f /dev/null -L {self.socket}"
        words = " ".join(f"-u {k}" if v is None else shlex.quote(f"{k}={v}") for k, v in (env or {}).items())
        sh(f"{self.tmux} new-session -d -x {width} -y {height} "
           f"{shlex.quote(f'env {words} {command}; echo status $?; exec sleep 300')}")
        atexit.register(self.close)

    def screen(self):
        return sh(f"{self.tmux} capture-pane -p")

    def lines(self):
        return self.screen().split("\n")

    def line(self, word):
        """The first line with this word; ""."""
        return next((line for line in self.lines() if word in line), "")

    def keys(self, *keys):
        for key in keys:
            sh(f"{self.tmux} send-keys {shlex.quote(key)}")
            time.sleep(.15)     # Esc, and a key right behind it, would be one key

    def shows(self, word, seconds=5):
        return until(lambda: word in self.screen(), seconds)

    def resize(self, width, height):
        sh(f"{self.tmux} resize-window -x {width} -y {height}")

    def pid(self, name):
        """The process of this name below the terminal; None."""
        for shell in sh(f"{self.tmux} list-panes -F '#{{pane_pid}}'").split():
            for child in sh(f"pgrep -P {shell} -x {name}", check=False).split():
                return int(child)
        return None

    def close(self):
        sh(f"{self.tmux} kill-server", check=False)

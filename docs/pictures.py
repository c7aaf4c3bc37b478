#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Makes the pictures of README from real output: sudo python3 docs/pictures.py

The network of tests/demo carries TCP and UDP between two namespaces, and one of its queues becomes slow. docs/top.svg
is what `nicprobe top` then has on its terminal; docs/report.png is the beginning of the page of `nicprobe report`.
"""
import html
import importlib.machinery
import importlib.util
import mmap
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
COLUMNS, LINES = 96, 34
WIDE, HIGH = 8.4, 18    # pixels of a character
SECONDS = 64
COLOURS = {"31": "#ff7b72", "32": "#7ee2a0", "33": "#f0cf72", "34": "#79b8ff", "35": "#c8a6ff", "36": "#76e3ea"}


def demo_load():
    loader = importlib.machinery.SourceFileLoader("demo", f"{ROOT}/tests/demo")
    demo = importlib.util.module_from_spec(importlib.util.spec_from_loader("demo", loader))
    loader.exec_module(demo)
    return demo


def runs(line):
    """[(text, style)] of a line with changes of style as terminals have them."""
    style, found = {"bold": False, "dim": False, "reverse": False, "colour": None}, []
    for part in re.split(r"(\x1b\[[0-9;]*m)", line):
        if not part.startswith("\x1b["):
            if part:
                found.append((part, dict(style)))
            continue
        for code in part[2:-1].split(";"):
            if code in ("", "0"):
                style = {"bold": False, "dim": False, "reverse": False, "colour": None}
            elif code in ("1", "2", "7"):
                style[{"1": "bold", "2": "dim", "7": "reverse"}[code]] = True
            elif code in COLOURS:
                style["colour"] = COLOURS[code]
            elif code == "39":
                style["colour"] = None
    return found


def screen_svg(lines):
    """A screen of a terminal as SVG."""
    width, height = COLUMNS * WIDE + 24, len(lines) * HIGH + 24
    out = ['<!-- SPDX-License-Identifier: GPL-2.0 -->',
           f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" role="img" '
           'font-family="ui-monospace,SFMono-Regular,\'DejaVu Sans Mono\',monospace" font-size="14">',
           "<title>nicprobe top</title>",
           f'<rect width="{width:.0f}" height="{height:.0f}" rx="8" fill="#10151b"/>']
    for y, line in enumerate(lines):
        x = 0
        for words, style in runs(line):
            colour = style["colour"] or ("#9daab6" if style["dim"] else "#e6edf3")
            at = f'x="{12 + x * WIDE:.1f}"'
            if style["reverse"]:
                out.append(f'<rect {at} y="{12 + y * HIGH}" width="{len(words) * WIDE:.1f}" height="{HIGH}" '
                           f'fill="{colour}"/>')
                colour = "#10151b"
            if words.strip():
                bold = ' font-weight="bold"' if style["bold"] else ""
                out.append(f'<text {at} y="{26 + y * HIGH}" fill="{colour}"{bold} xml:space="preserve" '
                           f'textLength="{len(words) * WIDE:.1f}">{html.escape(words)}</text>')
            x += len(words)
    return "\n".join([*out, "</svg>", ""])


def screen(demo, directory):
    """What top has on its terminal, once it has a past."""
    tmux = ["tmux", "-L", f"pictures-{os.getpid()}", "-f", "/dev/null"]
    subprocess.run([*tmux, "new-session", "-d", "-x", str(COLUMNS), "-y", str(LINES),
                    f"LC_ALL=C.UTF-8 nsenter --net=/run/netns/{demo.HERE} {demo.NICPROBE} top -i .5 {demo.NIC}"],
                   check=True, cwd=directory)
    time.sleep(SECONDS * .75)
    subprocess.run([*tmux, "send-keys", "Enter"], check=True)
    time.sleep(2)
    got = subprocess.run([*tmux, "capture-pane", "-p", "-e"], check=True, capture_output=True, text=True).stdout
    subprocess.run([*tmux, "kill-server"], check=False)
    return got.rstrip("\n").split("\n")


def traffic(demo):
    """TCP and UDP both ways, on a network of its own."""
    counts = memoryview(mmap.mmap(-1, 8 * (3 * demo.QUEUES + 1))).cast("Q")
    here, there = demo.tap_in(demo.HERE, 1), demo.tap_in(demo.THERE, 2)
    demo.spawn(demo.HERE, demo.listen, 9)
    demo.spawn(demo.THERE, demo.listen, 5001)
    for i in range(demo.QUEUES):
        demo.spawn(None, demo.lane, i, here[i], there[i], counts)
    for fd in here + there:
        os.close(fd)
    time.sleep(.2)
    demo.spawn(demo.HERE, demo.upload, demo.ADDRESS[demo.THERE], 5001, SECONDS)
    demo.spawn(demo.HERE, demo.datagrams, demo.ADDRESS[demo.THERE], 0, 1400, 1200, SECONDS, 32)


def main():
    if os.geteuid():
        sys.exit("pictures: it makes network namespaces and attaches BPF programs: run it as root")
    demo, directory = demo_load(), tempfile.mkdtemp(prefix="nicprobe-pictures-")
    page = f"{directory}/report.html"
    demo.clean()
    try:
        traffic(demo)
        demo.nicprobe("attach", "-m", "+qdisc", demo.NIC, quiet=True)
        recorder = subprocess.Popen([demo.NICPROBE, "record", "slow.npr", demo.NIC], cwd=directory,
                                    preexec_fn=lambda: demo.enter(demo.HERE), stderr=subprocess.DEVNULL)
        demo.sh(f"ip netns exec {demo.HERE} tc qdisc replace dev {demo.NIC} root handle 1: mq")
        demo.spawn(None, slow_down, demo)
        lines = screen(demo, directory)
        recorder.send_signal(signal.SIGINT)
        recorder.wait()
    finally:
        demo.clean()
    with open(f"{ROOT}/docs/top.svg", "w", encoding="utf-8") as f:
        f.write(screen_svg(lines))
    subprocess.run([demo.NICPROBE, "report", "slow.npr", "-o", page], cwd=directory, check=True)
    subprocess.run(["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                    f"--user-data-dir={directory}/chromium", f"--screenshot={ROOT}/docs/report.png",
                    "--window-size=1100,900", f"file://{page}"], check=True, capture_output=True,
                   env={**os.environ, "HOME": directory})
    subprocess.run(["rm", "-rf", directory], check=True)
    for name in ("top.svg", "report.png"):
        print(f"docs/{name}: {os.path.getsize(f'{ROOT}/docs/{name}')} bytes")


def slow_down(demo):
    """After a third of the time a queue has a rate that is too low."""
    time.sleep(SECONDS / 3)
    demo.sh(f"ip netns exec {demo.HERE} tc qdisc replace dev {demo.NIC} parent 1:3 "
            "tbf rate 1mbit burst 3kb limit 10kb")


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: GPL-2.0
"""What the tests of documents share: reading them, asking nicprobe, and printing checks."""
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
NICPROBE = os.environ.get("NICPROBE", os.path.join(ROOT, "nicprobe"))
failed = 0


def check(name, wrong):
    """Passes when nothing is wrong; `wrong` says what is."""
    global failed
    failed += bool(wrong)
    print(f"not ok {name}: {'; '.join(wrong)}" if wrong else f"ok {name}", flush=True)


def skip(name, why):
    print(f"skip {name}: {why}", flush=True)


def say(*command, **kwargs):
    return subprocess.run(command, capture_output=True, text=True, **kwargs).stdout


def read(*path):
    with open(os.path.join(ROOT, *path), encoding="utf-8") as f:
        return f.read()


def complete(what):
    return say(NICPROBE, "complete", what).split()


def options(command):
    """The options of a command, as the program itself lists them."""
    return {line.split()[0] for line in say(NICPROBE, "complete", "options", command).splitlines()}


def sections_md(text):
    parts = re.split(r"^## (.*)\n", text, flags=re.M)
    return dict(zip(parts[1::2], parts[2::2]))


def run_all(tests):
    """Those of a module: its functions called test_…"""
    if not os.path.exists(NICPROBE):
        skip("docs", "nicprobe is not built")
        sys.exit(0)
    for test in [f for name, f in tests.items() if name.startswith("test_")]:
        test()
    sys.exit(1 if failed else 0)

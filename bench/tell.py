# SPDX-License-Identifier: GPL-2.0
"""The progress line, and remarks on the measurements."""
import sys
import time

BEGAN = time.monotonic()


class Wrong(Exception):
    """A count was wrong: the measurement is invalid."""


def progress(text):
    if sys.stderr.isatty():
        gone = int(time.monotonic() - BEGAN)
        print(f"\r\33[K{gone // 60}:{gone % 60:02} {text}"[:120], end="", file=sys.stderr, flush=True)


def done():
    if sys.stderr.isatty():
        print("\r\33[K", end="", file=sys.stderr, flush=True)


def remark(text):
    done()
    print(f"# {text}", file=sys.stderr, flush=True)


def right(run, *args):
    """Repeats a measurement that counted wrong, with a remark, and exits after three: some kernels
    keep tracing programs from running while a certain process is current."""
    for _ in range(2):
        try:
            return run(*args)
        except Wrong as why:
            remark(f"repeating: {why}")
    try:
        return run(*args)
    except Wrong as why:
        sys.exit(f"bench: wrong three times: {why}")

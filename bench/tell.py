# SPDX-License-Identifier: GPL-2.0
"""The progress line, and what must be said beside the figures."""
import sys
import time

BEGAN = time.monotonic()


class Wrong(Exception):
    """Fast and wrong is no result."""


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
    """What counted wrong is run again, and said: some kernels keep tracing programs from running
    while a certain process is current. Wrong three times is wrong."""
    for _ in range(2):
        try:
            return run(*args)
        except Wrong as why:
            remark(f"once more: {why}")
    try:
        return run(*args)
    except Wrong as why:
        sys.exit(f"bench: it does not work: {why}")

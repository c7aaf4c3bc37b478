# SPDX-License-Identifier: GPL-2.0
"""The sentences in which nicprobe says what is wrong."""
import os
import re
import subprocess

from lib import left
from lib.lab import NICPROBE, check

OURS = f"{left.BPFFS}/nicprobe"


def run(args, prefix=(), env=None, **kwargs):
    """args: one string, or a list."""
    args = args.split() if isinstance(args, str) else args
    return subprocess.run([*prefix, NICPROBE, *args], capture_output=True, text=True, timeout=60,
                          env={**os.environ, **(env or {})}, **kwargs)


def one_sentence(stderr, words, hint=True, before=()):
    """The fault in a message on stderr, or ""."""
    lines = [line for line in stderr.splitlines() if not any(b in line for b in before)]
    if not lines or not lines[0].startswith("nicprobe: "):
        return f"no sentence: {stderr!r}"
    if len(lines) > 2 or (len(lines) == 2 and not lines[1].startswith("  try: ")):
        return f"more than a sentence and a hint: {stderr!r}"
    if hint and len(lines) < 2:
        return f"no hint: {stderr!r}"
    missing = [w for w in words if w not in stderr]
    if missing:
        return f"no {missing} in {stderr!r}"
    if re.search(r"\(null\)|: -\d+$|failed without a message|Unknown error|  \S*  ", lines[0]) or lines[0].endswith((": ", ":")):
        return f"not for a person: {stderr!r}"
    return ""


def bad(name, args, status, *words, hint=True, prefix=(), env=None, before=()):
    pins = left.pins()
    r = run(args, prefix, env)
    why = one_sentence(r.stderr, words, hint, before)
    if r.returncode != status:
        why = f"exit status {r.returncode}, not {status}: {r.stderr!r} {r.stdout[:200]!r}"
    if r.stdout:
        why = why or f"stdout: {r.stdout[:200]!r}"
    new = [p for p in left.pins() if p not in pins]
    if new:
        why = why or f"leaves {new}"
    check(f"bad: {name}", not why, why)

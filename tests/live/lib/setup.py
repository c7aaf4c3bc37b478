# SPDX-License-Identifier: GPL-2.0
"""`show IFACE hw`: the document, and the table."""
import json

from lib.lab import nicprobe, same


def hw(iface, *more, env=None):
    """The document, which must be valid JSON."""
    r = nicprobe("show", "-j", iface, "hw", *more, env=env)
    same(f"hw {iface}: one line, and nothing to complain of", (r.stdout.count("\n"), r.stderr), (1, ""))
    return json.loads(r.stdout)


def table(iface, columns=80, env=None):
    return nicprobe("show", iface, "hw", env={"COLUMNS": str(columns), "LC_ALL": "C.UTF-8", **(env or {})}).stdout

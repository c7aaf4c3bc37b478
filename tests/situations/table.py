#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Prints README.md of this directory: the situations, as the tests have them."""
import inspect
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True
import world                    # noqa: E402
import healthy_test             # noqa: E402,F401  pylint: disable=unused-import
import hosts_test               # noqa: E402,F401  pylint: disable=unused-import
import troubles_test            # noqa: E402,F401  pylint: disable=unused-import
import af_xdp_test              # noqa: E402,F401  pylint: disable=unused-import
import frames_test              # noqa: E402,F401  pylint: disable=unused-import
import reaching_test            # noqa: E402,F401  pylint: disable=unused-import

HEAD = """<!-- SPDX-License-Identifier: GPL-2.0 -->
# Situations

Each is made on a live interface by a test. Of a trouble the finding named must come first, and its remedy must silence it;
of a healthy load nothing may be found. `tests/situations/troubles_test.py NAME…`, `frames_test.py`, `reaching_test.py`,
`af_xdp_test.py`, `healthy_test.py` and `hosts_test.py` run single ones.
Made from the tests by `python3 tests/situations/table.py > tests/situations/README.md`; `docs_test.py` compares.
"""


def rows(head, *lines):
    print(f"| {' | '.join(head)} |\n|{'---|' * len(head)}")
    for line in lines:
        print(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |")


def made(function):
    return " ".join((function.__doc__ or "").split())


def by(function):
    return "by hand" if "fix=False" in inspect.getsource(function) else "the command it names"


def main():
    troubles = [s for s in world.situations if s[2]]
    healthy = [s for s in world.situations if not s[2]]
    print(HEAD)
    print(f"## Troubles: {len(troubles)}\n")
    rows(("trouble", "how it is made", "finding", "remedy", "applied"),
         *((f"`{name}`", made(function), f"`{finding}`", remedy, by(function))
           for name, function, finding, remedy in troubles))
    print(f"\n## Healthy: {len(healthy)}\n")
    rows(("load", "how it is made"), *((f"`{name}`", made(function)) for name, function, _, _ in healthy))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""What the README, the pages of docs/ and the table of situations say is so."""
import getopt
import os
import re
import shlex
import subprocess
import sys

from documents import NICPROBE, ROOT, check, complete, options, read, run_all, say, sections_md

commands = complete("commands")
PAGES = ["README.md", *(f"docs/{name}" for name in sorted(os.listdir(os.path.join(ROOT, "docs"))) if name.endswith(".md"))]


def test_readme():
    readme = read("README.md")
    check("docs: the README is short", [f"{n} lines" for n in [readme.count("\n")] if n > 250])
    where = sections_md(readme).get("Where things go", "")
    names = [n for row in re.findall(r"^\| `([^|]*)\|", where, flags=re.M) for n in re.findall(r"`?([^`]+)`", row)]
    missing = [n for n in names if not os.path.exists(os.path.join(ROOT, n.strip()))]
    check("docs: what the README names is there", missing if names else ["it has no table \"Where things go\""])
    tree = [d + "/" for d in os.listdir(ROOT) if os.path.isdir(os.path.join(ROOT, d)) and not d.startswith(".")]
    check("docs: the README names every directory", [d for d in sorted(tree) if d != "build/" and f"`{d}" not in where])
    told, meters = re.findall(r"^\| `(\w+)` \|", sections_md(readme).get("Meters", ""), flags=re.M), complete("meters")
    check("docs: the README has every meter", [f"{m} is not there" for m in meters if m not in told] +
          [f"{m} is not a meter" for m in told if m not in meters])
    makefile = read("Makefile").replace("\\\n", " ")
    packages = " ".join(re.findall(r"^PACKAGES(?:_DEV)?\s*:=(.*)$", makefile, flags=re.M)).split()
    check("docs: the README has the packages of the Makefile", [p for p in packages if p not in re.split(
        r"[\s.]+", sections_md(readme).get("Build and test", ""))] or ([] if packages else ["it has none"]))
    situations = read("tests", "situations", "README.md")
    numbers = [f"{len(complete('findings'))} findings",
               *(f"{n} {what}" for what in ("troubles", "healthy loads")
                 for n in re.findall(rf"^## {what.split()[0].capitalize()}: (\d+)$", situations, flags=re.M))]
    check("docs: the README counts findings and situations right", [n for n in numbers if n not in readme] or
          ([] if len(numbers) == 3 else [str(numbers)]))
    screen = re.findall(r"^```\n(\$ nicprobe .*?)^```$", readme, flags=re.M | re.S)
    check("docs: the README's screen is one of the tour", [s.split("\n")[0] for s in screen if s not in read(
        "docs", "tour.md")] if screen else ["it has no screen"])


def anchors(text):
    """What headings are linked by: "The driver tables" is #the-driver-tables."""
    heads = re.findall(r"^#+ (.*)$", re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S), flags=re.M)
    return {re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-") for head in heads}


def test_pages():
    """Links of the README and of docs/ lead somewhere; the README leads to every page; what is typed is right."""
    lost, seen = [], 0
    for page in PAGES:
        for to in re.findall(r"\]\(([^)\s]+)\)", read(page)):
            seen += 1
            file, _, anchor = to.partition("#")
            path = os.path.normpath(os.path.join(os.path.dirname(page), file)) if file else page
            if "://" not in to and (not os.path.exists(os.path.join(ROOT, path)) or
                                    (anchor and anchor not in anchors(read(path)))):
                lost.append(f"{page}: {to}")
    check("docs: links lead somewhere", lost if seen > 15 else [f"{seen} links"])
    check("docs: the README leads to every page", [p for p in PAGES[1:] if f"]({p})" not in read("README.md")])
    typed = [(page, line.split(" -- ")[0]) for page in PAGES for line in re.findall(
        r"(?:`|^\$ (?:sudo )?|^sudo )nicprobe ([^`\n|;&]*)", read(page), flags=re.M)]
    named = [(page, c) for page, line in typed for c in re.findall(r"^[a-z]+\b", line)]
    check("docs: pages type commands that there are", [f"{page}: {c}" for page, c in named if c not in commands]
          if len(named) > 10 else [f"{len(named)} commands"])
    known = {o for c in commands for o in options(c)}
    given = [(page, o) for page, line in typed for o in re.findall(r"(?<=\s)--?[a-z][a-z-]*", line)]
    check("docs: pages type options that there are", [f"{page}: {o}" for page, o in given if o not in known]
          if len(given) > 5 else [f"{len(given)} options"])
    typed = re.findall(r"`tests/vm/(boot|fetch) ([^`]+)`", read("docs", "contributing.md"))
    check("docs: contributing.md fetches kernels and boots them as it is done", [
        f"tests/vm/{script} {words}" for script, words in typed
        if len(getopt.getopt(shlex.split(words), "n:c:m:t:sH:")[1]) != {"boot": 3, "fetch": 2}[script]] or
          [script for script in ("boot", "fetch") if script not in dict(typed)])


def test_patterns():
    """docs/patterns.md is what its script makes of the findings, and has each of them."""
    made = subprocess.run([sys.executable, os.path.join(ROOT, "docs", "patterns.py")], capture_output=True, text=True,
                          env={**os.environ, "NICPROBE": NICPROBE})
    check("docs: patterns.md is up to date", [made.stderr.strip() or "python3 docs/patterns.py >docs/patterns.md"]
          if made.returncode or made.stdout != read("docs", "patterns.md") else [])
    rows = re.findall(r"^\| .* \| (`[^|]*`) \| .* \| `([a-z0-9-]+)` \| .* \|$", read("docs", "patterns.md"), flags=re.M)
    check("docs: patterns.md has every finding once", sorted({i for _, i in rows} ^ set(complete("findings"))) +
          ([] if len(rows) == len({i for _, i in rows}) else ["one is there twice"]))
    meters = {m for cell, _ in rows for m in re.findall(r"`(\w+)`", cell)}
    check("docs: patterns.md names meters that there are", sorted(meters - {"hw"} - set(complete("meters"))))


def test_dtrace():
    """docs/dtrace.md is what its script makes of the views, and has each of them; the README counts them right."""
    made = subprocess.run([sys.executable, os.path.join(ROOT, "docs", "dtrace.py")], capture_output=True, text=True)
    check("docs: dtrace.md is up to date", [made.stderr.strip() or "python3 docs/dtrace.py >docs/dtrace.md"]
          if made.returncode or made.stdout != read("docs", "dtrace.md") else [])
    told = set(re.findall(r"`nicprobe trace @([a-z-]+)`", read("docs", "dtrace.md")))
    views = set(os.listdir(os.path.join(ROOT, "views")))
    check("docs: dtrace.md has every view", sorted(told ^ views) if len(views) > 45 else [f"{len(views)} views"])
    check("docs: the program has every view", sorted({f"@{v}" for v in views} - set(complete("views"))))
    check("docs: the README counts the views right",
          [] if f"{len(views)} questions have names" in read("README.md") else [str(len(views))])
    check("docs: a view has a licence, a question and its words", [v for v in sorted(views) if not re.fullmatch(
        r"# SPDX-License-Identifier: GPL-2.0\n# [A-Z][^\n]*\n#\n(#[^\n]*\n)+[^#]+", read("views", v))])


def test_recipes():
    """Each step of contributing.md can be done in this tree; tests/live/recipes_test.py does them."""
    sys.path.insert(0, os.path.join(ROOT, "tests", "live"))
    sys.dont_write_bytecode = True
    from lib import recipe
    try:
        recipes = recipe.read(os.path.join(ROOT, "docs", "contributing.md"))
    except ValueError as e:
        check("docs: recipes can be read", [str(e)])
        return
    check("docs: recipes for a meter, a driver and a finding", [] if len(recipes) == 3 else [str(list(recipes))])
    for heading, steps in recipes.items():
        check(f"docs: {heading}: its steps can be done", [why for why in (recipe.wrong(s, ROOT) for s in steps) if why])


def test_situations():
    """The table of situations is that of the tests; each has a finding that there is, and says how it is made."""
    made = say(sys.executable, os.path.join(ROOT, "tests", "situations", "table.py"))
    check("docs: the table of situations is that of the tests", [] if made and made == read(
        "tests", "situations", "README.md") else ["python3 tests/situations/table.py > tests/situations/README.md"])
    troubles, healthy = (re.findall(r"^\| `.*$", text, flags=re.M) for text in made.split("## Healthy")[:2])
    check("docs: situations: 30 troubles and 15 healthy loads at least",
          [f"{len(troubles)} and {len(healthy)}"] if len(troubles) < 30 or len(healthy) < 15 else [])
    cells = [[cell.strip(" `") for cell in row.split(" | ")] for row in troubles + healthy]
    known = set(complete("findings"))
    check("docs: situations: findings that there are", [c[2] for c in cells if len(c) > 2 and c[2] not in known])
    check("docs: situations: each says how it is made", [c[0] for c in cells if not c[1].strip("| ")])


if __name__ == "__main__":
    run_all(dict(globals()))

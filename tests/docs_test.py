#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""What is written about nicprobe is so: the man page, --help, the README and the completion agree with it."""
import getopt
import json
import os
import re
import shlex
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
NICPROBE = os.environ.get("NICPROBE", os.path.join(ROOT, "nicprobe"))
MAN = os.path.join(ROOT, "man", "nicprobe.8")
FINDINGS = os.path.join(ROOT, "man", "nicprobe-findings.7")
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


# The man page, cut into its sections and the commands in them.

def sections(text, macro):
    """{title: body} of all .Sh or .Ss."""
    parts = re.split(rf"^\.{macro} (.*)\n", text, flags=re.M)
    return dict(zip(parts[1::2], parts[2::2]))


def flags(body):
    """The options that a body says: -f, --format."""
    found = set()
    for line in re.findall(r"^\.(?:It|Op) (Fl .*)$", body, flags=re.M):
        for word in re.findall(r"(?:Fl|,) (-?[a-z][a-z0-9-]*)", line):
            found.add("-" + word)
    return found


def help_flags(text):
    return {f for line in re.findall(r"^  +((?:-\w, )?--[a-z0-9-]+)", text, flags=re.M) for f in line.split(", ")}


man = read("man", "nicprobe.8")
part = sections(man, "Sh")
commands_part = part["COMMANDS"]
by_command = sections(commands_part, "Ss")
common = flags(commands_part.split(".Ss ")[0])
commands = complete("commands")


def test_options():
    for command in commands:
        said, told = help_flags(say(NICPROBE, command, "--help")), common | flags(by_command.get(command, ""))
        if command == "run":
            told |= flags(by_command["attach"])
        check(f"docs {command}: the man page has its options",
              [f"{f} is only in --help" for f in sorted(said - told)] +
              [f"{f} is only in the man page" for f in sorted(told - said)])
    check("docs: the man page has every command", [c for c in commands if c not in by_command])


def test_help_fits():
    for command in ["", *commands]:
        text = say(NICPROBE, *([command] if command else []), "--help")
        check(f"docs {command or 'nicprobe'} --help: 80 columns",
              [f"{len(line)} columns: {line.strip()}" for line in text.splitlines() if len(line) > 80] or
              ([] if text else ["it says nothing"]))


def listed():
    """{meter: its metrics}, as list -v has them; {}: it needs root."""
    text, metrics, meter = say(NICPROBE, "list", "-v").split("\nHooks")[0], {}, None
    for line in text.splitlines():
        m = re.match(r"( +)(\S+) ", line)
        if m and len(m[1]) == 2:
            meter = metrics.setdefault(m[2], set())
        elif m and len(m[1]) == 6 and m[2] not in ("only", "not"):  # "only on request", "not here": no metric
            meter.add(m[2])
    return metrics


def test_meters():
    told = sections(part["METERS"], "Ss")
    keys = lambda body: set(re.findall(r"^\.It Cm (\S+)$", body, flags=re.M))
    meters = complete("meters")
    check("docs: the man page has every meter", [f"{m} is not there" for m in meters if m not in told] +
          [f"{m} is not a meter" for m in told if m not in meters])
    metrics = listed()
    if not metrics:
        skip("docs: the man page has every metric", "list -v needs root")
    for meter, names in metrics.items():
        body = told.get(meter, "")
        check(f"docs: the man page has every metric of {meter}",
              [f"{k} is not there" for k in names if f"Cm {k}\n" not in body] +
              [f"{k} is not a metric" for k in keys(re.sub(r"\.Bl .* -compact\n.*?\.El\n", "", body,
                                                          flags=re.S)) - names])


def test_families():
    """Every OpenMetrics name in the renderer's golden files and of every metric is in the man page, and no other."""
    golden = "".join(read("tests", "golden", f"{n}.{end}") for n, end in (("busy+odd", "om"), ("card", "om"), ("named.queues", "prom")))
    have = {re.sub(r"_(bucket|sum|count)$", "", n) for n in re.findall(r"^(nicprobe_\w+)[{ ]", golden, flags=re.M)}
    told = set(re.findall(r"\b(nicprobe_\w+)", part["OPENMETRICS"]))
    every = json.loads(say(NICPROBE, "list", "-v", "-j") or "{}")
    have |= {k["openmetrics"] for m in every.get("meters", []) for k in m["metrics"] if "openmetrics" in k}
    have |= {n for n in told if n.startswith(("nicprobe_link_", "nicprobe_hwstat_events"))}   # no golden file has them
    check("docs: the man page has every OpenMetrics name", [f"{n} is not there" for n in sorted(have - told)] +
          [f"nothing is called {n}" for n in sorted(told - have)])


def test_json():
    """Every key that render/json.c writes is in the man page."""
    told = part["THE JSON DOCUMENT"]
    written = read("render", "json.c") + read("render", "findings.c")
    keys = set(re.findall(r'json_\w+\(&?j, "(\w+)"', written))
    keys |= set(re.findall(r'\{ "(p\d+)"', read("render", "json.c")))
    # what is one of several things: number(j, "vfs", …)
    keys |= set(re.findall(r'\w+\(j, "(\w+)"', read("render", "hw", "hw_json.c")))
    check("docs: JSON keys were found in the source", [f"{len(keys)} keys"] if len(keys) < 80 else [])
    check("docs: the man page has every JSON key", [k for k in sorted(keys) if f"Qq {k}" not in told])


def test_bench():
    """Every scenario, and every key of the JSON of bench."""
    told = by_command["bench"]
    keys = set(re.findall(r'json_\w+\(&?j, "(\w+)"', read("cmd", "bench_json.c")))
    keys |= set(re.findall(r'"%s (\w+)"', read("trial", "scenario", "figures.c")))
    check("docs: JSON keys of bench were found in the source", [f"{len(keys)} keys"] if len(keys) < 30 else [])
    check("docs: the man page has every JSON key of bench", [k for k in sorted(keys) if f"Qq {k}" not in told])
    check("docs: the man page has every scenario", [s for s in complete("scenarios") if not re.search(
        rf"^\.It Cm .*\b{s}\b", told, flags=re.M)])


def test_names():
    hooks = [t for t in complete("hooks") if t != "auto"]
    check("docs: the man page has every hook", [t for t in hooks if f".It Cm {t}\n" not in part["DESCRIPTION"]])
    check("docs: the man page has every format", [f for f in complete("formats") if f"Cm {f}" not in man])
    source = "".join(read(d, f) for d in ("cmd", "lib", "render") for f in os.listdir(os.path.join(ROOT, d))
                     if f.endswith(".c"))
    read_here = set(re.findall(r'getenv\("(\w+)"\)', source)) - {"TERM"}
    check("docs: variables were found in the source", [str(read_here)] if len(read_here) < 3 else [])
    check("docs: the man page has every variable", [v for v in sorted(read_here)
                                                    if f"Ev {v}" not in part["ENVIRONMENT"]])


def test_man_lints():
    mandoc = shutil.which("mandoc")
    for page, title in (MAN, "NICPROBE(8)"), (FINDINGS, "NICPROBE-FINDINGS(7)"):
        name = os.path.basename(page)
        if not mandoc:
            skip(f"docs: mandoc accepts {name}", "mandoc is not installed")
            continue
        r = subprocess.run([mandoc, "-Tlint", page], capture_output=True, text=True)
        # What other man pages are installed here says nothing of ours.
        check(f"docs: mandoc accepts {name}", [
            line for line in r.stdout.splitlines()
            if "mandoc.db" not in line and "referenced manual not found" not in line])
        check(f"docs: {name} renders", [] if title in say(mandoc, "-Tascii", page) else ["it does not"])


def test_findings():
    """nicprobe-findings(7) is what explain says, of every finding; each has all its parts."""
    check("docs: nicprobe-findings(7) is up to date", [] if read("man", "nicprobe-findings.7") == say(
        NICPROBE, "explain", "--man") else ["run nicprobe explain --man >man/nicprobe-findings.7"])
    ids = complete("findings")
    told = json.loads(say(NICPROBE, "explain", "-j"))
    check("docs: every finding has one id of its own", [i for i in ids if ids.count(i) > 1])
    check("docs: explain -j has every finding", sorted(set(ids) ^ {k["id"] for k in told}))
    check("docs: every finding says what it means, when it speaks and what helps", [
        f"{k['id']}: no {part}" for k in told for part in ("title", "means", "when", "remedy")
        if not k[part]])
    check("docs: what a finding follows is a finding", [
        f"{k['id']}: {i}" for k in told for i in k["follows"] if i not in ids])


def test_readme():
    readme = read("README.md")
    links = [to.split("#")[0] for to in re.findall(r"\]\(([^)\s]+)\)", readme) if "://" not in to]
    check("docs: links of the README lead somewhere", [to for to in links
                                                       if to and not os.path.exists(os.path.join(ROOT, to))])
    where = sections_md(readme).get("Where things go", "")
    names = [n for row in re.findall(r"^\| `([^|]*)\|", where, flags=re.M) for n in re.findall(r"`?([^`]+)`", row)]
    missing = [n for n in names if not os.path.exists(os.path.join(ROOT, n.strip()))]
    check("docs: what the README names is there", missing if names else ["it has no table \"Where things go\""])
    tree = [d + "/" for d in os.listdir(ROOT) if os.path.isdir(os.path.join(ROOT, d)) and not d.startswith(".")]
    check("docs: the README names every directory", [d for d in sorted(tree) if d != "build/" and f"`{d}" not in where])
    unknown = [c for c in re.findall(r"nicprobe (attach|show|list|detach|run|[a-z]+)\b", "".join(
        re.findall(r"^\$ .*$|^sudo .*$", readme, flags=re.M))) if c not in commands]
    check("docs: the README types commands that there are", unknown)
    typed = re.findall(r"`tests/vm/(boot|fetch) ([^`]+)`", readme)
    check("docs: the README fetches kernels and boots them as it is done", [
        f"tests/vm/{script} {words}" for script, words in typed
        if len(getopt.getopt(shlex.split(words), "n:c:m:t:sH:")[1]) != {"boot": 3, "fetch": 2}[script]] or
          [script for script in ("boot", "fetch") if script not in dict(typed)])


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


def sections_md(text):
    parts = re.split(r"^## (.*)\n", text, flags=re.M)
    return dict(zip(parts[1::2], parts[2::2]))


def test_completion():
    script = os.path.join(ROOT, "completion", "nicprobe")
    interface = complete("interfaces")[0]
    for words, want, never in (
            (["at"], ["attach"], ["show"]),
            (["attach", ""], [interface], ["pktsize"]),
            (["attach", interface, "-m", "pktsize,ec"], ["pktsize,ecn", "pktsize,ecn_source"], ["ecn"]),
            (["attach", interface, "--rx", ""], ["auto", "xdp", "driver"], [interface]),
            (["attach", interface, "--"], ["--meters", "--rx", "--sample", "--stacks", "--help"], ["--interval"]),
            (["show", "ecn", ""], ["txlat", "rxcpu", "hw"], [interface]),
            (["show", "h"], ["hw"], []),
            (["show", "-f", ""], ["table", "json", "openmetrics", "prometheus"], ["txlat"]),
            (["show", "-i", ""], [], ["txlat", interface]),
            (["show", "--window", ""], [], ["txlat", interface]),
            (["run", "-m", "ecn", ""], [interface], ["attach"]),
            (["detach", "--"], ["--all", "--force"], ["--rx"]),
            (["bench", ""], [interface], ["rx-drop"]),
            (["bench", interface, "--rate", "10", "t"], ["tx"], [interface]),
            (["bench", interface, "--ecn", ""], ["ce", "ect0"], [interface]),
            (["drivers", "ig"], ["igb", "igbvf"], ["ixgbe", interface]),
            (["drivers", "--check", "README"], ["README.md"], ["igb"]),
            (["wifi", ""], [interface], ["pktsize"]),
            (["explain", "rx-ring"], ["rx-ring-full", "rx-ring-near"], ["gro-off"]),
            (["list", ""], [], [interface])):
        got = say("bash", "-c", 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _nicprobe; '
                  'printf "%s\\n" "${COMPREPLY[@]}"', "bash", script, NICPROBE, *words).split()
        check(f"docs: completion of {' '.join(words)!r}", [f"no {w}" for w in want if w not in got] +
              [f"{w} does not belong there" for w in never if w in got])
    left = [o for c in commands for o in help_flags(say(NICPROBE, c, "--help")) if o.startswith("--") and o not in
            say("bash", "-c", f'source "$1"; COMP_WORDS=("$2" {c} --); COMP_CWORD=2; _nicprobe; '
                'echo "${COMPREPLY[@]}"', "bash", script, NICPROBE).split()]
    check("docs: completion offers every option", left)


if __name__ == "__main__":
    if not os.path.exists(NICPROBE):
        skip("docs", "nicprobe is not built")
        sys.exit(0)
    for test in [f for name, f in list(globals().items()) if name.startswith("test_")]:
        test()
    sys.exit(1 if failed else 0)

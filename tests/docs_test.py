#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""What is written about nicprobe is so: the man pages, --help and the completion agree with it."""
import json
import os
import re
import shutil
import subprocess

from documents import NICPROBE, ROOT, check, complete, options, read, run_all, say, skip

MOST_LINES = 400    # of nicprobe(8): what needs more has a page of its own


# The man pages, cut into their sections.

def sections(text, macro):
    """{title: body} of all .Sh or .Ss."""
    parts = re.split(rf"^\.{macro} (.*)\n", text, flags=re.M)
    return dict(zip(parts[1::2], parts[2::2]))


class Page:
    """A man page: its text, its sections, and the parts of each section."""
    def __init__(self, name):
        self.name, self.path = name, os.path.join(ROOT, "man", name)
        self.text = read("man", name)
        self.part = sections(self.text, "Sh")
        self.sub = {title: sections(body, "Ss") for title, body in self.part.items()}
        page, number = name.rsplit(".", 1)
        self.title, self.refer = f"{page.upper()}({number})", f".Xr {page} {number}"


def flags(body):
    """The options that a body says: -f, --format."""
    found = set()
    for line in re.findall(r"^\.(?:It|Op) (Fl .*)$", body, flags=re.M):
        for word in re.findall(r"(?:Fl|,) (-?[a-z][a-z0-9-]*)", line):
            found.add("-" + word)
    return found


def items(body):
    """The words of .It in the lists of a body that are neither -compact nor within another list."""
    found, lists = [], []
    for line in body.splitlines():
        if line.startswith(".Bl "):
            lists.append(line.endswith(" -compact"))
        elif line == ".El":
            lists.pop()
        elif line.startswith(".It") and lists == [False]:
            found.append(line[4:])
    return found


def missing(keys, body):
    """Those of the JSON keys that a body does not say."""
    return [k for k in sorted(keys) if not re.search(rf"Qq {k}(?![\w-])", body)]


pages = {name: Page(name) for name in sorted(os.listdir(os.path.join(ROOT, "man")))}
main, meters_page, json_page, bench_page, driver_page, trace_page, top_page, doctor_page, serve_page, \
    record_page, report_page, host_page = (
    pages[f"nicprobe{n}"] for n in (
        ".8", "-meters.7", "-json.5", "-bench.8", "-driver.8", "-trace.8", "-top.8", "-doctor.8", "-serve.8",
        "-record.8", "-report.8", "-host.7"))
by_command = main.sub["COMMANDS"]
common = flags(main.part["COMMANDS"].split(".Ss ")[0])
commands = complete("commands")
chosen = driver_page.sub["DESCRIPTION"]["Selecting functions"]
# Where the options of a command are, beside its own part of nicprobe(8).
ELSEWHERE = {
    "attach": [chosen],
    "run": [by_command["attach"], chosen],
    "bench": [bench_page.sub["DESCRIPTION"]["Options"]],
    "driver": [driver_page.sub["DESCRIPTION"]["driver"]],
    "host": [host_page.sub["DESCRIPTION"]["Single events"]],
    "drivers": [driver_page.sub["DESCRIPTION"]["drivers"]],
    "doctor": [doctor_page.part["OPTIONS"]],
    "record": [record_page.sub["DESCRIPTION"]["record"]],
    "report": [report_page.part["OPTIONS"]],
    "show": [record_page.sub["DESCRIPTION"]["show"]],
    "trace": [trace_page.sub["DESCRIPTION"]["Options"]],
    "top": [top_page.sub["DESCRIPTION"]["Options"]],
    "serve": [serve_page.sub["DESCRIPTION"]["Options"]],
}


def test_options():
    seen = 0
    for command in commands:
        bodies = [by_command.get(command, ""), *ELSEWHERE.get(command, [])]
        told = common.union(*map(flags, bodies))
        said = options(command)
        seen += len(said)
        check(f"docs {command}: the man pages have its options",
              [f"{f} is only in the program" for f in sorted(said - told)] +
              [f"{f} is only in the man pages" for f in sorted(told - said)])
    check("docs: complete lists options", [f"{seen} options"] if seen < 120 else [])
    check("docs: nicprobe(8) has every command", [c for c in commands if c not in by_command] +
          [f"{c} is not a command" for c in by_command if c not in [*commands, "complete"]])
    check("docs: nicprobe(8) says where options are that it has not", [
        f"{page.refer} is not in {command}" for command, page in (
            ("attach", driver_page), ("driver", driver_page), ("drivers", driver_page), ("bench", bench_page),
            ("trace", trace_page), ("top", top_page), ("doctor", doctor_page), ("serve", serve_page),
            ("record", record_page), ("report", report_page), ("host", host_page))
        if page.refer not in by_command[command]])


def test_help_fits():
    for command in ["", *commands]:
        text = say(NICPROBE, *([command] if command else []), "--help")
        check(f"docs {command or 'nicprobe'} --help: 80 columns",
              [f"{len(line)} columns: {line.strip()}" for line in text.splitlines() if len(line) > 80] or
              ([] if text else ["it says nothing"]))


def listed():
    """{meter: its metrics}, as list -v has them."""
    every = json.loads(say(NICPROBE, "list", "-v", "-j"))["meters"]
    return {m["name"]: {k["name"] for k in m["metrics"]} for m in every}


def test_meters():
    """nicprobe-meters(7) has every meter: its metrics, where it looks, and what it costs."""
    told, meters, metrics = meters_page.sub["METERS"], complete("meters"), listed()
    nr = sum(len(names) for names in metrics.values())
    check("docs: meters were found", [f"{len(meters)} with {nr} metrics"] if len(meters) < 25 or nr < 100 else [])
    check("docs: the man page has every meter", [f"{m} is not there" for m in meters if m not in told] +
          [f"{m} is not a meter" for m in told if m not in meters])
    check("docs: list -v has every meter", sorted(set(meters) ^ set(metrics)))
    for meter, names in metrics.items():
        body = told.get(meter, "")
        keys = {i[3:] for i in items(body) if i.startswith("Cm ")}
        check(f"docs: the man page has every metric of {meter}", [f"{k} is not there" for k in sorted(names - keys)] +
              [f"{k} is not a metric" for k in sorted(keys - names)])
        check(f"docs: the man page says of {meter} what its rows are, where it looks and what it costs", [
            f"no {word}" for word in ("rows", "where", "cost") if f"\n.It {word}\n" not in body])
    labels = {m["name"]: m["labels"] for m in json.loads(say(NICPROBE, "list", "-v", "-j"))["meters"]}
    check("docs: the man page has every label of a row", [
        f"{meter}: {label}" for meter, names in labels.items() for label in names
        if not re.search(rf"^\.(It )?Cm (.* )?{label}( .*)?$", told.get(meter, ""), flags=re.M)])


def test_families():
    """Every OpenMetrics name in the renderer's golden files and of every metric is in the man page, and no other."""
    golden = "".join(read("tests", "golden", f"{n}.{end}") for n, end in (("busy+odd", "om"), ("card", "om"), ("thinned", "om"), ("named.queues", "prom")))
    have = {re.sub(r"_(bucket|sum|count)$", "", n) for n in re.findall(r"^(nicprobe_\w+)[{ ]", golden, flags=re.M)}
    told = set(re.findall(r"\b(nicprobe_\w+)", json_page.part["OPENMETRICS"]))
    every = json.loads(say(NICPROBE, "list", "-v", "-j"))
    have |= {k["openmetrics"] for m in every["meters"] for k in m["metrics"] if "openmetrics" in k}
    have |= {re.sub(r"_(bucket|sum|count)$", "", n) for n in re.findall(r"(nicprobe_trace_\w+)[{\"]", read(
        "render", "trace_json.c"))}
    have |= {n for n in told if n.startswith(("nicprobe_link_", "nicprobe_hwstat_events"))}   # no golden file has them
    check("docs: OpenMetrics names were found", [f"{len(have)} names"] if len(have) < 100 else [])
    check("docs: the man page has every OpenMetrics name", [f"{n} is not there" for n in sorted(have - told)] +
          [f"nothing is called {n}" for n in sorted(told - have)])


def test_json():
    """Every key that render/json.c writes is in the man page."""
    told = json_page.part["THE JSON DOCUMENT"]
    written = read("render", "json.c") + read("render", "findings.c")
    keys = set(re.findall(r'json_\w+\(&?j, "(\w+)"', written))
    keys |= set(re.findall(r'\{ "(p\d+)"', read("render", "json.c")))
    # what is one of several things: number(j, "vfs", …)
    keys |= set(re.findall(r'\w+\(j, "(\w+)"', read("render", "hw", "hw_json.c")))
    check("docs: JSON keys were found in the source", [f"{len(keys)} keys"] if len(keys) < 140 else [])
    check("docs: the man page has every JSON key", missing(keys, told))


def test_other_json():
    """The same of what other commands write with -j."""
    documents = json_page.sub["OTHER DOCUMENTS"]
    for title, least, files in (
            ("Errors", 2, ["cmd/cmd.c"]),
            ("list", 8, ["cmd/list.c", "cmd/listed.c"]),
            ("list -v", 19, ["cmd/describe.c", "cmd/describe_meter.c"]),
            ("list @VIEW", 3, ["cmd/views.c"]),
            ("list -v PROBE", 13, ["cmd/describe_probe.c"]),
            ("trace", 12, ["render/trace_json.c"]),
            ("explain", 15, ["cmd/explain.c"]),
            ("doctor", 15, ["cmd/doctor_json.c"]),
            ("drivers", 36, ["cmd/drivers.c", "cmd/facts_json.c"]),
            ("host", 20, ["cmd/host_print.c", "cmd/host_json.c"]),
            ("wifi", 20, ["cmd/wifi.c", "cmd/wifi_print.c"])):
        keys = {k for f in files for k in re.findall(r'\w\(&?j, "(\w+)"', read(f))}
        check(f"docs: JSON keys of {title} were found in the source",
              [f"{len(keys)} keys"] if len(keys) < least else [])
        check(f"docs: the man page has every JSON key of {title}", missing(keys, documents.get(title, "")))


def test_bench():
    """Every scenario, and every key of the JSON of bench: of a run, of a comparison, and of the file of a baseline."""
    told, figures = bench_page.part["JSON OUTPUT"], read("trial", "scenario", "outcome.c")
    keys = set(re.findall(r'json_\w+\(&?j, "(\w+)"', read("cmd", "bench_json.c")))
    keys |= set(re.findall(r'"%s (\w+)"', figures))
    keys |= {f"{n}_per_packet" for n in re.findall(r'\[PMU_\w+\] = "(\w+)"', figures)}
    check("docs: JSON keys of bench were found in the source", [f"{len(keys)} keys"] if len(keys) < 40 else [])
    check("docs: the man page has every JSON key of bench", missing(keys, told))
    compared = {k for f in ("said", "against", "record") for k in re.findall(
        r'json_\w+\(&?j, "(\w+)"', read("trial", "stats", f"{f}.c"))}
    check("docs: JSON keys of comparisons were found in the source",
          [f"{len(compared)} keys"] if len(compared) < 35 else [])
    check("docs: the man page has every JSON key of comparisons", missing(compared, told))
    scenarios, section = complete("scenarios"), bench_page.sub["DESCRIPTION"]["Scenarios"]
    check("docs: scenarios were found", [str(scenarios)] if len(scenarios) < 6 else [])
    check("docs: the man page has every scenario", [
        s for s in scenarios if not re.search(rf"^\.It Cm .*\b{s}\b", section, flags=re.M)])


def test_names():
    hooks, formats = [t for t in complete("hooks") if t != "auto"], complete("formats")
    check("docs: hooks and formats were found", [f"{hooks} {formats}"] if len(hooks) < 4 or len(formats) < 4 else [])
    check("docs: the man page has every hook", [
        t for t in hooks if f".It Cm {t}\n" not in meters_page.sub["POINTS AND HOOKS"]["Hooks"]])
    check("docs: nicprobe(8) has every format", [f for f in formats if f"Cm {f}" not in by_command["show"]])
    source = "".join(read(d, f) for d in ("cmd", "lib", "render", "top") for f in os.listdir(os.path.join(ROOT, d))
                     if f.endswith(".c"))
    read_here = set(re.findall(r'getenv\("(\w+)"\)', source)) - {"TERM"}
    check("docs: variables were found in the source", [str(read_here)] if len(read_here) < 3 else [])
    check("docs: the man page has every variable", [v for v in sorted(read_here)
                                                    if f"Ev {v}" not in main.part["ENVIRONMENT"]])


def test_keys():
    """Every key that the help of top tells is in nicprobe-top(8)."""
    told = re.findall(r'^\t\{ "([^"]+)", "', read("top", "help.c"), flags=re.M)
    body = top_page.sub["DESCRIPTION"]["Keys"]
    check("docs: keys of top were found", [str(told)] if len(told) < 12 else [])
    check("docs: nicprobe-top(8) has every key", [k for k in told if f".It {k}\n" not in body.replace("\\&", "")])


def test_man_lints():
    mandoc = shutil.which("mandoc")
    for page in pages.values():
        if not mandoc:
            skip(f"docs: mandoc accepts {page.name}", "mandoc is not installed")
            continue
        r = subprocess.run([mandoc, "-Tlint", page.path], capture_output=True, text=True)
        # What other man pages are installed here says nothing of ours.
        check(f"docs: mandoc accepts {page.name}", [
            line for line in r.stdout.splitlines()
            if "mandoc.db" not in line and "referenced manual not found" not in line])
        check(f"docs: {page.name} renders", [] if page.title in say(mandoc, "-Tascii", page.path) else ["it does not"])


def test_man_pages():
    """There are fifteen; each names the others, refers to sections that it has, and nicprobe(8) is short."""
    check("docs: all man pages are there", [] if len(pages) == 15 else [", ".join(pages)])
    lines = main.text.count("\n")
    check(f"docs: nicprobe(8) has {MOST_LINES} lines at most", [f"{lines} lines"] if lines > MOST_LINES else [])
    for page in pages.values():
        check(f"docs: {page.name} names the others", [
            other.refer for other in pages.values()
            if other is not page and other.refer not in page.part["SEE ALSO"].replace(" ,", "").splitlines()])
        titles = set(re.findall(r"^\.S[hs] (.*)$", page.text, flags=re.M))
        check(f"docs: {page.name} has the sections it refers to", [
            to for to in re.findall(r"^\.Sx (.*?)(?: [.,;:)]+)*$", page.text, flags=re.M) if to not in titles])
        known = {other.refer for other in pages.values()}
        check(f"docs: {page.name} refers to pages that there are", [
            to for to in re.findall(r"^(\.Xr nicprobe\S* \d)", page.text, flags=re.M) if to not in known])


def test_findings():
    """nicprobe-findings(7) is what explain says, of every finding; each has all its parts."""
    check("docs: nicprobe-findings(7) is up to date", [] if read("man", "nicprobe-findings.7") == say(
        NICPROBE, "explain", "--man") else ["run nicprobe explain --man >man/nicprobe-findings.7"])
    ids = complete("findings")
    check("docs: findings were found", [f"{len(ids)} findings"] if len(ids) < 100 else [])
    told = json.loads(say(NICPROBE, "explain", "-j"))
    check("docs: every finding has one id of its own", [i for i in ids if ids.count(i) > 1])
    check("docs: explain -j has every finding", sorted(set(ids) ^ {k["id"] for k in told}))
    check("docs: every finding says what it means, when it speaks and what helps", [
        f"{k['id']}: no {part}" for k in told for part in ("title", "means", "when", "remedy")
        if not k[part]])
    check("docs: what a finding follows is a finding", [
        f"{k['id']}: {i}" for k in told for i in k["follows"] if i not in ids])


def test_probes():
    """nicprobe-probes(7) is what list says; it has every probe, and every field of the events."""
    check("docs: nicprobe-probes(7) is up to date", [] if read("man", "nicprobe-probes.7") == say(
        NICPROBE, "list", "--man") else ["run nicprobe list --man >man/nicprobe-probes.7"])
    told, known = pages["nicprobe-probes.7"].text, json.loads(say(NICPROBE, "list", "-v", "-j", ":::"))
    names, fields = complete("probes"), {f["field"] for p in known for f in p["fields"]}
    check("docs: probes and fields were found", [f"{len(names)} and {len(fields)}"]
          if len(names) < 30 or len(fields) < 100 else [])
    check("docs: the man page has every probe and field", [n for n in [*names, *fields]
                                                          if not re.search(rf"^\.It Cm {re.escape(n)}( |$)", told, flags=re.M)])
    views = complete("views")
    check("docs: views were found", [str(views)] if len(views) < 45 else [])
    lost = re.findall(r'\[LOST_\w+\] = "(\w+)"', read("render", "trace_json.c"))
    check("docs: nicprobe-json(5) has every loss of trace", missing(lost, json_page.sub["OTHER DOCUMENTS"]["trace"])
          if len(lost) == 9 else [str(lost)])


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
            (["host", "s"], ["sessions", "states"], ["connect"]),
            (["host", "sessions", "--"], ["--dot", "--for", "--port"], ["--rx"]),
            (["top", interface, ""], [interface], ["pktsize"]),
            (["explain", "rx-ring"], ["rx-ring-full", "rx-ring-near"], ["gro-off"]),
            (["drivers", "--btf", "README"], ["README.md"], ["igb"]),
            (["bench", interface, "--ab", "a", ""], [], ["tx", interface]),
            (["list", "-v", "pkt"], ["pktsize"], [interface]),
            (["show", "--each", "queue,c"], ["queue,cpu"], ["cpu"]),
            (["list", ""], ["tcp:::send", "@netsize"], [interface]),
            (["list", "-v", "@netsi"], ["@netsize"], ["pktsize"]),
            (["trace", "@acc"], ["@accept-ports"], ["@netsize", "tcp:::send"]),
            (["trace", "tcp", ":::", "re"], ["receive", "retransmit"], ["send", "tcp:::receive"]),
            (["trace", "tcp:::send", "--since", "udp", ":::", ""], ["send", "drop"], ["retransmit"]),
            (["trace", "@netsize", "--source", ""], ["tp", "nf", "cgroup"], [interface])):
        got = say("bash", "-c", 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _nicprobe; '
                  'printf "%s\\n" "${COMPREPLY[@]}"', "bash", script, NICPROBE, *words).split()
        check(f"docs: completion of {' '.join(words)!r}", [f"no {w}" for w in want if w not in got] +
              [f"{w} does not belong there" for w in never if w in got])
    left = [o for c in commands for o in options(c) if o.startswith("--") and o not in
            say("bash", "-c", f'source "$1"; COMP_WORDS=("$2" {c} --); COMP_CWORD=2; _nicprobe; '
                'echo "${COMPREPLY[@]}"', "bash", script, NICPROBE).split()]
    check("docs: completion offers every option", left)


if __name__ == "__main__":
    run_all(dict(globals()))

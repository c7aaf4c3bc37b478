# SPDX-License-Identifier: GPL-2.0
"""Correct usage: run, show, list, help, completion."""
import json
import os
import shutil
import signal
import subprocess
import time

from lib import lab, left
from lib.lab import NICPROBE, Namespace, check, nicprobe, same, show, skip, tap
from lib.traffic import Sender


def start(*args, **kwargs):
    return subprocess.Popen([NICPROBE, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **kwargs)


def rx_nic(doc):
    return sum(r["packet_size_bytes"]["count"] for r in doc["meters"].get("pktsize", []) if r["point"] == "rx-nic")


def run_statuses(iface, before):
    for command, status, said in (("true", 0, ""), ("sh -c 'exit 7'", 7, ""), ("/nonsuch", 127, "cannot run /nonsuch"),
                                  ("/etc/passwd", 126, "cannot run /etc/passwd"),
                                  ("sh -c 'kill -9 $$'", 137, ""), ("sh -c 'kill -TERM $$'", 143, "")):
        r = subprocess.run(f"{NICPROBE} run {iface} -- {command}", shell=True, capture_output=True, text=True,
                           check=False)
        check(f"cli: run {command}: exit status {status}",
              r.returncode == status and said in r.stderr and (said or not r.stderr) and ("pktsize" in r.stdout) == (not said),
              f"{r.returncode} {r.stderr!r}")
        r = nicprobe("list")
        same(f"cli: run {command}: detached", r.stdout, "nothing is attached\n")
    r = nicprobe("run", iface, "pktsize", "--", "true", check=False)
    check("cli: run IFACE METER: says -m before it attaches", r.returncode == 2 and not r.stdout and
          f"run {iface} -m pktsize" in r.stderr, r.stderr)
    r = nicprobe("attach", iface, "pktsize", check=False)
    check("cli: attach IFACE METER: says -m", r.returncode == 2 and f"attach {iface} -m pktsize" in r.stderr, r.stderr)
    r = nicprobe("run", iface, "-m", "pktsize", "-f", "json", "--", "readlink", "/proc/self/ns/net")
    same("cli: run NETNS/IFACE: the command is in that namespace", r.stdout.splitlines()[0],
         f"net:[{os.stat('/run/netns/' + iface.split('/')[0]).st_ino}]")
    where = iface.split("/")[0]
    r = nicprobe("attach", f"{where}/nope", check=False)
    check("cli: an interface that is not there: where to look", f"ip -n {where} link" in r.stderr, r.stderr)
    nicprobe("attach", iface)
    r = nicprobe("show", iface.split("/")[1], check=False)
    check("cli: an interface that is attached elsewhere", f"nicprobe show {iface}" in r.stderr, r.stderr)
    nicprobe("detach", iface)
    r = nicprobe("run", iface, "-m", "ecn", "true")
    check("cli: run without --, and options after the interface", r.returncode == 0 and "pktsize" not in r.stdout, r.stderr)
    r = nicprobe("run", iface, "ls", "-d", "/")
    check("cli: run: the command's options are its own", r.stdout.startswith("/\n"), r.stdout[:100])
    r = subprocess.run(f"{NICPROBE} run {iface} -- sh -c 'exit 7' >&-", shell=True, check=False)
    same("cli: run without stdout: the exit status is the command's", r.returncode, 7)
    r = subprocess.run(["bash", "-c", f"{NICPROBE} run {iface} -- sh -c 'exit 7' | true; exit ${{PIPESTATUS[0]}}"],
                       check=False)
    same("cli: run with a reader that goes: the exit status is the command's", r.returncode, 7)
    before.check("cli: run leaves nothing")


def run_shows_the_difference(nic, iface):
    """Only the command's packets, none from before; the command talks to the NIC through us."""
    p = start("run", iface, "-f", "json", "--", "sh", "-c", "echo ready; read go", stdin=subprocess.PIPE)
    same("cli: run: the command has our stdin and stdout", p.stdout.readline(), "ready\n")
    nic("send 1 33 100")
    nic("go")
    out, err = p.communicate("go\n")
    doc = json.loads(out)
    same("cli: run shows what came meanwhile", [rx_nic(doc), doc["interval"], err], [33, True, ""])
    check("cli: run: over measured time", 0 < doc["seconds"] < 60, doc["seconds"])


def run_signals(iface, before):
    def begun():
        p = start("run", iface, "--", "sh", "-c", "trap 'exit 9' INT TERM; echo ready; while :; do sleep .01; done",
                  start_new_session=True)
        p.stdout.readline()
        return p

    p = begun()
    os.killpg(p.pid, signal.SIGINT)		# as a terminal does at Ctrl-C
    out, err = p.communicate(timeout=20)
    check("cli: run: Ctrl-C ends the command, then it shows and detaches",
          p.returncode == 9 and "pktsize" in out and not err, f"{p.returncode} {err!r}")
    for number in signal.SIGTERM, signal.SIGHUP:
        p = begun()
        p.send_signal(number)
        out, err = p.communicate(timeout=20)
        want = 9 if number == signal.SIGTERM else 128 + number
        check(f"cli: run: {number.name} to us alone ends the command, too",
              p.returncode == want and "pktsize" in out and not err, f"{p.returncode} {err!r}")
    before.check("cli: run that was interrupted leaves nothing")
    why = ""
    for n in range(12):		# while it attaches: the command must neither start nor keep running
        p = start("run", iface, "--", "sleep", "30", start_new_session=True)
        time.sleep(n * .008)
        # before its handlers are installed, a signal simply ends it
        os.killpg(p.pid, signal.SIGINT if n % 2 else signal.SIGTERM)
        try:
            err = p.communicate(timeout=10)[1]
        except subprocess.TimeoutExpired:
            os.killpg(p.pid, signal.SIGKILL)
            err = p.communicate()[1] + "it runs on"
        if err or p.returncode in (0, 1):
            why = why or f"{n}: {p.returncode} {err!r}"
    check("cli: run: Ctrl-C while it attaches ends it", not why, why)
    before.check("cli: run that was interrupted at once leaves nothing")
    p = begun()
    nicprobe("detach", iface)
    os.killpg(p.pid, signal.SIGINT)
    err = p.communicate(timeout=20)[1]
    check("cli: run of what someone else detached says so", p.returncode == 9 and err.count("\n") == 1
          and "someone detached it" in err, f"{p.returncode} {err!r}")
    p = begun()
    nicprobe("detach", iface)
    nicprobe("attach", iface)
    os.killpg(p.pid, signal.SIGINT)
    p.communicate(timeout=20)
    same("cli: run leaves alone what someone else attached", nicprobe("detach", iface).returncode, 0)
    before.check("cli: run and others leave nothing")


def run_twice(iface, before):
    both = [start("run", iface, "--", "sleep", ".3") for _ in range(2)]
    said = [p.communicate()[1] for p in both]
    same("cli: run twice at once: one works", sorted(p.returncode for p in both), [0, 1])
    check("cli: run twice at once: the other says why", any("is attached already" in s for s in said), said)
    before.check("cli: run twice at once leaves nothing")


def show_rates(nic, iface):
    nicprobe("attach", iface)
    sender = Sender(nic, 4, "500 200 pps=2500")
    begin = time.monotonic()
    lines = nicprobe("show", "-j", "-i", ".2", "-c", "3", iface).stdout.splitlines()
    taken = time.monotonic() - begin
    docs = [json.loads(line) for line in lines]
    total = show(iface)
    table = nicprobe("show", "-i", ".1", "-c", "2", iface).stdout
    sent = sender.stop()
    same("cli: -i .2 -c 3 -j: a line each", [len(docs), {d["interval"] for d in docs}, total["interval"]], [3, {True}, False])
    seconds = [d["seconds"] for d in docs]
    check("cli: -i: seconds are measured, and add up", sum(seconds) <= taken and all(0 < s < 5 for s in seconds)
          and sum(seconds) > .3, f"{seconds} in {taken}")
    counts = [rx_nic(d) for d in docs]
    check("cli: -i: what is counted in each is not more than in all", 0 < sum(counts) <= rx_nic(total), counts)
    same("cli: and all is all that was sent", rx_nic(show(iface)), sent)
    check("cli: -i as a table has rates", "/s" in table, table)
    at = time.monotonic()
    nicprobe("show", "-j", "-c", "2", iface)
    check("cli: -c without -i: each second", 1.9 < time.monotonic() - at < 15)
    same("cli: show IFACE METER…", sorted(json.loads(nicprobe("show", "-j", iface, "ecn", "txlat").stdout)["meters"]),
         ["ecn", "txlat"])
    same("cli: show METER", sorted(json.loads(nicprobe("show", "-j", "ecn").stdout)["meters"]), ["ecn"])
    for args in ("-w", "1"), ("-i", "1"), ("-c", "2"):
        r = nicprobe("show", "-t", *args, iface, check=False)
        same(f"cli: show -t {args[0]}: excluded", (r.returncode, "it excludes -w, -i and -c" in r.stderr), (2, True))
    for word in "hw", "pktsize":
        r = nicprobe("show", word, iface, check=False)
        same(f"cli: show {word} IFACE: the order", (r.returncode, "the interface comes first" in r.stderr, iface in r.stderr), (2, True, True))
    r = nicprobe("host", "connect", "no/such", check=False)
    same("cli: host: a word that is nothing", (r.returncode, "neither NETNS/host nor a command" in r.stderr), (127, True))
    p = start("show", "-i", ".1", iface)
    p.stdout.readline()
    p.send_signal(signal.SIGINT)
    out, err = p.communicate(timeout=20)
    same("cli: Ctrl-C ends show -i without a word", [p.returncode, err], [-signal.SIGINT, ""])


def openmetrics(iface):
    check("cli: openmetrics ends as it must", nicprobe("show", "-f", "openmetrics").stdout.endswith("# EOF\n"))
    text = nicprobe("show", "-f", "prometheus").stdout
    check("cli: prometheus has no such end", "# EOF" not in text, text[-50:])
    if not shutil.which("promtool"):
        skip("cli: openmetrics as promtool reads it", "no promtool")
        return
    r = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True, check=False)
    same("cli: openmetrics as promtool reads it", [r.returncode, r.stderr], [0, ""])
    for args in ([iface], ["ecn"], [iface, "txlat"]):
        text = nicprobe("show", "-f", "prometheus", *args).stdout
        r = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True, check=False)
        check(f"cli: openmetrics of {len(args)} operands", r.returncode == 0, r.stderr)


def listed_figures(iface, row, doc):
    """Totals at once; a window only with -w, and then rates and findings."""
    sums = {point: sum(r["packet_size_bytes"]["count"] for r in doc["meters"]["pktsize"] if r["point"] == point)
            for point in ("rx-nic", "tx-nic")}
    same("cli: list -j: packets since attach", [row["received"], row["sent"], row["lost"]], [sums["rx-nic"], sums["tx-nic"], 0])
    check("cli: list -j: without -w no findings", row["received"] > 100 and not {"findings", "window"} & set(row), row)
    quiet = json.loads(nicprobe("list", "-j", "-w", ".2").stdout)[0]
    check("cli: list -j -w: of the window alone", quiet["received"] < row["received"] and .1 < quiet["window"] < 20, quiet)
    same("cli: list -j -w: findings by severity", [sorted(quiet["findings"]), set(map(type, quiet["findings"].values()))],
         [["critical", "info", "warning"], {int}])
    text = nicprobe("list").stdout
    check("cli: list: packets since attach", "received " in text and "findings" not in text, text)
    text = nicprobe("list", "-w", ".2").stdout
    check("cli: list -w: findings", "findings" in text and "received" in text, text)
    r = nicprobe("list", "-w", "x", check=False)
    check("cli: list -w takes a number", r.returncode == 2 and "-w takes a number" in r.stderr, r.stderr)


def lists(iface):
    rows = json.loads(nicprobe("list", "-j").stdout)
    same("cli: list -j", [(r["name"], r["driver"], r["interface"]) for r in rows], [(iface, "tun", "tap0")])
    shape = ("interface", "name", "ifindex", "netns", "netns_name", "driver")
    doc = show(iface)
    same("cli: list -j and show -j say alike which interface", [{k: r[k] for k in shape} for r in rows], [{k: doc[k] for k in shape}])
    same("cli: list -j: meters as a list", {m for m in doc["meters"]} <= set(rows[0]["meters"]), True)
    line = nicprobe("list").stdout
    check("cli: list", line.startswith(iface) and "pktsize ecn" in line, line)
    listed_figures(iface, rows[0], doc)
    same("cli: attached ones are completed", nicprobe("complete", "attached").stdout, f"{iface}\n")
    colours = ["\x1b[" in nicprobe("show", iface, *args).stdout for args in (["--color=always"], ["--color", "never"], [])]
    same("cli: --color", colours, [True, False, False])
    nicprobe("detach", iface)
    same("cli: list of nothing", [nicprobe("list").stdout, nicprobe("list", "-j").stdout], ["nothing is attached\n", "[]\n"])
    nothing = nicprobe("show", "-f", "openmetrics").stdout
    check("cli: show -f openmetrics of nothing", "\nnicprobe_scrape_errors 0\n" in nothing and nothing.endswith("# EOF\n") and
          "\nnicprobe_interfaces 0\n" in nothing and "nicprobe_interface_" not in nothing, nothing)
    text = nicprobe("list", "-v").stdout
    missing = [w for w in ("pktsize", "ecn_source", "packet_size_bytes", "xdp-generic", "virtio_net", "tp_btf", "kprobe",
                           "not here:") if w not in text]
    same("cli: list -v tells all there is", missing, [])
    every = json.loads(nicprobe("list", "-v", "-j", env={"NICPROBE_CANNOT": "xdp"}).stdout)
    named = [(name, [x["name"] for x in every[name]]) for name in ("meters", "hooks", "drivers", "features")]
    same("cli: list -v -j says what list -v says",
         [(name, x) for name, names in named for x in names if f"\n  {x} " not in "\n" + text], [])
    same("cli: list -v -j: the metrics", [k["name"] for m in every["meters"] for k in m["metrics"]
         if f"\n      {k['name']} " not in text], [])
    same("cli: list -v -j: what does not work, and why", {w["name"]: w.get("why") for w in every["features"] + every["hooks"]
         if w["name"] == "xdp"}, {"xdp": "taken away by $NICPROBE_CANNOT"})
    one = {m["name"]: m for m in every["meters"]}["qdisc"]
    page = nicprobe("list", "-v", "qdisc").stdout
    missing = [w for w in [one["help"][:30], one["on_request"][:30], "queue, qdisc", *(k["name"] for k in one["metrics"]),
                           *(k["help"].split(".")[0][:30] for k in one["metrics"]), one["metrics"][0]["unit"]]
               if w not in " ".join(page.split()).replace(" ,", ",")]
    same("cli: list -v METER: what it is, has, costs, and its figures", [missing, "pktsize" in page], [[], False])
    doc = json.loads(nicprobe("list", "-v", "ledger", "-j").stdout)
    same("cli: list -v METER -j", [list(doc), [(m["name"], m["needs"], m["labels"]) for m in doc["meters"]]],
         [["nicprobe", "kernel", "meters"], [("ledger", ["pktsize", "hwstat"], ["direction", "queue"])]])
    r = nicprobe("list", "qdisc", check=False)
    check("cli: list METER: says -v", r.returncode == 2 and "list -v qdisc" in r.stderr, r.stderr)
    r = nicprobe("list", "-v", "qdisk", check=False)
    check("cli: list -v of no meter", r.returncode == 2 and "qdisc" in r.stderr, r.stderr)
    r = nicprobe("list", "-v", env={"NICPROBE_CANNOT": "xdp,tcx"}).stdout
    check("cli: list -v says what was taken away", r.count("taken away by $NICPROBE_CANNOT") >= 2, r)
    r = nicprobe("list", check=False, env={"NICPROBE_CANNOT": "xdp,tpbtf"})
    check("cli: $NICPROBE_CANNOT with a word that nothing goes by",
          r.returncode == 2 and '"tpbtf"' in r.stderr and "list -v" in r.stderr, r.stderr)


def lists_anew(iface):
    """It is attached with two meters, or not at all, when the window of `list -w` ends: that is said, and no figure is."""
    for name, again in (("attached anew", [["detach", iface], ["attach", iface, "-m", "pktsize,drop"]]),
                        ("detached", [["detach", iface]])):
        nicprobe("attach", iface)
        listing = start("list", "-j", "-w", "1.5")
        time.sleep(.5)
        for command in again:
            nicprobe(*command)
        row = json.loads(listing.communicate(timeout=60)[0])[0]
        check(f"cli: list -w: it was {name} meanwhile", name in row.get("state", "") and "received" not in row, row)
        if len(again) > 1:
            same("cli: list -w: the meters that it has now", sorted(row["meters"]), ["drop", "pktsize"])
            nicprobe("detach", iface)


def helps(iface):
    r = nicprobe("--help")
    commands = [line.split()[1] for line in r.stdout.splitlines() if line.startswith("  nicprobe ")]
    same("cli: --help names the commands", commands,
         ["attach", "show", "doctor", "list", "detach", "run", "cost", "trace", "driver", "bench", "drivers", "explain", "wifi",
          "host", "top", "serve", "record", "report"])
    same("cli: which are completed", nicprobe("complete", "commands").stdout.split(), commands)
    for command in commands:
        text = nicprobe(command, "--help").stdout
        check(f"cli: {command} --help", text.startswith(f"nicprobe {command} ") and "--json" in text
              and max(map(len, text.splitlines())) <= 80, text)
        same(f"cli: {command} -h", nicprobe(command, "-h").stdout, text)
    check("cli: --version", nicprobe("--version").stdout.startswith("nicprobe 0."))
    r = nicprobe("list", "--color=red", check=False)
    check("cli: --color of what is none", r.returncode == 2 and "--color takes" in r.stderr, r.stderr)
    r = nicprobe("show", "--each", "bogus", check=False)
    each = nicprobe("complete", "each").stdout.split()
    check("cli: --each of what is none names all that are", r.returncode == 2 and all(word in r.stderr for word in each), r.stderr)
    r = nicprobe("show", "--each", "queue", check=False)
    check("cli: --each of a table", r.returncode == 2 and "--each is for metrics" in r.stderr, r.stderr)
    same("cli: meters are completed", nicprobe("complete", "meters").stdout.split()[:2], ["pktsize", "ecn"])
    same("cli: formats are completed", nicprobe("complete", "formats").stdout.split(), ["table", "json", "openmetrics", "prometheus"])
    same("cli: hooks are completed", nicprobe("complete", "hooks").stdout.split(),
         ["auto", "xdp", "driver", "xdp-generic", "tc"])
    words = nicprobe("complete", "interfaces").stdout.split()
    check("cli: interfaces are completed", "lo" in words and iface in words, words)


def main():
    ns = Namespace("cli")
    nic = tap(ns, queues=4)
    iface = f"{ns}/tap0"
    before = left.Before(ns)
    nic("send 0 100 100")	# before: not to be shown
    nic("go")
    run_statuses(iface, before)
    run_shows_the_difference(nic, iface)
    run_signals(iface, before)
    run_twice(iface, before)
    show_rates(nic, iface)
    openmetrics(iface)
    lists(iface)
    lists_anew(iface)
    helps(iface)
    before.check("cli: nothing is left")
    nic.close()


lab.need_root()
left.own_bpffs()
main()
lab.finish()

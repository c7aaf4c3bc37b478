#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""OpenMetrics for a Prometheus with 100 hosts: few series, each thing counted once, both formats valid."""
import re
import shutil

from lib.lab import *

need_root()
QUEUES = 64
netns = Namespace("om")
netns.run("sysctl -qw net.ipv4.ip_forward=0")
IFACE = f"{netns}/tap0"
nic = tap(netns, queues=QUEUES, address="198.18.0.2/24")


def metrics(*args):
    """Without the options that lab.nicprobe() adds: as for a scrape."""
    r = subprocess.run([NICPROBE, "show", *args], capture_output=True, text=True, check=True)
    return r.stdout


def samples(text):
    """[(name, {label: value}, number)]"""
    out = []
    for line in text.splitlines():
        m = re.match(r'(\w+)(?:\{(.*)\})? (\S+)$', line)
        if m and not line.startswith("#"):
            out.append((m[1], dict(re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', m[2] or "")), float(m[3])))
    return out


def sums(text):
    """{(name, labels but the queue): the sum}, of everything that can be summed."""
    out = {}
    for name, labels, value in samples(text):
        key = (name, tuple(sorted((k, v) for k, v in labels.items() if k not in ("queue", "serves"))))
        out[key] = out.get(key, 0) + value
    return out


def named(text, name):
    return [(labels, value) for n, labels, value in samples(text) if n == name]


nicprobe("attach", IFACE)
for q in range(QUEUES):
    nic(f"send {q} 400 {100 + 20 * q} udp sport={1000 + q} dport=9 src=198.18.1.{q} ecn=3 flows=30")
nic("go interleave")
netns.run("""python3 -c "
import socket
for p in range(400):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.connect(('198.18.0.77', 1000 + p))
    try: s.send(b'x' * p * 3)
    except OSError: pass
" """)
netns.ip("neigh replace 198.18.0.77 lladdr 02:00:00:00:00:77 dev tap0")
netns.run("""python3 -c "
import socket
for p in range(2000):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.connect(('198.18.0.77', 1000 + p))
    s.send(b'x' * (p % 1400))
" """)
total = ["--total", "-f", "openmetrics", IFACE]
text, each = metrics(*total), metrics("--queues", *total)
series = samples(text)
check("openmetrics: under 1500 series for 64 queues", 200 < len(series) < 1500, f"{len(series)} series")
check("openmetrics: of each queue on request", len(samples(each)) > 4000, f"{len(samples(each))} series")
print(f"# {len(series)} series of {QUEUES} queues; {len(samples(each))} with --queues")
same("openmetrics: no series stands twice", len({(n, *sorted(l.items())) for n, l, _ in series}), len(series))
same("openmetrics: no label of values without end",
     sorted({k for _, l, _ in series for k in l} & {"queue", "cpu", "irq", "vector", "flow"}), [])
same("openmetrics: nothing of flow or ecn_source",
     sorted({n for n, _, _ in series if n.startswith(("nicprobe_flow", "nicprobe_ecn_source"))}), [])
one, other = sums(text), sums(each)
skipped = ("nicprobe_bql_stopped_queues", "nicprobe_ledger_between_packets", "nicprobe_ledger_residue")
same("openmetrics: what queues have is what the interface has",
     {k: (v, other.get(k)) for k, v in one.items() if not k[0].startswith(skipped) and abs(v - other.get(k, -1)) > 1e-6 * v
      and "time" not in k[0]}, {})
same("openmetrics: all queues are told apart", {l.get("queue") for l, _ in named(each, "nicprobe_ecn_packets_total")} >=
     {str(q) for q in range(QUEUES)}, True)
same("openmetrics: no queue is \"all\"", [n for n, l, _ in samples(each) if l.get("queue") == "all"], [])
flows = metrics("--each", "flow,source", *total)
same("openmetrics: flows and sources on request", [bool(named(flows, n)) for n in
     ("nicprobe_flow_samples_total", "nicprobe_ecn_source_packets_total")], [True, True])
same("openmetrics: sources where they are named",
     sum(v for _, v in named(metrics(*total, "ecn_source"), "nicprobe_ecn_source_packets_total")), 400 * QUEUES)
check("openmetrics: CPUs on request", {l.get("cpu") for l, _ in named(
    metrics("--each", "cpu", *total), "nicprobe_rxcpu_packets_total")} - {None})

# Labels that identify the interface, and nicprobe's metrics about itself.
inode = str(os.stat(f"/run/netns/{netns}").st_ino)
same("openmetrics: the namespace's number and its name", {(l["netns"], l["netns_name"]) for _, l, _ in series
     if "interface" in l}, {(inode, str(netns))})
same("openmetrics: nicprobe_info", [v for l, v in named(text, "nicprobe_info") if l["version"]], [1])
info = named(text, "nicprobe_interface_info")[0][0]
same("openmetrics: the interface", [info.get(k) for k in ("driver", "rx_queues", "tx_queues")], ["tun", "64", "64"])
same("openmetrics: the link", [[v for _, v in named(text, n)] for n in ("nicprobe_link_up", "nicprobe_link_speed_bytes")],
     [[1], [10e6 * 125]] if sh(f"ip netns exec {netns} cat /sys/class/net/tap0/speed").strip() == "10000" else
     [[1], [float(sh(f"ip netns exec {netns} cat /sys/class/net/tap0/speed")) * 125000]])
at = named(text, "nicprobe_attach_time_seconds")[0][1]
check("openmetrics: when it was attached", 0 <= time.time() - at < 120, at)
same("openmetrics: and that stays", named(each, "nicprobe_attach_time_seconds")[0][1], at)
netns.ip("link set tap0 down")
same("openmetrics: the link goes down", [v for _, v in named(metrics(*total), "nicprobe_link_up")], [0])
netns.ip("link set tap0 up")
doc = json.loads(metrics("--total", "-j", IFACE))
again = metrics(*total)
same("openmetrics: what was found", sorted({(l["id"], l["severity"]) for l, _ in named(again, "nicprobe_finding")}),
     sorted({(f["id"], f["severity"]) for f in doc["findings"]}))
check("openmetrics: something was found", doc["findings"])
same("openmetrics: and how many of each severity", {l["severity"]: v for l, v in named(again, "nicprobe_findings")},
     {s: sum(f["severity"] == s and not f["follows"] for f in doc["findings"]) for s in ("info", "warning", "critical")})

# hwstat: one family per unit; the driver's other statistics on request.
units = {n for n, _, _ in series if n.startswith("nicprobe_hwstat")}
check("openmetrics: hwstat by unit", units and units <= {f"nicprobe_hwstat_{u}_total" for u in ("packets", "bytes", "events")},
      units)
same("openmetrics: bytes are with bytes", [(n, l["statistic"]) for n, l, _ in series if "statistic" in l and
     ("bytes" in l["statistic"]) != ("_bytes_" in n)], [])

# Two formats.
old = metrics("--total", "-f", "prometheus", IFACE)
types = lambda text: dict(re.findall(r"^# TYPE (\S+) (\S+)$", text, flags=re.M))
same("prometheus: the same samples", {(n, *sorted(l.items())) for n, l, _ in samples(old)},
     {(n, *sorted(l.items())) for n, l, _ in series})
same("prometheus: counters are called _total in its TYPE, and in OpenMetrics not",
     [{n.endswith("_total") for n, t in types(x).items() if t == "counter"} for x in (old, text)], [{True}, {False}])
bare = {n for n, _, _ in samples(old)}
same("prometheus: every sample has a type", sorted(n for n in bare if n not in types(old) and
     re.sub("_(bucket|sum|count)$", "", n) not in types(old)), [])
for args in ([], ["--queues"], ["hw"]):
    name = "prometheus: promtool " + " ".join(args)
    if not shutil.which("promtool"):
        skip(name, "no promtool")
        continue
    r = subprocess.run(["promtool", "check", "metrics"], input=metrics("--total", "-f", "prometheus", IFACE, *args),
                       capture_output=True, text=True, check=False)
    same(name, [r.returncode, r.stderr], [0, ""])

# What cannot be read is counted, and the rest is there.
broken = f"/sys/fs/bpf/nicprobe/{inode}/broken"
os.mkdir(broken)
text = metrics("--total", "-f", "openmetrics")
same("openmetrics: an interface that cannot be read", [v for _, v in named(text, "nicprobe_scrape_errors")], [1])
check("openmetrics: …and those that can", named(text, "nicprobe_interface_info"))
os.rmdir(broken)
same("openmetrics: none now", [v for _, v in named(metrics(*total), "nicprobe_scrape_errors")], [0])
nicprobe("detach", IFACE)
nic.close()
finish()

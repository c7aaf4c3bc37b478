#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""A real Prometheus scrapes nicprobe serve while packets pass: every expression of the dashboard and of the alerts is
asked, and returns data, or nothing for a reason that stands here."""
import atexit
import json
import os
import re
import shutil
import socket
import subprocess
import tempfile
import threading
import time
import urllib.parse
import urllib.request

from lib import lab, left
from lib.lab import ROOT, Namespace, check, nicprobe, same, skip, tap, until
from lib.served import GROUP, Server, enter, samples, value

PROMETHEUS = shutil.which("prometheus")
RULES = os.path.join(ROOT, "contrib", "prometheus", "alerts.yml")
DASHBOARD = os.path.join(ROOT, "contrib", "grafana", "nicprobe.json")
# Panels that have nothing to show of a tap that is well but for marks.
EMPTY = {
    "nicprobe_irq_to_poll_seconds_bucket": "a tap has no interrupts",
    "nicprobe_offload_packets_total": "nothing was left to the kernel",
    "nicprobe_counters_events_total": "no counter of a loss grew",
    "nicprobe_napi_": "a tap without NAPI has no polls",
}


class Prometheus:
    def __init__(self, target, port):
        self.url = f"http://127.0.0.1:{port}/api/v1"
        path = tempfile.mkdtemp()
        atexit.register(shutil.rmtree, path, True)
        config = {"global": {"scrape_interval": "1s", "evaluation_interval": "1s"}, "rule_files": [RULES],
                  "scrape_configs": [{"job_name": "nicprobe", "static_configs": [{"targets": [target]}]}]}
        with open(f"{path}/prometheus.yml", "w", encoding="utf-8") as f:
            json.dump(config, f)
        with open(f"{path}/log", "w", encoding="utf-8") as log:
            self.p = subprocess.Popen([PROMETHEUS, f"--config.file={path}/prometheus.yml", f"--storage.tsdb.path={path}/data",
                                       f"--web.listen-address=127.0.0.1:{port}"], stdout=log, stderr=log)
        atexit.register(self.close)
        self.log = f"{path}/log"

    def get(self, what, **query):
        with urllib.request.urlopen(f"{self.url}/{what}?{urllib.parse.urlencode(query)}", timeout=30) as r:
            return json.load(r)["data"]

    def ask(self, expression):
        """[(labels, number)]; raises if it is no expression."""
        return [(r["metric"], float(r["value"][1])) for r in self.get("query", query=expression)["result"]]

    def up(self):
        try:
            return [t["health"] for t in self.get("targets")["activeTargets"]] == ["up"]
        except OSError:
            return False

    def close(self):
        self.p.terminate()
        self.p.wait(30)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def traffic(nic, netns, end):
    """Packets in and out through all queues, a fifth of those that arrive marked CE, until it is to end."""
    netns.ip("neigh replace 198.18.0.77 lladdr 02:00:00:00:00:77 dev tap0")
    with open("/sys/class/net/tap0/address", encoding="ascii") as f:
        ends = f"src=198.18.0.77 dst=198.18.0.2 dmac={f.read().strip()}"
    nic("read on")
    while not end.is_set():
        for queue in range(4):
            nic(f"send {queue} {50 * (queue + 1)} 300 udp sport={1000 + queue} dport=9 {ends} ecn={3 * (queue == 1)}")
        nic("go interleave")
        for port in range(50):
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
                s.connect(("198.18.0.77", 1000 + port))
                s.send(b"x" * 10 * port)
        end.wait(.1)


def expressions():
    """[(panel, expression)] of the dashboard, for all of its variables."""
    with open(DASHBOARD, encoding="utf-8") as f:
        board = json.load(f)
    names = {v["name"] for v in board["templating"]["list"]}
    same("grafana: its variables", names, {"datasource", "job", "instance", "interface"})
    out = []
    for panel in board["panels"]:
        for target in panel.get("targets", []):
            text = target["expr"]
            for name, word in ("$job", "nicprobe"), ("$instance", ".*"), ("$interface", "tap0"), ("$__rate_interval", "10s"):
                text = text.replace(name, word)
            out.append((panel["title"], text))
    same("grafana: no variable is left over", [e for _, e in out if "$" in e], [])
    for v in board["templating"]["list"]:
        if v["type"] == "query":
            metric, label = re.match(r"label_values\((.*), (\w+)\)$", v["query"]["query"]).groups()
            out.append((f"variable {v['name']} ({label})", metric.replace("$job", ".*").replace("$instance", ".*")))
    return out


def dashboard(prometheus):
    asked = expressions()
    check("grafana: there are panels", len(asked) > 30, f"{len(asked)} expressions")
    for title, text in asked:
        got = prometheus.ask(text)
        why = next((why for name, why in EMPTY.items() if name in text), None)
        if not got and why:
            lab.ok(f"grafana: {title}: nothing, as {why}")
            continue
        check(f"grafana: {title}", got and all(n == n for _, n in got), f"{text}: {got or 'nothing'}")


def alerts(prometheus):
    rules = [r for g in prometheus.get("rules")["groups"] for r in g["rules"]]
    same("alerts: Prometheus takes all, and none fails", [len(rules) > 80, sorted({r["health"] for r in rules})], [True, ["ok"]])
    found = {(m["id"], m["interface"]) for m, _ in prometheus.ask('nicprobe_finding{severity!="info"}')}
    check("alerts: the marks are found", ("ecn-marked", "tap0") in found, found)
    spoke = set()
    for rule in rules:
        for labels, _ in prometheus.ask(rule["query"]):
            spoke.add((labels["id"], labels["interface"]) if "id" in labels else (rule["name"], ""))
    same("alerts: those of what was found return data, and no others, as nothing else is wrong", spoke, found)
    pending = {r["name"]: r["state"] for r in rules if r["state"] != "inactive"}
    check("alerts: that of the marks waits", pending.get("NicprobeEcnMarked") == "pending", pending)


def numbers(prometheus, server):
    """What Prometheus stored last is what is served."""
    have = samples(server.metrics())
    want = value(have, "nicprobe_packet_size_bytes_count", interface="tap0", point="rx-nic")
    stored = lambda: [n for _, n in prometheus.ask('nicprobe_packet_size_bytes_count{interface="tap0",point="rx-nic"}')]
    until(lambda: stored() == [want], 10)
    same("prometheus: it has the number of packets", stored(), [want])
    check("prometheus: there were packets", want > 1000, want)
    same("prometheus: series of a scrape", [n < 1500 for _, n in prometheus.ask("scrape_samples_scraped")], [True])


def main():
    netns = Namespace("prom")
    nic = tap(netns, queues=4, address="198.18.0.2/24")
    before = left.Before(netns)
    nicprobe("attach", "--group", str(GROUP), "-m", "+qdisc", f"{netns}/tap0")
    enter(netns)
    server = Server("--listen", "127.0.0.1:0")
    prometheus = Prometheus(f"127.0.0.1:{server.ports[0]}", free_port())
    if check("prometheus: it scrapes", until(prometheus.up, 60), open(prometheus.log, encoding="utf-8").read()[-600:]):
        end = threading.Event()
        sender = threading.Thread(target=traffic, args=(nic, netns, end))
        sender.start()
        time.sleep(25)
        lab.each(dashboard, alerts, prometheus=prometheus, server=server)
        end.set()
        sender.join()
        lab.each(numbers, prometheus=prometheus, server=server)
    prometheus.close()
    same("prometheus: serve ends cleanly", server.end(), 0)
    nicprobe("detach", "--all", check=False)
    before.check("prometheus: it leaves nothing")
    nic.close()


lab.need_root()
if not PROMETHEUS:
    skip("prometheus", "no prometheus")
    lab.finish()
left.own_bpffs()
main()
lab.finish()

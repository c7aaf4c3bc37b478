#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""The alerts are made from the findings as they are, each speaks at its finding, with its words, and at no other time."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

from documents import NICPROBE, ROOT, check, read, run_all, say, skip

HERE = ("contrib", "prometheus")
RULES = os.path.join(ROOT, *HERE, "alerts.yml")
found = json.loads(say(NICPROBE, "explain", "-j")) if os.path.exists(NICPROBE) else []


def test_made():
    made = say(sys.executable, os.path.join(ROOT, *HERE, "alerts.py"), input=json.dumps(found))
    check("alerts: alerts.yml is what the findings make; nicprobe explain -j | python3 contrib/prometheus/alerts.py",
          [] if made == read(*HERE, "alerts.yml") else ["it is not"])


def spoken(finding, severity):
    """What the rules tell of this finding on blue/eth0, without the templates."""
    words = lambda s: re.sub(r"(nicprobe \w+ )IFACE", r"\1blue/eth0", s).replace("IFACE", "eth0")
    return {
        "exp_labels": {"severity": severity, "id": finding["id"], "instance": "host:9920", "job": "nicprobe",
                       "interface": "eth0", "netns": "4026531840", "netns_name": "blue"},
        "exp_annotations": {
            "summary": f"{finding['title']}: blue/eth0 on host:9920",
            "description": words(f"{finding['means']} It is found when {finding['when']}."),
            "remedy": words(finding["remedy"]), "explain": f"nicprobe explain {finding['id']}"},
    }


def alert_of(finding):
    return "Nicprobe" + finding["id"].title().replace("-", "")


def series(name, values, **labels):
    words = ",".join(f'{k}="{v}"' for k, v in {"instance": "host:9920", "job": "nicprobe", **labels}.items())
    return {"series": f"{name}{{{words}}}", "values": values}


def unit(inputs, expected):
    return {"interval": "1m", "input_series": inputs,
            "alert_rule_test": [{"eval_time": at, "alertname": alert, "exp_alerts": alerts} for at, alert, alerts in expected]}


def units():
    """For each finding: it is there for ten minutes, and then it is not; or it is there, but only for information."""
    port = {"interface": "eth0", "netns": "4026531840", "netns_name": "blue"}
    alerted = [f for f in found if f["severity"] != "info"]
    for f in alerted:
        inputs = [series("nicprobe_finding", "1x10 _x10", id=f["id"], severity=f["severity"], **port)]
        soon = "4m" if f["severity"] == "warning" else "0m"
        yield unit(inputs, [(soon, alert_of(f), []), ("9m", alert_of(f), [spoken(f, f["severity"])]),
                            ("20m", alert_of(f), [])])
    mild = [series("nicprobe_finding", "1x20", id=f["id"], severity="info", **port) for f in alerted]
    yield unit(mild, [("15m", alert_of(f), []) for f in alerted])
    own = {"job": "nicprobe", "instance": "host:9920"}
    up = [series("up", "1x4 0x30"), series("nicprobe_scrape_errors", "0x4 2x30"), series("nicprobe_interfaces", "1x34")]
    tell = lambda severity, **words: [{"exp_labels": {**own, "severity": severity}, "exp_annotations": words}]
    yield unit(up, [("4m", "NicprobeDown", []), ("12m", "NicprobeDown", tell(
        "critical", summary="nicprobe serve on host:9920 cannot be scraped",
        description="The server does not run, or may not read what is attached: then /metrics says why.",
        remedy="curl http://host:9920/metrics")), ("4m", "NicprobeUnread", []), ("12m", "NicprobeUnread", tell(
            "warning", summary="2 attached interfaces of host:9920 cannot be read",
            description="They were attached without the group of the server, or by another version of nicprobe.",
            remedy="Detach them, and attach them anew: nicprobe attach --group GROUP IFACE.")),
                    ("34m", "NicprobeNothingAttached", [])])
    yield unit([series("nicprobe_scrape_errors", "0x40"), series("nicprobe_interfaces", "0x20 1x20")], [
        ("10m", "NicprobeNothingAttached", []), ("16m", "NicprobeNothingAttached", tell(
            "warning", summary="Nothing is attached on host:9920",
            description="The server runs, but no interface is measured.", remedy="nicprobe attach --group GROUP IFACE")),
        ("21m", "NicprobeNothingAttached", [])])


def test_rules():
    if not shutil.which("promtool"):
        skip("alerts: promtool", "no promtool")
        return
    r = subprocess.run(["promtool", "check", "rules", RULES], capture_output=True, text=True, check=False)
    check("alerts: promtool check rules", [] if r.returncode == 0 else [r.stdout + r.stderr])
    told = set(re.findall(r"^      - alert: (\w+)$", read(*HERE, "alerts.yml"), flags=re.M))
    tests = list(units())
    tested = {a["alertname"] for t in tests for a in t["alert_rule_test"] if a["exp_alerts"]}
    check("alerts: every alert is made to speak", [f"{a} is not" for a in sorted(told ^ tested)])
    with tempfile.TemporaryDirectory() as path:
        file = os.path.join(path, "alerts_test.yml")
        with open(file, "w", encoding="utf-8") as f:
            json.dump({"rule_files": [RULES], "evaluation_interval": "1m", "tests": tests}, f)
        r = subprocess.run(["promtool", "test", "rules", file], capture_output=True, text=True, check=False)
        check("alerts: promtool test rules: each speaks at its finding, in its words, and then is silent",
              [] if r.returncode == 0 and "SUCCESS" in r.stdout else [r.stdout[-600:] + r.stderr[-600:]])


run_all(globals())

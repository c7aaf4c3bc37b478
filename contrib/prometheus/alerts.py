#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Makes alerts.yml from the findings, in their own words: nicprobe explain -j | python3 alerts.py >alerts.yml"""
import json
import re
import sys

# The interface as users of nicprobe type it: "eth0", "blue/eth0".
PORT = "{{ with $labels.netns_name }}{{ . }}/{{ end }}{{ $labels.interface }}"
# How long a finding has to stay: a window is 10 seconds or more, and one of them may be an accident.
FOR = {"warning": "5m", "critical": "1m"}

# Of the server itself: name, expression, for, severity, summary, description, remedy.
OWN = (
    ("NicprobeDown", 'up{job="nicprobe"} == 0', "5m", "critical",
     "nicprobe serve on {{ $labels.instance }} cannot be scraped",
     "The server does not run, or may not read what is attached: then /metrics says why.",
     "curl http://{{ $labels.instance }}/metrics"),
    ("NicprobeUnread", "nicprobe_scrape_errors > 0", "5m", "warning",
     "{{ $value }} attached interfaces of {{ $labels.instance }} cannot be read",
     "They were attached without the group of the server, or by another version of nicprobe.",
     "Detach them, and attach them anew: nicprobe attach --group GROUP IFACE."),
    ("NicprobeNothingAttached", "nicprobe_interfaces + nicprobe_scrape_errors == 0", "15m", "warning",
     "Nothing is attached on {{ $labels.instance }}",
     "The server runs, but no interface is measured.",
     "nicprobe attach --group GROUP IFACE"),
)


def text(words):
    """A YAML string in double quotes, which are those of JSON."""
    return json.dumps(words, ensure_ascii=False)


def of_interface(words):
    """Commands of nicprobe take "blue/eth0"; others run in that namespace."""
    return re.sub(r"(nicprobe \w+ )IFACE", rf"\1{PORT}", words).replace("IFACE", "{{ $labels.interface }}")


def name(finding):
    return "Nicprobe" + "".join(word.capitalize() for word in finding["id"].split("-"))


def alerted(findings):
    """Those that speak of packets or time, or say that these are near; serve does not judge the setup."""
    return [f for f in findings if f["severity"] in FOR]


def rule(alert, expression, stays, severity, annotations):
    lines = [f"      - alert: {alert}", f"        expr: {text(expression)}", f"        for: {stays}",
             "        labels:", f"          severity: {text(severity)}", "        annotations:"]
    return "\n".join([*lines, *(f"          {key}: {text(words)}" for key, words in annotations.items())])


def annotations_of(finding):
    """What `nicprobe explain` says, of the interface that the alert is about."""
    return {
        "summary": f"{finding['title']}: {PORT} on {{{{ $labels.instance }}}}",
        "description": of_interface(f"{finding['means']} It is found when {finding['when']}."),
        "remedy": of_interface(finding["remedy"]),
        "explain": f"nicprobe explain {finding['id']}",
    }


def rules(findings):
    print("# SPDX-License-Identifier: GPL-2.0\n# Made from the findings of nicprobe by contrib/prometheus/alerts.py.\n"
          "groups:\n  - name: nicprobe\n    rules:")
    for alert, expression, stays, severity, summary, description, remedy in OWN:
        print(rule(alert, expression, stays, severity, {"summary": summary, "description": description, "remedy": remedy}))
    print("  - name: nicprobe-findings\n    rules:")
    for f in alerted(findings):
        print(rule(name(f), f'nicprobe_finding{{id="{f["id"]}",severity!="info"}} > 0', FOR[f["severity"]],
                   "{{ $labels.severity }}", annotations_of(f)))


if __name__ == "__main__":
    rules(json.load(sys.stdin))

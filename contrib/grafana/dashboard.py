#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Makes nicprobe.json, a dashboard of Grafana in its classic JSON model: python3 dashboard.py >nicprobe.json"""
import json

HOST = 'job=~"$job",instance=~"$instance"'
PORT = f'{HOST},interface=~"$interface"'
BY = "instance, interface"
DATA = {"type": "prometheus", "uid": "$datasource"}
LEGEND = "{{instance}} {{interface}}"


def rate(name, labels=""):
    return f"rate({name}{{{PORT}{',' if labels else ''}{labels}}}[$__rate_interval])"


def total(name, by="", labels=""):
    return f"sum by ({BY}{', ' if by else ''}{by}) ({rate(name, labels)})"


def quantile(q, name):
    return f"histogram_quantile({q}, sum by ({BY}, le) ({rate(name + '_bucket')}))"


def quantiles(name):
    return [(f"{LEGEND} p50", quantile(0.5, name)), (f"{LEGEND} p99", quantile(0.99, name))]


# Rows of panels: title, description, kind, unit, [(legend, expression)].
ROWS = (
    ("State", (
        ("Interfaces", "Attached interfaces that were read", "stat", "short",
         [("{{instance}}", f"nicprobe_interfaces{{{HOST}}}")]),
        ("Not readable", "Attached interfaces that the server may not read", "stat", "short",
         [("{{instance}}", f"nicprobe_scrape_errors{{{HOST}}}")]),
        ("Link", "1: the link is up and has a carrier", "stat", "short",
         [(LEGEND, f"nicprobe_link_up{{{PORT}}}")]),
        ("Findings", "Of the window between scrapes, by severity, without those that follow from others", "timeseries", "short",
         [(f"{LEGEND} {{{{severity}}}}", f"nicprobe_findings{{{PORT}}}")]),
        ("What was found", "Number of affected queues, or 1; nicprobe explain ID tells what it means", "table", "short",
         [("", f"nicprobe_finding{{{PORT}}}")]),
    )),
    ("Traffic", (
        ("Packets per second", "Wire packets at the nic points, buffers at the stack points", "timeseries", "pps",
         [(f"{LEGEND} {{{{point}}}}", total("nicprobe_packet_size_bytes_count", "point"))]),
        ("Bits per second", "With the Ethernet header, without FCS", "timeseries", "bps",
         [(f"{LEGEND} {{{{point}}}}", "8 * " + total("nicprobe_packet_size_bytes_sum", "point"))]),
        ("Sizes received", "Packets by size, before GRO", "heatmap", "short",
         [("{{le}}", f'sum by (le) (increase(nicprobe_packet_size_bytes_bucket{{{PORT},point="rx-nic"}}[$__rate_interval]))')]),
        ("CE marks", "Share of received packets that arrived marked as congestion experienced", "timeseries", "percentunit",
         [(LEGEND, total("nicprobe_ecn_packets_total", labels='point="rx-nic",codepoint="ce"') + " / " +
           total("nicprobe_ecn_packets_total", labels='point="rx-nic"'))]),
    )),
    ("Queues", (
        ("Share of the busiest and the idlest queue", "Of the packets of the window", "timeseries", "percentunit",
         [(f"{LEGEND} {{{{point}}}} {{{{which}}}}", f"nicprobe_spread_ratio{{{PORT}}}")]),
        ("Imbalance", "Packets of the busiest queue divided by the mean of all: 1 is even", "timeseries", "short",
         [(f"{LEGEND} {{{{point}}}}", f"nicprobe_spread_imbalance_ratio{{{PORT}}}")]),
        ("Busiest queue", "Its number", "table", "short",
         [("", f'nicprobe_spread_queue{{{PORT},which="busiest"}}')]),
    )),
    ("Losses", (
        ("Drops per second", "By reason and by whom", "timeseries", "pps",
         [(f"{LEGEND} {{{{reason}}}} {{{{who}}}}", total("nicprobe_drop_packets_total", "reason, who"))]),
        ("Loss counters", "Of kernel, driver and card", "timeseries", "cps",
         [(f"{LEGEND} {{{{counter}}}}", total("nicprobe_counters_events_total", "counter"))]),
    )),
    ("Waits", (
        ("TX completion", "Time until the driver freed a sent packet", "timeseries", "s",
         quantiles("nicprobe_txlat_completion_seconds")),
        ("Wait in the qdisc", "If the meter qdisc is attached, on request", "timeseries", "s",
         quantiles("nicprobe_qdisc_wait_seconds")),
        ("Interrupt to poll", "With hardware interrupts", "timeseries", "s",
         quantiles("nicprobe_irq_to_poll_seconds")),
        ("Wait of polls", "From the raise of the softirq", "timeseries", "s",
         quantiles("nicprobe_napi_wait_seconds")),
    )),
    ("Work", (
        ("Packets per poll", "Mean", "timeseries", "short",
         [(LEGEND, total("nicprobe_napi_work_sum") + " / " + total("nicprobe_napi_work_count"))]),
        ("Packets per received buffer", "What GRO merged", "timeseries", "short",
         [(LEGEND, total("nicprobe_gro_buffer_size_sum") + " / " + total("nicprobe_gro_buffer_size_count"))]),
        ("Packets per sent buffer", "What GSO leaves to driver and card", "timeseries", "short",
         [(LEGEND, total("nicprobe_gso_buffer_size_sum") + " / " + total("nicprobe_gso_buffer_size_count"))]),
        ("In software", "Packets that the kernel segmented, checksummed or copied", "timeseries", "pps",
         [(f"{LEGEND} {{{{feature}}}}", total("nicprobe_offload_packets_total", "feature"))]),
    )),
    ("Trust", (
        ("Counts lost", "Their map was full", "timeseries", "cps",
         [(f"{LEGEND} {{{{meter}}}}", total("nicprobe_lost_total", "meter"))]),
        ("Blind hooks", "1: the point no longer sees all packets", "timeseries", "short",
         [(f"{LEGEND} {{{{point}}}}", f"nicprobe_hook_blind{{{PORT}}}")]),
        ("Scrape", "Duration", "timeseries", "s", [("{{instance}}", f"scrape_duration_seconds{{{HOST}}}")]),
        ("Series", "Of a scrape", "timeseries", "short", [("{{instance}}", f"scrape_samples_scraped{{{HOST}}}")]),
    )),
)


def variable(name, label, query):
    return {"name": name, "label": label, "type": "query", "datasource": DATA, "query": {"query": query, "refId": name},
            "definition": query, "refresh": 2, "sort": 1, "multi": True, "includeAll": True, "allValue": ".*",
            "current": {"selected": True, "text": ["All"], "value": ["$__all"]}, "hide": 0, "regex": "", "options": []}


def target(nr, kind, legend, expression):
    out = {"refId": chr(ord("A") + nr), "datasource": DATA, "expr": expression, "legendFormat": legend or "__auto"}
    if kind == "table":
        return {**out, "format": "table", "instant": True}
    return {**out, "format": "heatmap"} if kind == "heatmap" else {**out, "range": True}


def panel(number, at, title, description, kind, unit, queries):
    options = {
        "stat": {"reduceOptions": {"calcs": ["lastNotNull"], "fields": "", "values": False}, "textMode": "auto"},
        "timeseries": {"legend": {"displayMode": "list", "placement": "bottom", "showLegend": True},
                       "tooltip": {"mode": "multi", "sort": "desc"}},
        "table": {"showHeader": True}, "heatmap": {"calculate": False, "yAxis": {"unit": "decbytes"}},
    }[kind]
    out = {"id": number, "type": kind, "title": title, "description": description, "datasource": DATA, "gridPos": at,
           "fieldConfig": {"defaults": {"unit": unit, **({"min": 0} if kind == "timeseries" else {})}, "overrides": []},
           "options": options, "targets": [target(i, kind, *q) for i, q in enumerate(queries)]}
    if kind == "table":
        out["transformations"] = [{"id": "organize", "options": {"excludeByName": {
            "Time": True, "__name__": True, "job": True, "netns": True}}}]
    return out


def panels():
    number, y = 1, 0
    for title, row in ROWS:
        yield {"id": number, "type": "row", "title": title, "collapsed": False, "panels": [],
               "gridPos": {"h": 1, "w": 24, "x": 0, "y": y}}
        number, y = number + 1, y + 1
        for i, words in enumerate(row):
            yield panel(number, {"h": 8, "w": 12, "x": 12 * (i % 2), "y": y + 8 * (i // 2)}, *words)
            number += 1
        y += 8 * ((len(row) + 1) // 2)


def dashboard():
    return {
        "description": "Network interfaces from the driver to the socket, as nicprobe serve tells them. "
                       "SPDX-License-Identifier: GPL-2.0",
        "title": "nicprobe", "uid": "nicprobe", "tags": ["nicprobe", "network"], "schemaVersion": 38, "version": 1,
        "editable": True, "graphTooltip": 1, "refresh": "30s", "time": {"from": "now-1h", "to": "now"}, "timezone": "browser",
        "templating": {"list": [
            {"name": "datasource", "label": "Data source", "type": "datasource", "query": "prometheus", "current": {},
             "hide": 0, "includeAll": False, "multi": False, "options": [], "refresh": 1, "regex": ""},
            variable("job", "Job", "label_values(nicprobe_info, job)"),
            variable("instance", "Instance", 'label_values(nicprobe_info{job=~"$job"}, instance)'),
            variable("interface", "Interface", f"label_values(nicprobe_interface_info{{{HOST}}}, interface)"),
        ]},
        "annotations": {"list": []}, "links": [], "panels": list(panels()),
    }


if __name__ == "__main__":
    print(json.dumps(dashboard(), indent=1, ensure_ascii=False))

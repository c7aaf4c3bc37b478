# SPDX-License-Identifier: GPL-2.0
"""The figures as plots, one SVG per part."""
import bars
import tables
from svg import Bars, Lines, figure


def of_packets(doc):
    panels = []
    for hook, name in tables.HOOKS.items():
        rows = []
        for meters in dict.fromkeys(r["meters"] for r in doc["rows"]
                                    if r["hook"] == hook and r["build"] == "nicprobe"):
            a = bars.packet(doc, hook, meters)["above_empty"]
            name_ = "none: parsed only" if meters == "none" else meters
            rows.append((name_, [(a["median"], a["p25"], a["p75"])]))
        panels.append(Bars(f"Packet meters on {name}, 64 B", "ns above an empty program", rows,
                           bar=6.7 if hook == "xdp" else None))
    return panels


def of_dispatch(doc):
    return [Bars("Programs on one tracepoint", "ns per event by the clock",
                 [(r["what"], [(r["ns"], *r["spread"])]) for r in doc["rows"]])]


def of_events(doc):
    def row(label, case):
        both = [bars.per_packet(bars.events(doc, case, phase)) for phase in ("tx", "rx")]
        return label, [(value, value, value) if value else None for value in both]

    titles = "ns per packet above empty programs"
    whole = [row(label, case) for case, label in tables.WHOLE.items()]
    whole = [r for r in whole if any(r[1])]
    alone = [row(meter, f"{meter} btf") for meter in doc["meters"]]
    alone = [r for r in alone if any(r[1])]
    panels = [Bars("By tracepoints, 64 B", titles, whole, ("sent", "received"))]
    if alone:
        panels.append(Bars("Each meter alone, 64 B", titles, alone, ("sent", "received")))
    return panels


def of_throughput(doc):
    panels = []
    for link, kind in dict.fromkeys((r["link"], r["traffic"]) for r in doc["rows"]):
        rows = {r["case"]: r for r in doc["rows"] if (r["link"], r["traffic"]) == (link, kind)}
        panels.append(Bars(f"{link.capitalize()}, {kind.upper()}", "% lost",
                           [(case, [(rows[case]["loss"], *rows[case]["spread"])])
                            for case in doc["cases"] if case in rows],
                           bar=3 if "live" in link else None))
    return panels


def of_scale(doc):
    def both(rows, x):
        return {name: [(r[x], r[phase]) for r in rows] for phase, name in
                (("tx", "sent"), ("rx", "received"))}

    keys = {}
    for r in doc["keys"]:
        keys.setdefault(r["meter"], []).append((r["keys"], r["ns"]))
    return [Lines("Queues, default meters", "queues", "ns per packet", both(doc["queues"], "queues")),
            Lines("Interfaces attached, traffic on one", "interfaces", "ns per packet",
                  both(doc["interfaces"], "interfaces")),
            Lines("Idle interfaces attached", "interfaces", "ns per packet",
                  {"UDP from socket to socket": [(r["interfaces"], r["ns"])
                                                 for r in doc["idle"]["rows"] if "ns" in r]}),
            Lines("Keys in a map that holds 4096", "keys", "ns per packet", keys)]


def of_lifecycle(doc):
    def by(what, scale=1):
        return {name: [(r["queues"], scale * (r[key]["ms"] if key != "bytes" else r[key]))
                       for r in doc["rows"] if r["meters"] == meters]
                for name, meters, key in what}

    show = by([("all meters", "all", "show"), ("default", "default", "show"),
               ("all, something dropped", "all", "show_drops")])
    attach = by([("attach, all meters", "all", "attach"), ("attach, default", "default", "attach"),
                 ("detach", "all", "detach")])
    memory = by([("all meters", "all", "bytes"), ("default", "default", "bytes")], 1e-6)
    return [Lines("show", "queues", "ms", show, 10),
            Lines("attach and detach", "queues", "ms", attach, 500),
            Lines("Memory of the maps", "queues", "MB", memory)]


def of_questions(doc):
    def one(row):
        return row and (row["ns"], *row["spread"])
    return [Bars("Questions to probes", "ns per packet by the clock",
                 [(r["what"], [one(r["ours"]), one(r["theirs"])]) for r in doc["rows"]], ("nicprobe", "bpftrace"))]


OF = {"packets": of_packets, "dispatch": of_dispatch, "events": of_events, "throughput": of_throughput, "scale": of_scale,
      "lifecycle": of_lifecycle, "questions": of_questions}


def of(part, doc):
    return figure(OF[part](doc)) if part in OF else None

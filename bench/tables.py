# SPDX-License-Identifier: GPL-2.0
"""The figures as tables (title, heads, rows), for the terminal and for the page."""
from collections import namedtuple

import bars

Table = namedtuple("Table", "title heads rows")
CLOCKS = {"sockets, tap": "by the clock, sent by a tap", "sockets, veth": "received by a veth"}
HOOKS = {"xdp": "XDP", "tc": "tc"}
WHOLE = {"headline btf": "headline meters", "nicprobe btf": "default meters",
         "all btf": "all meters",
         "netsize": "bpftrace netsize", "nettxlat": "bpftrace nettxlat",
         "ipecn": "bpftrace ipecn", "rxcpu": "bpftrace receive CPUs", "tcpdump": "tcpdump"}


def number(value, digits=0):
    return "-" if value is None else f"{value:.{digits}f}".replace("-0.0", "0.0")


def of_packets(doc):
    columns = [(64, "ect0", "64 B"), (64, "ce", "64 B, CE"), (512, "ect0", "512 B"),
               (1500, "ect0", "1500 B")]
    gso = next((r["size"] for r in doc["rows"] if r["segs"] > 1), None)
    columns.append((gso, "ect0", "GSO"))
    rows = []
    for hook in HOOKS:
        for meters in dict.fromkeys(r["meters"] for r in doc["rows"]
                                    if r["hook"] == hook and r["build"] == "nicprobe"):
            found = [bars.packet(doc, hook, meters, size, ecn) for size, ecn, _ in columns]
            if meters == "none":
                meters = "none: parsed only"
            spread = found[0]["above_empty"]
            rows.append([HOOKS[hook], meters,
                         *(number(r and r["above_empty"]["median"], 1) for r in found),
                         f"{spread['p25']:.1f} to {spread['p75']:.1f}", str(found[0]["jited"])])
    yield Table("Packet meters on XDP and tc, ns per packet above an empty program",
                ["", "meters", *(c[2] for c in columns), "quartiles, 64 B", "bytes of code"], rows)


def of_dispatch(doc):
    yield Table("Programs on one tracepoint, ns per event by the clock", ["", "adds", "quartiles"],
                [[r["what"], number(r["ns"], 1), "{:.1f} to {:.1f}".format(*r["spread"])] for r in doc["rows"]])


def by_clock(doc, case):
    """ns per UDP packet between sockets, over a tap and over a veth."""
    found = {r["link"]: r["ns"] for r in doc.get("clock", []) if r["case"] == case}
    return [number(found.get(link)) for link in CLOCKS]


def of_events(doc):
    shapes = list(dict.fromkeys(r["shape"] for r in doc["rows"]))
    cases = [c for c in WHOLE if any(r["case"] == c for r in doc["rows"] + doc.get("clock", []))]
    yield Table("All programs on tracepoints, ns per buffer above empty programs",
                ["", *(f"{s}, {p}" for s in shapes for p in ("sent", "received")), *CLOCKS.values()],
                [[WHOLE[c], *(number(bars.per_packet(bars.events(doc, c, phase, shape=s)))
                              for s in shapes for phase in ("tx", "rx")), *by_clock(doc, c)] for c in cases])
    yield alone(doc)
    yield Table("Hooks at tracepoints, ns per event above an empty program, and netsize",
                ["event", "sizes only", "headline meters", "default meters", "netsize"],
                netsize_rows(doc))
    rows = []
    for way, depth in ("btf", 64), ("btf", 2000):
        ends, whole, theirs = bars.txlat(doc, way, depth)
        if ends is not None:
            rows.append([f"{depth} in flight", number(ends), number(whole), number(theirs)])
    yield Table("txlat, ns per packet sent, and nettxlat",
                ["", "start and completion", "all programs", "nettxlat"], rows)
    rows = []
    for case, what in ("idle", "default meters"), ("idle-all", "all meters"):
        row = bars.idle(doc, "btf", case)
        nets = sorted(r["net"] for r in bars.events(doc, f"{case} btf"))
        if row:
            rows.append([what, number(nets[len(nets) // 2], 1),
                         number(row["net"], 1), row["program"], row["hook"]])
    yield Table("An attached but idle interface, ns per event of another, each program",
                ["", "median", "worst", "program", "hook"], rows)


def netsize_rows(doc):
    found = {case: {event: (ours, theirs) for event, ours, theirs in bars.to_netsize(doc, case)}
             for case in ("pktsize btf", "headline btf", "nicprobe btf")}
    return [[event, *(number(found[c].get(event, (None,))[0]) for c in found),
             number(next((f[event][1] for f in found.values() if event in f), None))]
            for event in dict.fromkeys(e for f in found.values() for e in f)]


def alone(doc):
    """Each meter alone; without rows if none was measured."""
    rows = []
    for meter, why in doc["meters"].items():
        cells = [bars.per_packet(bars.events(doc, f"{meter} btf", phase)) for phase in ("tx", "rx")]
        if any(cells):
            rows.append([meter + (" (on request)" if why else ""),
                         *(number(c) if c else "-" for c in cells), *by_clock(doc, f"{meter} btf")])
    return Table("Each meter alone, 64 B, ns per packet above empty programs, and by the clock",
                 ["", "sent", "received", *CLOCKS.values()], rows)


def of_throughput(doc):
    links = list(dict.fromkeys((r["link"], r["traffic"]) for r in doc["rows"]))
    for what in "live frames", "sockets":
        yield lost(doc, what, [link for link in links if link[0].startswith(what)])
    watchers = [[r["case"], r["link"], number(r["watcher_cpu"], 1), number(r["unseen"], 1)]
                for r in doc["rows"] if r["traffic"] == "udp" and (r["watcher_cpu"] or r["unseen"])]
    yield Table("Observers: percent of a CPU used, percent of packets missed",
                ["", "", "CPU", "missed"], watchers)
    absent = {}
    for a in doc["absent"]:
        absent.setdefault((a["case"], a["why"]), []).append(a["link"])
    yield Table("Not measured", ["", "why", "where"],
                [[case, why, "everywhere" if len(where) == len({link for link, _ in links})
                  else "; ".join(where)] for (case, why), where in absent.items()])


def lost(doc, what, links):
    found = {(r["link"], r["traffic"], r["case"]): r for r in doc["rows"]}
    rows = [[f"nothing attached, per {'CPU ' if doc['by'] == 'cpu' else ''}second",
             *(rate(*link, found) for link in links)]]
    for case in doc["cases"]:
        mine = [found.get((*link, case)) for link in links]
        if any(mine):
            rows.append([case, *("-" if r is None else
                                 f"{number(r['loss'], 1)} ({number(r['spread'][0], 1)} to "
                                 f"{number(r['spread'][1], 1)}){' ?' * r.get('disturbed', False)}" for r in mine)])
    return Table(f"Loss of throughput, {what}, percent: median and quartiles",
                 ["", *(f"{link.split(', ')[1]}, {kind.upper()}" for link, kind in links)],
                 rows if links else [])


def rate(link, kind, found):
    r = next(r for (l, k, _), r in found.items() if (l, k) == (link, kind))
    return f"{8 * r['base'] / 1e9:.1f} Gbit" if kind == "tcp" else f"{r['base'] / 1e3:.0f}k packets"


def of_scale(doc):
    yield Table("Default meters, ns per packet above empty programs, by queues of the interface",
                ["queues", "sent", "received"],
                [[str(r["queues"]), number(r["tx"]), number(r["rx"])] for r in doc["queues"]])
    yield Table("The same for all attached interfaces, with traffic on only one",
                ["interfaces", "sent", "received"],
                [[str(r["interfaces"]), number(r["tx"]), number(r["rx"])]
                 for r in doc["interfaces"]])
    yield Table("The cost of attached idle interfaces to a UDP packet between sockets, which takes "
                f"{doc['idle']['packet_ns']} ns", ["interfaces", "ns per packet"],
                [*([["empty programs, as one has", number(doc["idle"]["empty_ns"])]] if "empty_ns" in doc["idle"] else []),
                 *([str(r["interfaces"]), r.get("why") or number(r["ns"])] for r in doc["idle"]["rows"])])
    yield of_place(doc.get("place", []))
    keys = {}
    for r in doc["keys"]:
        keys.setdefault(r["keys"], {})[r["meter"]] = r
    meters = list(dict.fromkeys(r["meter"] for r in doc["keys"]))
    yield Table("A keyed map that fills up (it holds 4096), ns per packet above an empty program; "
                "every packet has the next key",
                ["keys", *(head for m in meters for head in (m, "lost, %"))],
                [[str(k), *(cell for m in meters for cell in
                            (number(keys[k][m]["ns"], 1), number(keys[k][m]["lost"], 1)))]
                 for k in keys])


def of_place(found):
    """ns per packet, and its quartiles, of an interface by its place among those attached."""
    cells = {(r["case"], r["link"]): "{} ({} to {})".format(*(number(v) for v in (r["ns"], *r["spread"]))) for r in found}
    return Table("The cost of the default meters to a UDP packet between sockets, by the clock, by the interface's place "
                 "among those attached: ns and quartiles", ["", *CLOCKS.values()],
                 [[case, *(cells.get((case, link), "-") for link in CLOCKS)] for case in dict.fromkeys(c for c, _ in cells)])


def of_questions(doc):
    def side(row):
        return [number(row and row["ns"], 1), number(row and row["start"])]
    yield Table("Questions to probes, ns per packet by the clock; ms until attached",
                ["", "nicprobe", "until attached", "bpftrace", "until attached", "an empty program",
                 "program of nicprobe, above an empty one"],
                [[r["what"], *side(r["ours"]), *side(r["theirs"]), number(r["empty"]["ns"], 1),
                  number(r["inside"]["ns"] if "inside" in r else None, 1)]
                 for r in doc["rows"]])


def of_lifecycle(doc):
    yield Table("The commands, ms; "
                f"{doc['machine']['possible_cpus']} possible CPUs",
                ["queues", "meters", "attach", "a further one", "show", "show, drops", "detach", "the first of two", "true",
                 "CPU of show", "with drops", "calls of show", "with drops",
                 "memory of maps, MB"],
                [[str(r["queues"]), r["meters"],
                  *(number(r[k]["ms"], 1) if k in r else "-"
                    for k in ("attach", "further", "show", "show_drops", "detach", "first_of_two", "true")),
                  *(number(r[k]["cpu_ms"], 1) for k in ("show", "show_drops")),
                  *(str(sum(calls.values())) if calls else "-" for calls in r["syscalls"].values()),
                  number(r["bytes"] / 1e6, 1)] for r in doc["rows"]])
    most = doc["rows"][-1]
    largest = sorted(most["memory"].items(), key=lambda kv: -kv[1])[:8]
    yield Table(f"The largest maps of {most['queues']} queues, meters: {most['meters']}",
                ["map", "kB"], [[name, number(size / 1e3)] for name, size in largest])


def of_faces(doc):
    watched = doc["watched"]
    yield Table(f"Watching {doc['queues']} queues, all meters, once a second", ["", "% of a CPU", "bytes"],
                [["top", number(watched["top"]["cpu_percent"], 2), f"{watched['top']['bytes_per_second']} per second, to the terminal"],
                 ["record", number(watched["record"]["cpu_percent"], 2), f"{watched['record']['mb_per_hour']} MB per hour"]])
    yield Table(f"A scrape of serve, {doc['queues']} queues, all meters; medians", ["", "ms", "ms of CPU", "series", "kB"],
                [[r["what"], number(r["ms"], 1), number(r["cpu_ms"], 1), str(r["series"]), number(r["bytes"] / 1e3)]
                 for r in doc["rows"]])


def of_connections(doc):
    yield Table(f"A TCP connection, which takes {number(doc['rows'][0]['base'] / 1e3, 1)} us of CPU time: what is added, ns and quartiles",
                ["", "ns", "from", "to"],
                [[r["what"], number(r["ns"]), *(number(q) for q in r["spread"])] for r in doc["rows"]])
    yield Table("Not measured", ["", "why"], [[r["what"], r["why"]] for r in doc.get("absent", [])])


OF = {"packets": of_packets, "dispatch": of_dispatch, "events": of_events, "throughput": of_throughput, "scale": of_scale,
      "lifecycle": of_lifecycle, "faces": of_faces, "questions": of_questions,
      "connections": of_connections}


def tables(part, doc):
    """The tables of a part that have rows."""
    return [t for t in OF[part](doc) if t.rows]


def measured(got, unit):
    return "-" if got is None else f"{got:.2f}" if not unit else f"{got:.1f} {unit}"


def reached(bar):
    """Reached or missed; and where not even empty programs reach it, or such that only count, or tell the same, or the
    kernel that loads ours, what these take."""
    if bar.got is None:
        return "not measured"
    if bar.got <= bar.most:
        return "reached"
    lose = "lose" if bar.unit == "%" else "add"
    if bar.floor is not None and bar.floor > bar.most:
        return (f"missed, and the kernel takes {measured(bar.floor, bar.unit)} to verify the programs" if bar.unit == "ms"
                else f"missed, and empty programs alone {lose} {measured(bar.floor, bar.unit)}")
    if bar.least is not None and bar.least > bar.most:
        return f"missed, and programs that only count {lose} {measured(bar.least, bar.unit)}"
    if bar.same is not None and bar.same > bar.most:
        return f"missed, and programs for the same figures alone {lose} {measured(bar.same, bar.unit)}"
    return "missed"


def of_bars(docs, earlier=None):
    """`earlier`: {"date", "values": {figure: value}} of a run before, on whatever machine, or None."""
    rows = []
    for bar in bars.bars(docs):
        then = [measured(earlier["values"].get(bars.name(bar.what)), bar.unit)] if earlier else []
        rows.append([reached(bar), measured(bar.got, bar.unit), *then,
                     *(measured(got, bar.unit) for got in (bar.floor, bar.least)),
                     f"{bar.most:g}{' ' + bar.unit if bar.unit else ''}", bar.what])
    return Table("Upper limits", ["", "measured", *([earlier["date"]] if earlier else []),
                                  "empty programs, or verifying", "programs that only count", "limit", "figure"], rows)

# SPDX-License-Identifier: GPL-2.0
"""Upper limits for the figures, and the figures that they apply to."""
from collections import namedtuple

# `floor`: the same figure of empty programs, as many and on the same hooks; of an attach, of the kernel that verifies
# its programs; None: not measured. `least`: the same of programs that only count there, or None; `same`: of
# programs that tell the same of a packet and nothing else, or None
Bar = namedtuple("Bar", "what unit most got floor least same", defaults=(None, None, None))
# phase, bpftrace's tracepoint, and ours, after which our program is named
EVENTS = [("rx", "napi_gro_receive_entry", "napi_gro_receive_entry"),
          ("rx", "netif_receive_skb", "netif_receive_skb"),
          ("tx", "net_dev_queue", "net_dev_queue"),
          ("tx", "net_dev_xmit", "net_dev_start_xmit")]


def packet(doc, hook, meters, size=64, ecn="ect0", build="nicprobe"):
    """The matching row of packets.json, or None."""
    for row in doc["rows"]:
        if (row["build"], row["hook"], row["meters"], row["size"], row["ecn"]) == \
                (build, hook, meters, size, ecn):
            return row
    return None


def events(doc, case, phase=None, programs="", shape="64 B", in_flight=2000):
    """The matching rows of events.json; `programs`: a prefix of their names, or a tuple of them."""
    return [row for row in doc["rows"]
            if (row["case"], row["shape"], row["in_flight"]) == (case, shape, in_flight) and
            row["phase"] == (phase or row["phase"]) and row["program"].startswith(programs)]


def clock(doc, case, link="sockets, tap"):
    """ns per UDP packet between sockets, or None."""
    return next((row["ns"] for row in doc.get("clock", []) if (row["case"], row["link"]) == (case, link)), None)


def per_packet(rows):
    return sum(row["per_packet"] for row in rows) if rows else None


def to_netsize(doc, case):
    """[(event, our ns, bpftrace's ns)]"""
    out = []
    for phase, theirs, ours in EVENTS:
        a = [row for row in events(doc, case, phase) if row["program"] == ours]
        b = [row for row in events(doc, "netsize", phase) if row["hook"] == theirs]
        if a and b:
            out.append((ours, a[0]["net"], b[0]["net"]))
    return out


def txlat(doc, way, in_flight):
    """(start and completion programs, all programs, nettxlat) in ns per packet sent."""
    at = {"in_flight": in_flight}
    ends = [row for row in events(doc, f"txlat {way}", "tx", **at)
            if row["program"] in ("net_dev_start_xmit", "consume_skb")]
    return (per_packet(ends),
            per_packet(events(doc, f"txlat {way}", "tx", **at)),
            per_packet(events(doc, "nettxlat", "tx", **at)))


def idle(doc, way, case="idle"):
    """The most expensive program of an idle interface."""
    rows = events(doc, f"{case} {way}")
    return max(rows, key=lambda row: row["net"]) if rows else None


def loss(doc, link, case, kind="udp"):
    """Percent; None: not measured, or too little of it undisturbed."""
    for row in doc["rows"]:
        if (row["link"], row["case"], row["traffic"]) == (link, case, kind):
            return None if row.get("disturbed") else row["loss"]
    return None


def lifecycle(doc, queues, meters, what):
    for row in doc["rows"]:
        if (row["queues"], row["meters"]) == (queues, meters):
            return row[what]["ms"] if what in row else None
    return None


def ratio(a, b):
    return a / b if a is not None and b else None


def of_packets(doc):
    row = packet(doc, "xdp", "all")
    yield ("all packet meters on the XDP hook, 64 B, above an empty program", "ns", 6.7,
           row and row["above_empty"]["median"])
    row = packet(doc, "xdp", "all", ecn="ce")
    yield ("the same, marked CE", "ns", 10, row and row["above_empty"]["median"])


def of_events(doc):
    for case, what in (("pktsize btf", "sizes only, like netsize"),
                       ("headline btf", "headline meters")):
        ratios = [ours / theirs for _, ours, theirs in to_netsize(doc, case)]
        yield (f"tracepoints of a hook, {what}, relative to netsize: worst of four", "", .6,
               max(ratios, default=None))
    for way, depth in ("btf", 64), ("btf", 2000):
        ends, whole, theirs = txlat(doc, way, depth)
        for got, what in (ends, "start and completion"), (whole, "all programs"):
            yield (f"txlat, {what}, relative to nettxlat; {depth} in flight", "", .35,
                   ratio(got, theirs))
    yield ("txlat, by the clock, relative to nettxlat; UDP, sockets, tap", "", .3,
           ratio(clock(doc, "txlat btf"), clock(doc, "nettxlat")))
    for case, what in ("idle", "by default"), ("idle-all", "all meters"):
        row = idle(doc, "btf", case)
        name = f" ({row['program']})" if row else ""
        yield (f"idle interface, {what}: worst program{name}, per event", "ns", 5,
               row and row["net"])


# link, traffic, set of meters, most percent of the rate
LOSSES = [("sockets, tap", "udp", "default", 12), ("sockets, veth", "udp", "default", 15),
          ("live frames, veth", "udp", "default", 20), ("live frames, tap", "udp", "default", 25),
          ("sockets, tap", "tcp", "default", 3), ("sockets, veth", "tcp", "default", 8),
          ("sockets, tap", "udp", "all", 25)]


def of_throughput(doc):
    for link, kind, meters, most in LOSSES:
        theirs = loss(doc, link, "tcpdump", kind)
        beside = f" (tcpdump: {theirs:.1f}%)" if theirs is not None else ""
        yield (f"loss of packet rate, {meters} meters, {kind.upper()}, {link}{beside}", "%", most,
               *(loss(doc, link, f"{case}, {meters}", kind)
                 for case in ("nicprobe", "empty programs", "programs that only count", "programs for the same figures")))
    for link in "live frames, veth", "live frames, tap":
        theirs = loss(doc, link, "bpftrace netsize")
        beside = f" (bpftrace's netsize: {theirs:.1f}%)" if theirs is not None else ""
        yield (f"loss of packet rate, headline meters, 64 B UDP, {link}{beside}", "%", 3,
               *(loss(doc, link, case) for case in ("nicprobe, headline", "empty programs, headline")))
    ours, empty = (loss(doc, "live frames, veth", case) for case in ("nicprobe, headline", "empty programs, headline"))
    yield ("headline meters above empty programs, loss of packet rate, live frames, veth", "points", 4,
           None if ours is None or empty is None else ours - empty)


def of_scale(doc):
    idle_ = {row["interfaces"]: row.get("ns") for row in doc["idle"]["rows"]}
    for nr in 1, 4, 16, 64:
        if nr in idle_:
            yield (f"added by {nr} idle interface{'s' * (nr > 1)} to a UDP packet between sockets of another, "
                   f"which takes {doc['idle']['packet_ns']} ns", "ns", 250, idle_[nr], doc["idle"].get("empty_ns"))
    if 16 in idle_:
        yield ("added by 16 idle interfaces, relative to 1", "", 1.1,
               doc["idle"].get("in_turns") or ratio(idle_[16], idle_[1]))


def of_lifecycle(doc):
    for meters in "default", "all":
        yield f"show of 64 queues, meters: {meters}", "ms", 4, lifecycle(doc, 64, meters, "show")
    yield ("show of 64 queues, meters: all, with drops", "ms", 10,
           lifecycle(doc, 64, "all", "show_drops"))
    least = next((row.get("verified_ms") for row in doc["rows"] if (row["queues"], row["meters"]) == (64, "all")), None)
    yield "attach with all meters, 64 queues", "ms", 200, lifecycle(doc, 64, "all", "attach"), least
    yield "attach of a further interface, all meters, 64 queues", "ms", 60, lifecycle(doc, 64, "all", "further"), least


def of_faces(doc):
    watched, serve = doc["watched"], doc["rows"][0]
    yield "top of 64 queues, all meters, once a second", "% of a CPU", 1, watched["top"]["cpu_percent"]
    yield "record of 64 queues, all meters, once a second", "% of a CPU", .5, watched["record"]["cpu_percent"]
    yield "the recording's size", "MB per hour", 20, watched["record"]["mb_per_hour"]
    yield "a scrape of serve, 64 queues, all meters", "ms", 10, serve["ms"]
    yield "the series of that scrape", "series", 1500, serve["series"]


def of_questions(doc):
    for row in doc["rows"]:
        if row["theirs"]:
            yield (f"trace: {row['what']}, by the clock, relative to bpftrace", "", .6, ratio(row["ours"]["ns"], row["theirs"]["ns"]))
        if "none pass" in row["what"]:
            yield f"trace: {row['what']}, above an empty program", "ns", 10, row["inside"]["ns"] if "inside" in row else None
    yield "trace: start to attached, the slowest question", "ms", 300, max(row["ours"]["start"] for row in doc["rows"])


OF = {"packets": of_packets, "events": of_events, "throughput": of_throughput, "scale": of_scale,
      "lifecycle": of_lifecycle, "faces": of_faces, "questions": of_questions}


def name(what):
    """A figure without what is told beside it."""
    return what.split(" (")[0].split(", which takes")[0]


def bars(docs):
    """[Bar] of the parts that were measured; `got` is None for a figure that was not."""
    return [Bar(*bar) for part, of in OF.items() if part in docs for bar in of(docs[part])]

#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Writes the figures as a page with plots, and quotes them in README.md.
usage: bench/page.py DIR          write DIR/README.md and its plots from DIR/*.json
       bench/page.py DIR README   and replace the quotes between the two marks in README
       bench/page.py --earlier DIR    keep the limits' figures of DIR as those of an earlier run
"""
import json
import os
import re
import sys

import bars
import machine
import plots
import tables

PARTS = ["packets", "dispatch", "events", "throughput", "scale", "lifecycle", "faces", "questions",
         "connections"]
BEGIN, END = "<!-- from make bench -->", "<!-- end of make bench -->"

ABOUT = {
    "packets": """All packet meters are parts of one XDP or tc program.
The kernel runs the program 20000 times on one packet (`BPF_PROG_TEST_RUN`), alternating with an empty program; a load's figure is the median difference of the quietest third of the pairs.
By the place among 64 bytes that the kernel draws for it, a program takes up to 3 ns more or less: the figures are medians and quartiles of 15 loads.
`GSO` is a buffer of two packets, which XDP cannot receive; packets marked `CE` are also counted by source.""",
    "dispatch": """What the kernel takes to run a program at all: run-time statistics begin after it.
Programs are attached to the tracepoint `netif_receive_skb` of a veth that receives live frames; the figure is the CPU time per packet with them, minus that without, measured in turns, in laps as for the throughput.
A *stub* is what a packet of an interface that is not measured would meet if all meters shared one program.""",
    "events": """The other meters use tracepoints.
The kernel keeps run-time statistics of every program while frames are sent and received on a tap; each frame takes a NAPI poll, and each received frame is dropped: the worst case.
The figure of an empty program on the same tracepoint in the same run is subtracted.
*By the clock* is what a UDP packet between sockets takes more than with nothing attached, dispatch of the programs included: on a tap that sends it, and on a veth that receives it.
For comparison, bpftrace runs scripts that do the same work (`bench/rivals.py`); its ipecn uses a tracepoint instead of a kprobe, and counts only 1000 packets.
txlat and qdisc alone follow every packet here (`--sample 1`), skblife one in 64; flow, the default meters and all meters follow as many as by default.""",
    "throughput": """The packet rate of one CPU: without, with, with, without.
It is the rate under load that lasts: what is attached first meets packets for 160 ms that are not measured, or txlat and qdisc would still follow each, as they do in a burst of up to 10000.
The loss is the difference in packets (TCP: bytes) per CPU second (per second if the kernel accounts softirq time separately), so that other work on the machine counts less; the median of laps of 12 ms.
Where the core is shared, with another virtual machine for instance, all takes longer while the other works.
So between two laps fixed work is done, and only laps count beside which it took at most 10% more than the least; `?` marks a figure of fewer than 9 such laps, which is held to no limit.
*Live frames* are 64-byte UDP packets made by the kernel (`BPF_F_TEST_XDP_LIVE_FRAMES`); they pass an XDP program and the whole stack, and end in a socket that is never read.
*Sockets* exchange 64-byte UDP packets and a TCP stream over a veth pair, or over two taps connected in user space.
The headline meters are pktsize, ecn, rxcpu and txlat; on a veth, which never completes packets, only the first three.
*Empty programs* are the same number of programs on the same hooks that do nothing, of each set of meters: the minimum cost of any meter there.
*Programs that only count* are the same, but where the default meters count packets that are sent, received, handed on past GRO or dropped, theirs add a packet of the device and its bytes to a row of its queue and CPU (a drop: of its reason and place, once, as two programs are at that event), and do no more: the minimum cost of exact counts there.
*Programs for the same figures* do that, too, and what else the default meters tell of a received packet: its size class at both points, its ECN field, the packets of its buffer, and of a drop the direction, the queue and whether more came in its tick; the minimum cost of those figures.
As they do by default, txlat and qdisc follow at most 10000 packets a second and CPU, and skblife one in 64; with `--sample 1` all three follow all.
Tools that poll are separate processes on another CPU, so their CPU time is listed separately.""",
    "scale": """How the cost per packet grows.
Array rows are found by index, so the number of queues should not matter.
Programs of other interfaces see each event, too, and return early; this cost is measured by run-time statistics, which use caches themselves, and by the rate of packets between sockets.
Of several attached interfaces only the first has its programs at the events, which call those of the others; after it has left, programs without an interface do so.
At most 254 interfaces share; each further one has programs of its own.
Keys are looked up by hash.""",
    "lifecycle": """The time of the commands, from process start to end; every queue of the tap has counts.
`show, drops`: packets were dropped, too, so `show` has to look up names of kernel functions.
`true` is a process that does nothing, run alternately with `show`: the minimum for any program.
*A further one* is the attach of a second interface, *the first of two* the detach of the first, whose programs the other may need.
The kernel verifies programs on all CPUs at once: an attach takes no less than that.
Times are wall time, so other work on the CPU adds to them: of `show` and `true` the fifth percentile is told, of the others, which are run a few times, the lower quartile; the CPU time of `show` is listed, too.
Maps have a row per queue and possible CPU, and the time to read them is proportional to both.""",
    "faces": """What it takes to watch an interface of 64 queues with all meters, while every queue has packets in each second.
`top` and `record` read once a second; their CPU time is that of one CPU, after the first seconds.
`top` draws 200 columns and 60 lines; a recording grows by what is told, and by a full frame each minute.
All run in the network namespace of the interface, as on an ordinary host.
`serve` runs as its unit runs it: without capabilities, as a user of the group that `attach --group` lets read.
A scrape is timed by the client; the CPU time is that of the server.""",
    "questions": """What `nicprobe trace` adds to a UDP packet between sockets over two taps while it answers a question, and bpftrace while a script answers the same one; by the clock, the call of the programs included.
The last column is what the program of the question itself takes, by the kernel's run-time statistics: it is less than the clock can tell from noise.
*Until attached* is the time from the start of the process until events are counted: the median of five.""",
    "connections": """The CPU time that a TCP connection over loopback takes more while the host is attached: made, 8 bytes there and back, ended; both its ends together.
No program of the host's meters runs for a packet, but of those on request: they are listed alone.
Scripts of bpftrace stand beside the meter of the same question: `tcplife` beside `session`, `soconnlat` and `tcpconnect` beside `connect`, `soaccept`, `tcpaccept` and `tcpsynbl` beside `accept`, `so1stbyte` beside `firstbyte`, `tcpnagle` beside `tcpwait`, `tcpretrans` and `tcpdrop` beside `tcp`, `tcpstates` and `tcpwin` beside `nicprobe host states` and `window`.
Those of Debian (tcpconnect, tcpaccept, tcpretrans, tcpdrop, tcpsynbl) print a line or count, as they do; the others are written for the bench, and aggregate.""",
}


def save(doc, path):
    """One row per line, for readable diffs."""
    def lines(value):
        return "[\n  " + ",\n  ".join(json.dumps(v) for v in value) + "]"

    fields = (f" {json.dumps(key)}: {lines(v) if isinstance(v, list) and v else json.dumps(v)}"
              for key, v in doc.items())
    with open(path, "w", encoding="utf-8") as f:
        f.write("{\n" + ",\n".join(fields) + "\n}\n")


def load(folder):
    """{part: doc} of the parts that were measured."""
    docs = {}
    for part in PARTS:
        path = os.path.join(folder, f"{part}.json")
        if os.path.exists(path):
            with open(path, encoding="utf-8") as f:
                docs[part] = json.load(f)
    return docs


def earlier(folder):
    """The figures of an earlier run to tell beside those of this one, by `page.py --earlier`; or None. "what", if
    somebody wrote that in, says which run it was."""
    path = os.path.join(folder, "earlier.json")
    if not os.path.exists(path):
        return None
    with open(path, encoding="utf-8") as f:
        return json.load(f)


def remember(docs, folder):
    values = {bars.name(bar.what): round(bar.got, 2) for bar in bars.bars(docs) if bar.got is not None}
    with open(os.path.join(folder, "earlier.json"), "w", encoding="utf-8") as f:
        json.dump({"date": max(doc["date"] for doc in docs.values()), "values": values}, f, indent=1)
        f.write("\n")


def markdown(table):
    """Text is left-aligned, numbers are right-aligned."""
    numbers = [n > 0 and any(row[n][:1].isdigit() for row in table.rows)
               for n in range(len(table.heads))]
    return "\n".join([f"**{table.title}**", "", "| " + " | ".join(table.heads) + " |",
                      "|" + "|".join("--:" if n else "---" for n in numbers) + "|",
                      *("| " + " | ".join(row) + " |" for row in table.rows)])


def elsewhere(docs, part):
    """Where a part was measured, if on another machine than the first one; else ""."""
    first, own = next(iter(docs.values()))["machine"], docs[part]["machine"]
    return "" if own == first else f"on {machine.line(own)}"


def shared(doc):
    """How much of the time nobody else used the core, of a part that was measured in laps."""
    percent = doc.get("undisturbed", doc.get("idle", {}).get("undisturbed"))
    return [] if percent is None else [f"Nobody disturbed {percent}% of the laps."]


def write(docs, folder):
    """Writes README.md and the plots."""
    first = next(iter(docs.values()))
    dates = sorted({doc["date"] for doc in docs.values()})
    out = ["<!-- SPDX-License-Identifier: GPL-2.0 -->", "# What nicprobe costs", "",
           f"Measured by `make bench{'-quick' if first['quick'] else ''}` "
           f"{' and '.join(dates)} on {machine.line(first['machine'])}; "
           f"{sum(doc['seconds'] for doc in docs.values())} s in total, with a load average of "
           f"{min(d['load'] for d in docs.values())} to {max(d['load'] for d in docs.values())}.",
           "Every figure that is compared comes from the same run, in turns; what counted wrong "
           "while it was measured would have ended the run.",
           *filter(None, [machine.mitigated(first["machine"])]), ""]
    if all(part in docs for part in PARTS):
        out += [*whole(docs), ""]
    before = earlier(folder)
    out.append(markdown(tables.of_bars(docs, before)))
    if before:
        out += ["", before.get("what") or f"The column {before['date']} is of another run: compare it with care, as "
                "machines differ in what a call by address costs."]
    for part, doc in docs.items():
        where = elsewhere(docs, part)
        out += ["", f"## {part.capitalize()}", "", *([f"Measured {where}: compare nothing here with other parts.", ""] if where else []),
                ABOUT[part], *shared(doc), ""]
        drawing = plots.of(part, doc)
        if drawing:
            with open(os.path.join(folder, f"{part}.svg"), "w", encoding="utf-8") as f:
                f.write(drawing)
            out += [f"![{part}]({part}.svg)", ""]
        out.append("\n\n".join(map(markdown, tables.tables(part, doc))))
    with open(os.path.join(folder, "README.md"), "w", encoding="utf-8") as f:
        f.write("\n".join(out) + "\n")


BEFORE = [("{:.1f}% of the packet rate of UDP sockets through a tap", "loss of packet rate, default meters, UDP, sockets, tap"),
          ("{:.1f}% through a veth", "loss of packet rate, default meters, UDP, sockets, veth"),
          ("{:.0f} ns for 1 idle interface", "added by 1 idle interface to a UDP packet between sockets of another"),
          ("{:.0f} ns for 16", "added by 16 idle interfaces to a UDP packet between sockets of another"),
          ("{:.1f} ns on XDP", "all packet meters on the XDP hook, 64 B, above an empty program"),
          ("{:.0f} ms for `attach`", "attach with all meters, 64 queues"),
          ("{:.0f} ms for `show`", "show of 64 queues, meters: all")]


def was(before):
    """What README.md has of an earlier run, if all of that was measured then; else ""."""
    if not before or not set(figure for _, figure in BEFORE) <= set(before["values"]):
        return ""
    told = ", ".join(text.format(before["values"][figure]) for text, figure in BEFORE)
    return f" When each meter had programs of its own ({before['date']}), it took {told}."


def quoted(docs, before):
    """What README.md has of it."""
    yield (f"Measured by `make bench` on {machine.line(docs['packets']['machine'])}; "
           "nanoseconds are those above an empty program of the same kind in the same run. "
           "[All figures and plots](bench/results/README.md); "
           f"[those of an Intel Xeon](bench/results/xeon/README.md), of 2026-11-25.{was(before)}")
    yield "\n".join(whole(docs))


def whole(docs):
    """What it costs in a few lines."""
    e, t = docs["events"], docs["throughput"]
    packet = [bars.packet(docs["packets"], hook, "all", ecn=ecn)["above_empty"]["median"]
              for hook, ecn in (("xdp", "ect0"), ("xdp", "ce"), ("tc", "ect0"))]
    yield from host(t, docs["scale"])
    yield ("- All packet meters on XDP: {:.1f} ns per packet of 64 bytes, {:.1f} ns if it is marked CE; "
           "on tc {:.1f} ns. A 64-byte frame at 100 Gbit/s takes 6.7 ns.").format(*packet)
    costs = [f"{bars.per_packet(bars.events(e, case, phase)):.0f} ns"
             for case in ("headline btf", "nicprobe btf", "all btf") for phase in ("tx", "rx")]
    ends, _, theirs = bars.txlat(e, "btf", 64)
    yield ("- By tracepoints: `pktsize`, `ecn`, `rxcpu` and `txlat` take {} per packet sent and {} per "
           "packet received; the default meters {} and {}; all meters {} and {}. "
           "`txlat` takes {:.0f} ns at its two ends, bpftrace's nettxlat {:.0f} ns.").format(*costs, ends, theirs)
    lost = [f"{tables.number(bars.loss(t, link, case), 1)}%" for link in ("live frames, veth", "sockets, tap")
            for case in ("nicprobe, headline", "nicprobe, all", "bpftrace netsize", "tcpdump")]
    yield ("- Throughput lost, 64-byte packets: XDP_PASS into the stack of a veth {} with the same meters "
           "(but `txlat`), {} with all, {} with bpftrace's netsize, {} with tcpdump; UDP sockets through a "
           "tap {}, {}, {} and {}.").format(*lost)
    at = [bars.lifecycle(docs["lifecycle"], 64, "all", what)
          for what in ("attach", "show", "show_drops", "detach")]
    yield ("- All meters on 64 queues: `attach` takes {:.0f} ms, `show` {:.0f} ms ({:.0f} ms if there are "
           "drops), `detach` {:.0f} ms.").format(*at)
    yield ("- `trace`, counting packets by a key: {:.0f} ns per packet, and {} ms until it is attached; bpftrace with the same "
           "question: {:.0f} ns and {} ms.").format(*(docs["questions"]["rows"][0][who][what] for who in ("ours", "theirs")
                                                     for what in ("ns", "start")))
    rows, where = {row["what"]: row for row in docs["connections"]["rows"]}, elsewhere(docs, "connections")
    yield ("- The host's meters run no program for a packet; a TCP connection over loopback, made and ended, takes {:.0f} us of CPU "
           "time, and {:.1f} us more with all of them; {:.1f} us with `session` alone, and {:.1f} us with a tcplife of bpftrace{}.").format(
               *(us / 1e3 for us in (rows["session alone"]["base"], *(rows[what]["ns"] for what in (
                   "all meters of the host", "session alone", "bpftrace tcplife")))), where and f" ({where})")


def host(t, scale):
    """What attaching costs the host, in three lines."""
    def lost(link, kind):
        return [tables.number(bars.loss(t, link, case, kind), 1) for case in
                ("nicprobe, default", "empty programs, default", "tcpdump")]

    whole = [bars.loss(t, link, "nicprobe, default, --sample 1") for link in ("sockets, tap", "sockets, veth")]
    sampled = "" if None in whole else f"with `--sample 1`, every packet followed, {whole[0]:.1f}% and {whole[1]:.1f}%; "
    yield ("- What `attach` turns on by default takes {}% of the packet rate of UDP sockets through a tap, {}% through a veth; {}"
           "programs that do nothing, at the same places of the kernel, take {}% and {}%, tcpdump {}% and {}%."
           ).format(*(n for nr, both in enumerate(zip(lost("sockets, tap", "udp"), lost("sockets, veth", "udp")))
                      for n in (*both, *([] if nr else [sampled]))))
    yield ("- The meters `pktsize`, `ecn`, `rxcpu` and `txlat` alone take {}% through the tap; of TCP through it the default takes "
           "{}%.").format(tables.number(bars.loss(t, "sockets, tap", "nicprobe, headline"), 1), lost("sockets, tap", "tcp")[0])
    yield ("- Attached but idle interfaces cost the packets of others: a UDP packet between sockets takes {} ns; {}. Programs that "
           "do nothing, at the same places, add {:.0f} ns.").format(*idle_all(scale), scale["idle"]["empty_ns"])


def idle_all(doc):
    known = [row for row in doc["idle"]["rows"] if "ns" in row]
    told = [row for row in known if row["interfaces"] == 16 or row in (known[0], known[-1])]
    return doc["idle"]["packet_ns"], ", ".join(f"{r['interfaces']} idle interface{'s add' if r['interfaces'] > 1 else ' adds'} "
                                               f"{r['ns']:.0f} ns" for r in told)


def quote(docs, before, path):
    missing = [part for part in PARTS if part not in docs]
    if missing:
        sys.exit(f"bench: cannot update {path}: {', '.join(missing)} not measured")
    with open(path, encoding="utf-8") as f:
        text = f.read()
    inside = f"{BEGIN}\n" + "\n\n".join(quoted(docs, before)) + f"\n{END}"
    text, found = re.subn(f"{BEGIN}.*{END}", lambda _: inside, text, flags=re.S)
    if not found:
        sys.exit(f"bench: cannot update {path}: it has no {BEGIN}")
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


if __name__ == "__main__":
    keep = sys.argv[1:2] == ["--earlier"]
    if keep:
        del sys.argv[1]
    if len(sys.argv) not in (2, 3):
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    found = load(sys.argv[1])
    if not found:
        sys.exit(f"bench: no results in {sys.argv[1]}\n  try: make bench")
    if keep:
        remember(found, sys.argv[1])
    write(found, sys.argv[1])
    if len(sys.argv) == 3:
        quote(found, earlier(sys.argv[1]), sys.argv[2])

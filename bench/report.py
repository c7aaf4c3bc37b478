# SPDX-License-Identifier: GPL-2.0
"""The bench's figures as tables, and whether they are as good as they must be."""


def cpu():
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        for line in f:
            if line.startswith("model name"):
                return line.split(":")[1].strip()
    return "unknown"


def packet(result, hook, meters, size=64, ecn="ect0", build="nicprobe"):
    for row in result["packet"]:
        if (row["build"], row["hook"], row["meters"], row["size"], row["ecn"]) == \
                (build, hook, meters, size, ecn):
            return row["above_empty"]["median"]
    return None


def tracing(rows, case, phase, programs=""):
    """`programs`: how their names begin, one or several."""
    return [row for row in rows if row["case"] == case and row["phase"] == phase and
            row["program"].startswith(programs)]


def per_packet(rows):
    return sum(row["per_packet"] for row in rows) if rows else None


def meters(known, programs, rows):
    """{meter: {what it costs a packet that is sent or received, alone; its programs}}. Net of empty
    programs on the same hooks; an idle program: nothing of the event is of its interface."""
    out = {}
    for meter, why in known.items():
        mine = [{"program": program, "phase": phase, **of(rows, meter, phase, program)}
                for phase in ("tx", "rx") for program in programs.get(meter, [])]
        out[meter] = {"on_request": why, "per_packet": {
            way: {phase: sum(row["per_packet"] for row in tracing(rows, f"{meter} {way}", phase))
                  for phase in ("tx", "rx")} for way in ("btf", "raw")},
            "programs": [row for row in mine if len(row) > 2]}
    return out


def of(rows, meter, phase, program):
    """A program's figures in the runs that had it."""
    out = {}
    for case, what in ((meter, ""), ("idle-all", "idle_"), ("idle", "idle_")):
        for way in ("btf", "raw"):
            for row in tracing(rows, f"{case} {way}", phase):
                if row["program"] == program:
                    out["hook"] = row["hook"]
                    out[what + way] = {key: row[key] for key in ("net", "spread", "per_packet")}
    return out


def ratio(a, b):
    return a / b if a is not None and b else None


def bars(result):
    """[{what, bar, got, pass}]; got is None where it could not be measured."""
    out = [("all packet meters on XDP, 64 B, ns above an empty program", 6.7,
            packet(result, "xdp", "all"))]
    for what, depth, way, ends in (
            ("its two ends", "shallow", "btf", ("txlat_hand", "txlat_used")),
            ("all its programs", "shallow", "btf", "txlat"),
            ("its two ends", "tracing", "btf", ("txlat_hand", "txlat_used")),
            ("all its programs", "tracing", "btf", "txlat"),
            ("all its programs", "tracing", "raw", "txlat")):
        # alone, as nettxlat is: beside others they have to share the caches
        ours = per_packet(tracing(result[depth], f"txlat {way}", "tx", ends))
        theirs = per_packet(tracing(result[depth], "nettxlat", "tx"))
        out.append((f"txlat ({way}, {what}) to bpftrace's nettxlat, a packet, "
                    f"{'64' if depth == 'shallow' else '2000'} in flight", .4, ratio(ours, theirs)))
    for way in ("btf", "raw"):
        idle = [row["net"] for phase in ("tx", "rx")
                for row in tracing(result["tracing"], f"idle {way}", phase)]
        out.append((f"attached to another interface ({way}), the dearest program, ns an event", 5,
                    max(idle, default=None)))
    return [{"what": what, "bar": bar, "got": got, "pass": got is not None and got <= bar}
            for what, bar, got in out]


def show(result):
    print(f"{result['cpu']}, Linux {result['kernel']}, load {result['load']:.1f}, "
          f"{result['seconds']} s\n")
    print("BPF_PROG_TEST_RUN, ns above an empty program: median (quartiles) of the quietest third")
    print(f"  {'':4} {'meters':11}" + "".join(f"{s:>7} B {e:<11}" for s in (64, 512, 1500)
                                             for e in ("ECT0", "CE")))
    for hook in ("xdp", "tc"):
        for name in dict.fromkeys(r["meters"] for r in result["packet"] if r["hook"] == hook):
            if name == "empty":
                continue
            row = [r["above_empty"] for r in result["packet"]
                   if (r["hook"], r["meters"], r["build"]) == (hook, name, "nicprobe")]
            print(f"  {hook:4} {name:11}" + "".join(
                f"{a['median']:7.1f} ({a['p25']:.1f}..{a['p75']:.1f})".ljust(20) for a in row))
    show_meters(result)
    show_tracing({**result, "tracing": [row for row in result["tracing"] if
                                        row["case"].split()[0] not in result["meters"]]})
    print()
    for bar in result["bars"]:
        got = "not measured" if bar["got"] is None else f"{bar['got']:.2f}"
        print(f"  {'pass' if bar['pass'] else 'MISS'}  {bar['what']}: {got}, at most {bar['bar']}")


def show_meters(result):
    """A table a meter."""
    print("\nA meter alone: ns above empty programs, for each packet sent (tx) and received (rx);\n"
          "and of its programs for each event: on its own interface, and on an idle one")
    for way in ("btf", "raw"):
        for name, what in (("nicprobe", "what is on by default"), ("all", "all meters")):
            print(f"  {what}, {way}: " + ", ".join(
                f"{per_packet(tracing(result['tracing'], f'{name} {way}', phase)) or 0:.0f} {phase}"
                for phase in ("tx", "rx")))
    for name, meter in result["meters"].items():
        if not meter["programs"]:
            continue
        print(f"\n {name}: a packet " + "; ".join(
            f"{way} {cost['tx']:.0f} tx, {cost['rx']:.0f} rx"
            for way, cost in meter["per_packet"].items()) + ("  (on request)" if meter["on_request"]
                                                             else ""))
        print(" " * 45 + "".join(f"{head:>10}" for head in (
            "btf", "raw", "idle btf", "idle raw", "a packet")))
        for row in meter["programs"]:
            cells = [f"{row[key]['net']:.1f}" if key in row else "-"
                     for key in ("btf", "raw", "idle_btf", "idle_raw")]
            cells.append(f"{row['btf']['per_packet']:.1f}" if "btf" in row else "-")
            print(f"  {row['phase']}  {row['program']:15} {row['hook']:24}" +
                  "".join(f"{cell:>10}" for cell in cells))


def show_tracing(result):
    print("\nRun-time statistics, ns an event: median - an empty program's = net (of all rounds)")
    show_rows("2000 frames in flight", result["tracing"])
    show_rows("64 frames in flight", result["shallow"])


def show_rows(title, rows):
    if rows:
        print(f" {title}")
    for row in rows:
        low, high = row["spread"]
        print(f"  {row['case']:13} {row['phase']}  {row['program']:23} {row['ns']:7.1f} - "
              f"{row['empty']:5.1f} = {row['net']:6.1f}  ({low:.1f}..{high:.1f})")

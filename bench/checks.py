# SPDX-License-Identifier: GPL-2.0
"""Checks of nicprobe's counts during a measurement."""
from tell import Wrong


def total(rows, metric):
    """The number of samples of a histogram, or the sum over the labels of a counter."""
    return sum(row[metric] if not isinstance(row[metric], dict) else
               row[metric].get("count", 0) if "le" in row[metric] else
               sum(row[metric].values()) for row in rows)


def by_point(rows, metric):
    """{point: count}"""
    points = dict.fromkeys((row["point"] for row in rows), 0)
    for row in rows:
        points[row["point"]] += total([row], metric)
    return points


# [(count, expected count)] of a meter, after this many buffers, with this many wire packets, passed
# every point.
COUNTS = {
    "pktsize": lambda rows, buffers, packets: [
        (got, packets if "nic" in point else buffers)
        for point, got in by_point(rows, "packet_size_bytes").items()],
    "ecn": lambda rows, buffers, packets: [
        (got, packets) for got in by_point(rows, "packets").values()],
    "rxcpu": lambda rows, buffers, packets: [(total(rows, "packets"), packets)],
    "gso": lambda rows, buffers, packets: [
        (got, buffers) for got in by_point(rows, "buffer_size").values()],
    "napi": lambda rows, buffers, packets: [
        (round(sum(row["work"]["sum"] for row in rows)), buffers)],
    "gro": lambda rows, buffers, packets: [(total(rows, "frames"), buffers),
                                           (total(rows, "buffer_size"), buffers)],
    "qdisc": lambda rows, buffers, packets: [(total(rows, "wait_seconds"), buffers)],
    "txlat": lambda rows, buffers, packets: [(total(rows, "completion_seconds"), buffers)],
    "drop": lambda rows, buffers, packets: [(total(rows, "packets"), packets)],
}


def verify(doc, buffers, packets):
    # the kernel skips events inside a running program; nicprobe reports how many were missed
    missed = doc["lost"]["events"] * max(1, packets // (buffers or 1))
    thinned = doc.get("thinned", {})
    for meter, rows in doc["meters"].items():
        for got, want in ([(thinned[meter]["packets"], buffers)] if meter in thinned and meter in COUNTS else
                          COUNTS[meter](rows, buffers, packets) if meter in COUNTS else ()):
            if not want - missed <= got <= want:
                raise Wrong(f"{meter} counted {got}, not {want} (missed {missed})")


def at_point(doc, point):
    """Buffers or packets that pktsize counted at the point."""
    return by_point(doc["meters"]["pktsize"], "packet_size_bytes").get(point, 0)


def between(what, got, least, most):
    if not least <= got <= most:
        raise Wrong(f"{what} counted {got}, not {least}" + (f" to {most}" if most != least else ""))

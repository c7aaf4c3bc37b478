# SPDX-License-Identifier: GPL-2.0
"""Prints the figures to a terminal."""
import machine
import tables


def aligned(table):
    """Text is left-aligned, numbers are right-aligned."""
    lines = [table.heads, *table.rows]
    widths = [max(len(line[n]) for line in lines) for n in range(len(table.heads))]
    left = [n == 0 or not any(row[n][:1].isdigit() for row in table.rows)
            for n in range(len(widths))]
    for line in lines:
        yield "  " + "  ".join(cell.ljust(w) if words else cell.rjust(w)
                               for cell, w, words in zip(line, widths, left)).rstrip()


def show(table):
    print(f"\n{table.title}")
    for line in aligned(table):
        print(line, flush=True)


def part(name, doc):
    print(f"\n== {name}: {machine.line(doc['machine'])}; {doc['date']}, {doc['seconds']} s, "
          f"load {doc['load']}")
    if machine.mitigated(doc["machine"]):
        print(machine.mitigated(doc["machine"]))
    for table in tables.tables(name, doc):
        show(table)


def bars(docs):
    show(tables.of_bars(docs))


def rows(found):
    """Prints the programs of `try`."""
    for row in found:
        low, high = row["spread"]
        print(f"  {row['case']:16} {row['phase']}  {row['program']:23} {row['ns']:7.1f} - "
              f"{row['empty']:5.1f} = {row['net']:6.1f}  ({low:.1f} to {high:.1f})")
    print("\n  per packet" + " " * 10 + "sent  received")
    for case in dict.fromkeys(row["case"] for row in found):
        both = [sum(r["per_packet"] for r in found if (r["case"], r["phase"]) == (case, phase))
                for phase in ("tx", "rx")]
        print(f"  {case:18}{both[0]:8.1f}{both[1]:10.1f}")

#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Checks the driver tables name by name against the modules of Debian's kernels: drivers_test.py CACHE SERIES…

Nothing is booted or loaded: the modules are those that tests/vm/fetch unpacked. A name with a range of kernels
must be missing in the others. A wrong name put into nicprobe on purpose must be found.
"""
import glob
import json
import os
import subprocess
import sys
import tempfile
import traceback

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
NICPROBE = os.path.abspath(os.environ.get("NICPROBE", os.path.join(ROOT, "nicprobe")))
KINDS = ("functions", "tracepoints", "statistics", "interrupts")
# Existing functions without a possible trampoline, as reported by these kernels when asked live.
NO_FENTRY = {
    "6.1": {"iwl_mvm_tx_reclaim": "8 arguments", "receive_buf": "7 arguments", "mlx5e_sq_xmit_wqe": "7 arguments",
            "mlx5e_build_rx_skb": "notrace"},
    "6.12": {"mlx5e_build_rx_skb": "notrace"},
    "7.3": {},
}
failed = 0


def check(name, wrong):
    """Passes if `wrong`, the list of errors, is empty."""
    global failed
    failed += bool(wrong)
    print(f"not ok {name}: {'; '.join(wrong)}" if wrong else f"ok {name}", flush=True)


def drivers(*args, nicprobe=NICPROBE):
    return subprocess.run([nicprobe, "drivers", "-j", *args], capture_output=True, text=True, timeout=120)


def modules():
    """{module: True} for all modules named in a table."""
    every = json.loads(drivers().stdout)
    return sorted({n["module"] for d in every for k in ("functions", "tracepoints") for n in d[k]} |
                  {d["driver"] for d in every if d["functions"]})


def untrue(doc, series):
    """The errors of a table about this module."""
    wrong = [f"{doc['module']} has {'no ' if n['expected'] else ''}{n['name']}, against its range"
             for k in KINDS for n in doc.get(k, []) if "there" in n and n["there"] != n["expected"]]
    for f in doc["functions"]:
        why = NO_FENTRY[series.split("-")[0]].get(f["name"])
        if f["there"] and (f["fentry"] == bool(why) or (why or "") not in f.get("why", "")):
            wrong.append(f"fentry of {f['name']}: {f['fentry']}, {f.get('why')}")
        if f["there"] and f["kprobe"] == (why == "notrace"):
            wrong.append(f"kprobe of {f['name']}: {f['kprobe']}, {f.get('why')}")
    if doc.get("no_fentry"):
        wrong.append(doc["no_fentry"])
    return wrong


def files_of(cache, series, names):
    found = {}
    for path in glob.glob(f"{cache}/kernels/{series}/lib/modules/**/*.ko*", recursive=True):
        name = os.path.basename(path).split(".")[0].replace("-", "_")
        if name in names:
            found[name] = path
    return found


def test_series(cache, series, names):
    files = files_of(cache, series, names)
    check(f"{series}, drivers: every module is there", [n for n in names if n not in files])
    r = drivers("--check", "--btf", f"{cache}/kernels/{series}/vmlinux", *files.values())
    docs = [json.loads(line) for line in r.stdout.splitlines()]
    check(f"{series}, drivers: every module is told", [r.stderr] if len(docs) != len(files) or r.stderr else [])
    for doc in docs:
        nr = ", ".join(f"{len(doc.get(k, []))} {k}" for k in KINDS)
        check(f"{series}, drivers: {doc['module']}, {nr}", untrue(doc, series))
    check(f"{series}, drivers: exit status", [] if r.returncode == 0 else [str(r.returncode)])
    return files


def planted(cache, series, files):
    """Builds nicprobe with a wrong name, of each kind: exactly that is found, and it fails."""
    with open(NICPROBE, "rb") as f:
        program = f.read()
    for module, right, wrong, shown in (
            ("ena", "ena_io_poll", "ena_io_pill", "ena_io_pill"),
            ("igbvf", "igbvf_put_txbuf", "igbvf_put_txbof", "igbvf_put_txbof"),
            ("ice", "ice_clean_rx_irq_indicate", "ice_clean_rx_irq_indicade", "ice_clean_rx_irq_indicade"),
            ("ena", "queue_%t_tx_cnt", "queue_%t_tx_cnx", "queue_N_tx_cnx"),
            ("vmxnet3", "  rx buf alloc fail", "  rx buf alloc fale", "  rx buf alloc fale"),
            ("ena", "%i-Tx-Rx-%q", "%i-Tx-Rz-%q", "IFACE-Tx-Rz-N")):
        name = f"{series}, drivers: a wrong name planted, {shown.strip()}, is found"
        old, new = (f"\0{text}\0".encode() for text in (right, wrong))
        if program.count(old) != 1:
            check(name, [f"{right} is in the program {program.count(old)} times"])
            continue
        with tempfile.NamedTemporaryFile(delete=False) as f:
            f.write(program.replace(old, new))
        os.chmod(f.name, 0o755)
        try:
            r = drivers("--check", "--btf", f"{cache}/kernels/{series}/vmlinux", files[module], nicprobe=f.name)
        finally:
            os.unlink(f.name)
        doc = json.loads(r.stdout)
        said = untrue(doc, series)
        check(name, [] if r.returncode == 1 and doc["missing"] == 1 and len(said) == 1 and f"no {shown}," in said[0]
              else [f"status {r.returncode}, {said}"])


def other_btf(cache, series, other, files):
    """The types of another kernel are not accepted."""
    doc = json.loads(drivers("--check", "--btf", f"{cache}/kernels/{other}/vmlinux", files["igb"]).stdout)
    check(f"{series}, drivers: the types of {other} are not its own",
          [] if "do not match this vmlinux" in doc.get("no_fentry", "") and
          not any(f["fentry"] for f in doc["functions"]) else [str(doc.get("no_fentry"))])


def main(cache, *series):
    names = modules()
    files = {s: test_series(cache, s, names) for s in series}
    for s in series:
        planted(cache, s, files[s])
    for s, other in zip(series, series[1:] + series[:1]):
        if s != other:
            other_btf(cache, s, other, files[s])


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except Exception:  # its output goes into a pipe, which would lose the status
        check("drivers: the test ended", [traceback.format_exc().strip().splitlines()[-1]])
    sys.exit(1 if failed else 0)

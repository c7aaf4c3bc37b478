#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""`nicprobe bench` tells a difference from none, alternating and against a baseline, and restores the settings."""
import re
import signal
import subprocess
import tempfile

from lib.lab import *

need_root()
# A rate that any machine reaches: the test compares counts, not times.
STEADY = ("rx-drop", "--generator", "packet", "--rate", "4000", "--threads", "1", "--flows", "256", "--seconds", ".3")
a, b = Namespace("a"), Namespace("b")
veth(a, b)
narrow_all(a), narrow_all(b)
IFACE = f"{a}/eth0"
PPS = "rx-drop packets_per_second"
QUEUE = "rx-drop queue 0 packets_per_second"


def queues(n):
    """Of both ends: a veth accepts XDP only with as many receive queues as the other end has transmit queues."""
    return " && ".join(f"ip netns exec {netns} ethtool -L eth0 rx {n} tx {n}" for netns in (a, b))


def queues_now(netns):
    return int(re.findall(r"RX:\s+(\d+)", sh(f"ip netns exec {netns} ethtool -l eth0"))[1])


def ab(first, second, *args, load=STEADY):
    doc = json.loads(nicprobe("bench", IFACE, *load, "--ab", first, second, "--pause", ".05", "-j", *args).stdout)["ab"]
    return doc, {f["name"]: f for f in doc["figures"]}


# Ten pairs tolerate the two or three in which a busy machine sent next to nothing; six would not tolerate one.
def test_queues():
    doc, got = ab(queues(4), queues(1), "--rounds", "10", "--figure", QUEUE)
    q = got[QUEUE]
    check("bench --ab: 4 against 1 queues: queue 0 has more, and that is real",
          q["verdict"] == "real" and 100 < q["difference_percent"] < 1000 and q["interval_percent"][0] > 20, str(q))
    same("bench --ab: it says what decided", doc["decides"], QUEUE)
    same("bench --ab: each had as many rounds", (doc["order"].count("A"), doc["order"].count("B")), (10, 10))
    same("bench --ab: A is set again", (queues_now(a), queues_now(b)), (4, 4))
    check("bench --ab: all values are told", all(len(f["values_a"]) == len(f["values_b"]) == 10 for f in got.values()))


def test_gro():
    """Without GRO a veth has no NAPI, and packets are not polled; with it they are, if GRO accepts them, so no GSO
    buffers."""
    for netns in a, b:
        sh(f"ip netns exec {netns} ethtool -K eth0 tso off gso off")
    gro = [" && ".join(f"ip netns exec {netns} ethtool -K eth0 gro {to}" for netns in (a, b)) for to in ("on", "off")]
    figure = "rx-tcp polls_per_packet"
    doc, got = ab(*gro, "--rounds", "10", "--figure", figure, load=("rx-tcp", "--seconds", ".3"))
    check("bench --ab: GRO on against off: fewer polls, and that is real",
          got[figure]["verdict"] == "real" and got[figure]["difference_percent"] < -50, str(got[figure]))
    check("bench --ab: GRO is on again", "generic-receive-offload: on" in sh(f"ip netns exec {a} ethtool -k eth0"))


def test_none():
    """A against A: one in twenty may be wrong, so one of two may be."""
    alarms = sum(ab("true", "true", "--rounds", "6", "--seconds", ".1")[1][PPS]["verdict"] == "real" for _ in range(2))
    check("bench --ab: A against A: no difference", alarms <= 1, f"{alarms} of 2")


def test_rounds_end():
    """A round leaves nothing to the next: leftover programs would make each slower than the one before."""
    with tempfile.NamedTemporaryFile("r") as f:
        ab("true", f"cat /proc/$PPID/fdinfo/* | grep -c link_type >>{f.name}; true", "--rounds", "6", "--seconds", ".1")
        links = [int(n) for n in f.read().split()]
    same("bench --ab: links that a round leaves", links, [0] * 6)


def test_bad():
    for name, args, words, status in (
            ("B fails", ("--ab", "true", "echo no such ring >&2; exit 3"),
             "command B exited with status 3, with \"no such ring\"", 1),
            ("one command", ("--ab", "true"), "needs two commands", 2),
            ("no such figure", ("--ab", "true", "true", "--figure", "packet_rate"), "no figure \"packet_rate\"", 1),
            ("--ab and --save", ("--ab", "true", "true", "--save", "/tmp/x"), "cannot be combined", 2),
            ("--rounds alone", ("--rounds", "3"), "--rounds requires", 2),
            ("--save nowhere", ("--save", "/none/such"), "cannot save the baseline in /none/such", 1),
            ("--against a program", ("--against", NICPROBE), "is not a valid baseline", 1)):
        r = nicprobe("bench", IFACE, *STEADY, "--seconds", ".1", *args, check=False)
        lines = [line for line in r.stderr.splitlines() if not line.startswith("  try: ")]
        check(f"bench {name}", r.returncode == status and len(lines) == 1 and words in lines[0] and not r.stdout,
              f"{r.returncode}: {r.stderr.strip()} {r.stdout[:200]}")


def test_stop():
    """Interrupted: A is set again, and the results so far are shown."""
    p = subprocess.Popen([NICPROBE, "bench", IFACE, *STEADY, "--ab", queues(4), queues(1), "-j"],
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    check("bench --ab: B is set", until(lambda: queues_now(a) == 1, 20))
    p.send_signal(signal.SIGINT)
    out, err = p.communicate(timeout=60)
    doc = json.loads(out)["ab"]
    check("bench --ab: interrupted", p.returncode == 130 and doc["end"] == "stopped" and not err,
          f"{p.returncode} {doc['end']} {err}")
    same("bench --ab: interrupted: A is set again", (queues_now(a), queues_now(b)), (4, 4))


def test_baseline():
    with tempfile.TemporaryDirectory() as d:
        file = os.path.join(d, "baseline.json")
        nicprobe("bench", IFACE, *STEADY, "--rounds", "6", "--save", file)
        with open(file, encoding="utf-8") as f:
            doc = json.load(f)
        same("bench --save: the scenario and its options", (doc["nicprobe_baseline"], doc["scenario"],
             doc["options"]["rate"], doc["options"]["generator"], doc["rounds"]), (1, "rx-drop", "4000", "packet", 6))
        pps = next(f for f in doc["figures"] if f["name"] == PPS)
        check("bench --save: as many as were sent", all(1000 < v < 4100 for v in pps["values"]), str(pps))
        r = nicprobe("bench", IFACE, *STEADY, "--rounds", "6", "--against", file, "--tolerance", "1000", "-j", check=False)
        check("bench --against: what is tolerated", r.returncode == 0 and json.loads(r.stdout)["against"]["worse"] == 0,
              f"{r.returncode}: {r.stderr} {r.stdout}")
        # by the file, it was ten times as many per second then
        pps["values"] = [10 * v for v in pps["values"]]
        with open(file, "w", encoding="utf-8") as f:
            json.dump(doc, f)
        r = nicprobe("bench", IFACE, *STEADY, "--rounds", "6", "--against", file, "--tolerance", "20", "-j", check=False)
        got = {f["name"]: f for f in json.loads(r.stdout)["against"]["figures"]}[PPS]
        check("bench --against: a tenth is worse", r.returncode == 1 and got["worse_than_tolerance"] and
              -99 < got["difference_percent"] < -80 and not r.stderr, f"{r.returncode} {got} {r.stderr}")
        r = nicprobe("bench", IFACE, *STEADY, "--size", "100", "--against", file, check=False)
        check("bench --against: other options", r.returncode == 1 and "with size 64, and now it is 100" in r.stderr, r.stderr)


each(*[f for name, f in list(globals().items()) if name.startswith("test_")])
finish()

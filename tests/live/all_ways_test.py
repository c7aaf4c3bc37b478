# SPDX-License-Identifier: GPL-2.0
"""Every meter with each attach method disabled in turn: it counts the same, or is absent with a reason; requested by
name it then is an error, which leaves nothing behind."""
import re
import socket

from lib import left
from lib.lab import *
from lib.lives import fate
from lib.traced import traced
from lib.wire import udp_socket

need_root()
left.own_bpffs()
QUEUES = 4
NAMED = set()       # reasons seen: each meter is requested by name once per reason
WAYS = ["tp_btf", "percpu", "optional", "fentry", "kprobe", "tcx", "tc", "stack", "xdp", "dispatcher", "driver",
        "dynptr", "frags", "recorded", "xmit", "xdp,tcx,percpu,optional,frags", "xdp,driver,tc,stack,xmit"]
# What disables a meter, besides what it lacks here anyway. A packet meter is absent without any of its points.
EVENTS = {"irq", "napi", "gro", "xdp", "pool", "qdisc", "bql", "txlat", "drop", "skblife"}
RX_NIC, TX = {"ecn_source", "rxcpu", "flow"}, {"gso", "offload"}
GONE = {"tp_btf": EVENTS | TX, "xmit": TX, "xdp,driver,tc,stack,xmit": RX_NIC | TX |
        {"pktsize", "ecn", "ledger"}}
# On veth XDP is used only on request: without its tracepoints there is no rx-nic.
VETH_WAYS = {"percpu": set(), "tc": set(), "dynptr": set(), "driver": RX_NIC,
             "tp_btf": EVENTS | TX | RX_NIC | {"ledger"}, "xdp,tcx,percpu,optional,frags": set()}


def by(rows, labels, *figures):
    """{labels: figures}, without empty ones."""
    got = {}
    for r in rows:
        words = []
        for figure in figures:
            value = r[figure]
            if isinstance(value, dict):
                value = tuple(sorted(nonzero(value.get("le", value)).items())) if "sum" not in value else \
                    (value["count"], value["sum"] if "seconds" not in figure else 0)
            words.append(value)
        if any(words):
            got.setdefault(tuple(r[label] for label in labels), []).append(words)
    return {k: sorted(v) for k, v in got.items()}


def exact(meter, doc, queues):
    """The part of this meter's figures that is the same each time."""
    rows = doc["meters"][meter]
    queue = ["queue"] if queues else []
    if meter in ("pktsize", "ecn", "gso"):
        figures = {"pktsize": ["packet_size_bytes"], "ecn": ["packets"], "gso": ["buffer_size", "left"]}[meter]
        return by(rows, ["point"] + queue, *figures)
    if meter == "skblife":
        return {(way, q): fate(rows, way, queue=q) for way in ("rx", "tx") for q in (range(QUEUES) if queues else [None])}
    labels, figures = {
        "ecn_source": (["source"], ["packets"]), "rxcpu": (queue, ["packets", "bytes"]),
        "flow": (queue + ["flow"], ["estimated_packets", "estimated_bytes", "samples"]),
        "offload": (queue + ["feature", "card"], ["packets", "buffers"]),
        "napi": (queue, ["work"]), "gro": (queue, ["buffer_size", "bytes", "frames", "alone"]),
        "xdp": (["event"], ["packets"]), "pool": (queue, []), "bql": (["queue"], ["stops"]),
        "qdisc": (["queue", "qdisc"], ["wait_seconds", "dropped", "segmented", "lost"]),
        "txlat": (["queue"], ["completion_seconds", "in_flight", "lost"]),
        "drop": (queue + ["reason", "who", "direction"], ["packets", "bytes"]),
        "ledger": (["direction"], ["driver", "ours", "driver_bytes", "ours_bytes", "residue", "residue_bytes"]),
        "hwstat": (["direction", "statistic", "source"], ["value"]),
        "counters": (["source", "counter"], ["events"]),
    }[meter]
    if meter == "counters":     # those of the whole machine change, too
        rows = [r for r in rows if r["source"] != "softnet"]
    if not queues:      # with unknown queues only the sum is comparable
        sums = {}
        for key, values in by(rows, labels, figures[0]).items():
            flat = [v[0][0] if isinstance(v[0], tuple) and v[0] and isinstance(v[0][0], int) else v[0] for v in values]
            sums[key] = sum(flat) if all(isinstance(v, int) for v in flat) else len(flat) > 0
        return sums
    return by(rows, labels, *figures)


def plain(sentence):
    """A readable sentence: words, and no error number."""
    return len(sentence) >= 20 and " " in sentence and not re.search(
        r"errno|error -?\d|: -\d|\(-?\d+\)|Invalid argument|Operation not supported|libbpf", sentence)


class Tap:
    """Frames in, which IP drops; frames out, which the far end reads."""
    silent = {"offload", "xdp", "bql"}

    def __init__(self):
        self.netns = Namespace("tap")
        self.nic = tap(self.netns, "tap0", QUEUES, "--napi --steer", address="10.0.0.1/24")
        self.nic("read on")
        self.out = Nic(f"packet tap0 --queues {QUEUES}", self.netns)
        self.where = f"{self.netns}/tap0"

    def send(self):
        self.nic("reset")
        for q in range(QUEUES):
            self.nic(f"send {q} {20 + q} 200 udp src=10.0.0.2 dst=10.0.9.9 ecn=3")
            self.out(f"send {q} {30 + q} 300 udp")
        self.nic("go")
        self.out("go")
        self.nic("wait 126")
        return 86, 126


class Veth:
    """Frames in through its NAPI, which IP drops; large datagrams out, segmented in software."""
    silent = {"xdp", "bql"}

    def __init__(self):
        self.netns, self.peer = Namespace("veth"), Namespace("peer")
        veth(self.netns, self.peer, queues=1, mtu=1500)
        self.netns.ip("addr add 198.18.0.1/24 dev eth0")
        self.netns.ip("neigh add 198.18.0.2 lladdr 02:00:00:00:00:99 dev eth0")
        self.netns.run("ethtool -K eth0 gro on tx-udp-segmentation off")
        self.peer.run("ethtool -K eth0 tso off")
        self.nic = Nic("packet eth0", self.peer)
        self.where = f"{self.netns}/eth0"

    def send(self):
        self.nic("send 0 86 200 udp src=198.18.0.2 dst=198.18.9.9 ecn=3")
        self.nic("go")
        with udp_socket(self.netns) as s:
            s.setsockopt(socket.IPPROTO_UDP, 103, 1000)     # UDP_SEGMENT
            for i in range(20):
                s.sendto(bytes(10000), ("198.18.0.2", 9))
        return 86, 20


def attach_and_send(machine, cannot):
    nicprobe("attach", machine.where, "-m", "all", "--sample", 1, env={"NICPROBE_CANNOT": cannot})
    came, sent = machine.send()

    def there(doc):
        return (not doc["hooks"]["rx-stack"] or packets_at(doc, "rx-stack") >= came) and \
               (not doc["hooks"]["tx-stack"] or packets_at(doc, "tx-stack") >= sent)
    until(lambda: "pktsize" not in show(machine.where)["meters"] or there(show(machine.where)), 1)
    time.sleep(.03)
    doc = show(machine.where)
    nicprobe("detach", machine.where)
    return doc


def compare(doc, base, cannot):
    """Differences from the full set: [(meter, why)]."""
    bad = []
    for meter in doc["meters"]:
        queues = cannot != "recorded"
        got, want = exact(meter, doc, queues), exact(meter, base, queues)
        if meter in ("pktsize", "ecn", "gso"):
            want = {k: v for k, v in want.items() if doc["hooks"][k[0]]}
            if not queues:
                got, want = ({k: sorted(v) for k, v in x.items() if k[0][0] == "t"} for x in (got, want))
        if meter == "ledger":
            want = {k: v for k, v in want.items() if doc["hooks"][f"{k[0]}-nic"]}
        if got != want:
            bad.append((meter, difference(got, want)))
    return bad


def by_name(machine, meter, sentence, cannot):
    r = nicprobe("attach", machine.where, "-m", meter, env={"NICPROBE_CANNOT": cannot}, check=False)
    text = " ".join(r.stderr.split())
    there = nicprobe("show", machine.where, check=False).returncode == 0
    if there:
        nicprobe("detach", machine.where)
    check(f"{machine.where.split('/')[1]} without {cannot or 'nothing'}: -m {meter} is an error",
          r.returncode == 1 and not there and sentence.split(": ")[-1] in text and plain(text), f"{r.returncode}: {text}")


def without(machine, base, cannot, gone=frozenset()):
    """`gone`: the meters that this disables."""
    name = f"{machine.where.split('/')[1]} without {cannot or 'nothing'}"
    doc = traced(attach_and_send, machine, cannot)
    bad = compare(doc, base or doc, cannot)
    for meter in doc["meters"]:
        check(f"{name}: {meter} counts the same", meter not in dict(bad), dict(bad).get(meter))
    same(f"{name}: nothing is lost", lost(doc), {})
    known = set(base["meters"]) | set(base["absent"]) if base else set(doc["meters"]) | set(doc["absent"])
    absent = {m: s for m, s in doc["absent"].items() if m not in doc["hooks"]}
    same(f"{name}: each is there or absent", set(doc["meters"]) | set(absent), known - set(doc["hooks"]))
    for what, sentence in {**doc["absent"], **doc.get("remarks", {})}.items():
        check(f"{name}: {what}: a sentence # {sentence}", plain(sentence), sentence)
    if base:
        here = set(base["absent"]) - set(base["hooks"])
        same(f"{name}: what is absent", set(absent), here | (set(gone) & known))
    for meter, sentence in absent.items():
        if (meter, sentence) not in NAMED:
            NAMED.add((meter, sentence))
            by_name(machine, meter, sentence, cannot)
    return doc


machines = Tap(), Veth()
before = left.Before(*[m.netns for m in machines])
for machine, ways in zip(machines, ({cannot: GONE.get(cannot, set()) for cannot in WAYS}, VETH_WAYS)):
    full = without(machine, None, "")
    silent = {meter for meter, rows in full["meters"].items() if not rows} - {"pool", "xsk"}
    same(f"{machine.where.split('/')[1]}: all that there is to count for", silent, machine.silent)
    for cannot, gone in ways.items():
        without(machine, full, cannot, gone)
before.check("every way: nothing is left")

# Explicit requests.
where = machines[0].where
nicprobe("attach", where)
usual = show(where)
r = nicprobe("show", where, "skblife", check=False)
check("show of a meter that is not attached: an error", r.returncode == 1 and "skblife" in r.stderr and
      "attach" in r.stderr, f"{r.returncode}: {r.stdout} {r.stderr}")
nicprobe("detach", where)
nicprobe("attach", where, "-m", "all")
every = show(where)
nicprobe("detach", where)
asked = set(every["meters"]) - set(usual["meters"])
listed = re.sub(r"of the host: nicprobe attach host\s+only on request.*", "", nicprobe("list", "-v").stdout)
told = set(re.findall(r"only on request, -m (\w+):", listed))
same("-m all is the usual ones, and those on request", (asked, set(usual["meters"]) <= set(every["meters"])), (told - set(every["absent"]), True))
check("on request: some", {"skblife"} <= asked, str(asked))
for wrong, right in ("napii", "napi"), ("qdsic", "qdisc"), ("skblive", "skblife"):
    r = nicprobe("attach", where, "-m", f"pktsize,{wrong}", check=False)
    check(f"-m {wrong}: {right}?", r.returncode == 2 and wrong in r.stderr and right in r.stderr, f"{r.returncode}: {r.stderr}")
r = subprocess.run(["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", NICPROBE, "attach", "lo", "-m", "all"],
                   capture_output=True, text=True)
check("not root: says what it needs", r.returncode == 1 and "CAP_BPF" in r.stderr, f"{r.returncode}: {r.stderr}")
before.check("asked for: nothing is left")
finish()

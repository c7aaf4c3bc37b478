#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""In a guest: `show IFACE hw` for real drivers agrees with ethtool, /proc/interrupts and the traffic."""
import json
import os
import re
import time

from cards import cards, counters, lab

CPUS = os.cpu_count()
# The queues in interrupt names, from the drivers' sources: rx, tx or both.
NAMES = [(r"Tx-?Rx-(\d+)$|rxtx-(\d+)$", "both"), (r"input\.(\d+)$|-rx-(\d+)$", "rx"), (r"output\.(\d+)$|-tx-(\d+)$", "tx")]


def hw(card, *args):
    doc = json.loads(lab.nicprobe("show", "-j", card.name, "hw", *args).stdout)
    return doc


def interrupts(card):
    """{number: (name, count)} of this card: its MSIs, otherwise INTx."""
    with open(f"/sys/class/net/{card.name}/device/irq", encoding="utf-8") if card.model != "virtio" else \
            open("/dev/null", encoding="utf-8") as f:
        mine = {int(f.read() or 0)}
    for where in "device/msi_irqs", "device/../msi_irqs":
        path = f"/sys/class/net/{card.name}/{where}"
        if os.path.isdir(path):
            mine = {int(n) for n in os.listdir(path)}
            break
    found = {}
    with open("/proc/interrupts", encoding="utf-8") as f:
        cpus = len(f.readline().split())
        for line in f:
            words = line.split()
            if words[0][:-1].isdigit() and int(words[0][:-1]) in mine and len(words) > cpus + 2:
                # An interrupt without a name was not requested: 6.12 does not list it at all.
                name = words[-1] if len(words) > cpus + 3 else None
                found[int(words[0][:-1])] = name, sum(map(int, words[1:cpus + 1]))
    for irq in mine - found.keys() - {0}:
        found[irq] = None, 0
    return found


def of_queue(name):
    """(rx, tx) by the name of an interrupt."""
    for pattern, way in NAMES:
        found = re.search(pattern, name or "")
        if found:
            queue = int(next(g for g in found.groups() if g is not None))
            return (queue if way != "tx" else None, queue if way != "rx" else None)
    return None, None


def pairs(name, card, doc):
    """Every interrupt appears at its queue, with its CPUs."""
    queues = [q for q in doc["hw"]["queues"] if q["irq"]]
    got = {q["irq"]: (q["interrupt"], (q["rx"], q["tx"])) for q in queues}
    used = doc["queues"]
    want = {}
    for irq, (vector, _) in interrupts(card).items():
        rx, tx = (0, 0) if card.model == "e1000" else of_queue(vector)     # it has only one
        want[irq] = vector, (rx if rx is not None and rx < used["rx"] else None,
                             tx if tx is not None and tx < used["tx"] else None)
    lab.same(f"{name}: queues of interrupts", got, want)
    lab.same(f"{name}: every queue once", (sorted(q["rx"] for q in doc["hw"]["queues"] if q["rx"] is not None),
                                           sorted(q["tx"] for q in doc["hw"]["queues"] if q["tx"] is not None)),
             (list(range(used["rx"])), list(range(used["tx"]))))
    for q in queues:
        where = f"/proc/irq/{q['irq']}"
        lab.same(f"{name}: {q['interrupt']}: CPUs", (q["affinity"], q["effective_affinity"]),
                 tuple(lab.sh(f"cat {where}/{f}_list").strip() for f in ("smp_affinity", "effective_affinity")))
    return queues


def moved(name, card, doc):
    """Interrupts placed by the test: one per CPU, and all on one CPU, which is a finding."""
    serving = [q for q in doc["hw"]["queues"] if q["irq"] and (q["rx"] is not None or q["tx"] is not None)]
    several = max(sum(q[way] is not None for q in serving) for way in ("rx", "tx")) > 1
    for what, cpu_of in (("each its own", lambda nr: nr % CPUS), ("all on the last", lambda nr: CPUS - 1)):
        want = {}
        for nr, q in enumerate(serving):
            try:
                lab.sh(f"echo {cpu_of(nr)} > /proc/irq/{q['irq']}/smp_affinity_list")
            except RuntimeError as e:
                return lab.skip(f"{name}: {what}", str(e))
            want[q["irq"]] = str(cpu_of(nr))
        # x86 moves an interrupt at its next occurrence
        for _ in range(20):
            card.frames("64 60 v4 flows=64 pps=4000")
            card.echo(4, 64)
            doc = hw(card)
            if {q["irq"]: q["effective_affinity"] for q in doc["hw"]["queues"] if q["irq"] in want} == want:
                break
        lab.same(f"{name}: {what}: may run on", {q["irq"]: q["affinity"] for q in doc["hw"]["queues"] if q["irq"] in want},
                 want)
        went = {q["irq"]: q["effective_affinity"] for q in doc["hw"]["queues"] if q["irq"] in want}
        same = {irq: lab.sh(f"cat /proc/irq/{irq}/effective_affinity_list").strip() for irq in want}
        lab.same(f"{name}: {what}: runs on", went, same)
        lab.same(f"{name}: {what}: a finding", lab.found(doc).count("setup-irqs-together"),
                 int(several and CPUS > 1 and len(set(went.values())) == 1))
    for q in serving:
        lab.sh(f"echo {q['affinity']} > /proc/irq/{q['irq']}/smp_affinity_list")


def received(card):
    """{queue: packets} from the driver, once nothing arrives any more; {}: not reported."""
    said = [counters.interface(card.name)]

    def quiet():
        time.sleep(.1)
        said.append(counters.interface(card.name))
        return len(said) > 3 and all(one == said[-1] for one in said[-4:])
    lab.until(quiet, 10)
    found = counters.by_queue(card.name, card.model)[0]
    return {queue: n for (queue, figure), n in found.items() if figure == "rx_packets"}


def traffic(name, card, doc):
    """A queue's interrupt occurs when the driver's packet count of that queue grows."""
    before, irqs = received(card), interrupts(card)
    card.frames("400 60 v4 flows=64 pps=4000")
    after, now = received(card), interrupts(card)
    got = {q: n - before.get(q, 0) for q, n in after.items() if n - before.get(q, 0) > 20}
    if not got:
        return lab.skip(f"{name}: traffic", "the driver counts no receive queues")
    irq_of = {q["rx"]: q["irq"] for q in doc["hw"]["queues"] if q["rx"] is not None}
    quiet = [queue for queue in got if now[irq_of[queue]][1] == irqs[irq_of[queue]][1]]
    lab.check(f"{name}: traffic: interrupts of {len(got)} queues", not quiet, f"queue {quiet} of {got}: {irqs} {now}")


def napis(name, card, doc):
    """A packet records its NAPI and queue, which the kernel's own tracepoint shows."""
    tracing = "/sys/kernel/tracing"
    event = f"{tracing}/events/net/napi_gro_receive_entry/enable"
    if not os.path.exists(event):
        lab.sh(f"mount -t tracefs tracefs {tracing}", check=False)
    if not doc["hw"]["napi"]["instances"] or not os.path.exists(event):
        return lab.skip(f"{name}: NAPI", doc["hw"]["absent"].get("NAPI", "no tracefs"))
    lab.sh(f"echo > {tracing}/trace; echo 1 > {event}")
    card.frames("100 60 v4 flows=64 pps=4000")
    received(card)
    lab.sh(f"echo 0 > {event}")
    seen = set()
    for line in lab.sh(f"cat {tracing}/trace").splitlines():
        m = re.search(rf"dev={card.name} napi_id=(\w+) queue_mapping=(\d+)", line)
        if m:   # 0: the driver does not record it; then there is one queue
            seen.add((int(m[1], 0), max(0, int(m[2]) - 1)))
    said = {q["rx"]: q["napi"] for q in doc["hw"]["queues"] if q["rx"] is not None}
    if not seen:
        return lab.skip(f"{name}: NAPI", "no packet says by which it came")
    if card.model in counters.NAMELESS:
        came = {napi for napi, _ in seen}
        return lab.check(f"{name}: NAPI of {len(came)} queues", came <= set(said.values()), f"{seen}, not {said}")
    lab.check(f"{name}: NAPI of {len(seen)} queues", all(said[queue] == napi for napi, queue in seen), f"{seen}, not {said}")


def ring_said(card):
    """{"rx": 256, "rx-max": 4096, …} from ethtool -g."""
    said = {}
    for part, suffix in zip(card.ethtool("-g IF").split("Current hardware settings:"), ("-max", "")):
        for key, value in re.findall(r"^(RX|TX):\s+(\d+)", part, re.M):
            said[key.lower() + suffix] = int(value)
    return said


def settings(name, card, doc):
    said = ring_said(card)
    lab.same(f"{name}: rings", {k: v for k, v in doc["hw"]["rings"].items() if k in said}, said)
    said = {k: int(v) for k, v in re.findall(r"^([\w-]+): +(\d+)$", card.ethtool("-c IF"), re.M)}
    got = doc["hw"]["coalescing"] or {}
    lab.same(f"{name}: coalescing", {k: v for k, v in got.items() if k in said}, said)
    said = dict(re.findall(r"^([a-z-]+): (.+)$", card.ethtool("-i IF"), re.M))
    lab.same(f"{name}: driver", [doc["hw"]["driver"][k] for k in ("name", "version", "firmware")],
             [said["driver"], said.get("version"), said.get("firmware-version")])
    lab.same(f"{name}: bus", doc["hw"]["device"]["bus"], said["bus-info"])
    said = dict(re.findall(r"^\t?([\w-]+): (on|off)", card.ethtool("-k IF"), re.M))
    got = {k: v["on"] for k, v in doc["hw"]["offloads"].items() if k in said}
    lab.same(f"{name}: offloads", got, {k: said[k] == "on" for k in got})
    table = [int(n) for line in re.findall(r"^ +\d+: +([\d ]+)$", card.ethtool("-x IF"), re.M) for n in line.split()]
    lab.same(f"{name}: RSS table", doc["hw"]["rss"]["table"], table)
    speed = re.search(r"Speed: (\d+)Mb/s", card.ethtool("IF"))
    lab.same(f"{name}: speed", doc["hw"]["link"]["bits_per_second"], int(speed[1]) * 10**6 if speed else None)


def changed(name, card, doc):
    """Changes ring size and interrupt delay, if the driver allows it."""
    rings = doc["hw"]["rings"]
    if rings["rx-max"] >= 512 and not card.ethtool("-G IF rx 512 2>&1"):
        lab.until(lambda: lab.sh(f"cat /sys/class/net/{card.name}/carrier", check=False).strip() == "1", 10)
        now = hw(card)
        lab.same(f"{name}: ring changed", now["hw"]["rings"]["rx"], ring_said(card)["rx"])
        card.ethtool(f"-G IF rx {rings['rx']}")
    if (doc["hw"]["coalescing"] or {}).get("rx-usecs") and not card.ethtool("-C IF rx-usecs 90 2>&1"):
        now = hw(card)["hw"]["coalescing"]["rx-usecs"]
        lab.same(f"{name}: coalescing changed", now, int(re.search(r"rx-usecs: (\d+)", card.ethtool("-c IF"))[1]))
    most = (doc["hw"]["channels"] or {}).get("combined-max", 0)
    if min(most, CPUS) < 2 or card.ethtool("-L IF combined 1 2>&1"):
        return
    lab.until(lambda: lab.sh(f"cat /sys/class/net/{card.name}/carrier", check=False).strip() == "1", 10)
    now = hw(card)
    lab.same(f"{name}: one queue", now["queues"], {"rx": 1, "tx": 1})
    lab.check(f"{name}: more are possible", f"it uses 1 of {most} possible queues" in lab.said(now, "setup-few-queues"),
              str(now["findings"]))
    pairs(f"{name}, one queue", card, now)
    card.ethtool(f"-L IF combined {doc['hw']['channels']['combined']}")


def down(name, card):
    lab.sh(f"ip link set {card.name} down")
    now = hw(card)
    lab.check(f"{name}: down", not now["hw"]["link"]["up"] and (now["hw"]["absent"] or card.model == "virtio"),
              str(now["hw"]["absent"]))
    lab.nicprobe("show", card.name, "hw")
    lab.sh(f"ip link set {card.name} up")


lab.need_root()
for one in cards():
    shown = hw(one)
    print(f"# {lab.nicprobe('show', one.name, 'hw').stdout}".replace("\n", "\n# "), flush=True)
    lab.same(f"{one.model}: its module", shown["hw"]["driver"]["known"], True)
    pairs(one.model, one, shown)
    settings(one.model, one, shown)
    traffic(one.model, one, shown)
    napis(one.model, one, shown)
    moved(one.model, one, shown)
    changed(one.model, one, shown)
    down(one.model, one)
lab.finish()

# SPDX-License-Identifier: GPL-2.0
"""How the cost per packet grows with queues, attached interfaces, and keys in maps."""
import statistics
from contextlib import contextmanager

import checks
import dispatch
import events
from checks import at_point, total
from children import Attached, Bench, lab, xdp_id
from links import OTHERS, TapSockets, VethLive, VethSockets
from quiet import Quiet
from tell import Wrong, done, progress, right
from traffic import Traffic

QUEUES = [1, 2, 4, 8, 16, 32, 64]
HELD = 500	# frames that a queue of a tap can hold
IFACES = [1, 2, 4, 8, 16]
IDLE = [*IFACES, 64]
KEYS = [1, 16, 256, 1024, 4096, 8192]	# both maps have room for 4096
KEYED = {"ecn_source": "packets", "flow": "estimated_packets"}	# exact with --sample 1


def by_queues(trace, quick):
    """ns per packet of the default meters, by typed tracepoints."""
    rows = []
    for queues in QUEUES[::3] if quick else QUEUES:
        traffic = Traffic(min(events.DEEP, HELD * queues), queues=queues,
                          frames=10000 if quick else 20000)
        progress(f"scale: {queues} queues")
        got = events.figures(trace, traffic, events.cases(["empty btf", "nicprobe btf"]),
                             1 if quick else 3)
        rows.append({"queues": queues, **{phase: per_packet(got, phase) for phase in ("tx", "rx")}})
    return rows


def per_packet(rows, phase):
    return round(sum(row["per_packet"] for row in rows if row["phase"] == phase), 1)


def interfaces(trace, traffic, attached, rounds):
    """{phase: ns per packet of tap0} of all programs of these interfaces, above empty programs."""
    programs = {}
    for each in attached:
        programs.update(each.programs(trace))
    got = [events.measure(trace, traffic, programs) for _ in range(rounds)]
    ids = trace(f"empty btf {' '.join(traffic.hooks['btf'])}")
    base = events.measure(trace, traffic, {v: (k, k) for k, v in ids.items()})
    trace("empty off")
    return {phase: round(statistics.median(
        net(round_[phase], base[phase]) for round_ in got) / traffic.frames, 1)
        for phase in ("tx", "rx")}


def net(spent, base):
    """ns, minus those of empty programs for the same number of events."""
    out = 0
    for (_, hook), (ns, count) in spent.items():
        empty_ns, events_ = base.get((hook, hook), [0, 0])
        if events_:
            out += ns - count * empty_ns / events_
    return out


def check_interfaces(attached, traffic, times):
    """Checks that tap0 counted all packets (more after repeated measurements), and others none."""
    for n, each in enumerate(attached):
        doc = each.show()
        rounds = max(times, at_point(doc, "tx-nic") // traffic.frames) if n == 0 else 0
        checks.verify(doc, rounds * traffic.frames, rounds * traffic.frames)


def by_interfaces(trace, quick):
    """Traffic on one interface; the others are idle."""
    most = 4 if quick else IFACES[-1]
    traffic = Traffic(events.DEEP, frames=10000)
    events.hooks(trace, traffic)
    others = [lab.tap(traffic.netns, f"tap{n}", 4, "--napi") for n in range(2, most)]
    attached, rows = [], []
    env = {"NICPROBE_CANNOT": events.CANNOT["btf"]}
    for n in range(most):
        attached.append(Attached(traffic.netns, f"tap{n}", "driver", None, env, sample=1))
        attached[-1].__enter__()
        if n + 1 in IFACES:
            progress(f"scale: {n + 1} interfaces")
            rows.append({"interfaces": n + 1,
                         **right(interfaces, trace, traffic, attached, 1 if quick else 3)})
    check_interfaces(attached, traffic, len(rows) * (2 if quick else 4))
    for a in attached:
        a.__exit__()
    for nic in others:
        nic.close()
    traffic.close()
    return rows


def program_ns(trace, link, prog, frames):
    """ns per packet of an XDP program while frames are received."""
    before = trace(f"read {prog}")[str(prog)]
    link.live(f"send {frames}")
    after = trace(f"read {prog}")[str(prog)]
    seen = after["count"] - before["count"]
    if seen != frames:
        raise Wrong(f"the XDP program saw {seen} of {frames} packets")
    return (after["ns"] - before["ns"]) / frames


def full_ns(trace, link, meter, frames, rounds):
    """ns per packet above an empty program, for one meter after its map was filled."""
    sample = 1 if meter == "flow" else None
    empty = [program_ns(trace, link, xdp_id(link.netns, "eth0"), frames) for _ in range(rounds)]
    with link.attach(meter, sample=sample) as attached:
        prog = xdp_id(link.netns, "eth0")
        link.live(f"send {frames}")
        ours = [program_ns(trace, link, prog, frames) for _ in range(rounds)]
        doc = attached.show()
    counted = total(doc["meters"][meter], KEYED[meter]) + doc["lost"].get(meter, 0)
    sent = frames * (rounds + 1)
    if not sent <= counted <= sent + OTHERS:
        raise Wrong(f"{meter} counted {counted} packets, not {sent}")
    return (statistics.median(ours) - statistics.median(empty),
            100 * doc["lost"].get(meter, 0) / sent)


def by_keys(trace, quick):
    """All packets are marked CE, each from the next source: ns per packet, and counts lost."""
    rows = []
    for keys in KEYS[::2] if quick else KEYS:
        link = VethLive(sources=keys, ecn=3)
        for meter in ["ecn_source"] if quick else KEYED:
            progress(f"scale: {keys} keys: {meter}")
            ns, lost = right(full_ns, trace, link, meter, 4 * KEYS[-1], 2 if quick else 5)
            rows.append({"meter": meter, "keys": keys, "ns": round(ns, 1), "lost": round(lost, 1)})
        link.close()
    return rows


def programs_of(netns, device):
    """The hooks of the default meters, one entry for each program."""
    with Attached(netns, device, "driver") as attached:
        return attached.hooks()


class Idle:
    """Idle interfaces, attached one after the other while the traffic of another is measured: CPU time,
    as run-time statistics of this many programs would use caches themselves. Then they are detached
    one after the other and it is measured again; all of it several times, so that a drift of the machine
    makes no figure."""
    def __init__(self, quick):
        self.most, self.slices = 4 if quick else IDLE[-1], 3 if quick else 5
        self.link, self.netns, self.quiet = TapSockets(), lab.Namespace("idle"), Quiet("cpu")
        self.nics = [lab.tap(self.netns, f"tap{n}", 4, "--napi") for n in range(self.most)]
        self.attached, self.laps, self.why, self.in_turns = [], {}, {}, None

    def some(self):
        """The laps of UDP packets, from socket to socket."""
        return [lap for _ in range(self.slices) for lap in self.quiet.slice(self.link, "udp", 100)["laps"]]

    def measure(self, what):
        progress(f"scale: {what} idle interfaces")
        self.laps.setdefault(what, []).extend(self.some())

    def empty(self):
        """Empty programs where one idle interface has its own."""
        hooks = programs_of(self.netns, "tap0")
        child = Bench("nothing", "tap0", *hooks, netns=self.netns)
        child.answer()
        self.measure("empty")
        child.close()

    def up(self, most=None):
        while len(self.attached) < (most or self.most):
            each = Attached(self.netns, f"tap{len(self.attached)}", "driver")
            try:
                each.__enter__()
            except RuntimeError as e:
                self.why = {nr: str(e) for nr in IDLE if nr > len(self.attached)}
                return
            self.attached.append(each)
            if not most and len(self.attached) in IDLE:
                self.measure(len(self.attached))

    def down(self):
        while self.attached:
            if len(self.attached) in IDLE:
                self.measure(len(self.attached))
            self.leave()

    def leave(self):
        self.attached.pop().__exit__()

    def turns(self, count):
        """What 16 add, relative to 1, both above none in the same turns: else a machine that drifts would make the ratio."""
        few, many = 1, min(16, self.most)
        laps = {0: [], few: [], many: []}
        for _ in range(count):
            for nr in 0, few, many, few, 0:
                while len(self.attached) > nr:
                    self.leave()
                if nr:
                    self.up(nr)
                progress(f"scale: {nr} idle interfaces, in turns")
                laps[nr] += self.some()
        none, one, all_ = (self.quiet.median(laps[nr]) for nr in (0, few, many))
        self.in_turns = round((all_ - none) / (one - none), 2)

    def close(self):
        for nic in self.nics:
            nic.close()
        self.link.close()
        self.netns.delete()

    def result(self):
        ns = {what: self.quiet.median(laps) for what, laps in self.laps.items()}
        none = ns.pop(0)
        return {"packet_ns": round(none), "empty_ns": round(ns.pop("empty") - none), "in_turns": self.in_turns,
                "undisturbed": round(self.quiet.percent()),
                "rows": [*({"interfaces": nr, "ns": round(got - none)} for nr, got in ns.items()),
                         *({"interfaces": nr, "why": why} for nr, why in self.why.items())]}


def by_idle(quick):
    """The cost of idle interfaces to packets of another."""
    idle = Idle(quick)
    for _ in range(1 if quick else 3):
        idle.measure(0)
        idle.empty()
        idle.up()
        idle.down()
        idle.empty()
        idle.measure(0)
    idle.turns(1 if quick else 9)
    idle.close()
    return idle.result()


@contextmanager
def second(link, netns, leaves):
    """The interface is attached after an idle one: its programs are called by that one's, or by those
    without an interface if the idle one left."""
    other = Attached(netns, "tap0", "driver")
    other.__enter__()
    try:
        with link.attach(None, sample=1) as attached:
            if leaves:
                other.__exit__()
            yield attached
    finally:
        if not leaves:
            other.__exit__()


def by_place(quick):
    """[{link, case, ns, spread, base}]: what the default meters cost the packets of an interface by the
    clock: the only one attached, the second, and after a hand-over."""
    rows, netns = [], lab.Namespace("first")
    nic = lab.tap(netns, "tap0", 4, "--napi")
    cases = {"the only one": lambda link: link.attach(None, sample=1),
             "the second: an idle one came first": lambda link: second(link, netns, False),
             "after a hand-over: an idle one came first, and left": lambda link: second(link, netns, True)}
    for make in TapSockets, VethSockets:
        link = make()
        rows += [{"link": link.name, "case": name, **got} for name, got in
                 dispatch.measured(link, cases, 3 if quick else 9, 60, dispatch.by(), link.name).items()]
        link.close()
    nic.close()
    netns.delete()
    return rows


def part(quick):
    idle, place = by_idle(quick), by_place(quick)
    trace = Bench("trace")
    result = {"queues": by_queues(trace, quick), "interfaces": by_interfaces(trace, quick),
              "keys": by_keys(trace, quick), "idle": idle, "place": place}
    trace.close()
    done()
    return result

# SPDX-License-Identifier: GPL-2.0
"""Killed at any step, an attach or detach leaves the other interfaces exact, and the next command puts it right."""
import random
import shutil
import tempfile

from lib.shared import *

POINTS = int(os.environ.get("POINTS", 2))   # at most, for each kind of system call
METERS = "pktsize,txlat,drop"


def strace(call, what, *more):
    return subprocess.run(["strace", "-qq", "-e", "signal=none", "-o", "/dev/null", "-e", f"trace={call}", *more,
                           NICPROBE, *what], capture_output=True, text=True, timeout=60)


def made(call, what):
    """The numbers of those calls of a command between which what interfaces share is changed, and of all."""
    with tempfile.NamedTemporaryFile("r") as log:
        r = subprocess.run(["strace", "-qq", "-y", "-s", "200", "-o", log.name, "-e", "signal=none", "-e",
                            f"trace={call}", NICPROBE, *what], capture_output=True, text=True, timeout=60)
        if r.returncode:
            raise RuntimeError(f"{what}: {r.stderr[-300:]}")
        lines = [line for line in log.read().splitlines() if not line.startswith("+++")]
    touch = {n for n, line in enumerate(lines, 1) if "/shared-" in line}
    return sorted(touch | {n + 1 for n in touch if n < len(lines)}) or list(range(1, len(lines) + 1)), len(lines)


def steps(numbers):
    """As many of them as POINTS allows, spread, beginning at another one each time."""
    step = max(1, -(-len(numbers) // POINTS))
    return numbers[random.randrange(step)::step]


def pins():
    return sorted(p for p in left.pins() if "nicprobe" in p)


ALL_COMMANDS = ("detach", "attach", "other", "others")


class Trial:
    """Three cards. Something is killed that is done to `goes`, while `stays` is attached; then one of several commands
    is next."""
    def __init__(self, first, second, third):
        self.first, self.second, self.third = first, second, third
        self.turn, self.commands = random.randrange(4), ALL_COMMANDS

    def both(self):
        self.first.attach(meters=METERS)
        self.second.attach(meters=METERS)

    def no_copies(self):
        """The second does not need all that the first has, such as programs with a second copy: the next enters that."""
        self.first.attach(meters=METERS)
        self.second.attach(meters="pktsize")

    def no_gro(self):
        """The same with programs that have no copy."""
        self.first.attach(meters=f"{METERS},gro")
        self.second.attach(meters=METERS)

    def one(self):
        self.first.attach(meters=METERS)

    def come_next(self, goes, stays):
        """In turn: the same detach again; that, and an attach; an attach of another; that, and its detach. Returns the
        cards that are attached then."""
        self.turn += 1
        self.command = self.commands[self.turn % len(self.commands)]
        if self.command in ("detach", "attach"):
            r = nicprobe("detach", goes.where, check=False)
            if r.returncode and "not attached" not in r.stderr:
                raise RuntimeError(r.stderr)
            goes.want = None
            if self.command == "detach":
                return [stays]
            goes.attach(meters=METERS)
            return [stays, goes]
        self.third.attach(meters=f"{METERS},gro")
        if self.command == "other":
            return [stays, self.third]
        self.third.detach()
        return [stays]

    def end(self):
        """All go, one after the other: the pins that are left."""
        for card in self.second, self.third, self.first:
            nicprobe("detach", card.where, check=False)
            card.want = None
        return pins()


def exact(cards):
    """What is wrong with these after some traffic; None."""
    for card in cards:
        card.traffic(5)
    for card in cards:
        got, want = card.figures()
        if got != want:
            return f"{card.name}: {difference(got, want)}"
    return None


def more_than_once():
    """The events at which more of ours run than should; None."""
    got = links()
    return {name: n for name, n in got.items() if n > once([name])[name]} or None


def killed_once(trial, inject, what, begin, goes, stays):
    """Whether it died, and what was wrong."""
    begin()
    died = strace(inject[0], what, "-e", f"inject={inject[0]}:signal=KILL:when={inject[1]}").returncode < 0
    bad = exact([stays])
    if bad:
        bad = f"at once: {bad}"
    else:
        try:
            bad = exact(trial.come_next(goes, stays)) or more_than_once()
        except RuntimeError as e:
            bad = str(e)
        bad = bad and f"after the next command, {trial.command}: {bad}"
    remain = trial.end()
    return died, bad or (remain and f"left: {remain[:5]}")


def killed_at(trial, name, calls, what, *given):
    """`what` killed at calls of these names: `stays` counts exactly, whatever comes next."""
    for call in calls:
        given[0]()
        numbers, count = made(call, what)
        why = trial.end() and "a whole one leaves pins"
        died = 0
        for n in steps(numbers) if trial.commands == ALL_COMMANDS else numbers:
            one, bad = killed_once(trial, (call, n), what, *given)
            died += one
            why = why or (bad and f"call {n} of {count}: {bad}")
        check(f"killed: {name}: at {died} of {count} calls of {call}", not why and died, why or "none died")


def detach_of_the_first(trial):
    what = ["detach", trial.first.where]
    killed_at(trial, "detach of the first", ("membarrier", "/^rename", "bpf"), what, trial.both, trial.first, trial.second)
    trial.commands = ["other"]
    killed_at(trial, "detach of the first, which has more", ("unlinkat",), what, trial.no_copies, trial.first, trial.second)
    killed_at(trial, "detach of the first, which has gro", ("close",), what, trial.no_gro, trial.first, trial.second)
    trial.commands = ALL_COMMANDS


def detach_of_the_second(trial):
    killed_at(trial, "detach of the second", ("unlinkat", "bpf"),
              ["detach", trial.second.where], trial.both, trial.second, trial.first)


def attach_of_the_second(trial):
    killed_at(trial, "attach of the second", ("mkdir", "bpf"),
              ["attach", trial.second.where, "--rx", "driver", "-m", METERS], trial.one, trial.second, trial.first)


def meter_of_the_first(trial):
    """It has no txlat then, or has: its other meters are not asked."""
    killed_at(trial, "the first without txlat", ("membarrier", "unlinkat", "bpf"),
              ["attach", trial.first.where, "-m", "-txlat"], trial.both, trial.first, trial.second)


need_root()
left.own_bpffs()
seed = random.randrange(1 << 32)
random.seed(seed)
print(f"# random seed {seed}")
space = Namespace("killed")
given = [Card(space, f"tap{i}") for i in range(3)]
untouched = left.Before(space)
if shutil.which("strace"):
    each(detach_of_the_first, detach_of_the_second, attach_of_the_second, meter_of_the_first, trial=Trial(*given))
else:
    skip("killed", "no strace")
untouched.check("killed: nothing is left")
finish()

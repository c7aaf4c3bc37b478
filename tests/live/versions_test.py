# SPDX-License-Identifier: GPL-2.0
"""Two versions of nicprobe at once: each has programs of its own, counts its own interfaces, and leaves the other's."""
import contextlib
import re
import shutil
import tempfile

from lib import lab
from lib.shared import *

OURS = f"{left.BPFFS}/nicprobe"
BUILT = ("bpf", "cmd", "drivers", "findings", "lib", "render", "skel", "trial", "xdp")
B = os.environ.get("B", "build")


def another(folder, name, header, word, source):
    """A build in which this number of a header is another one: only `source` reads it. Returns its program."""
    tree = os.path.join(folder, name)
    shutil.copytree(ROOT, tree, symlinks=True, ignore=shutil.ignore_patterns("build", ".git", "results"))
    for part in BUILT:
        shutil.copytree(os.path.join(ROOT, B, part), os.path.join(tree, B, part))
    with open(os.path.join(tree, header), encoding="utf-8") as f:
        old = f.read()
    new = re.sub(rf"(#define {word}\s+)(\d+)", lambda m: f"{m[1]}{int(m[2]) + 1}", old)
    if new == old:
        raise RuntimeError(f"{header} does not define {word}")
    with open(os.path.join(tree, header), "w", encoding="utf-8") as f:
        f.write(new)
    # all else is as it was built
    sh(f"find {tree} -exec touch -h -d '2001-01-01 12:00' {{}} + && rm {tree}/{B}/{source}")
    sh(f"make -s -C {tree} B={B} {B}/nicprobe 2>&1", timeout=400)
    return os.path.join(tree, B, "nicprobe")


@contextlib.contextmanager
def by(program):
    """What the block calls is this build."""
    usual, lab.NICPROBE = lab.NICPROBE, program
    try:
        yield
    finally:
        lab.NICPROBE = usual


def shares():
    return sorted(name for name in os.listdir(OURS) if name.startswith("shared-")) if os.path.exists(OURS) else []


def refused(name, *args, words):
    r = nicprobe(*args, check=False)
    check(name, r.returncode == 1 and all(word in r.stderr for word in words), f"{r.returncode}: {r.stderr}")


class Both:
    """Two cards of this build and two of the other, in turns."""
    def __init__(self, netns, other):
        self.cards = [Card(netns, f"tap{i}") for i in range(4)]
        self.programs = [lab.NICPROBE, other] * 2
        self.turn = 20

    def attach(self, *which):
        for n in which:
            with by(self.programs[n]):
                self.cards[n].attach()

    def detach(self, n):
        with by(self.programs[n]):
            self.cards[n].detach()

    def check(self, name):
        """All cards have traffic, other numbers each; those attached have counted it."""
        self.turn += 1
        threads = [threading.Thread(target=c.traffic, args=(self.turn + 5 * n,)) for n, c in enumerate(self.cards)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        for card, program in zip(self.cards, self.programs):
            if card.want:
                with by(program):
                    card.check(f"{name}: {card.name}")

    def close(self):
        for card in self.cards:
            card.close()


def one_by_one(name, both):
    """Of each build one has its programs at the events, and the other's are called. They go, the first one first."""
    both.attach(0)
    once_ = links()
    both.attach(1, 2, 3)
    same(f"{name}: two of each program at an event", links(), {event: 2 * n for event, n in once_.items()})
    check(f"{name}: each shares for itself", len(shares()) == 2, f"{shares()}")
    both.check(f"{name}: four")
    for n in 0, 1:
        both.detach(n)
        both.check(f"{name}: without {both.cards[n].name}")
    both.detach(2)
    same(f"{name}: the programs of one build end with its last", links(), once_)
    both.check(f"{name}: the last one")
    both.detach(3)
    same(f"{name}: nothing is pinned", os.path.exists(OURS), False)


def layouts(folder):
    """The other version has other rows: it cannot read this one's."""
    other = another(folder, "layout", "lib/core/meta.h", "META_VERSION", "lib/core/meter.o")
    netns = Namespace("layout")
    both = Both(netns, other)
    before = left.Before(netns)
    one_by_one("versions: other rows", both)
    both.attach(0, 1, 2, 3)
    where = both.cards[0].where
    with by(other):
        for command in "attach", "show", "detach":
            refused(f"versions: other rows: {command} is refused", command, where,
                    words=("another version of nicprobe", "nicprobe detach ", "/tap0 --force"))
    both.check("versions: other rows: after that")
    refused("versions: other rows: detach --all says what stays", "detach", "--all", words=("another version", "--force"))
    both.cards[0].want = both.cards[2].want = None
    both.check("versions: other rows: detach --all left the other's")
    both.attach(0, 2)
    with by(other):
        nicprobe("detach", "--force", where)
    both.cards[0].want = None
    both.check("versions: other rows: one was detached by force")
    for n in 1, 2, 3:
        both.detach(n)
    before.check("versions: other rows: nothing is left")
    both.close()


def agreements(folder):
    """The programs of the other build agree on something else, but its rows are the same: it can detach these."""
    other = another(folder, "agreement", "lib/core/host.h", "HOST_VERSION", "lib/attach/slots.o")
    netns = Namespace("agreement")
    both = Both(netns, other)
    before = left.Before(netns)
    one_by_one("versions: another agreement", both)
    both.attach(0, 1, 2, 3)
    with by(other):
        both.cards[0].detach()
    both.check("versions: another agreement: the other build detached the first")
    both.attach(0)      # ends what the other build could not
    same("versions: another agreement: and one of each remains", {links()[event] for event in links() if event not in TWICE}, {2})
    both.check("versions: another agreement: it came back")
    nicprobe("detach", "--all")
    for card in both.cards:
        card.want = None
    before.check("versions: another agreement: detach --all leaves nothing")
    both.close()


def foreign():
    """What is shared has another size, as of a build that changed it and not the number."""
    netns = Namespace("foreign")
    here, there = Card(netns, "tap0"), Card(netns, "tap1")
    before = left.Before(netns)
    there.attach()
    first = links()
    home = f"{OURS}/{shares()[0]}"
    sh(f"mv {home}/host {home}/kept")
    sh(f"bpftool map create {home}/host type array key 4 value 64 entries 1 name host flags 1024")
    words = ("attached interfaces share", f"rm -r {home}")
    refused("versions: another size: attach is refused", "attach", here.where, words=words)
    same("versions: another size: nothing was attached", links(), first)
    there.traffic(20)
    there.check("versions: another size: what is attached counts on")
    refused("versions: another size: detach says it, too", "detach", there.where, words=words)
    same("versions: another size: and yet detaches", os.path.exists(OURS), False)
    here.attach()
    here.traffic(20)
    here.check("versions: another size: then all is well")
    here.detach()
    before.check("versions: another size: nothing is left")
    for card in here, there:
        card.close()


need_root()
if not shutil.which("make") or not shutil.which(os.environ.get("CC", "cc")):
    skip("versions", "needs make and a compiler")
    finish()
left.own_bpffs()
with tempfile.TemporaryDirectory(prefix="nicprobe-versions-") as place:
    each(layouts, agreements, foreign, folder=place)
finish()

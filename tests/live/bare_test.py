#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Without a queueing discipline no packet is sent again: a veth is measured with one program fewer, and counts are exact.
A discipline that comes later is told, as the driver can give packets back to it."""
from lib import left
from lib.lab import *
from lib.stall import Stalled

need_root()
left.own_bpffs()
MANY = 3000         # more than the ring of a veth holds: 256
a, b = Namespace("near"), Namespace("far")
wire = Stalled(a, b)
WHERE = f"{a}/veth0"
untouched = left.Before(a)


def programs():
    """Those that are called when xmit returns."""
    names = {os.path.basename(p).split("-")[0] for link in left.listed("link") for p in link.get("pinned", [])}
    return names & {"net_dev_xmit"}


def attach(*args, **how):
    nicprobe("attach", WHERE, "--rx", "driver", *args, **how)


def passed():
    """Arrived, and dropped, as the driver counts; and how often it gave a packet back to the qdisc."""
    stats = json.loads(a.ip("-j -s link show veth0"))[0]["stats64"]["tx"]
    qdiscs = json.loads(a.run("tc -j -s qdisc show dev veth0"))
    return {"sent": packets_of_peer(), "dropped": stats["dropped"], "again": sum(q["requeues"] for q in qdiscs)}


def packets_of_peer():
    return json.loads(b.ip("-j -s link show veth0"))[0]["stats64"]["rx"]["packets"]


def stall(name, qdisc, unseen=False):
    """A far end that reads nothing while MANY come: the ring is full. What is dropped is sent anew, unless a `qdisc` has
    told that it will be sent. `unseen`: nothing tells nicprobe what is given back."""
    was, begin = show(WHERE), passed()
    wire.sender(f"send 0 {MANY} 100")
    with wire.stalled(.2):      # an emulated machine takes long to fill the ring
        wire.sender("go")

    def now():
        end = passed()
        return {k: end[k] - begin[k] for k in end}
    until(lambda: now()["sent"] + qdisc * now()["dropped"] >= MANY)
    doc, told = show(WHERE), now()
    same(f"{name}: all arrive{', or are dropped' if qdisc else ''}", told["sent"] + qdisc * told["dropped"], MANY)
    counted = {p: packets_at(doc, p) - packets_at(was, p) for p in ("tx-stack", "tx-nic")}
    packets = told["sent"] + told["dropped"]
    same(f"{name}: each packet is counted once # {told}", counted,
         {"tx-stack": packets, "tx-nic": packets + (told["again"] if unseen else 0)})
    return told


# 1. None, as a veth has by default: what does not fit in the ring is dropped.
attach("-m", "pktsize,bql,drop")
same("bare: no program when xmit returns", programs(), set())
told = stall("bare", False)
check(f"bare: the ring was full # {told['dropped']} dropped", told["dropped"] > 0, told)
doc = show(WHERE)
same("bare: no packet was given back, and no queue stopped", [told["again"], doc["meters"]["bql"]], [0, []])
same("bare: nothing is said of it", doc.get("blind", {}), {})

# 2. One that comes later: a packet that was given back is counted again, and that is told; attaching anew is the remedy.
a.run("tc qdisc replace dev veth0 root pfifo limit 5000")
told = stall("a qdisc came", True, unseen=True)
gives_back = told["again"] > 0          # since 6.16, and in later ones of Debian's 6.12
doc = show(WHERE)
told_of = doc.get("blind", {})
same("a qdisc came: the point is named, where the kernel is one that may do so", list(told_of),
     ["tx-nic"] if KERNEL >= (6, 12) else [])
check("a qdisc came: it is said what it does", all("gives back counts again" in why and why.endswith("is seen") for why in told_of.values()), told_of)
check("a qdisc came: what is given back is told", told_of or not gives_back, told)
fixes = next((f["fix"] for f in doc["findings"] if f["id"] == "hook-blind"), [])
same("a qdisc came: the remedy", [f[:2] for f in fixes], [["nicprobe", "detach"], ["nicprobe", "attach"]] if told_of else [])
nicprobe("detach", WHERE)
attach("-m", "pktsize,bql,drop")
same("attached anew: xmit's return is seen", programs(), {"net_dev_xmit"})
told = stall("attached anew", True)
doc = show(WHERE)
same("attached anew: nothing is said of it", doc.get("blind", {}), {})
if gives_back:
    check(f"attached anew: packets were given back # {told['again']}", told["again"] > 0, told)
    check("attached anew: the queue was stopped", doc["meters"]["bql"][0]["stops"]["driver"] > 0, doc["meters"]["bql"])
else:
    skip("attached anew: packets that veth gives back", "it drops them on this kernel")

# 3. It goes again: what is attached sees more than it must.
a.run("tc qdisc del dev veth0 root")
stall("the qdisc went", False)
same("the qdisc went: nothing is said of it", show(WHERE).get("blind", {}), {})
nicprobe("detach", WHERE)

# 4. What is not known of other drivers; and one that was never up has no qdisc yet, so it may get one.
attach(env={"NICPROBE_CANNOT": "orderly"})
same("not known: xmit's return is seen", programs(), {"net_dev_xmit"})
nicprobe("detach", WHERE)
a.ip("link add new0 type veth peer name new1")
for up in False, True:
    a.ip("link set new0 up") if up else None
    nicprobe("attach", f"{a}/new0")
    same(f"{'up' if up else 'never up'}: the programs", programs(), set() if up else {"net_dev_xmit"})
    nicprobe("detach", f"{a}/new0")
a.ip("link del new0")
untouched.check("bare: nothing is left")
wire.close()
finish()

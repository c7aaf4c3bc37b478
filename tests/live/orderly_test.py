#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""A tap takes or drops each packet, and frees in tasks what it has sent: it is counted with two programs fewer."""
from lib import left
from lib.lab import *

need_root()
left.own_bpffs()
space = Namespace("orderly")
WHERE = f"{space}/tap0"
QUEUES, ROOM, SENT = 2, 200, 700            # each ring has room for so many; sent by each queue
nic = tap(space, "tap0", QUEUES, "--steer --no-cpu-pin")
space.ip(f"link set tap0 txqueuelen {ROOM}")
sender = Nic(f"packet tap0 --queues {QUEUES} --no-cpu-pin", space)
for end in nic, sender:     # on one CPU: it reads the packet that it sent last, too
    os.sched_setaffinity(end.p.pid, {min(os.sched_getaffinity(0))})
untouched = left.Before(space)


def programs():
    """Those of the two events that we have: more than one if several sets of meters have it."""
    links = ({os.path.basename(p).split("-")[0] for p in link.get("pinned", [])} for link in left.listed("link"))
    names = [name for link in links for name in link]
    return {name: names.count(name) for name in ("net_dev_xmit", "consume_skb_again") if name in names}


def counted():
    doc = show(WHERE)
    sizes = [r["packet_size_bytes"]["count"] for r in doc["meters"]["pktsize"] if r["point"] == "tx-nic"]
    rows = doc["meters"]["txlat"]
    return {"tx-nic": sum(sizes), "completed": sum(r["completion_seconds"]["count"] for r in rows),
            "in flight": sum(r["in_flight"] for r in rows), "retried": sum(r["retried"] for r in rows),
            **{cause: sum(r["lost"][cause] for r in rows) for r in rows for cause, n in r["lost"].items() if n},
            "may lack": doc.get("may_lack", {})}


def statistics():
    """What tun counted: packets read, and packets dropped."""
    link, = json.loads(space.run("ip -j -s link show tap0"))
    stats = link["stats64"]["tx"]
    return {"sent": stats["packets"], "dropped": stats["dropped"]}


def packets(name):
    """One that fits in, then more than the rings hold: tun drops the others, and nobody is asked to try again."""
    if KERNEL >= (7, 0):        # a full ring may stop its queue, and the qdisc drops
        return
    start, was = counted(), statistics()
    sender("send 0 1 100")
    sender("go")
    nic("take 1")
    same(f"{name}: one that was read", counted()["completed"] - start["completed"], 1)
    for q in range(QUEUES):
        sender(f"send {q} {SENT} 100")
    sender("go")
    dropped = statistics()["dropped"] - was["dropped"]
    taken = QUEUES * SENT - dropped
    # a ring frees places some at a time, so it may have one less
    check(f"{name}: the rings were full # {taken} taken", QUEUES * (ROOM - 1) <= taken <= QUEUES * ROOM, f"{taken}")
    same(f"{name}: in flight", counted()["in flight"], taken)
    nic(f"take {taken}")
    got, now = counted(), statistics()
    same(f"{name}: all are read", now["sent"] - was["sent"], 1 + taken)
    same(f"{name}: each packet is counted once, whatever became of it",
         {k: v - start.get(k, 0) if k != "may lack" else v for k, v in got.items()},
         {"tx-nic": 1 + QUEUES * SENT, "completed": 1 + taken, "in flight": 0, "retried": 0, "freed-in-xmit": dropped,
          "may lack": {}})


def attach(**how):
    nicprobe("attach", "--sample", 1, "--rx", "driver", WHERE, **how)


def adjust(sign):
    nicprobe("attach", "-m", sign, WHERE)


BOTH = {"net_dev_xmit": 1, "consume_skb_again": 1}
LEAST = {} if KERNEL < (7, 0) else BOTH       # since then tasks are put aside, and tun may learn to stop its queues
attach()
same("orderly: the default has no program when xmit returns, and one at consume_skb", programs(), LEAST)
packets("default")
adjust("+qdisc")
same("orderly: qdisc has both", programs(), {name: LEAST.get(name, 0) + 1 for name in BOTH})
packets("with qdisc")
adjust("-qdisc")
same("orderly: without it, it is as before", programs(), LEAST)
packets("without it")
adjust("-txlat")
adjust("+txlat")
# its own set of programs, beside that of tx-nic
same("orderly: txlat that comes back has no more", programs(), LEAST and {**LEAST, "net_dev_xmit": 2})
packets("txlat came back")
nicprobe("detach", WHERE)

attach(env={"NICPROBE_CANNOT": "orderly"})
same("orderly: a driver that is not known to be: both", programs(), BOTH)
packets("not known to be")
nicprobe("detach", WHERE)
untouched.check("orderly: nothing is left")
finish()

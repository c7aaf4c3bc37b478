# SPDX-License-Identifier: GPL-2.0
"""`show IFACE hw` shows what the test sets; attached or not, in other namespaces, for software and as an ordinary user.
"""
import json
import os
import re
import shlex
import subprocess

from lib.lab import NICPROBE, Namespace, check, each, finish, need_root, nicprobe, same, sh, skip, tap, veth
from lib.setup import hw, table

need_root()
CPUS = os.cpu_count()


def put(netns, iface, file, text):
    netns.run(f"sh -c 'echo {text} > /sys/class/net/{iface}/{file}'")


def queues(doc, key):
    return [q.get(key) for q in doc["hw"]["queues"]]


def veth_of_four(one, iface):
    doc = hw(iface)
    same("hw: veth: queues", (queues(doc, "rx"), queues(doc, "tx")), ([0, 1, 2, 3], [0, 1, 2, 3]))
    same("hw: veth: what it is", (doc["driver"], doc["hw"]["device"], doc["hw"]["driver"]["known"]), ("veth", None, True))
    check("hw: veth: no interrupts, and why", queues(doc, "irq") == [None] * 4 and
          "software" in doc["hw"]["absent"]["interrupts"], str(doc["hw"]["absent"]))
    same("hw: veth: RPS and XPS are off", (queues(doc, "rps"), queues(doc, "xps")), ([""] * 4, [""] * 4))
    same("hw: nothing is measured", [k for k in ("meters", "hooks", "lost", "absent") if k in doc], [])
    for queue in range(4):
        put(one, "eth0", f"queues/rx-{queue}/rps_cpus", "3" if CPUS > 1 else "1")
        put(one, "eth0", f"queues/tx-{queue}/xps_cpus", f"{1 << queue % min(2, CPUS):x}")
    put(one, "eth0", "queues/rx-2/rps_flow_cnt", "64")
    doc, both = hw(iface), "0-1" if CPUS > 1 else "0"
    same("hw: RPS", queues(doc, "rps"), [both] * 4)
    same("hw: RFS", queues(doc, "rps_flows"), [0, 0, 64, 0])
    same("hw: XPS", queues(doc, "xps"), [str(q % min(2, CPUS)) for q in range(4)])
    put(one, "eth0", "queues/rx-2/rps_flow_cnt", "0")
    rps_to_one_cpu(one, iface, doc)
    if CPUS > 1:
        check("hw: four queues are one line", re.search(r"^  rx\+tx 0\.\.3 .* 0-1 +0\.\.1 in turn$", table(iface), re.M),
              table(iface))


def rps_to_one_cpu(one, iface, before):
    """The finding appears where the setup is shown, with the command that resolves it; RPS to all CPUs is no finding.
    """
    of = "setup-rps-one-cpu"
    same("hw: RPS to all CPUs is no finding", [f["what"] for f in before["findings"] if f["id"] == of], [])
    if CPUS < 2:
        return skip("hw: RPS to one CPU", "there is one CPU")
    for queue in range(4):
        put(one, "eth0", f"queues/rx-{queue}/rps_cpus", "2")
    told = [f for f in hw(iface)["findings"] if f["id"] == of]
    same("hw: RPS to one CPU", [(f["severity"], f["what"]) for f in told],
         [("info", f"RPS of all 4 receive queues sends their packets to CPU 1; {CPUS} CPUs could share them")])
    for argv in told[0]["fix"] if told else []:
        sh(shlex.join(argv))
    doc = hw(iface)
    same("hw: its command ends it", ([f["id"] for f in doc["findings"] if f["id"] == of], queues(doc, "rps")),
         ([], [f"0-{CPUS - 1}"] * 4))
    for queue in range(4):
        put(one, "eth0", f"queues/rx-{queue}/rps_cpus", "3")


def channels(one, iface):
    one.run("ethtool -L eth0 rx 3 tx 2")
    doc = hw(iface)
    same("hw: fewer channels", [doc["hw"]["channels"][k] for k in ("rx", "tx", "rx-max", "tx-max")], [3, 2, 4, 4])
    same("hw: fewer queues", (doc["queues"], queues(doc, "rx"), queues(doc, "tx")),
         ({"rx": 3, "tx": 2}, [0, 1, 2], [0, 1, None]))
    one.run("ethtool -L eth0 rx 4 tx 4")


def feature(one, iface):
    """By netlink and by ioctl: what ethtool shows, under its names."""
    one.run("ethtool -K eth0 gro on tso off")
    said = dict(re.findall(r"^\t?([\w-]+): (on|off)", one.run("ethtool -k eth0"), re.M))
    for way, env in (("netlink", None), ("ioctl", {"NICPROBE_CANNOT": "ethtool"})):
        doc = hw(iface, env=env)
        got = doc["hw"]["offloads"]
        both = {k: v["on"] for k, v in got.items() if k in said}
        same(f"hw: offloads by {way}", both, {k: said[k] == "on" for k in both})
        check(f"hw: offloads by {way}: many", len(both) > 20 and got["rx-gro"]["on"] and
              not got["tx-tcp-segmentation"]["on"], str(len(both)))
        check(f"hw: {way} is told by name", ("ethtool netlink" in doc["hw"]["absent"]) == bool(env),
              str(doc["hw"]["absent"]))


def napis(one, iface):
    """With GRO on, a veth has a NAPI for each receive queue."""
    one.run("ethtool -K eth0 gro on")
    doc = hw(iface)
    if "NAPI" in doc["hw"]["absent"]:
        return skip("hw: NAPI", doc["hw"]["absent"]["NAPI"])
    same("hw: NAPI instances", len(doc["hw"]["napi"]["instances"]), 4)
    put(one, "eth0", "napi_defer_hard_irqs", "2")
    doc = hw(iface)
    same("hw: deferred interrupts", doc["hw"]["napi"]["defer_hard_irqs"], 2)
    check("hw: and that it has no effect", any("no effect while gro_flush_timeout is 0" in f["what"]
                                               for f in doc["findings"]), str(doc["findings"]))
    put(one, "eth0", "gro_flush_timeout", "20000")
    doc = hw(iface)
    same("hw: flush timeout", (doc["hw"]["napi"]["gro_flush_seconds"], doc["findings"]), (2e-05, []))
    put(one, "eth0", "threaded", "1")
    doc = hw(iface)
    threads = [n["thread"] for n in doc["hw"]["napi"]["instances"]]
    same("hw: threaded", (doc["hw"]["napi"]["threaded"], {n["threaded"] for n in doc["hw"]["napi"]["instances"]}),
         (True, {"yes"}))
    same("hw: its threads", [sh(f"cat /proc/{t}/comm").startswith("napi/") for t in threads], [True] * 4)
    for file in ("threaded", "gro_flush_timeout", "napi_defer_hard_irqs"):
        put(one, "eth0", file, "0")
    doc = hw(iface, env={"NICPROBE_CANNOT": "netdev"})
    check("hw: without netdev-genl", not doc["hw"]["napi"]["instances"] and "6.8" in doc["hw"]["absent"]["NAPI"],
          str(doc["hw"]["absent"]))


def attached(iface):
    """The same beside meters, in every format."""
    before = hw(iface)
    nicprobe("attach", iface, "-m", "ecn,gso")
    ours = hw(iface)["hw"]["programs"]
    check("hw: attached: the programs are nicprobe's own", ours and all(p["own"] and p["name"].startswith("nicprobe_") for p in ours),
          str(ours))
    before["hw"]["programs"] = ours
    same("hw: attached: alone it is the same", hw(iface)["hw"], before["hw"])
    doc = hw(iface, "ecn")
    same("hw: and a meter", (list(doc["meters"]), doc["hw"], doc["interval"]), (["ecn"], before["hw"], False))
    doc = json.loads(nicprobe("show", "-j", iface, "gso,hw,ecn").stdout)
    same("hw: among meters", (sorted(doc["meters"]), "hw" in doc), (["ecn", "gso"], True))
    check("hw: a table has both", re.search(r"^hw  .*^ecn  |^hw  .*^no activity yet: ecn$",
                                            nicprobe("show", iface, "hw", "ecn").stdout, re.S | re.M))
    text = nicprobe("show", "-f", "openmetrics", iface, "hw", "ecn").stdout
    check("hw: OpenMetrics", text.count("\nnicprobe_hw_info{") == 1 and text.count("\nnicprobe_hw_queue_info{") == 4 and
          "nicprobe_attach_time_seconds{" in text and text.endswith("# EOF\n"), text)
    check("hw: not unless it is asked for", "hw" not in json.loads(nicprobe("show", "-j", iface).stdout))
    lines = nicprobe("show", "-j", iface, "hw", "gso", "-i", ".1", "-c", "2").stdout.splitlines()
    same("hw: with an interval", [(json.loads(line)["interval"], "hw" in json.loads(line)) for line in lines],
         [(True, True)] * 2)
    nicprobe("detach", iface)
    lines = nicprobe("show", "-j", iface, "hw", "-i", ".1", "-c", "3").stdout.splitlines()
    same("hw: again and again", [list(json.loads(line)["hw"]) for line in lines], [list(before["hw"])] * 3)


def narrow(iface):
    for columns in (24, 33, 47, 60, 80, 132, 300):
        text = table(iface, columns)
        wide = [line for line in text.splitlines() if len(line) > columns]
        check(f"hw: {columns} columns", not wide and text.startswith(iface[:20]), str(wide[:1]))


def refused(one, iface):
    for args, status, said in (
            ((iface, "hw", "ecn"), 1, "is not attached"), ((f"{one}/nosuch", "hw"), 1, "no interface"),
            (("nosuch/eth0", "hw"), 1, "no network namespace"), ((iface, "hw", "hww"), 2, 'no meter "hww"'),
            ((iface, "hw", "-f", "xml"), 2, "no format"), (("", "hw"), 1, "the name is empty"),
            (("x" * 200, "hw"), 1, "too long"),
            (("netns:1/eth0", "hw"), 1, "has no name")):
        r = nicprobe("show", *args, check=False)
        check(f"hw: refused: {' '.join(args)[:40]}", r.returncode == status and said in r.stderr and not r.stdout,
              f"{r.returncode} {r.stdout[:80]!r} {r.stderr!r}")
        r = nicprobe("show", "-j", *args, check=False)
        check(f"hw: refused in JSON: {' '.join(args)[:40]}", said in json.loads(r.stderr)["error"], r.stderr)
    r = nicprobe("attach", iface, "-m", "hw", check=False)
    check("hw: it is no meter", r.returncode == 2 and "hw is not a meter" in r.stderr, r.stderr)


def vanishes(one, iface):
    """It is deleted while it is shown, again and again."""
    p = subprocess.Popen([NICPROBE, "show", "-j", iface, "hw", "-i", ".1", "-c", "50"], text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    p.stdout.readline()
    one.ip("link del eth0")
    out, err = p.communicate(timeout=60)
    check("hw: gone meanwhile", p.returncode == 1 and "no interface" in json.loads(err)["error"] and
          all(json.loads(line) for line in out.splitlines()), f"{p.returncode} {err!r}")


def of_nobody(one):
    """Drivers without a table, and those without queues of their own."""
    for kind, name, known in (("bridge", "br0", True), ("ifb", "ifb7", True), ("vxlan id 7 dstport 4789", "vx0", True)):
        if subprocess.run(f"ip -n {one} link add {name} type {kind}", shell=True, capture_output=True).returncode:
            skip(f"hw: {kind.split()[0]}", "this kernel has none")
            continue
        doc = hw(f"{one}/{name}")
        check(f"hw: {kind.split()[0]}", doc["hw"]["queues"] and doc["hw"]["driver"]["known"] == known, str(doc["hw"]["driver"]))
        one.ip(f"link del {name}")
    same("hw: lo", hw(f"{one}/lo")["hw"]["queues"][0]["rx"], 0)


def not_root(iface):
    """Everything about our own namespace; entering another one needs root."""
    def user(*args):
        return subprocess.run(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", NICPROBE, "show", *args],
                              capture_output=True, text=True, check=False)
    r = user("lo", "hw", "-j")
    if r.returncode and "Permission denied" in r.stderr and "nicprobe:" not in r.stderr:
        return skip("hw: not root", "this user cannot run the program")
    got, want = json.loads(r.stdout)["hw"] if r.stdout else r.stderr, hw("lo")["hw"]
    if got["absent"].pop("tcx programs", ""):   # readable by root only, and there are none
        same("hw: not root: no programs", want["programs"], [])
    same("hw: not root: the same", got, want)
    r = user(iface, "hw")
    check("hw: not root: another namespace", r.returncode == 1 and "CAP_SYS_ADMIN" in r.stderr, r.stderr)
    r = user("lo", "hw", "ecn")
    check("hw: not root: meters need more", r.returncode == 1 and not r.stdout, r.stderr)


def tap_of_two(one):
    nic = tap(one, "tap0", queues=2)
    doc = hw(f"{one}/tap0")
    same("hw: tap", (doc["driver"], queues(doc, "rx"), queues(doc, "tx")), ("tun", [0, 1], [0, 1]))
    put(one, "tap0", "queues/tx-1/xps_cpus", "1")
    doc = hw(f"{one}/tap0")
    same("hw: tap: XPS of one queue", queues(doc, "xps"), ["", "0"])
    check("hw: tap: two lines", re.search(r"^  rx\+tx 0\n  rx\+tx 1 +0$", table(f"{one}/tap0"), re.M), table(f"{one}/tap0"))
    nic.close()


def real():
    """Interfaces of this host with hardware, read only."""
    found = [i for i in sorted(os.listdir("/sys/class/net")) if os.path.exists(f"/sys/class/net/{i}/device")]
    r = nicprobe("show", "-j", "hw", check=False)
    if not found:
        check("hw: no hardware here", r.returncode == 1 and "no interface here has a device" in r.stderr, r.stderr)
        return skip("hw: hardware", "this host has none")
    docs = [json.loads(line) for line in r.stdout.splitlines()]
    same("hw: all that have hardware", sorted(d["interface"] for d in docs), found)
    for doc in docs:
        for queue in doc["hw"]["queues"]:
            if not queue["irq"]:
                continue
            where = f"/proc/irq/{queue['irq']}"
            same(f"hw: {doc['interface']}: {queue['interrupt']}: may run on", queue["affinity"],
                 sh(f"cat {where}/smp_affinity_list").strip())
            check(f"hw: {doc['interface']}: {queue['interrupt']} is in /proc/interrupts", re.search(
                rf"^ *{queue['irq']}:.*\b{re.escape(queue['interrupt'])}", sh("cat /proc/interrupts"), re.M))
        text = sh(f"ethtool -g {doc['interface']}", check=False)
        ring = re.search(r"Current.*?^RX:\s+(\d+)", text, re.S | re.M)
        if ring:
            same(f"hw: {doc['interface']}: ring", doc["hw"]["rings"]["rx"], int(ring[1]))


one, other = Namespace("one"), Namespace("other")
veth(one, other)
each(veth_of_four, channels, feature, napis, attached, narrow, refused, not_root, tap_of_two, of_nobody, real, vanishes,
     one=one, iface=f"{one}/eth0")
finish()

# SPDX-License-Identifier: GPL-2.0
"""`doctor` answers by exit status and first line, and leaves what is attached, and the host, as it was."""
import json
import re
import signal
import subprocess
import time

from lib import left
from lib.lab import NICPROBE, Namespace, check, each, finish, need_root, nicprobe, packets_at, same, sh, show, tap, until

need_root()
left.own_bpffs()
PINS = "/sys/fs/bpf/nicprobe"


def doctor(*args, **kwargs):
    return nicprobe("doctor", *args, check=False, **kwargs)


def answer(*args):
    """Its exit status, and its JSON of the first interface."""
    r = doctor("-j", *args)
    return r.returncode, json.loads(r.stdout)["interfaces"][0]


def start(*args):
    return subprocess.Popen([NICPROBE, "doctor", *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def checks(one, what):
    """{finding: why} of the checks with this result."""
    return {c["id"]: c["why"] for c in one["checks"] if c["is"] == what}


def receive(nic, count):
    nic(f"send 0 {count} 100 raw")      # to nobody: no answer, and no ARP
    nic("go")


def pins():
    """Names, times and sizes of all pins."""
    return sh(f"find {PINS} -printf '%p %T@ %s %i\\n' | sort")


def kinds_all():
    return json.loads(nicprobe("explain", "-j").stdout)


def idle_is_well(idle):
    r = doctor(idle, "--for", "200ms")
    status, one = answer(idle, "--for", "200ms")
    same("doctor: idle: exit status", (r.returncode, status), (0, 0))
    same("doctor: idle: first line", r.stdout.splitlines()[0],
         f"{idle} is well: no findings, of {one['checked']} checks")
    check("doctor: idle: its packets", "received 0 and sent 0 packets in " in " ".join(r.stdout.split()), r.stdout)
    of_host = [k["id"] for k in kinds_all() if k["host"]]
    kinds = [k for k in kinds_all() if k["id"] not in of_host]
    same("doctor: every finding about interfaces is a check", [c["id"] for c in one["checks"]], [k["id"] for k in kinds])
    status, host = answer(f"{str(idle).split('/')[0]}/host", "--for", "200ms")
    same("doctor: and of the host those about it", (status, [c["id"] for c in host["checks"]]), (0, of_host))
    same("doctor: idle: each is made, or there is a reason",
         (checks(one, "found"), len(checks(one, "well")), one["checked"] + len(checks(one, "not checked"))),
         ({}, one["checked"], len(kinds)))
    why = checks(one, "not checked")
    check("doctor: idle: traffic is not judged, settings are", re.match("nothing was received in [2-9][0-9][0-9] ms",
          str(why.get("rx-one-flow"))) and "nothing was sent" in str(why.get("qdisc-drops")) and
          "setup-few-queues" in checks(one, "well"), str(why))
    check("doctor: idle: every reason is a sentence, and in the text", all(why.values()) and all(
        " ".join(w.split()[:5]) in " ".join(r.stdout.split()) for w in why.values() if "received in" not in w and
        "sent in" not in w and "went by" not in w), r.stdout)
    check("doctor: the text says what measuring cost", re.search(
        r"^cost +attaching took [0-9.]+ m?s; then measuring took [0-9.]+% of a", r.stdout, re.M), r.stdout[-200:])


def received_is_judged(iface, nic):
    """With packets the checks of receiving are made; those of sending are not."""
    p = start("-j", iface, "--for", "1s")
    while p.poll() is None:
        receive(nic, 10)
        time.sleep(.02)
    one = json.loads(p.stdout.read())["interfaces"][0]
    check("doctor: packets received: receiving is judged", "rx-one-flow" in checks(one, "well") and
          "nothing was sent" in checks(one, "not checked")["qdisc-drops"], str(checks(one, "not checked")))


def beside_an_attachment(iface, nic):
    """What is attached counts on, exactly and since the same moment; doctor counts the same packets."""
    nicprobe("attach", iface)
    then, before = pins(), show(iface)
    p = start("-j", iface, "--for", "1500ms")
    sent = blind = 0
    while p.poll() is None:
        receive(nic, 10)
        sent += 10
        blind += bool(show(iface).get("blind"))
    one = json.loads(p.stdout.read())["interfaces"][0]["measured"]
    after = show(iface)
    same("doctor: beside an attachment: it counts all packets",
         packets_at(after, "rx-nic") - packets_at(before, "rx-nic"), sent)
    seen = packets_at(one, "rx-nic")
    check(f"doctor: beside an attachment: it measures itself, too # {seen} of {sent}", 0 < seen < sent, f"{seen}")
    same("doctor: beside an attachment: no pin was touched", pins(), then)
    same("doctor: beside an attachment: nothing ran before its hooks", (after["hooks"], blind), (before["hooks"], 0))
    same("doctor: it puts nothing into the path of packets", {*one["hooks"].values()} & {"xdp", "tcx", "clsact"}, set())
    same("doctor: beside an attachment: it finds nothing", one["findings"], [])
    nicprobe("detach", iface)


def two_at_once(iface):
    both = [start(iface, "--for", "1s") for _ in range(2)]
    out = [(p.communicate()[0].splitlines()[0], p.returncode) for p in both]
    check("doctor: two at once", all(line.startswith(f"{iface} is well") and status == 0 for line, status in out), out)


def running(before):
    """The number of programs that were not there before."""
    return len({("prog", p["id"]) for p in left.listed("prog")} - before.objects)


def ends(iface, before):
    """Nothing is left, however it ends, and nobody sees it meanwhile."""
    for name in ("SIGINT", "SIGTERM", "SIGKILL", "SIGHUP"):
        p = start(iface, "--for", "30s")
        check(f"doctor: {name}: it was measuring", until(lambda: running(before) > 5),
              "no program of it was seen")
        same(f"doctor: {name}: nobody sees its pins", nicprobe("list").stdout, "nothing is attached\n")
        p.send_signal(getattr(signal, name))
        same(f"doctor: {name}: it ends", p.wait(10), -getattr(signal, name))
        same(f"doctor: {name}: it said nothing", p.communicate(), ("", ""))
        before.check(f"doctor: {name}: nothing is left")


def trouble_and_script(iface, netns):
    """GRO off does no harm by itself: a setting that does, and the script that mends it."""
    for queue in range(4):
        netns.run(f"sh -c 'echo 2 > /sys/class/net/tap0/queues/rx-{queue}/rps_cpus'")
    r = doctor(iface, "--for", "200ms")
    out = r.stdout.splitlines()
    check("doctor: a trouble: exit status and first line", r.returncode == 3 and
          re.match(rf"{iface} is not well: 1 finding, of [0-9]+ checks$", out[0]), f"{r.returncode} {out[0]}")
    check("doctor: a trouble: the finding, its cost and a command", re.search(
        r"^info      setup-rps-one-cpu: RPS .*\n(.*\n)*?          cost: nothing yet: a risk\n"
        r"          in \S+, try: ", r.stdout, re.M), r.stdout)
    status, one = answer(iface, "--for", "200ms")
    same("doctor -j: a trouble", (status, one["well"], one["findings"], [*checks(one, "found")],
                                  [f["id"] for f in one["measured"]["findings"]]),
         (3, False, 1, ["setup-rps-one-cpu"], ["setup-rps-one-cpu"]))
    r = doctor(iface, "--for", "200ms", "--least", "warning")
    check("doctor --least: a milder finding", r.returncode == 0 and
          re.match(rf"{iface} is well: no findings, and 1 milder, of ", r.stdout) and "setup-rps-one-cpu" in r.stdout, r.stdout)
    r = doctor(iface, "--for", "200ms", "--script")
    lines = r.stdout.splitlines()
    same("doctor --script: status, head and number of commands",
         (r.returncode, lines[0], len([x for x in lines[1:] if x and x[0] != "#"])), (3, "#!/bin/sh", 1))
    same("doctor --script: nothing was run", netns.run("cat /sys/class/net/tap0/queues/rx-0/rps_cpus").strip().lstrip("0"), "2")
    subprocess.run(["sh", "-e"], input=r.stdout, text=True, check=True)
    same("doctor --script: it mends the trouble", doctor(iface, "--for", "200ms").returncode, 0)


def all_interfaces(iface, netns):
    """Without a name: those with a driver that are up; the worst first."""
    netns.ip("link add fine0 type veth peer name fine1")
    netns.ip("link set fine0 up")
    netns.ip("link set fine1 up")
    netns.ip("link add down0 type veth peer name down1")
    for queue in range(4):
        netns.run(f"sh -c 'echo 2 > /sys/class/net/tap0/queues/rx-{queue}/rps_cpus'")
    r = subprocess.run(["nsenter", f"--net=/run/netns/{netns}", NICPROBE, "doctor", "-j", "--for", "300ms"],
                       capture_output=True, text=True, check=False)
    doc = json.loads(r.stdout)
    same("doctor: all interfaces", (r.returncode, doc["well"], [(i["name"], i["well"]) for i in doc["interfaces"]][:1],
                                    sorted(i["name"] for i in doc["interfaces"])),
         (3, False, [("tap0", False)], ["fine0", "fine1", "tap0"]))
    r = subprocess.run(["nsenter", f"--net=/run/netns/{netns}", NICPROBE, "doctor", "--for", "300ms"],
                       capture_output=True, text=True, check=False)
    out = r.stdout.splitlines()
    same("doctor: all interfaces: first line", out[0], "1 of 3 interfaces is not well: tap0")
    same("doctor: all interfaces: a line for each that is well",
         sorted(re.sub(r", of \d+ checks", "", x) for x in out if re.match(r"fine\d is", x)),
         ["fine0 is well: no findings", "fine1 is well: no findings"])
    r = doctor(f"{netns}/down0", "--for", "200ms")
    check("doctor: an interface that is down", r.returncode == 1 and not r.stdout and
          "down0 is administratively down" in r.stderr and "ip link set dev down0 up" in r.stderr, r.stderr)
    for name in ("fine0", "down0"):
        netns.ip(f"link del {name}")
    for queue in range(4):
        netns.run(f"sh -c 'echo 0 > /sys/class/net/tap0/queues/rx-{queue}/rps_cpus'")


def goes_away(netns):
    """An interface that is deleted meanwhile: a sentence, alone and among others."""
    netns.ip("link add gone0 type veth peer name gone1")
    for name in ("gone0", "gone1"):
        netns.ip(f"link set {name} up")
    p = start(f"{netns}/gone0", "--for", "2s")
    time.sleep(1.5)
    netns.ip("link del gone0")
    out, err = p.communicate()
    check("doctor: the interface goes away", p.returncode == 1 and not out and "gone0" in err and
          re.search("went away meanwhile|is gone", err), f"{p.returncode} {out} {err}")


def bad_input(iface, netns):
    for words, said in (((iface, "--for", "0"), "--for takes a time from 100ms to 24h"),
                        ((iface, "--for", "5 s"), "--for takes a time"), ((iface, "--for", ""), "--for takes a time"),
                        ((iface, "--for", "25h"), "--for takes a time"), ((iface, iface), "one interface, or none"),
                        ((iface, "--least", "worst"), "--least does not take"), ((iface, "-j", "--script"), "--script prints")):
        r = doctor(*words)
        check(f"doctor {' '.join(words[1:])}: wrong usage", r.returncode == 2 and not r.stdout and said in r.stderr, r.stderr)
    r = doctor(f"{netns}/nope", "--for", "200ms")
    check("doctor: no such interface", r.returncode == 1 and not r.stdout and f"ip -n {netns} link" in r.stderr, r.stderr)
    r = doctor("nonsuch/eth0", "--for", "200ms")
    check("doctor: no such namespace", r.returncode == 1 and not r.stdout and "nonsuch" in r.stderr, r.stderr)
    r = subprocess.run(["setpriv", "--reuid=65534", "--clear-groups", NICPROBE, "doctor", iface], capture_output=True,
                       text=True, check=False)
    check("doctor: not root", r.returncode == 1 and "this needs CAP_BPF, CAP_NET_ADMIN, CAP_PERFMON, CAP_SYS_ADMIN" in r.stderr,
          r.stderr)
    r = subprocess.run(f"{NICPROBE} doctor {iface} --for 200ms >/dev/full", shell=True, capture_output=True, text=True,
                       check=False)
    check("doctor: a full disk", r.returncode == 1 and "No space left" in r.stderr, r.stderr)
    r = subprocess.run(["bash", "-c", f"{NICPROBE} doctor {iface} --for 200ms | true; echo ${{PIPESTATUS[0]}}"],
                       capture_output=True, text=True, check=False)
    same("doctor: a reader that goes: the answer stays", (r.stdout, r.stderr), ("0\n", ""))


def narrow_and_wide(iface):
    for width in (40, 80, 200):
        r = doctor(iface, "--for", "200ms", env={"COLUMNS": str(width)})
        check(f"doctor: {width} columns", max(map(len, r.stdout.splitlines())) <= width, r.stdout)


one_ns = Namespace("doctor")
one_nic = tap(one_ns, address="198.18.0.2/16", options="--napi")
one_nic("read on")
IFACE = f"{one_ns}/tap0"
each(idle_is_well, received_is_judged, beside_an_attachment, two_at_once, ends, trouble_and_script, all_interfaces,
     goes_away, bad_input, narrow_and_wide,
     idle=IFACE, iface=IFACE, nic=one_nic, netns=one_ns, before=left.Before(one_ns))
finish()

# SPDX-License-Identifier: GPL-2.0
"""Every command does its work with exactly the capabilities of the man page's table, and without one of them it says
which is missing."""
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile

from lib import lab, left
from lib.lab import NICPROBE, ROOT, Namespace, check, nicprobe, same, tap

USER = 4000


def table():
    """{command: its capabilities, without "CAP_", in lower case} of the man page's table."""
    with open(os.path.join(ROOT, "man", "nicprobe.8"), encoding="utf-8") as f:
        body = f.read().split(".Sh PERMISSIONS\n")[1].split("\n.S")[0]
    return {command: [c.lower() for c in re.findall(r"CAP_(\w+)", caps)]
            for commands, caps in re.findall(r"^\.It Cm (.*) Ta (.*)$", body, flags=re.M)
            for command in commands.split(" , ")}


def prefix(netns, caps):
    """An ordinary user in this network namespace, who has these capabilities."""
    words = ",".join(["-all", *(f"+{c}" for c in caps)])
    return ["nsenter", f"--net=/run/netns/{netns}", "setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups",
            "--inh-caps", words, "--ambient-caps", words, "--bounding-set", words, "--no-new-privs"]


def works(directory):
    """{command: (arguments, what its output has, the exit statuses that are right)}, in this order: attach, detach."""
    return {
        "attach": ("attach tap0", "pktsize", (0,)),
        "show": ("show tap0 -w .1", "pktsize", (0,)),
        "show hw": ("show tap0 hw", "tun", (0,)),
        "list": ("list", "tap0", (0,)),
        "top": ("top tap0 -b -n 1", "tap0", (0,)),
        "record": (f"record {directory}/record tap0 --for 1s", "frames in", (0,)),
        "report": (f"report {directory}/record -o {directory}/page.html", "", (0,)),
        "cost": ("cost tap0 -w .2", "each run of any BPF program", (0,)),
        "detach": ("detach tap0", "", (0,)),
        "run": ("run tap0 -- true", "tap0", (0,)),
        "trace": ("trace udp:::send -- true", "udp:::send", (0,)),
        "host": ("host connect --for 100ms", "following connect", (0,)),
        "bench": ("bench d0 rx-drop --seconds .3", "packets/s", (0,)),
        "doctor": ("doctor d0 --for 1s", "d0", (0, 3)),
        "drivers": ("drivers veth", "veth", (0,)),
        "explain": ("explain rx-ring-full", "rx-ring-full", (0,)),
        "complete": ("complete meters", "pktsize", (0,)),
    }


def command(binary, netns, caps, args):
    return subprocess.run([*prefix(netns, caps), binary, *args.split()], capture_output=True, text=True, timeout=120, check=False)


def served(binary, netns):
    """serve without any capability answers, and ends."""
    p = subprocess.Popen([*prefix(netns, ()), binary, "serve", "-l", "127.0.0.1:0"], stderr=subprocess.PIPE, text=True)
    url = re.search(r"http\S+", p.stderr.readline())
    text = subprocess.run(["nsenter", f"--net=/run/netns/{netns}", "python3", "-c", "import urllib.request as u, sys\n"
                           "print(u.urlopen(sys.argv[1]).read().decode())", url.group()], capture_output=True, text=True,
                          check=False).stdout
    p.send_signal(signal.SIGTERM)
    same("caps: serve works with none", ['interface="tap0"' in text, p.wait(20)], [True, 0])
    p.stderr.close()


def needed(binary, netns, told, directory):
    """With exactly these."""
    for name, (args, words, statuses) in works(directory).items():
        if name == "detach":
            served(binary, netns)
        r = command(binary, netns, told[name], args)
        check(f"caps: {name} works with {', '.join(told[name]) or 'none'}", r.returncode in statuses and
              words in r.stdout + r.stderr and "this needs" not in r.stderr, f"{r.returncode} {r.stdout[-300:]} {r.stderr[-500:]}")


def as_root(binary, netns, told, directory):
    """They measure what root does: not one meter is absent for lack of another capability."""
    meters = []
    for caps in None, told["attach"]:
        def run(args):
            if caps is None:
                return nicprobe(*f"{args} {netns}/tap0".split())
            return command(binary, netns, caps, f"{args} tap0")
        run("attach")
        doc = json.loads(run("show -j").stdout)
        meters.append((sorted(doc["meters"]), sorted(doc.get("absent", {}))))
        run("detach")
    if os.path.isdir("/sys/fs/bpf/xdp"):
        os.rmdir("/sys/fs/bpf/xdp")     # libxdp keeps it, empty
    same("caps: attach: the meters are those that root has", meters[1], meters[0])
    check("caps: attach: pktsize is among them", "pktsize" in meters[1][0], meters[1])


def in_dispatcher(netns, told):
    """Root with no more than these, as under a unit, cannot take a program out of a dispatcher: it stays, whole."""
    nicprobe("attach", f"{netns}/tap0")
    if "xdp in a dispatcher" not in json.dumps(lab.show(f"{netns}/tap0")):
        lab.skip("caps: detach leaves a dispatcher as it is", "there is none here")
        return
    words = ",".join(["-all", *(f"+{c}" for c in told["detach"])])
    r = subprocess.run(["nsenter", f"--net=/run/netns/{netns}", "setpriv", "--bounding-set", words, "--inh-caps", words,
                        NICPROBE, "detach", "--force", "tap0"], capture_output=True, text=True, timeout=60, check=False)
    check("caps: detach says why it leaves a dispatcher as it is", r.returncode == 1 and "CAP_SYS_ADMIN" in r.stderr, r.stderr)
    check("caps: it is attached still", "tap0" in nicprobe("list").stdout)
    nicprobe("detach", f"{netns}/tap0")
    same("caps: and root detaches it", [x for x in nicprobe("list").stdout.split() if "tap0" in x], [])
    os.rmdir("/sys/fs/bpf/xdp")     # libxdp keeps it, empty


def without_dispatcher(netns):
    """Where libxdp is told to make none, or may not, it attaches the program so that it outlives us: we do not let it."""
    xdp = lambda: json.loads(netns.ip("-j -d link show tap0"))[0].get("xdp")
    r = subprocess.run([NICPROBE, "attach", "-j", "--rx", "xdp", f"{netns}/tap0"], capture_output=True, text=True, check=False,
                       env={**os.environ, "LIBXDP_SKIP_DISPATCHER": "1"})
    same("caps: without a dispatcher XDP is attached alone", [r.returncode, json.loads(r.stdout or "{}").get("hooks", {}).get("rx-nic"),
                                                           bool(xdp())], [0, "xdp", True])
    same("caps: and seen to be there", "no longer attached" in nicprobe("list", "-v").stdout, False)
    nicprobe("detach", f"{netns}/tap0")
    same("caps: detach takes it away", xdp(), None)


def missing(binary, netns, told, directory):
    """With one fewer of them."""
    command(binary, netns, told["attach"], "attach tap0")
    known = {**works(directory), "driver": ("driver tun", "", ()), "wifi": ("wifi", "", ())}
    for name, (args, _, _) in known.items():
        for less in told[name]:
            caps = [c for c in told[name] if c != less]
            if less in ("bpf", "perfmon"):
                caps = [c for c in caps if c != "sys_admin"]	# which has both
            r = command(binary, netns, caps, args)
            check(f"caps: {name} without {less} says so", r.returncode == 1 and f"CAP_{less.upper()}" in r.stderr and
                  len(r.stderr.strip().splitlines()) <= 3, f"{r.returncode} {r.stdout[-300:]!r} {r.stderr!r}")
    command(binary, netns, told["attach"], "detach tap0")


def main():
    netns = Namespace("caps")
    nic = tap(netns)
    netns.ip("link add d0 type veth peer name d1")
    for name in "d0", "d1", "lo":
        netns.ip(f"link set {name} up")
    before, told = left.Before(netns), table()
    every = nicprobe("complete", "commands").stdout.split()
    same("caps: the table has every command", sorted({c.split()[0] for c in told} ^ {*every, "complete"}), [])
    same("caps: each is tested", sorted({*works("")} ^ ({*told} - {"driver", "wifi", "serve"})), [])
    with tempfile.TemporaryDirectory() as path:
        os.chmod(path, 0o777)
        binary = shutil.copy(NICPROBE, path)
        os.chmod(binary, 0o755)
        lab.each(needed, as_root, in_dispatcher, without_dispatcher, missing, binary=binary, netns=netns, told=told, directory=path,
                 after=lambda: nicprobe("detach", "--all", check=False))
    before.check("caps: all of this leaves nothing")
    nic.close()


lab.need_root()
left.own_bpffs()
main()
lab.finish()

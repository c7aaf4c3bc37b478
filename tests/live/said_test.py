# SPDX-License-Identifier: GPL-2.0
"""Terminal output: names with control characters, closed pipes, full disks, very many interfaces."""
import json
import re
import shutil
import subprocess
import time

from lib import lab, left
from lib.lab import NICPROBE, Namespace, check, nicprobe, same, skip, tap

LOUD = "a\33[31m\7x"	# red, and a bell


def harmless(text):
    return not re.search("[\0-\b\v-\x1f\x7f-\x9f]", text)


def loud_names(ns):
    """The creator of an interface must not drive the terminal of root, who measures it."""
    subprocess.run(["ip", "-n", str(ns), "link", "add", LOUD, "type", "veth", "peer", "name", "quiet"], check=True, timeout=20)
    said = ""
    for args in (["attach", "-m", "hwstat", f"{ns}/{LOUD}"], ["attach", f"{ns}/{LOUD}"], ["show", f"{ns}/{LOUD}", "txlat"],
                 ["list"], ["-j", "list"], ["show", f"{ns}/{LOUD}"], ["run", f"{ns}/{LOUD}", "--", "true"],
                 ["-v", "show", f"{ns}/{LOUD}"], ["show", f"{ns}/{LOUD}y"], ["detach", f"{ns}/{LOUD}"],
                 ["detach", f"{ns}/{LOUD}"], ["attach", "-v", "--rx", "xdp", f"{ns}/{LOUD}"], [LOUD],
                 ["attach", f"{LOUD}/eth0"], ["attach", "-m", LOUD, f"{ns}/{LOUD}"], [f"--{LOUD}"]):
        r = subprocess.run([NICPROBE, *args], capture_output=True, text=True, timeout=60, check=False)
        check(f"said: {' '.join(args).replace(LOUD, 'LOUD').replace(str(ns), 'NS')}: nothing drives the terminal",
              harmless(r.stdout) and harmless(r.stderr), repr(r.stdout[:300] + r.stderr))
        said += r.stderr
    check("said: and it was named", said.count("a?[31m?x") >= 6, repr(said))
    nicprobe("detach", "--all")
    ns.ip("link del quiet")
    loud_tap(ns)
    r = subprocess.run([NICPROBE, "run", f"{ns}/tap0", "--", f"/{LOUD}"], capture_output=True, text=True, timeout=60,
                       check=False)
    check("said: a command that cannot be run", r.returncode == 127 and "cannot run /a?[31m?x" in r.stderr, repr(r.stderr))


def loud_tap(ns):
    """An interface that passes many packets to XDP as one frame: the warning contains its name."""
    nic = lab.Nic("tap tap1 --vnet-hdr", ns)
    subprocess.run(["ip", "-n", str(ns), "link", "set", "tap1", "name", LOUD], check=True, timeout=20)
    r = subprocess.run([NICPROBE, "attach", "--rx", "xdp", f"{ns}/{LOUD}"], capture_output=True, text=True, timeout=60,
                       check=False)
    nicprobe("detach", "--all")
    nic.close()
    check("said: attach --rx xdp to a tap of such a name: nothing drives the terminal", harmless(r.stdout + r.stderr) and
          "a?[31m?x may receive GSO frames of many packets" in r.stderr, repr(r.stdout[:300] + r.stderr))


def readers(iface):
    """A closed pipe is no error; a full disk is one, and the work done is reported all the same."""
    for command, status in ("true", 0), ("sh -c 'exit 7'", 7):
        for n in range(5):
            r = subprocess.run(["bash", "-c", f"{NICPROBE} run {iface} -- {command} | true; exit ${{PIPESTATUS[0]}}"],
                               check=False, capture_output=True, text=True, timeout=60)
            if (r.returncode, r.stderr) != (status, ""):
                break
        same(f"said: run -- {command}, to a reader that goes, 5 times", [r.returncode, r.stderr], [status, ""])
    r = subprocess.run(f"{NICPROBE} run {iface} -- true >/dev/full", shell=True, check=False, capture_output=True, text=True,
                       timeout=60)
    check("said: run to a full disk", r.returncode == 1 and "cannot write the output: No space left" in r.stderr, r.stderr)
    r = subprocess.run(f"{NICPROBE} attach {iface} >/dev/full", shell=True, check=False, capture_output=True, text=True,
                       timeout=60)
    check("said: attach to a full disk: what to undo", r.returncode == 1 and "No space left" in r.stderr and
          f"{iface} stays attached\n  try: nicprobe detach {iface}\n" in r.stderr, r.stderr)
    same("said: and it is so", nicprobe("detach", iface).returncode, 0)


def detached_early(iface):
    """`run` while another process detaches: the sentence reports that, at whatever moment."""
    seen = set()
    for n in range(12):
        run = subprocess.Popen([NICPROBE, "run", iface, "--", "sleep", ".1"], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
        end = time.monotonic() + 5
        while run.poll() is None and time.monotonic() < end:
            if nicprobe("detach", iface, check=False).returncode == 0:
                break
        seen.add(run.communicate(timeout=60)[1])
    # "is attached", if it came too late
    check("said: run, and another detaches: it is said what happened", seen and
          all(not s or "someone detached it" in s for s in seen), repr(seen))


def many(ns):
    """More interfaces than any table was sized for."""
    nr = 258
    batch = "".join(f"link add m{n} type veth peer name m{n + 1}\n" for n in range(0, nr, 2))
    subprocess.run(["ip", "-n", str(ns), "-batch", "-"], input=batch, text=True, check=True, timeout=120)
    for n in range(nr):
        r = nicprobe("attach", "-m", "counters", f"{ns}/m{n}", check=False)
        if r.returncode:
            lab.not_ok("said: very many interfaces", r.stderr)
            break
    else:
        shown = {json.loads(line)["interface"] for line in nicprobe("show", "--total", "-j").stdout.splitlines()}
        same("said: show has each of very many interfaces", len(shown), nr)
    nicprobe("detach", "--all")
    gone = "".join(f"link del m{n}\n" for n in range(0, nr, 2))
    subprocess.run(["ip", "-n", str(ns), "-batch", "-"], input=gone, text=True, check=True, timeout=120)


def interrupted(iface):
    """A signal during the kernel's answer must not truncate it."""
    if not shutil.which("strace"):
        skip("said: answers over netlink despite signals: strace is not installed")
        return
    whole = nicprobe("show", "-j", iface, "hw")
    for call, when in ("recvmsg", "1..4000+2"), ("sendto", "1..4000+3"):
        r = subprocess.run(["strace", "-f", "-o", "/dev/null", "-e", f"trace={call}", "-e",
                            f"inject={call}:error=EINTR:when={when}", NICPROBE, "show", "-j", iface, "hw"],
                           capture_output=True, text=True, timeout=60, check=False)
        same(f"said: {call} of netlink is interrupted, again and again", [r.returncode, r.stderr, r.stdout[-2000:]],
             [0, "", whole.stdout[-2000:]])


lab.need_root()
left.own_bpffs()
ns = Namespace("said")
nic = tap(ns)
before = left.Before(ns)
lab.each(loud_names, readers, detached_early, interrupted, many, ns=ns, iface=f"{ns}/tap0")
before.check("said: all of this leaves nothing")
nic.close()
lab.finish()

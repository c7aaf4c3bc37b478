#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""In a guest: simulated radios scan, and nicprobe reports exactly what they were asked to do."""
import atexit
import json
import os
import shutil
import socket
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "live"))
from lib import lab      # noqa: E402
from lib.lab import check, nicprobe, same, sh, until      # noqa: E402

IBSS, AP = 2412, 2437       # the channels of wlan2 and wlan3
ONE = [2412, 2417, 2422, 2437, 5180, 5200, 5220, 5240]
TWO = [2462, 2437, 2467, 5180, 5745, 5765, 5785, 5805]
JOIN = f"iw dev {{}} ibss join np-adhoc {IBSS} fixed-freq 02:00:00:00:09:09 beacon-interval 25"
ALL = []                    # about 76, taking eight seconds


def place(mhz):
    """(band, channel) with the meter's names."""
    if mhz < 2500:
        return "2.4 GHz", str((mhz - 2407) // 5)
    return "5 GHz", str((mhz - 5000) // 5)


class Live:
    """The events of `nicprobe wifi -j`, as they arrive."""
    def __init__(self, *args, env=None):
        self.events, self.mark = [], 1
        self.p = subprocess.Popen([lab.NICPROBE, "wifi", "-j", *args], stdout=subprocess.PIPE, text=True,
                                  env={**os.environ, **(env or {})})
        atexit.register(self.p.kill)
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()
        if not until(lambda: self.events, 30):
            raise RuntimeError("nicprobe wifi does not listen")

    def read(self):
        for line in self.p.stdout:
            self.events.append(json.loads(line))

    def since(self):
        """Events since anew()."""
        return self.events[self.mark:]

    def anew(self):
        self.mark = len(self.events)

    def of(self, interface, event):
        return [e for e in self.since() if e["interface"] == interface and e["event"] == event]

    def wait(self, interface, event, count=1):
        """The last of this many events."""
        if not until(lambda: len(self.of(interface, event)) >= count, 30):
            raise RuntimeError(f"{count} × {event} of {interface} did not come: {self.since()}")
        return self.of(interface, event)[count - 1]

    def close(self):
        self.p.terminate()
        status = self.p.wait(20)
        self.thread.join(20)
        return status


def scan(who, interface, channels):
    """A process of this name starts a scan. It does not wait for the end: `iw scan` may wait forever."""
    freq = ["freq", *map(str, channels)] if channels else []
    return subprocess.Popen([f"/tmp/{who}", "dev", interface, "scan", "trigger", *freq, "passive"],
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def rows(doc):
    """The meter's rows: {(by, kind): row}, {(band, channel): (visits, networks)}."""
    scans, channels = {}, {}
    for r in doc["meters"]["wifi"]:
        if r["channel"] == "-":
            scans[r["by"], r["kind"]] = r
        else:
            channels[r["band"], r["channel"]] = r["visits"], r["networks"]
    return scans, channels


def ends(row):
    return {k: v for k, v in row["scans"].items() if v}


def asked(event):
    return [c["mhz"] for c in event["channels"]]


def heard(event):
    return {c["mhz"]: c["networks"] for c in event["channels"] if c.get("networks")}


def beacon_head(mac, ssid, channel):
    """A beacon's header, its interval (of 25 ms) and capabilities, SSID, rates and channel."""
    own = mac.replace(":", "")
    return ("80000000" + "ff" * 6 + own + own + "0000" + "00" * 8 + "1900" + "0100" +
            f"00{len(ssid):02x}{ssid.encode().hex()}" + "010482848b96" + f"0301{channel:02x}")


def radios(channels):
    """Four radios: two that scan, one in an ad-hoc network, one as an access point."""
    sh(f"modprobe mac80211_hwsim radios=4 channels={channels}")
    until(lambda: os.path.exists("/sys/class/net/wlan3"))
    for nr in range(4):
        sh(f"sysctl -qw net.ipv6.conf.wlan{nr}.disable_ipv6=1", check=False)
    sh("iw dev wlan2 set type ibss; iw dev wlan3 set type __ap")
    for nr in range(4):
        sh(f"ip link set wlan{nr} up")
    with open("/sys/class/net/wlan3/address", encoding="ascii") as f:
        mac = f.read().strip()
    sh(JOIN.format("wlan2"))
    sh(f"iw dev wlan3 ap start np-ap {AP} 25 1 head {beacon_head(mac, 'np-ap', 6)}")


def radio_of(interface):
    with open(f"/sys/class/net/{interface}/phy80211/name", encoding="ascii") as f:
        return f.read().strip()


def at_once(name, kind, live):
    """Two radios, asked by different programs for different channels."""
    for interface in "wlan0", "wlan1":
        nicprobe("attach", interface, "-m", "wifi")
    before = time.monotonic()
    first, second = scan("asker-one", "wlan0", ONE), scan("asker-two", "wlan1", TWO)
    pids = first.pid, second.pid
    first.wait(30), second.wait(30)
    done = [live.wait("wlan0", "done"), live.wait("wlan1", "done")]
    most = time.monotonic() - before
    order = [e["event"] for e in live.since()]
    same(f"{name}: both begin before one ends", order, ["began", "began", "done", "done"])
    same(f"{name}: they are two", len({e["scan"] for e in live.since()}), 2)
    for nr, (who, want) in enumerate((("asker-one", ONE), ("asker-two", TWO))):
        interface = f"wlan{nr}"
        began = live.wait(interface, "began")
        for event in began, done[nr]:
            what = f"{name}: {interface} {event['event']}"
            same(f"{what}: who asked", event["by"], {"name": who, "pid": pids[nr]})
            same(f"{what}: the channels", asked(event), want)
            same(f"{what}: the radio", event["radio"], radio_of(interface))
            same(f"{what}: it only listens", (event["active"], event["ssids"]), (False, 0))
        same(f"{name}: {interface}: the scan that began is the one that ended", began["scan"], done[nr]["scan"])
        same(f"{name}: {interface}: how", done[nr]["kind"], kind)
        networks = {mhz: 1 for mhz in (IBSS, AP) if mhz in want}
        same(f"{name}: {interface}: what was heard", heard(done[nr]), networks)
        same(f"{name}: {interface}: in all", done[nr]["networks"], len(networks))
        took = done[nr]["seconds"]
        # On a passive channel the radio listens for at least a ninth of a second.
        check(f"{name}: {interface}: for how long # {took:.3f} s of {most:.3f}",
              .1 * len(want) <= took <= most, str(took))
        scans, channels = rows(lab.show(interface))
        same(f"{name}: {interface}: whose scans are counted", list(scans), [(who, kind)])
        row = scans.get((who, kind))
        same(f"{name}: {interface}: scans", row and ends(row), {"done": 1})
        total = row and row["duration_seconds"]
        check(f"{name}: {interface}: their time", total and total["count"] == 1 and abs(total["sum"] - took) < .1,
              f"{total}, not {took}")
        same(f"{name}: {interface}: channels", channels, {place(mhz): (1, networks.get(mhz, 0)) for mhz in want})


def cut_short(name, kind, live):
    """Aborted by another program; and by taking the interface down."""
    live.anew()
    scan("asker-one", "wlan0", ALL).wait(30)
    live.wait("wlan0", "began")
    abort = subprocess.Popen(["/tmp/asker-two", "dev", "wlan0", "scan", "abort"], stdout=subprocess.DEVNULL)
    abort.wait(30)
    end = live.wait("wlan0", "aborted")
    same(f"{name}: by whom", end.get("aborted_by"), {"name": "asker-two", "pid": abort.pid})
    check(f"{name}: early # {end['seconds']:.3f} s", end["seconds"] < .1 * len(asked(end)), str(end["seconds"]))
    scan("asker-one", "wlan0", ALL).wait(30)
    live.wait("wlan0", "began", 2)
    sh("ip link set wlan0 down")
    end = live.wait("wlan0", "aborted", 2)
    sh("ip link set wlan0 up")
    same(f"{name}: interface down: by whom", end.get("aborted_by"), None)
    scans, channels = rows(lab.show("wlan0"))
    same(f"{name}: scans", ends(scans["asker-one", kind]), {"done": 1, "aborted": 2})
    same(f"{name}: only one that was done has a duration", scans["asker-one", kind]["duration_seconds"]["count"], 1)
    same(f"{name}: and visits channels", {n for n, _ in channels.values()}, {1})


def refused(name):
    """mac80211 does not scan for a monitor interface."""
    sh("iw dev wlan3 interface add watch type monitor; ip link set watch up")
    nicprobe("attach", "watch", "-m", "wifi")
    live = Live("watch", "-c", "1")
    scan("asker-one", "watch", [AP]).wait(30)
    same(f"{name}: after one that ended it ends", live.p.wait(20), 0)
    same(f"{name}: events", [(e["event"], e.get("error")) for e in live.since()],
         [("began", None), ("refused", "EOPNOTSUPP")])
    scans, channels = rows(lab.show("watch"))
    same(f"{name}: counted", ({who: ends(r) for (who, _), r in scans.items()}, channels),
         ({"asker-one": {"refused": 1}}, {}))
    nicprobe("detach", "watch")
    sh("iw dev watch del")


def own_channel(name, live):
    """mac80211 need not leave the channel that a radio is on: no software scan is announced."""
    live.anew()
    scan("asker-one", "wlan2", [IBSS]).wait(30)
    end = live.wait("wlan2", "done")
    same(name, (end["kind"], asked(end), end["networks"]), ("software", [IBSS], end["networks"]))


def under_way(name, early):
    """Attached in the middle of a scan: it is counted, without guessing its start."""
    nicprobe("detach", "wlan1")
    early.anew()
    scan("asker-two", "wlan1", ALL).wait(30)
    early.wait("wlan1", "began")
    nicprobe("attach", "wlan1", "-m", "wifi")
    late = Live("wlan1")
    try:
        ended = early.of("wlan1", "done") or sh("iw dev wlan1 scan abort")
    except RuntimeError:        # it has ended in the meantime
        ended = True
    if ended:
        late.close()
        lab.skip(name, "this machine is too slow to attach before a scan has ended")
        return
    end = late.wait("wlan1", "aborted")
    same(f"{name}: live", (end.get("by"), end["seconds"], end["kind"]), (None, None, "unknown"))
    scans, channels = rows(lab.show("wlan1"))
    same(f"{name}: counted", ({k: (ends(r), r["duration_seconds"]["count"]) for k, r in scans.items()}, channels),
         ({("unknown", "unknown"): ({"aborted": 1}, 0)}, {}))
    late.close()


def p2p(name, live):
    """A P2P device is no network interface: its scans count for its radio."""
    phy = radio_of("wlan1")
    sh(f"iw phy {phy} interface add p2p0 type __p2pdev")
    wdev = sh("iw dev").split("Unnamed/non-netdev interface")[1].split("wdev")[1].split()[0]
    before = rows(lab.show("wlan1"))[0].get(("asker-one", "hardware"))
    live.anew()
    sh(f"/tmp/asker-one wdev {wdev} p2p start")
    sh(f"/tmp/asker-one wdev {wdev} scan trigger freq 2412 passive")
    end = live.wait(None, "done")
    same(f"{name}: live", (end["radio"], end["by"]["name"], asked(end)), (phy, "asker-one", [2412]))
    scans = rows(lab.show("wlan1"))[0]
    same(f"{name}: counted", ends(scans["asker-one", "hardware"]), {"done": 1} if not before else None)
    sh(f"iw wdev {wdev} del")


def typeless(name):
    """Without the module's types: only who scanned, and for how long."""
    env = {"NICPROBE_CANNOT": "module_btf"}
    nicprobe("detach", "wlan0")
    said = json.loads(nicprobe("attach", "-j", "wlan0", "-m", "wifi", env=env).stdout)
    check(f"{name}: it is said", "built without BTF" in json.dumps(said), str(said))
    live = Live("wlan0", env=env)
    scan("asker-two", "wlan1", [2412]).wait(30)
    scan("asker-one", "wlan0", ONE).wait(30)
    end = live.wait(None, "done")
    scans, channels = rows(lab.show("wlan0"))
    same(f"{name}: live", (end["by"]["name"], end["radio"], end["kind"], end["networks"], end.get("channels")),
         ("asker-one", radio_of("wlan0"), "unknown", None, None))
    same(f"{name}: counted", ({k: ends(r) for k, r in scans.items()}, channels),
         ({("asker-one", "unknown"): {"done": 1}}, {}))
    check(f"{name}: for how long", .1 * len(ONE) <= scans["asker-one", "unknown"]["duration_seconds"]["sum"] <= 60)
    same(f"{name}: another radio is not meant", len(live.events), 3)
    live.close()
    nicprobe("detach", "wlan0")
    nicprobe("attach", "wlan0", "-m", "wifi")


def stations(name):
    """Two in an ad-hoc network: the counts of each station match what the other one sent."""
    mac = {}
    sh("iw dev wlan3 ap stop; ip link set wlan3 down; iw dev wlan3 set type ibss; ip link set wlan3 up")
    sh(JOIN.format("wlan3"))
    for nr in 2, 3:
        with open(f"/sys/class/net/wlan{nr}/address", encoding="ascii") as f:
            mac[nr] = f.read().strip()
    met = until(lambda: all(mac[5 - nr] in sh(f"iw dev wlan{nr} station dump") for nr in (2, 3)), 20)
    if not check(f"{name}: they have met", met):
        return
    nicprobe("attach", "wlan2", "-m", "station")
    for nr, count in (2, 25), (3, 7):
        with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as s:
            s.bind((f"wlan{nr}", 0))
            frame = bytes.fromhex((mac[5 - nr] + mac[nr]).replace(":", "")) + b"\x88\xb5" + bytes(86)
            for _ in range(count):
                s.send(frame)

    def packets(way):
        return sum(r["packets"][way] for r in lab.show("wlan2")["meters"]["station"])
    until(lambda: (packets("rx"), packets("tx")) == (7, 25), 10)
    found = lab.show("wlan2")["meters"]["station"]
    same(f"{name}: of whom", {r["station"] for r in found}, {mac[3]})
    same(f"{name}: packets", (packets("rx"), packets("tx")), (7, 25))
    whole = next(r for r in found if r["tid"] == "-")
    check(f"{name}: bytes # {whole['bytes']}",
          whole["bytes"]["tx"] >= 25 * 86 and whole["bytes"]["rx"] >= 7 * 86, str(whole))
    nicprobe("detach", "wlan2")


def removed(name, live):
    """The radios disappear while they scan."""
    live.anew()
    scan("asker-one", "wlan0", ALL).wait(30)
    scan("asker-two", "wlan1", ALL).wait(30)
    for interface in "wlan0", "wlan1":
        live.wait(interface, "began")
    sh("rmmod mac80211_hwsim")
    same(f"{name}: both end", [live.wait(i, "aborted")["by"]["name"] for i in ("wlan0", "wlan1")],
         ["asker-one", "asker-two"])
    doc = lab.show("wlan0")
    check(f"{name}: counted", any(r["scans"]["aborted"] for r in doc["meters"]["wifi"]), str(doc["meters"]))
    check(f"{name}: the interface is gone # {doc.get('state')}", "gone" in doc.get("state", ""), str(doc.get("state")))
    same(f"{name}: nothing is lost", doc["lost"]["wifi"], 0)
    for interface in "wlan0", "wlan1":
        nicprobe("detach", interface)
    same(f"{name}: who listens goes on, and ends as it is told", (live.p.poll(), live.close()), (None, 0))


lab.need_root()
if not shutil.which("iw"):
    lab.skip("wifi", "iw is not installed")
    lab.finish()
r = nicprobe("wifi", check=False)
check("wifi: without a radio", r.returncode == 1 and "cfg80211" in r.stderr, r.stderr)
for who in "asker-one", "asker-two":
    shutil.copy(shutil.which("iw"), f"/tmp/{who}")
for channels, kind in (1, "software"), (2, "hardware"):
    radios(channels)
    everything = Live()
    at_once(f"wifi: {kind}: at once", kind, everything)
    cut_short(f"wifi: {kind}: cut short", kind, everything)
    if kind == "software":
        own_channel("wifi: on its own channel", everything)
        refused("wifi: refused")
        typeless("wifi: without types")
        under_way("wifi: under way at attach", everything)
    else:
        p2p("wifi: P2P device", everything)
        stations("wifi: stations")
    removed(f"wifi: {kind}: radios removed", everything)
same("wifi: nothing is left behind", os.path.exists("/sys/fs/bpf/nicprobe"), False)
r = nicprobe("attach", "lo", "-m", "wifi", check=False)
check("wifi: no wireless interface", r.returncode == 1 and "not a wireless interface" in r.stderr, r.stderr)
lab.finish()

# SPDX-License-Identifier: GPL-2.0
"""Comparable tools: bpftrace, tcpdump, polling of driver statistics, netqtop."""
import glob
import json
import os
import platform
import re
import resource
import shutil
import signal
import subprocess
import tempfile
import time

from children import bpftrace
from tell import Wrong

SCRIPTS = {
    # written after the descriptions of netsize(8), nettxlat(8), ipecn(8) and the rx CPU one-liner
    "netsize": """
tracepoint:net:napi_gro_receive_entry { @nic_recv = hist(args->len); }
tracepoint:net:netif_receive_skb      { @recv = hist(args->len); }
tracepoint:net:net_dev_queue          { @send = hist(args->len); }
tracepoint:net:net_dev_xmit           { @nic_send = hist(args->len); }
""",
    "nettxlat": """
tracepoint:net:net_dev_start_xmit { @start[args->skbaddr] = nsecs; }
tracepoint:skb:consume_skb /@start[args->skbaddr]/ {
	@us = hist((nsecs - @start[args->skbaddr]) / 1000);
	delete(@start[args->skbaddr]);
}
tracepoint:net:net_dev_queue { delete(@start[args->skbaddr]); }
END { clear(@start); }
""",
    # a tracepoint: ip_rcv would need kprobes, and is not called for lists of packets
    "ipecn": """
tracepoint:net:netif_receive_skb {
	$skb = (struct sk_buff *)args->skbaddr;
	if ($skb->protocol == 0x0008) {
		$ip = (struct iphdr *)($skb->head + $skb->network_header);
		if (($ip->tos & 3) == 3) { @ce[ntop($ip->saddr)] = count(); }
	}
}
""",
    "rxcpu": """
tracepoint:net:netif_receive_skb { @cpu[str(args->name)] = lhist(cpu, 0, 128, 1); }
""",
}
HOOKS = ["napi_gro_receive_entry", "netif_receive_skb", "net_dev_queue", "net_dev_xmit",
         "net_dev_start_xmit", "consume_skb"]


def elsewhere():
    """
    Keeps observers off CPU 0, which processes the packets, unless it is the only CPU. They are ended by SIGINT, which
    what is started in the background ignores, and a shell then cannot trap.
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if os.cpu_count() > 1:
        os.sched_setaffinity(0, set(range(1, os.cpu_count())))


def held(pid):
    """The ids of the programs that a process holds."""
    ids = set()
    for path in glob.glob(f"/proc/{pid}/fdinfo/*"):
        try:
            with open(path, encoding="ascii") as f:
                ids.update(int(line.split()[1]) for line in f if line.startswith("prog_id:"))
        except OSError:
            pass
    return ids


class Bpftrace:
    """with Bpftrace(name) as b: counts on all interfaces; b.counts() has the counts afterwards."""
    @staticmethod
    def why_not():
        return "" if shutil.which("bpftrace") else "bpftrace is not installed"

    def __init__(self, name, *_):
        self.script = SCRIPTS[name]

    def __enter__(self):
        self.out = tempfile.TemporaryFile("w+")
        self.p = subprocess.Popen(["bpftrace", "-f", "json", "-e", self.script], stdout=self.out,
                                  stderr=subprocess.DEVNULL, preexec_fn=elsewhere)
        end = time.monotonic() + 20
        while len(self.ids()) < bpftrace.probes(self.script):
            if time.monotonic() > end or self.p.poll() is not None:
                raise RuntimeError("bpftrace did not attach")
            time.sleep(.05)
        time.sleep(.2)			# the programs are loaded; wait until they are attached
        return self

    def ids(self):
        return held(self.p.pid)

    def programs(self, trace):
        """{id: (hook, hook)}, without BEGIN and END. The kernel keeps 15 characters of names."""
        ids = self.ids()
        names = trace("read " + " ".join(map(str, ids)))
        return {i: (hook, hook) for i in ids for hook in HOOKS
                if names[str(i)]["name"] == hook[:15]}

    def __exit__(self, *_):
        for _ in range(5):
            self.p.send_signal(signal.SIGINT)
            try:
                self.p.wait(1.5)
                return
            except subprocess.TimeoutExpired:
                pass		# bpftrace 0.17 sometimes misses the first signal
        self.p.kill()
        self.p.wait()
        raise Wrong("bpftrace did not end")

    def counts(self):
        """{map: count}"""
        out = {}
        self.out.seek(0)
        for line in self.out:
            doc = json.loads(line) if line.startswith("{") else {"type": ""}
            if doc["type"] in ("hist", "lhist", "map"):
                for name, value in doc["data"].items():
                    out[name] = counted(value)
        return out


def counted(value):
    """The total of a number, of the slots of a histogram, or of these by key."""
    if isinstance(value, list):
        return sum(slot["count"] for slot in value)
    return sum(counted(v) for v in value.values()) if isinstance(value, dict) else value


def children_cpu():
    """CPU seconds of all children that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


class Watching:
    """A separate process; `watched` is the share of a CPU that it took."""
    def start(self, command, **kwargs):
        self.began = time.monotonic()
        self.p = subprocess.Popen(command, preexec_fn=elsewhere, **kwargs)

    def __exit__(self, *_):
        cpu = children_cpu()
        self.p.send_signal(signal.SIGINT)
        self.p.wait(20)
        self.watched = (children_cpu() - cpu) / (time.monotonic() - self.began)

    def counts(self):
        return {}


class Tcpdump(Watching):
    """Captures all packets of an interface to /dev/null."""
    @staticmethod
    def why_not():
        return "" if shutil.which("tcpdump") else "tcpdump is not installed"

    def __init__(self, netns, device):
        self.netns, self.device = netns, device

    def __enter__(self):
        self.err = tempfile.TemporaryFile("w+")
        self.start(["ip", "netns", "exec", str(self.netns), "tcpdump", "-n", "-i", self.device,
                    "-w", "/dev/null"], stderr=self.err)
        end = time.monotonic() + 5
        while "listening" not in self.said():
            if time.monotonic() > end or self.p.poll() is not None:
                raise RuntimeError(f"tcpdump did not start: {self.said()}")
            time.sleep(.02)
        return self

    def said(self):
        self.err.seek(0)
        return self.err.read()

    def counts(self):
        """Packets seen, and those not captured."""
        got = {word: int(n) for n, word in
               re.findall(r"(\d+) packets? (captured|received|dropped)", self.said())}
        return {"seen": got["received"], "lost": got["received"] - got["captured"]}


class Poll(Watching):
    """Polls statistics of an interface ten times per second: the kernel's or nicprobe's."""
    COMMANDS = {
        "ethtool -S": "ip netns exec {netns} ethtool -S {device}",
        "sysfs": "ip netns exec {netns} sh -c 'cat /sys/class/net/{device}/statistics/*'",
        "show": "{nicprobe} show --total -j {netns}/{device}",
    }

    def __init__(self, how, netns, device, nicprobe=None):
        self.command = self.COMMANDS[how].format(netns=netns, device=device, nicprobe=nicprobe)

    def __enter__(self):
        # SIGINT ends the loop, not a running command
        loop = f"trap 'exit 0' INT; while :; do {self.command} >/dev/null; sleep .1; done"
        self.start(["sh", "-c", loop], stderr=subprocess.DEVNULL)
        return self


def netqtop_why_not():
    """bcc compiles its tools at run time against the headers of the running kernel."""
    headers = [f"/lib/modules/{platform.release()}/build", "/sys/kernel/kheaders.tar.xz"]
    if not any(map(os.path.exists, headers)):
        return ("bcc needs kernel headers, and there is neither " +
                " nor ".join(["/lib/modules/…/build", headers[1]]))
    if not netqtop():
        return "not installed (Debian: bpfcc-tools)"
    return ""


def netqtop():
    return shutil.which("netqtop-bpfcc") or shutil.which("netqtop")


class Netqtop(Watching):
    why_not = staticmethod(netqtop_why_not)

    def __init__(self, netns, device):
        self.netns, self.device = netns, device

    def __enter__(self):
        # not `ip netns exec`, which hides the tracepoints
        self.out = tempfile.TemporaryFile("w+")
        self.start(["nsenter", f"--net=/run/netns/{self.netns}", netqtop(), "-n", self.device,
                    "-i", "1"], stdout=self.out, stderr=self.out)
        end = time.monotonic() + 60
        while time.monotonic() < end and self.p.poll() is None:
            self.out.seek(0)
            if "TX" in self.out.read():	# the first table
                return self
            time.sleep(.1)
        self.out.seek(0)
        raise RuntimeError(f"netqtop did not start: {self.out.read()[-200:]}")

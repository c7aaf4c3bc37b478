# SPDX-License-Identifier: GPL-2.0
"""What one would use else: bpftrace, doing what netsize(8) and nettxlat(8) are said to do."""
import glob
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time

SCRIPTS = {
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
}
HOOKS = ["napi_gro_receive_entry", "netif_receive_skb", "net_dev_queue", "net_dev_xmit",
         "net_dev_start_xmit", "consume_skb"]


class Bpftrace:
    """with Bpftrace(name) as b: it counts; afterwards b.counts() says what."""
    @staticmethod
    def there():
        return shutil.which("bpftrace") is not None

    def __init__(self, name):
        self.script = SCRIPTS[name]

    def __enter__(self):
        self.out = tempfile.TemporaryFile("w+")
        self.p = subprocess.Popen(["bpftrace", "-f", "json", "-e", self.script], stdout=self.out,
                                  stderr=subprocess.DEVNULL)
        end = time.monotonic() + 20
        while len(self.ids()) < self.script.count("tracepoint:"):
            if time.monotonic() > end or self.p.poll() is not None:
                raise RuntimeError("bpftrace does not attach")
            time.sleep(.05)
        time.sleep(.2)			# loaded; attached a moment later
        return self

    def ids(self):
        """The ids of the programs it holds."""
        ids = set()
        for path in glob.glob(f"/proc/{self.p.pid}/fdinfo/*"):
            try:
                with open(path, encoding="ascii") as f:
                    ids.update(int(line.split()[1]) for line in f if line.startswith("prog_id:"))
            except OSError:
                pass
        return ids

    def programs(self, trace):
        """{id: (hook, hook)}; BEGIN and END have none. The kernel keeps 15 letters of a name."""
        ids = self.ids()
        names = trace("read " + " ".join(map(str, ids)))
        return {i: (hook, hook) for i in ids for hook in HOOKS if names[str(i)]["name"] == hook[:15]}

    def __exit__(self, *_):
        self.p.send_signal(signal.SIGINT)
        self.p.wait(20)

    def counts(self):
        """{map: values in its histogram}"""
        out = {}
        self.out.seek(0)
        for line in self.out:
            if line.startswith("{"):
                doc = json.loads(line)
                if doc["type"] == "hist":
                    for name, slots in doc["data"].items():
                        out[name] = sum(slot["count"] for slot in slots)
        return out

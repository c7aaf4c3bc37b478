# SPDX-License-Identifier: GPL-2.0
"""Each finding speaks in a situation made for it, and keeps silent in its opposite."""
import lab

lab.need_root()
netns = lab.Namespace("findings")
netns.run("sysctl -qw net.ipv4.ip_forward=0")


def findings(name, meter, batches, speaks):
    """Sends on a tap of its own; then whether `speaks` stands in one of the meter's findings."""
    nic = lab.tap(netns, name, options="--steer")
    lab.nicprobe("attach", f"{netns}/{name}")
    for batch in batches:
        nic(f"send {batch}")
    nic("go")
    doc = lab.show(f"{netns}/{name}")
    table = lab.nicprobe("show", f"{netns}/{name}").stdout
    metrics = lab.nicprobe("show", f"{netns}/{name}", "-f", "openmetrics").returncode
    lab.nicprobe("detach", f"{netns}/{name}")
    nic.close()
    said = [f for f in doc["findings"] if f["meter"] == meter]
    if speaks is None:
        lab.same(f"findings {name}: silent", said, [])
        return
    lab.check(f"findings {name}: {speaks}", any(speaks in f["what"] and f["try"] for f in said),
              f"it says {said}")
    lab.check(f"findings {name}: in the table, too", f"{meter}: " in table and "try:" in table)
    lab.check(f"findings {name}: no harm to openmetrics", metrics == 0)


# a queue that carries far more than its share of a quarter, and one that does not
findings("hot", "rxcpu", ["0 2000 100", "1 100 100", "2 100 100", "3 100 100"],
         "queue 0 carries 87% of the packets, 3.5 times its share of 25%")
findings("even", "rxcpu", [f"{q} 1000 100" for q in range(4)], None)
# too few packets say nothing, however they lie
findings("few", "rxcpu", ["0 900 100"], None)

# marks that arrived: from one in a hundred of the capable on
findings("marked", "ecn", ["0 990 100 ecn=2", "0 10 100 ecn=3", "1 5000 100"],
         "1.0% of the ECN-capable packets arrived marked CE")
findings("unmarked", "ecn", ["0 991 100 ecn=2", "0 9 100 ecn=3"], None)
lab.finish()

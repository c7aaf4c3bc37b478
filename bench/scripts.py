# SPDX-License-Identifier: GPL-2.0
"""Scripts of bpftrace for what the host's meters measure: those that need tracepoints only, and those that need kprobes."""
import os
import re

from children import bpftrace
from rivals import Bpftrace

KPROBES = "/sys/bus/event_source/devices/kprobe"

# {name: what it asks in our words, or None for the script that Debian packages}. They ask what the scripts of the same
# names ask; those of Debian print a line for each event, ours aggregate.
SCRIPTS = {
    "tcplife": """
tracepoint:sock:inet_sock_set_state /args->protocol == 6 && args->newstate == 1/ { @birth[args->skaddr] = nsecs; }
tracepoint:sock:inet_sock_set_state /args->protocol == 6 && args->newstate == 7 && @birth[args->skaddr]/ {
	$tp = (struct tcp_sock *)args->skaddr;
	@us = hist((nsecs - @birth[args->skaddr]) / 1000);
	@received[comm] = sum($tp->bytes_received);
	delete(@birth[args->skaddr]);
}
END { clear(@birth); }
""",
    "tcpstates": """
tracepoint:sock:inet_sock_set_state /args->protocol == 6/ {
	@us[args->oldstate, args->newstate] = hist((nsecs - @since[args->skaddr]) / 1000);
	if (args->newstate == 7) { delete(@since[args->skaddr]); } else { @since[args->skaddr] = nsecs; }
}
END { clear(@since); }
""",
    "soconnlat": """
tracepoint:syscalls:sys_enter_connect { @begun[tid] = nsecs; }
tracepoint:syscalls:sys_exit_connect /@begun[tid]/ { @us[comm] = hist((nsecs - @begun[tid]) / 1000); delete(@begun[tid]); }
END { clear(@begun); }
""",
    "soaccept": """
tracepoint:syscalls:sys_exit_accept /args->ret >= 0/ { @accepted[comm] = count(); }
tracepoint:syscalls:sys_exit_accept4 /args->ret >= 0/ { @accepted[comm] = count(); }
""",
    "tcpdrop": None,
    "tcpconnect": None,
    "tcpaccept": None,
    "tcpretrans": None,
    "tcpsynbl": None,
    "so1stbyte": """
kprobe:tcp_v4_connect { @begun[arg0] = nsecs; }
kprobe:tcp_recvmsg /@begun[arg0]/ { @reader[tid] = arg0; }
kretprobe:tcp_recvmsg /@reader[tid]/ {
	if ((int32)retval > 0) { @us = hist((nsecs - @begun[@reader[tid]]) / 1000); delete(@begun[@reader[tid]]); }
	delete(@reader[tid]);
}
END { clear(@begun); clear(@reader); }
""",
    "tcpnagle": """
kprobe:tcp_write_xmit { @flags[arg2] = count(); @writer[tid] = 1; }
kretprobe:tcp_write_xmit /@writer[tid]/ { @blocked[retval & 0xff] = count(); delete(@writer[tid]); }
END { clear(@writer); }
""",
    "tcpwin": """
kprobe:tcp_rcv_established { @window = hist(((struct tcp_sock *)arg0)->snd_cwnd); }
""",
}


def known():
    """({name: text} of those that this kernel can run, {name: why not} of the others)"""
    can, cannot = {}, {}
    for name, text in SCRIPTS.items():
        if text is None and not bpftrace.there(name):
            cannot[name] = f"{bpftrace.path(name)} is not there"
            continue
        text = text or bpftrace.script(name)
        if Bpftrace.why_not():
            cannot[name] = Bpftrace.why_not()
        elif re.search(r"\bk(ret)?probe:", text) and not os.path.exists(KPROBES):
            cannot[name] = "needs kprobes, which this kernel does not have"
        else:
            can[name] = text
    return can, cannot

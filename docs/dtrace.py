#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Prints dtrace.md, from the files in views/ and the table below: python3 docs/dtrace.py >docs/dtrace.md"""
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# Theirs, and ours: a view, a command, or why there is none. A view that takes a whole script or tool has its name.
DTRACE = [
    ("syscall::sendto:entry { @c[execname] = sum(arg2) }", "@sendto-bytes"),
    ("tcp:::accept-refused { @c[args[2]->ip_daddr, args[4]->tcp_sport] = count() }", "@accept-refused"),
    ("syscall::sendto:entry, syscall::sendto:return: the time between", "@sendto-time"),
    ("tcp:::receive /args[4]->tcp_dport == 80/ { @pkts[args[2]->ip_saddr] = count() }", "@web-packets"),
    ("tcp:::accept-established { @[args[4]->tcp_dport] = count() }", "@accept-ports"),
    ("who connects to a web server", "@web-clients"),
    ("which services receive how many bytes", "@busy-services"),
    ("which hosts cause load", "@busy-hosts"),
    ("port scans, by flags", "@tcp-flags"),
    ("port scans, by refused connections", "@port-scan"),
    ("connect latency", "@connect-latency"),
    ("first byte latency", "@first-byte"),
    ("throughput latency", "@segment-gaps"),
    ("ip:::receive { @[args[2]->ip_saddr] = count(); }", "@ip-hosts"),
    ("udp:::send { @[args[4]->udp_dport] = sum(args[4]->udp_length); }", "@udp-ports"),
    ("ip:::send { @[args[4]->ipv4_protostr] = count(); }", "@ip-protocols"),
    ("ip:::send { @[args[3]->if_name] = sum(args[2]->ip_plength); }", "@ip-interfaces"),
    ("tcp:::receive { @[args[2]->ip_saddr] = quantize(args[4]->tcp_plength) }", "@tcp-sizes"),
    ("tcp:::connect-refused { @[args[2]->ip_saddr, args[4]->tcp_sport] = count() }", "@connect-refused"),
    ("ipio.d", "@ip-io"),
    ("tcpstate.d", "@tcpstates"),
    ("dtrace -l -P udp", "list udp:::"),
    ("dtrace -l -P tcp", "list tcp:::"),
    ("dtrace -l -P ip", "list ip:::"),
    ("dtrace -lvn tcp:::receive", "list -v tcp:::receive"),
    ("fbt::__alloc_skb:entry { @size = quantize(arg0); }", "@alloc-sizes"),
    ("dtrace -ln 'sdt:::ip*'", "list 'sdt:::ip*'"),
    ("sdt:::ip4-physical-in-start, sdt:::ip4-physical-in-end: the packets between", "@firewall"),
    ("ip:::packet-free", "@packet-life"),
    ("ngelink.d", "@ngelink"),
    ("ngesnoop.d", "@ngesnoop"),
    ("intrstat", "@interrupts"),
    ("which transmit queues stop", "@queue-stops"),
]
BPFTRACE = [
    ("k:sock_sendmsg { @[comm] = count(); }", "@socket-senders"),
    ("t:syscalls:sys_enter_poll { @[comm, args->nfds] = count(); }", "@pollers"),
    ("t:sock:inet_sock_set_state { @[args->newstate] = count(); }", "@tcp-states"),
    ("t:syscalls:sys_exit_connect /args->ret < 0/ { @[- args->ret] = count(); }", "@connect-errors"),
    ("t:syscalls:sys_exit_connect /args->ret < 0/ { @[comm, - args->ret] = count(); }", "@connect-errors-by-program"),
    ("t:syscalls:sys_enter_accept* { @[pid, comm] = count(); }", "@accepters"),
    ("t:syscalls:sys_enter_connect { @[pid, comm] = count(); }", "@connecters"),
    ("k:sock_sendmsg, k:sock_recvmsg { @[func, pid, comm] = count(); }", "@socket-calls"),
    ("kr:sock_sendmsg, kr:sock_recvmsg /retval > 0/ { @[pid, comm] = sum(retval); }", "@socketio"),
    ("k:tcp_v*_connect { @[pid, comm] = count(); }", "@tcp-connecters"),
    ("k:tcp_sendmsg, k:tcp_recvmsg { @[func] = count(); }", "@tcp-calls"),
    ("k:tcp_sendmsg, k:tcp_recvmsg { @[func, pid, comm] = count(); }", "@tcp-calls-by-process"),
    ("k:tcp_sendmsg { @send_bytes = hist(arg2); }", "@tcp-send-sizes"),
    ("kr:tcp_recvmsg /retval >= 0/ { @recv_bytes = hist(retval); }", "@tcp-receive-sizes"),
    ("t:tcp:tcp_retransmit_* { @[probe, ntop(2, args->saddr)] = count(); }", "@tcp-retransmits"),
    ("k:udp*_sendmsg, k:udp*_recvmsg { @[func, pid, comm] = count(); }", "@udp-calls-by-process"),
    ("k:udp_sendmsg { @send_bytes = hist(arg2); }", "@udp-send-sizes"),
    ("kr:udp_recvmsg /retval >= 0/ { @recv_bytes = hist(retval); }", "@udp-receive-sizes"),
    ("t:net:netif_receive_skb { @[str(args->name)] = lhist(cpu, 0, 128, 1); }", "@receive-cpus"),
    ("t:napi:napi_poll { @[str(args->dev_name)] = lhist(args->work, 0, 64, 8); }", "@polls"),
    ("k:inet_csk_accept { @[pid, comm] = count(); }", "@tcp-accepters"),
    ("t:syscalls:sys_enter_connect { @[ustack, comm] = count(); }", "@connect-stacks"),
    ("t:net:net_dev_xmit { @[kstack] = count(); }", "@transmit-stacks"),
    ("t:skb:kfree_skb { @[args->reason, kstack] = count(); }", "@drop-stacks"),
    ("k:tcp_* { @[func] = count(); }", "@tcp-functions"),
    ("k:udp_* { @[func] = count(); }", "@udp-functions"),
    ("k:ieee80211_* { @[func] = count(); }", "@wireless-functions"),
    ("k:ixgbevf_* { @[func] = count(); }", "@ixgbevf-functions"),
    ("t:iwlwifi:*, t:iwlwifi_io:* { @[probe] = count(); }", "@iwlwifi-events"),
    ("bpftrace -l 't:tcp:*'", "list 'sdt:tcp::*'"),
    ("tcpconnect.bt", "@tcpconnect"),
    ("tcpaccept.bt", "@tcpaccept"),
    ("tcpretrans.bt", "@tcpretrans"),
    ("tcpdrop.bt", "@tcpdrop"),
    ("skbdrop.bt", "@skbdrop"),
    ("ipecn.bt", "@ipecn"),
    ("netsize.bt", "@netsize"),
    ("nettxlat.bt", "@tx-latency"),
    ("socketio.bt", "@socketio"),
    ("socksize.bt", "@socksize"),
    ("soconnect.bt", "@soconnect"),
    ("soaccept.bt", "@soaccept"),
    ("sofamily.bt", "@sofamily"),
    ("soprotocol.bt", "@soprotocol"),
    ("solisten.py", "@solisten"),
    ("tcpbind.bt", "@tcpbind"),
    ("udpconnect.bt", "@udpconnect"),
    ("tcpconnect.py -t, tcpconnlat.py", "host connect"),
    ("tcplife.py", "host sessions"),
    ("tcpstates.py", "host states"),
    ("tcpretrans.py -l", "host retransmits"),
    ("tcpwin.bt", "host window"),
    ("tcpaccept.py", "host accept"),
]
NOT = {
}

HEAD = """<!-- SPDX-License-Identifier: GPL-2.0 -->
# From DTrace and bpftrace

The one-liners and tools that describe the network providers of DTrace, and those of bpftrace and BCC, with the views and commands that answer the same question.
`nicprobe trace @NAME` runs a view, `nicprobe list -v @NAME` explains its columns; options behind the name change it.

- A clause of D runs as it is: `nicprobe trace -n 'CLAUSE'`. It has probes, a predicate and one aggregation; what lies beyond is refused.
- bpftrace reads members of kernel structures by their names, which change; the fields of `trace` do not. `nicprobe list -v PROBE` lists them.
- Arguments are those of the providers as they were shipped: the port is in `args[4]`, the address in `args[2]`.
- Functions and tracepoints of the kernel are traced by the names that the kernel has for them: `fbt:MODULE:FUNCTION:entry`, `sdt:GROUP::EVENT`.
- Where bpftrace counts calls of `sock_sendmsg()`, `tcp_sendmsg()` and the like, `trace` counts what was sent or received: the size is the result, not the request.

Python makes this page from `views/`: `python3 docs/dtrace.py >docs/dtrace.md`; `tests/pages_test.py` compares.
"""


def view(name):
    """(the question, the command line behind trace) of a view."""
    with open(os.path.join(ROOT, "views", name), encoding="utf-8") as f:
        lines = f.read().splitlines()
    said = [line.lstrip("# ") for line in lines if line.startswith("#") and "SPDX" not in line]
    return said[0], " ".join(line for line in lines if not line.startswith("#"))


def code(text):
    return "`" + text.replace("|", "\\|") + "`"


def row(theirs, ours):
    if ours.startswith("@"):
        question, words = view(ours[1:])
        answer, runs = f"`nicprobe trace {ours}`", f"{question} {code(words)}"
    elif ours in NOT:
        answer, runs = "-", NOT[ours]
    else:
        answer, runs = f"`nicprobe {ours}`", ""
    # names of tools and clauses are code, a question is text
    literal = re.search(r"[:{]|\.(d|bt|py)$|^(dtrace|bpftrace) ", theirs)
    print(f"| {code(theirs) if literal else theirs} | {answer} | {runs} |")


def main():
    told = {ours[1:] for _, ours in DTRACE + BPFTRACE if ours.startswith("@")}
    lacking = told ^ set(os.listdir(os.path.join(ROOT, "views")))
    if lacking:
        sys.exit(f"dtrace: the table in docs/dtrace.py lacks, or has in vain: {', '.join(sorted(lacking))}")
    print(HEAD)
    for title, table in (("DTrace", DTRACE), ("bpftrace and BCC", BPFTRACE)):
        print(f"## {title}\n\n| theirs | ours | the question, and what the view runs |\n|---|---|---|")
        for theirs, ours in table:
            row(theirs, ours)
        if table is DTRACE:
            print()


if __name__ == "__main__":
    main()

#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Functions and tracepoints of the kernel by their names: fbt and sdt, with the numbers of known calls."""
import json
import os
import re
import shutil
import subprocess
import tempfile

from lib import left
from lib.asking import TALK, Trace, counted, talk
from lib.lab import *


def has_functions():
    """Can this kernel trace functions? As `list` says it."""
    return nicprobe("list", "fbt::__alloc_skb:entry", check=False).returncode == 0


def python(ns, code):
    """Runs a line of Python in a namespace; what it prints."""
    return ns.run(f"python3 -c '{code}'")


def tracepoints(ns):
    """Each tracepoint counts what the stable probe at the same place counts, and its arguments are those of its prototype."""
    mine = 'execname == "python3"'
    got = counted(ns, "sdt:net::net_dev_queue,nic:::tx-queue", lambda: talk(ns, "udp", "127.0.0.1"), where=mine)
    same("sdt: net_dev_queue is nic:::tx-queue", got, {"sdt:net::net_dev_queue": 2, "nic:::tx-queue": 2})
    t = Trace(ns, "perf:net::net_dev_xmit", "--by", "probename,probemod,arg1,arg3", "--where", mine)
    talk(ns, "udp", "127.0.0.1")
    same("sdt: rc and length of net_dev_xmit, in the order of its prototype", t.counts("probename", "probemod", "arg1", "arg3"),
         {("sdt:net::net_dev_xmit", "net", 0, 14 + 20 + 8 + 11): 2})
    t = Trace(ns, "sdt:sock::inet_sock_set_state", "--by", "arg1,arg2,arg3", "--where", mine)
    talk(ns, "refused", "127.0.0.1")
    same("sdt: states of a refused connection, and no argument that it lacks", t.counts("arg1", "arg2", "arg3"),
         {(7, 2, None): 1, (2, 7, None): 1})
    t = Trace(ns, "sdt:skb::kfree_skb", "--since", "sdt:net::net_dev_queue", "--on", "arg0", "--quantize", "delta_ns")
    talk(ns, "udp_closed", "127.0.0.1")
    row, = t.rows()
    check("sdt: the time between two tracepoints, by address of the packet", row["count"] >= 1 and 0 < row["sum"] < 1e9, row)
    got = counted(ns, "sdt:net::net_dev_*", lambda: talk(ns, "udp", "127.0.0.1"), where=mine)
    same("sdt: a glob has the probe of each", {k: n for k, n in got.items() if k.endswith(("queue", "xmit"))},
         {f"sdt:net::net_dev_{n}": 2 for n in ("queue", "start_xmit", "xmit")})


def signs(ns):
    """A narrow argument is what its type says: __alloc_skb() is asked for an unsigned int, and recvmsg() returns an int."""
    t = Trace(ns, "sdt:net::net_dev_queue,syscall::sendto:entry", "--by", "probename,arg2,arg3", "--where", 'execname == "python3"')
    talk(ns, "sends", 3)
    same("args: of a call with six, and of a tracepoint that was not met", t.counts("probename", "arg2", "arg3"),
         {("syscall:::entry", 11, 0): 3})


def told(ns):
    """What list says of them; and what it does not say unless asked."""
    doc, = json.loads(nicprobe("list", "-j", "sdt:net::net_dev_xmit").stdout)
    same("list: arguments of a tracepoint", (doc["probe"], doc["args"]),
         ("sdt:net::net_dev_xmit", ["struct sk_buff *skb", "int rc", "struct net_device *dev", "unsigned int skb_len"]))
    out = nicprobe("list", "-v", "sdt:net::net_dev_xmit").stdout
    check("list: the same as text", "arg1" in out and "int rc" in out, out)
    names = nicprobe("list", "sdt:tcp::*").stdout.split()
    check("list: tracepoints of a group", "sdt:tcp::tcp_probe" in names and all(n.startswith("sdt:tcp::") for n in names), names)
    check("list: only if they are named", not [n for n in nicprobe("list", ":::").stdout.splitlines()
                                               if n.startswith("fbt") or (n.startswith("sdt") and not n.startswith("sdt:::ip"))])


def functions(ns):
    if not has_functions():
        return skip("fbt", "this kernel lets no functions be traced")
    name = next(n for n in ("__x64_sys_getppid", "__arm64_sys_getppid") if nicprobe("list", f"fbt::{n}:entry", check=False).returncode == 0)
    t = Trace(ns, f"fbt::{name}:entry,fbt::{name}:return", "--by", "probename,probefunc,probemod,pid", "--where", 'execname == "python3"')
    pid = int(python(ns, "import os; print(os.getpid()); [os.getppid() for i in range(7)]"))
    same("fbt: a function of a system call, called 7 times", {k: n for k, n in t.counts("probename", "probefunc", "probemod", "pid").items() if k[3] == pid},
         {(f"fbt::{name}:{end}", name, "vmlinux", pid): 7 for end in ("entry", "return")})
    t = Trace(ns, "fbt::__alloc_skb:entry", "--where", 'execname == "python3" && arg0 == 11', "--sum", "arg0")
    talk(ns, "sends", 3)
    same("fbt: sizes that sends of 11 bytes ask for", [(r["count"], r["sum"]) for r in t.rows()], [(3, 33)])
    t = Trace(ns, "-n", 'fbt::__alloc_skb:entry /execname == "python3" && arg0 == 11/ { @ = quantize(arg0); }')
    talk(ns, "sends", 3)
    same("fbt: the same in D", t.rows()[0]["slots"], [{"from": 8, "count": 3}])
    t = Trace(ns, "fbt::tcp_sendmsg:return", "--by", "retval", "--where", 'execname == "python3"')
    talk(ns, "orderly", "127.0.0.1")
    same("fbt: what tcp_sendmsg returned", t.counts("retval"), {11: 1, 5: 1})
    t = Trace(ns, "fbt::inet_stream_connect:return", "--by", "retval,errno")
    talk(ns, "refused", "127.0.0.1")
    same("fbt: an int below 0, and its error", t.counts("retval", "errno"), {(-111, "ECONNREFUSED"): 1})
    t = Trace(ns, "fbt::tcp_sendmsg:return", "--since", "fbt::tcp_sendmsg:entry", "--on", "tid", "--quantize", "delta_ns",
              "--where", 'execname == "python3"')
    talk(ns, "orderly", "127.0.0.1")
    row, = t.rows()
    check("fbt: how long it took", row["count"] == 2 and 0 < row["sum"] < 1e9, row)


def many(ns):
    """By one program with cookies: the same numbers as by a copy for each."""
    if not has_functions():
        return skip("fbt: many functions", "this kernel lets no functions be traced")
    for probes in "fbt::tcp_s*:entry", "fbt::tcp_sendmsg*:entry":
        t = Trace(ns, probes, "--by", "probefunc", "--where", 'execname == "python3"')
        talk(ns, "orderly", "127.0.0.1")
        by = re.search(r"by ([\w.]+)", t.said)[1]
        got = t.counts("probefunc")
        same(f"fbt: {probes} by {by}", {n: got.get(n) for n in ("tcp_sendmsg", "tcp_sendmsg_locked")},
             {"tcp_sendmsg": 2, "tcp_sendmsg_locked": 2})
    t = Trace(ns, "fbt::tcp_s*:return", "--by", "probefunc,retval", "--where", 'execname == "python3" && probefunc == tcp_sendmsg')
    talk(ns, "orderly", "127.0.0.1")
    same("fbt: returns of many", t.counts("probefunc", "retval"), {("tcp_sendmsg", 11): 1, ("tcp_sendmsg", 5): 1})


def modules(ns):
    """Functions of a module: a tun sends what it is asked to."""
    if not has_functions() or not [line for line in open("/proc/modules", encoding="ascii") if line.startswith("tun ")]:
        return skip("fbt: functions of a module", "no functions can be traced, or tun is no module")
    nic = tap(ns, "tap0", queues=1, address="198.18.0.2/24")
    ns.ip("neigh replace 198.18.0.77 lladdr 02:00:00:00:00:77 dev tap0")
    t = Trace(ns, "fbt:tun::tun_net_xmit:entry,sdt:net::net_dev_start_xmit", "--by", "probename,probemod", "--where", 'execname == "python3"')
    for _ in range(4):
        talk(ns, "datagram", "198.18.0.77", 9)
    same("fbt: packets that the driver of a tap takes", t.counts("probename", "probemod"),
         {("fbt:tun:tun_net_xmit:entry", "tun"): 4, ("sdt:net::net_dev_start_xmit", "net"): 4})
    names = nicprobe("list", "fbt:tun::").stdout.split()
    check("list: functions of a module", "fbt:tun:tun_net_xmit:entry" in names and all(n.startswith("fbt:tun:") for n in names), names)
    t = Trace(ns, "fbt:tun::tun_*:entry", "--by", "probefunc", "--where", 'execname == "python3" && probefunc == tun_net_xmit')
    talk(ns, "datagram", "198.18.0.77", 9)
    same("fbt: of all functions of a module, one that is called once", t.counts("probefunc"), {"tun_net_xmit": 1})
    nic.close()


def stacks(ns):
    """The functions that led to an event: of the kernel, and of a process that lives."""
    t = Trace(ns, "gld:::send", "--by", "kstack", "--where", "ip_proto == udp")
    talk(ns, "udp", "127.0.0.1")
    rows = t.rows()
    same("kstack: every packet has one", sum(r["count"] for r in rows), 2)
    names = [f.split("+")[0] for f in rows[0]["kstack"]]
    check("kstack: from the driver to the system call", names[0].endswith("hard_start_xmit") and "udp_sendmsg" in names
          and any("sys_sendto" in n for n in names), names)
    t = Trace(ns, "ip:::drop-in", "--by", "drop_reason,kstack")
    talk(ns, "udp_closed", "127.0.0.1")
    (row,) = t.rows()
    check("kstack: a drop", row["drop_reason"] == "NO_SOCKET" and row["count"] == 1 and
          any(f.startswith(("__udp4_lib_rcv+", "udp_rcv+")) for f in row["kstack"]), row)
    asks = "import socket, time; socket.socket().connect_ex((\"127.0.0.1\", 20007)); time.sleep(.5)"
    t = Trace(ns, "syscall::connect:entry", "--by", "ustack", "--where", 'execname == "python3"')
    python(ns, asks)
    row, = t.rows()
    check("ustack: the function of the library", row["count"] == 1 and "connect" in row["ustack"][0] and "[libc" in row["ustack"][0], row)
    t = Trace(ns, "syscall::connect:entry", "--print", "execname,kstack,ustack", "--where", 'execname == "python3"')
    python(ns, asks)
    event, = t.events()
    check("stacks: of an event", event["execname"] == "python3" and (event["kstack"] or KERNEL < (6, 2)) and "connect" in event["ustack"][0], event)
    out = ns.run(f"{NICPROBE} trace gld:::send --by if_name,kstack --where 'ip_proto == udp' -- python3 {TALK} udp 127.0.0.1")
    lines = out.splitlines()
    check("kstack: lines below the row", lines[1].split() == ["lo", "2"] and lines[2] == "    kstack" and lines[3].startswith("      "), out)
    t = Trace(ns, "gld:::receive", "--by", "kstack")
    talk(ns, "udp", "127.0.0.1")
    same("kstack: in an interrupt, too", sum(r["count"] for r in t.rows() if r["kstack"]), 2)


CALLER = """
__attribute__((noinline)) long NAME(void)
{
    long ret;
    asm volatile("syscall" : "=a"(ret) : "0"(42L), "D"(-1L), "S"(0L), "d"(0L) : "rcx", "r11", "memory");
    return ret;
}
void _start(void)
{
    struct { long sec, nsec; } time = { 1, 0 };
    NAME();
    asm volatile("syscall" :: "a"(35L), "D"(&time), "S"(0L) : "rcx", "r11", "memory");
    asm volatile("syscall" :: "a"(60L), "D"(0L));
}
"""


def containers():
    """Two processes whose programs are other files of the same path, as in two containers: each has its own functions."""
    if os.uname().machine != "x86_64" or not shutil.which("cc"):
        return skip("ustack: two files of one path", "it takes x86-64 and a compiler")
    with tempfile.TemporaryDirectory() as to:
        for name in "first_caller", "second_caller":
            subprocess.run(["cc", "-O1", "-nostdlib", "-static", "-fno-stack-protector", "-x", "c", "-o", f"{to}/{name}", "-"],
                           input=CALLER.replace("NAME", name), text=True, check=True)
        shutil.copy(f"{to}/first_caller", f"{to}/same")
        t = Trace(None, "syscall::connect:entry", "--by", "ustack", "--where", 'execname == "same"')
        there = subprocess.Popen(["unshare", "-m", "sh", "-c", f"mount --bind {to}/second_caller {to}/same && exec {to}/same"])
        here = subprocess.Popen([f"{to}/same"])
        there.wait(), here.wait()
        same("ustack: two files of one path", sorted(r["ustack"][0].split("+")[0] for r in t.rows()), ["first_caller", "second_caller"])


def refusals(ns):
    before = left.Before()
    if not has_functions():
        r = nicprobe("trace", "fbt::__alloc_skb:entry", check=False)
        check("refused: functions, where they cannot be traced", r.returncode == 1 and "functions of the kernel" in r.stderr, r.stderr)
    cases = [(["sdt:net::net_dev_quee"], 2, "net_dev_queue"), (["sdt:nosuch::*"], 1, "group"),
             (["sdt:net:net_dev_queue:"], 2, "no function"), (["sdt:net"], 2, "four parts"),
             (["sdt:*::"], 2, "512"), (["sdt:net::net_dev_queue", "--dev", "lo"], 1, "interface"),
             (["sdt:net::net_dev_queue", "--netns", str(ns)], 1, "namespace"),
             (["sdt:net::net_dev_queue", "--since", "sdt:net::net_dev_queue", "--on", "arg0"], 2, "traced itself"),
             (["sdt:net::net_dev_queue", "--by", "retval"], 2, "retval"),
             (["sdt:net::net_dev_queue", "--where", "kstack == 1"], 2, "key"),
             (["tcp:::connect-refused", "--by", "kstack"], 2, "cannot read"), (["gld:::receive", "--by", "ustack"], 2, "bystander")]
    if has_functions():
        cases += [(["fbt::__alloc_skbb:entry"], 2, "__alloc_skb"), (["fbt:::entry"], 2, "512"),
                  (["fbt::__alloc_skb:exit"], 2, "entry and return")]
    else:
        cases += [(["fbt::__alloc_skb:entry"], 1, "functions of the kernel")]
    for args, status, words in cases:
        r = nicprobe("trace", *args, "-d", ".1", check=False)
        check(f"refused: {' '.join(args)}", r.returncode == status and words in r.stderr, (r.returncode, r.stderr))
    before.check("refused: nothing was attached")


need_root()
left.own_bpffs()     # others attach meanwhile
ns = Namespace("raw")
ns.run("ip link set lo up")
# In a guest, which is slow, what the host may not have shown; VM=long asks all there, too.
few = has_functions() and os.environ.get("VM") == ""
each(*([] if few else [tracepoints, signs, told, containers]), functions, many, modules, stacks, refusals, ns=ns)
finish()

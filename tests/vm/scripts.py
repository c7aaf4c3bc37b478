# SPDX-License-Identifier: GPL-2.0
"""In a guest: scripts of bpftrace, Debian's and some of ours, from when they are attached until they have printed."""
import json
import re
import signal
import subprocess
import tempfile
import time

from cards import lab
from lib import bpftrace

WAITS = 120     # seconds in which all of them are attached, under emulation

# What scripts of the book on BPF ask that Debian does not package, in words of ours. %(...)s: process, ports, namespaces.
OURS = """
tracepoint:syscalls:sys_enter_socket, tracepoint:syscalls:sys_enter_bind, tracepoint:syscalls:sys_enter_connect
	/comm == "%(calls)s"/ { @calls[probe] = count(); }
kprobe:sock_sendmsg, kprobe:sock_recvmsg /comm == "%(calls)s"/ { @messages[func] = count(); }

tracepoint:syscalls:sys_enter_connect /comm == "%(late)s"/ { @asked[tid] = nsecs; }
tracepoint:syscalls:sys_exit_poll /@asked[tid]/ { @connect_ms = (nsecs - @asked[tid]) / 1000000; delete(@asked[tid]); }
tracepoint:syscalls:sys_exit_accept4 /comm == "%(me)s" && args->ret >= 0/ { @accepts = count(); }

kprobe:tcp_v4_connect, kprobe:tcp_v6_connect /comm == "%(first)s"/ { @begun[arg0] = nsecs; }
kprobe:tcp_recvmsg /@begun[arg0]/ { @reader[tid] = arg0; }
kretprobe:tcp_recvmsg /@reader[tid]/ {
	if ((int32)retval > 0) {
		@first_bytes = count();
		@first_ms = max((nsecs - @begun[@reader[tid]]) / 1000000);
		delete(@begun[@reader[tid]]);
	}
	delete(@reader[tid]);
}

kprobe:udp_init_sock /comm == "%(calls)s"/ { @born[arg0] = nsecs; }
kprobe:udp_sendmsg /@born[arg0]/ { @udp_sent = sum(arg2); }
kprobe:udp_recvmsg /@born[arg0]/ { @receiver[tid] = arg0; }
kretprobe:udp_recvmsg /@receiver[tid]/ {
	if ((int32)retval > 0) { @udp_received = sum(retval); }
	delete(@receiver[tid]);
}
kprobe:udp_destroy_sock /@born[arg0]/ {
	@udp_lives = count();
	@udp_ms = sum((nsecs - @born[arg0]) / 1000000);
	delete(@born[arg0]);
}

tracepoint:sock:sock_rcvqueue_full { @queue_full = count(); }
tracepoint:sock:sock_exceed_buf_limit { @exceeded = count(); }

kprobe:inet_listen /comm == "%(me)s"/ {
	$socket = (struct socket *)arg0;
	@listens[$socket->sk->__sk_common.skc_num, arg1] = count();
}
kprobe:inet_bind /comm == "%(me)s"/ { @binds = count(); }
kprobe:ip4_datagram_connect, kprobe:ip6_datagram_connect /comm == "%(me)s"/ { @datagram[func] = count(); }

kprobe:tcp_write_xmit /((struct sock *)arg0)->__sk_common.skc_dport == %(nagle)d/ { @writer[tid] = arg0; }
kretprobe:tcp_write_xmit /@writer[tid]/ {
	if ((retval & 0xff) != 0) { @blocked = count(); }
	@writes = count();
	delete(@writer[tid]);
}

kprobe:ip_send_skb {
	@ip_sends = count();
	$skb = (struct sk_buff *)arg1;
	$ip = (struct iphdr *)($skb->head + $skb->network_header);
	$icmp = (struct icmphdr *)($skb->head + $skb->transport_header);
	if ($ip->protocol == 1 && $icmp->type == 8) { @echo[$icmp->un.echo.id, $icmp->un.echo.sequence] = nsecs; }
}
kprobe:icmp_rcv {
	$skb = (struct sk_buff *)arg0;
	$icmp = (struct icmphdr *)($skb->head + $skb->transport_header);
	if ($icmp->type == 0 && @echo[$icmp->un.echo.id, $icmp->un.echo.sequence] != 0) {
		@echoes = count();
		@echo_us = sum((nsecs - @echo[$icmp->un.echo.id, $icmp->un.echo.sequence]) / 1000);
		delete(@echo[$icmp->un.echo.id, $icmp->un.echo.sequence]);
	}
}

kprobe:__scm_send { @scm[tid] = arg2; }
kretprobe:__scm_send /@scm[tid]/ {
	$scm = (struct scm_cookie *)@scm[tid];
	if ($scm->fp != 0) { @passed = sum($scm->fp->count); }
	delete(@scm[tid]);
}
kprobe:scm_detach_fds { @taken = sum(((struct scm_cookie *)arg1)->fp->count); }

tracepoint:sock:inet_sock_set_state /args->protocol == 6/ {
	$sk = (struct sock *)args->skaddr;
	if ($sk->__sk_common.skc_net.net->ns.inum == %(here)d) { @states[args->oldstate, args->newstate] = count(); }
}
kprobe:tcp_rcv_established /((struct sock *)arg0)->__sk_common.skc_dport == %(window)d/ {
	$tp = (struct tcp_sock *)arg0;
	printf("window %%d %%d\\n", $tp->snd_cwnd, $tp->snd_ssthresh);
}
END { clear(@asked); clear(@begun); clear(@reader); clear(@writer); clear(@echo); clear(@scm); clear(@born);
	clear(@receiver); }
"""


class Script:
    """One bpftrace. stop(): the lines that it printed."""
    def __init__(self, name, text, *more):
        self.name = name
        self.probes = bpftrace.probes(text)
        self.out, self.err = tempfile.TemporaryFile("w+"), tempfile.TemporaryFile("w+")
        self.p = subprocess.Popen(["bpftrace", "-B", "line", *more, "-e", text], stdout=self.out, stderr=self.err)

    def said(self, file):
        file.seek(0)
        return file.read()

    def stop(self):
        """bpftrace 0.17 sometimes misses the first signal."""
        for _ in range(8):
            self.p.send_signal(signal.SIGINT)
            try:
                self.p.wait(5)
                break
            except subprocess.TimeoutExpired:
                pass
        else:
            self.p.kill()
        return self.said(self.out).splitlines()


def until_attached(scripts):
    """What is attached is asked of the kernel: a script prints its first line before. Returns {name: why not}."""
    end = time.monotonic() + WAITS
    while True:
        seen = [row["pid"] for row in json.loads(lab.sh("bpftool -j perf show") or "[]")]
        missing = {s.name: f"{seen.count(s.p.pid)} of {s.probes} probes; {s.said(s.err)[-500:]}" for s in scripts
                   if seen.count(s.p.pid) < s.probes}
        if not missing or time.monotonic() > end or any(s.p.poll() is not None for s in scripts):
            time.sleep(.5)      # they are enabled after that
            return missing
        time.sleep(2)


def maps(lines):
    """({map: its value, or {key: value}}, what was printed beside) of a script with -f json."""
    values, printed = {}, []
    for line in filter(lambda x: x.startswith("{"), lines):
        doc = json.loads(line)
        if doc["type"] == "map":
            values.update(doc["data"])
        elif doc["type"] == "printf":
            printed += doc["data"].splitlines()
        elif doc["type"] == "lost_events":
            raise RuntimeError(f"bpftrace lost {doc}")
    return values, printed


def plain(address):
    """Scripts print IPv4 addresses of IPv6 sockets as mapped ones."""
    return address.removeprefix("::ffff:")


def connects(lines):
    """tcpconnect: [(process, local, port, remote, port)]"""
    got = (re.fullmatch(r"[\d:]+ (\d+) +(.+?) +(\S+) +(\d+) +(\S+) +(\d+) *", line) for line in lines)
    return [(m[2], plain(m[3]), int(m[4]), plain(m[5]), int(m[6])) for m in got if m]


def accepts(lines):
    """tcpaccept: [(process, remote, port, local, port, queue, limit)]"""
    got = (re.fullmatch(r"[\d:]+ (\d+) +(.+?) +(\S+) +(\d+) +(\S+) +(\d+) +(\d+)/(\d+)", line) for line in lines)
    return [(m[2], plain(m[3]), int(m[4]), plain(m[5]), int(m[6]), int(m[7]), int(m[8])) for m in got if m]


def lives(lines):
    """tcplife: {(local, port, remote, port): (process, KB sent, KB received, ms)}"""
    got = (re.fullmatch(r"(\d+) +(.+?) +(\S+) +(\d+) +(\S+) +(\d+) +(\d+) +(\d+) (\d+)", line) for line in lines)
    return {(plain(m[3]), int(m[4]), plain(m[5]), int(m[6])): (m[2], int(m[7]), int(m[8]), int(m[9])) for m in got if m}


def retransmits(lines):
    """tcpretrans: [(local, port, remote, port, state)]"""
    got = (re.fullmatch(r"[\d:]+ (\d+) +(\S+):(\d+) +(\S+):(\d+) +(\S+)", line) for line in lines)
    return [(plain(m[2]), int(m[3]), plain(m[4]), int(m[5]), m[6]) for m in got if m]


def drops(lines):
    """tcpdrop: [(local, port, remote, port, state)]"""
    got = (re.fullmatch(r"[\d:]+ (\d+) +(.+?) +(\S+?):(\d+) +(\S+?):(\d+) +(\S*) *", line) for line in lines)
    return [(plain(m[3]), int(m[4]), plain(m[5]), int(m[6]), m[7]) for m in got if m]


def backlogs(lines):
    """tcpsynbl: ({limit: segments}, times that it says it drops one)"""
    got, limit = {}, None
    for line in lines:
        if m := re.match(r"@backlog\[(\d+)\]", line):
            limit = int(m[1])
        elif m := re.match(r"[\[(].*[\])] +(\d+) \|", line):
            got[limit] = got.get(limit, 0) + int(m[1])
    return got, sum("dropping a SYN" in line for line in lines)

#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""`trace --pcap`: the packets of known conversations, in files that tcpdump reads, however the tracing ended."""
import os
import re
import shutil
import signal
import struct
import subprocess
import tempfile
import time

from lib import left, pcapng
from lib.asking import TALK, Trace, talk
from lib.lab import *

ETHERNET, RAW_IP = 1, 101
SYN, FIN, ACK = 2, 1, 16
DIR = tempfile.mkdtemp()
FILE = os.path.join(DIR, "packets")
# Does the kernel tell where pages are? Without, the file has what is in linear memory.
with open("/proc/kallsyms", encoding="ascii") as symbols:
    PAGES = " page_offset_base\n" in symbols.read()


def read(path=FILE):
    with open(path, "rb") as f:
        return f.read()


def captured(ns, what, *args):
    """The packets of what() and what was said."""
    t = Trace(ns, *args, "--pcap", FILE)
    what()
    t.end()
    return pcapng.packets(read()), t.said


def dumped(path=FILE):
    """The lines of tcpdump, which must read the file to its end."""
    if not shutil.which("tcpdump"):
        return None
    # it gives up its rights before it opens a file
    r = subprocess.run(f"cat {path} | tcpdump -nn -r -", shell=True, capture_output=True, text=True, timeout=60)
    check("pcap: tcpdump reads it to its end", r.returncode == 0 and not re.search(r"truncated dump|bad dump|error", r.stderr), r.stderr)
    return r.stdout.splitlines()


def conversation(ns):
    """An orderly TCP conversation has 11 segments."""
    found, said = captured(ns, lambda: talk(ns, "orderly", "127.0.0.1"), "tcp:::send")
    same("pcap: packets of a TCP conversation", [len(found), re.findall(r"(\d+) packets", said)], [11, ["11"]])
    same("pcap: they begin with the IP header, of lo", {(p.interface, p.link, p.data[0], p.data[12:20]) for p in found},
         {("lo", RAW_IP, 0x45, b"\x7f\0\0\x01" * 2)})
    flags = [p.data[33] for p in found]
    same("pcap: SYN, SYN|ACK, ACK, and two FINs", (flags[:3], sum(f & FIN for f in flags)), ([SYN, SYN | ACK, ACK], 2))
    same("pcap: the length is that of the IP header", [p.length for p in found], [struct.unpack_from(">H", p.data, 2)[0] for p in found])
    same("pcap: comments and directions", {(p.comment, p.flags) for p in found}, {("tcp:::send", 2)})
    now = time.time()
    check("pcap: times are those of the clock, and grow", all(now - 10 < p.seconds < now for p in found) and
          found == sorted(found, key=lambda p: p.seconds), [p.seconds - now for p in found])
    if PAGES:
        same("pcap: what they carry, from pages", [p.data[(p.data[32] >> 4) * 4 + 20:] for p in found if p.data[33] & 8], [b"hello there", b"hello"])
    lines = dumped()
    if lines is None:
        return skip("pcap: tcpdump reads it", "there is no tcpdump")
    same("pcap: tcpdump reads 11 packets", (len(lines), all("127.0.0.1" in line for line in lines)), (11, True))


def frames(ns):
    """Where the Ethernet header is there, the file has it."""
    found, _ = captured(ns, lambda: talk(ns, "udp", "127.0.0.1"), "nic:::tx-start,nic:::rx-packet", "--dev", "lo")
    same("pcap: frames at the driver", sorted((p.comment, p.flags, p.link, p.data[12:14], p.length) for p in found),
         sorted(2 * [("nic:::rx-packet", 1, ETHERNET, b"\x08\0", 14 + 20 + 8 + 11), ("nic:::tx-start", 2, ETHERNET, b"\x08\0", 53)]))
    if PAGES:
        same("pcap: whole frames", {p.data[-11:] for p in found}, {b"hello there"})
    check("pcap: tcpdump reads frames", dumped() is None or len(dumped()) == 4)


def both(ns):
    """A file of IP and Ethernet probes has IP packets; frames without IP are counted."""
    ns.ip("neigh flush dev v0")
    found, said = captured(ns, lambda: ns.run("ping -qc1 10.9.0.2"), "nic:::tx-start,icmp:::send", "--dev", "v0")
    same("pcap: IP packets, of both probes", [(p.comment, p.link, p.data[0], p.length) for p in found],
         [("icmp:::send", RAW_IP, 0x45, 84), ("nic:::tx-start", RAW_IP, 0x45, 84)])
    check("pcap: an ARP frame that the file cannot have is counted", re.search(r"lost: [12] packets are not in the file", said), said)
    ns.ip("neigh flush dev v0")
    found, _ = captured(ns, lambda: ns.run("ping -qc1 10.9.0.2"), "arp:::send", "--dev", "v0", "--print", "arp_op,arp_tpa", "--limit", "1")
    same("pcap: an ARP question, and fields that were asked for", [(p.link, p.data[12:14], p.comment) for p in found],
         [(ETHERNET, b"\x08\x06", "arp:::send arp_op=1 arp_tpa=10.9.0.2")])


def cut(ns):
    found, _ = captured(ns, lambda: ns.run("ping -qc3 -i .01 -s 1000 127.0.0.1"), "icmp:::receive", "--snaplen", "40")
    same("pcap: cut packets", {(len(p.data), p.length) for p in found}, {(40, 1028)})
    same("pcap: of three requests and replies", len(found), 6)
    found, _ = captured(ns, lambda: talk(ns, "bulk", "127.0.0.1", 100000), "tcp:::send", "--snaplen", "1000")
    big = [p for p in found if p.length > 1000]
    check("pcap: of a buffer that is cut into segments later", big and max(p.length for p in big) > 10000, [p.length for p in found])
    if PAGES:
        same("pcap: its bytes, up to the limit", {(len(p.data), p.data[100:]) for p in big}, {(1000, b"x" * 900)})


def dropped(ns):
    found, _ = captured(ns, lambda: talk(ns, "udp_closed", "127.0.0.1"), "ip:::drop-in", "--where", "udp_dport == 20099")
    check("pcap: why a packet was dropped", len(found) == 1 and re.match(r"ip:::drop-in drop_reason=NO_SOCKET drop_loc=", found[0].comment), found)


def tagged(ns):
    """A tag that the kernel keeps beside the packet is in the frame, as on the wire."""
    if subprocess.run(f"ip -n {ns} link add link v0 name v0.7 type vlan id 7 egress-qos-map 0:3", shell=True, capture_output=True).returncode:
        return skip("pcap: a VLAN tag", "this kernel makes no VLANs")
    ns.ip("addr add 10.8.0.1/24 dev v0.7")
    ns.ip("link set v0.7 up")
    ns.ip("neigh replace 10.8.0.2 lladdr 02:00:00:00:00:02 dev v0.7 nud permanent")
    found, _ = captured(ns, lambda: talk(ns, "datagram", "10.8.0.2", 9), "nic:::tx-queue", "--where", "udp_dport == 9")
    same("pcap: a VLAN tag", sorted((p.interface, p.data[12:18], p.length) for p in found),
         [("v0", b"\x81\0\x60\x07\x08\0", 57), ("v0.7", b"\x08\0\x45\0\0\x27", 53)])
    ns.ip("link del v0.7")


def no_room(ns):
    """While nobody reads, packets find no room: those of the file and the lost ones are all."""
    t = Trace(ns, "udp:::send", "--snaplen", "16384", "--pcap", FILE, "--where", "udp_dport == 9")
    t.p.send_signal(signal.SIGSTOP)
    talk(ns, "flood", "10.9.0.77", 9, 3000)
    t.p.send_signal(signal.SIGCONT)
    t.end()
    lost = sum(int(n) for n in re.findall(r"lost: (\d+) events are not shown", t.said))
    there = len(pcapng.packets(read()))
    check("pcap: packets without room are counted", lost and there and there + lost == 3000, (there, lost, t.said))


def full_disk(ns):
    """What is there of a file for which the disk has no room reads to its end."""
    command = (f"mount -t tmpfs -o size=64k tmpfs {DIR} && {NICPROBE} trace udp:::send --where 'udp_dport == 9' --pcap {FILE} "
               f"-- python3 {TALK} flood 10.9.0.77 9 3000; status=$?; cat {FILE} >{DIR}.copy; exit $status")
    r = subprocess.run(["ip", "netns", "exec", str(ns), "unshare", "-m", "sh", "-c", command], capture_output=True, text=True, timeout=60)
    check("pcap: a full disk is told", r.returncode == 1 and "No space left" in r.stderr, (r.returncode, r.stderr))
    found = pcapng.packets(read(f"{DIR}.copy"))
    check("pcap: and what is there is whole", 100 < len(found) < 1000, len(found))
    dumped(f"{DIR}.copy")
    os.unlink(f"{DIR}.copy")


def piped(ns):
    """To stdout, and a command whose packets they are."""
    p = subprocess.Popen(f"ip netns exec {ns} {NICPROBE} trace icmp:::send --limit 2 --pcap - | cat >{FILE}", shell=True,
                         stderr=subprocess.PIPE, text=True)
    for line in p.stderr:
        if "tracing " in line:
            break
    ns.run("ping -qc1 127.0.0.1")
    p.communicate(timeout=60)
    same("pcap: to stdout", [p.length for p in pcapng.packets(read())], [84, 84])
    ns.run(f"{NICPROBE} trace icmp:::send --pcap {FILE} -- ping -qc2 -i .01 127.0.0.1")
    same("pcap: of a command", [p.length for p in pcapng.packets(read())], [84] * 4)


def refusals(ns):
    before = left.Before()
    for args, status, words in (
            (["tcp:::state-change"], 1, "tcp:::state-change has no packet"),
            (["tcp:::accept-refused"], 1, "the RST is made after it"),
            (["syscall:::entry"], 1, "has no packet"),
            (["nic:::xdp-redirect"], 1, "no buffer"),
            (["arp:::send,tcp:::send"], 1, "a file for each"),
            (["tcp:::send", "--by", "ip_daddr"], 2, "one by one"),
            (["-n", "tcp:::send { @ = count(); }"], 2, "aggregates")):
        r = nicprobe("trace", *args, "--pcap", FILE + ".not", check=False)
        check(f"pcap: refused: {' '.join(args)}", r.returncode == status and words in r.stderr, (r.returncode, r.stderr))
    r = nicprobe("trace", "tcp:::send", "--pcap", "-", "--", "true", check=False)
    check("pcap: refused: stdout, with a command", r.returncode == 2 and "would mix" in r.stderr, r.stderr)
    r = nicprobe("trace", "tcp:::send", "--pcap", f"{DIR}/none/file", check=False)
    check("pcap: refused: a file that cannot be", r.returncode == 1 and "cannot write" in r.stderr, r.stderr)
    check("pcap: refusals leave no file", not os.path.exists(FILE + ".not"))
    before.check("pcap: refusals leave nothing attached")


need_root()
left.own_bpffs()
ns, far = Namespace("near"), Namespace("far")
ns.run("ip link set lo up")
veth(ns, far, name="v0", mtu=1500)
ns.ip("addr add 10.9.0.1/24 dev v0")
far.ip("addr add 10.9.0.2/24 dev v0")
ns.ip("neigh replace 10.9.0.77 lladdr 02:00:00:00:00:77 dev v0 nud permanent")
each(conversation, frames, both, cut, dropped, tagged, no_room, full_disk, piped, refusals, ns=ns)
shutil.rmtree(DIR)
finish()

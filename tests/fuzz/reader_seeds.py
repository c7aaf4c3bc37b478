#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Writes seeds for the readers: a module, a baseline, answers, lines, names. usage: reader_seeds.py DIRECTORY"""
import json
import os
import struct
import sys


def section(name, kind, data, link=0, entry=0, flags=0):
    return {"name": name, "kind": kind, "data": data, "link": link, "entry": entry, "flags": flags}


def elf(sections):
    """A relocatable object of x86-64."""
    names = b"\0" + b"".join(s["name"] + b"\0" for s in sections) + b".shstrtab\0"
    sections = [*sections, section(b".shstrtab", 3, names)]
    body, heads = b"", bytes(64)
    for s in sections:
        heads += struct.pack("<IIQQQQIIQQ", names.index(b"\0" + s["name"] + b"\0") + 1, s["kind"], s["flags"], 0,
                             64 + len(body), len(s["data"]), s["link"], 0, 1, s["entry"])
        body += s["data"] + bytes(-len(s["data"]) % 8)
    return struct.pack("<4sBBBB8xHHIQQQIHHHHHH", b"\x7fELF", 2, 1, 1, 0, 1, 62, 1, 0, 0, 64 + len(body), 0, 64, 0, 0, 64,
                       len(sections) + 1, len(sections)) + body + heads


def modules():
    functions = [b"tun_net_xmit", b"tun_get_user", b"tun_napi_poll", b"tun_recvmsg.isra.0", b"__tracepoint_xdp"]
    strings = b"\0" + b"\0".join(functions) + b"\0"
    symbols = bytes(24) + b"".join(struct.pack("<IBBHQQ", strings.index(f), 0x12, 0, 4, 32 * n, 32)
                                   for n, f in enumerate(functions))
    sites = b"".join(struct.pack("<QQq", 8 * n, 2 << 32 | 1, 32 * n) for n in range(4))
    parts = [section(b".symtab", 2, symbols, 2, 24), section(b".strtab", 3, strings),
             section(b".modinfo", 1, b"name=tun\0vermagic=6.12.0-test SMP\0license=GPL"),
             section(b".text", 1, bytes(range(160)), flags=6),
             section(b".rodata.str1.1", 1, b"rx_queue_%u_%s\0drops\0%s-TxRx-%d\0mlx5_comp%d\0%s@pci:%s\0"),
             section(b".rela__mcount_loc", 4, sites, 1, 24)]
    yield "module", elf(parts)
    yield "two-symbol-tables", elf([*parts, section(b".again", 2, symbols * 9, 2, 24)])
    yield "no-symbols", elf(parts[2:])
    yield "types", elf([*parts, section(b".BTF", 1, types(functions[:3], 1)), section(b".BTF.base", 1, types([]))])
    yield "patchable", elf([*parts[:5], section(b".rela__patchable_function_entries", 4, sites, 1, 24)])


def types(names, base=0):
    """BTF of functions without arguments, as in a module: starts after `base` bytes of strings."""
    strings, made = b"" if base else b"\0", b""
    for n, name in enumerate(names):
        made += struct.pack("<III", 0, 13 << 24, 0) + struct.pack("<III", base + len(strings), 12 << 24, 2 * n + 1)
        strings += name + b"\0"
    return struct.pack("<HBBIIIII", 0xeb9f, 1, 0, 24, 0, len(made), len(made), len(strings)) + made + strings


def records():
    doc = {"nicprobe_baseline": 1, "saved": "2026-11-20T10:00:00Z", "host": "h", "machine": "x86_64", "cpu": "c",
           "cpus": 2, "kernel": "6.18", "interface": "eth0", "driver": "tun", "scenario": "rx-drop",
           "options": {"size": "64", "threads": "2"}, "rounds": 3,
           "figures": [{"name": "rate", "unit": "packets/s", "better": 1, "values": [1.5e6, None, 3]},
                       {"name": "ns", "unit": "ns", "better": -1, "values": [9, 1, 3]}]}
    whole = json.dumps(doc).encode()
    yield "whole", whole
    yield "again", whole + b" " * (-len(whole) % 8)     # for these sizes it also writes what it has read
    yield "other", json.dumps({**doc, "nicprobe_baseline": 2}).encode()


def attribute(kind, data):
    return struct.pack("<HH", 4 + len(data), kind) + data + bytes(-len(data) % 4)


def message(kind, payload, flags=2):
    return struct.pack("<IHHII", 16 + len(payload), kind, flags, 0, 0) + payload


def pieces(*list_of):
    return b"".join(struct.pack("<H", len(p)) + p for p in list_of)


def u32(*numbers):
    return struct.pack(f"<{len(numbers)}I", *numbers)


FAMILY = message(16, bytes(4) + attribute(1, struct.pack("<H", 30)), 0)
DONE = message(3, bytes(4))


def answers():
    def ask(which, *messages, family=True):
        listed = [FAMILY + DONE] if family else []
        return bytes([which]) + pieces(*[p for m in messages for p in [*listed, m + DONE]])

    queue = b"".join(message(30, bytes(4) + attribute(1, u32(q)) + attribute(2, u32(2)) + attribute(3, u32(q % 2)) +
                             attribute(4, u32(8000 + q))) for q in range(4))
    napi = b"".join(message(30, bytes(4) + attribute(1, u32(2)) + attribute(2, u32(8000 + q)) + attribute(3, u32(20 + q)) +
                            attribute(4, u32(1)) + attribute(5, u32(1)) + attribute(6, bytes(8))) for q in range(4))
    yield "queues", bytes([0]) + pieces(FAMILY + DONE, queue + DONE, napi + DONE, FAMILY + DONE, napi + DONE)
    numbers = message(30, bytes(4) + b"".join(attribute(n, u32(n * 3)) for n in range(1, 30)))
    bits = attribute(0x8003, b"".join(attribute(0x8001, attribute(1, u32(n)) + attribute(2, b"tx-tcp-segmentation\0") +
                                                attribute(3, b"")) for n in range(3)))
    features = message(30, bytes(4) + b"".join(attribute(0x8000 | n, attribute(1, b"") + bits) for n in range(2, 6)))
    rss = message(30, bytes(4) + attribute(3, u32(1)) + attribute(4, u32(*range(16))) + attribute(5, bytes(40)) +
                  attribute(6, u32(1)))
    yield "settings", ask(1, *[numbers] * 7, features, rss)
    link = message(16, struct.pack("<BxHiII", 0, 1, 2, 1, 0) + attribute(3, b"eth0\0") + attribute(4, u32(1500)) +
                   attribute(13, u32(1000)) + attribute(31, u32(4)) + attribute(32, u32(4)) + attribute(1, bytes(6)) +
                   attribute(18, attribute(1, b"veth\0")) + attribute(23, bytes(200)) +
                   attribute(43, attribute(2, b"\1") + attribute(4, u32(9))) + attribute(52, attribute(53, b"other\0")))
    yield "links", bytes([2]) + pieces(link + DONE, link + DONE, link + DONE)
    strings = b"".join(attribute(1, attribute(1, u32(n)) + attribute(2, s + b"\0"))
                       for n, s in enumerate([b"Tx Queue#", b"  ucast pkts tx", b"rx_queue_0_drops", b"rx_missed_errors"]))
    names = message(30, bytes(4) + attribute(2, attribute(1, attribute(1, u32(1)) + attribute(2, u32(4)) +
                                                          attribute(3, strings))))
    for which in 3, 4, 5:
        yield f"statistics{which}", ask(which, names)
    qdisc = message(36, struct.pack("<BxxxiIII", 0, 2, 0x10000, 0xffffffff, 2) + attribute(1, b"fq_codel\0") +
                    attribute(7, attribute(3, u32(1, 2, 7, 4, 5))))
    yield "qdisc", bytes([4]) + pieces(link + DONE, qdisc + DONE, FAMILY + DONE, names + DONE)
    qstats = message(30, bytes(4) + attribute(1, u32(2)) + attribute(3, u32(1)) +
                     b"".join(attribute(n, u32(n, 0)) for n in range(8, 35)))
    yield "qstats", bytes([5]) + pieces(FAMILY + DONE, qstats + DONE, FAMILY + DONE, names + DONE, link + DONE)
    protocols = b"protocol  size sockets  memory press maxhdr\nXDP       1088      2      -1   NI       0   no   kernel\n"
    sockets = b"".join(message(20, struct.pack("<BBHIII", 44, 3, 0, 4711 + n, n, 0) + attribute(1, u32(2, n)) + attribute(2, u32(0)) +
                               attribute(3, u32(64)) + attribute(4, u32(64)) + attribute(5, bytes(8) + u32(n, 8, 2048, 0, 2, n, n, 1)) +
                               attribute(6, u32(128)) + attribute(7, u32(64)) + attribute(9, bytes(range(48)))) for n in range(2))
    yield "sockets", bytes([7]) + pieces(sockets + DONE, protocols, sockets + DONE)
    place = attribute(1, b"pci\0") + attribute(2, b"0000:03:00.0\0")
    port = message(30, bytes(4) + place + attribute(3, u32(1)) + attribute(6, u32(2)))
    trap = message(30, bytes(4) + place + attribute(130, b"blackhole_route\0") + attribute(131, b"\0") + attribute(132, b"\0") +
                   attribute(135, b"l3_drops\0") + attribute(129, attribute(0, bytes(8)) + attribute(1, bytes(8)) + attribute(2, u32(9, 0))))
    health = message(30, bytes(4) + place + attribute(3, u32(1)) + attribute(114, attribute(115, b"tx\0") + attribute(116, b"\0") +
                                                                             attribute(117, u32(3, 0)) + attribute(118, u32(2, 0))))
    yield "devlink", bytes([8]) + pieces(FAMILY + DONE, FAMILY + DONE, port + DONE, trap + DONE, health + DONE)
    yield from above(link)
    yield from ports(link)
    yield from stations()
    yield from others()
    yield from connections()
    for which in range(15):	# without netlink: ethtool's ioctl
        yield f"ioctl{which}", bytes([128 + (which - 128) % 15]) + b"\1" + u32(0, 2, 0, 3, 3) + b"rx_queue_0_drops".ljust(32, b"\0") * 4


def name(text):
    """A directory entry; the result of readlink()."""
    return bytes([len(text)]) + text


def above(link):
    """Programs, qdiscs and filters on an interface with a master, beside ours."""
    device = message(16, struct.pack("<BxHiII", 0, 1, 2, 1, 0) + attribute(10, u32(5)) +
                     attribute(43, attribute(2, b"\1") + attribute(5, u32(9)) + attribute(6, u32(7))))
    qdiscs = b"".join(message(36, struct.pack("<BxxxiIII", 0, 2, handle, parent, 2) + attribute(1, kind))
                      for handle, parent, kind in ((0xffff0000, 0xfffffff1, b"clsact\0"), (0x10000, 0xffffffff, b"mq\0"),
                                                   (0, 0x10001, b"fq_codel\0"), (0, 0x10002, b"fq_codel\0")))
    filters = b"".join(message(44, struct.pack("<BxxxiIII", 0, 2, n, 0xfffffff2, (n + 3) << 16 | 3) + attribute(1, kind) +
                               attribute(2, attribute(11, u32(n + 6)))) for n, kind in enumerate((b"bpf\0", b"bpf\0", b"u32\0")))
    tcx = b"\1\3\0abc" + b"\0\0"
    yield "above", b"\x09" + pieces(device + DONE) + b"drop_all." + b"ingress" + pieces(link + DONE) + tcx + \
        pieces(qdiscs + DONE, filters + DONE) + b"ourprog" + pieces(filters + DONE)
    yield "filters", b"\x0c" + pieces(qdiscs + DONE, filters + DONE)


def ports(link):
    """A veth whose peer is here, then elsewhere; routes lead over a bond, and over several hops."""
    def end(*more):
        return message(16, struct.pack("<BxHiII", 0, 1, 2, 1, 0) + attribute(5, u32(3)) + attribute(18, attribute(1, b"veth\0")) +
                       b"".join(more))

    here = pieces(link + DONE) + b"\xff\xff\xff"	# it has no ethtool
    features = message(30, bytes(4) + attribute(1, u32(2)) + attribute(3, u32(0x77, 0)))
    links = b"".join(message(16, struct.pack("<BxHiII", 0, 1, n, 1, 0) + attribute(10, u32(master)) + attribute(5, u32(lower)))
                     for n, master, lower in ((2, 3, 0), (3, 0, 0), (4, 0, 3), (5, 6, 6), (6, 5, 5)))
    hop = struct.pack("<HBBi", 8, 0, 0, 4)
    routes = message(24, struct.pack("<BBBBBBBBI", 2, 0, 0, 0, 254, 3, 0, 1, 0) + attribute(4, u32(5))) + \
        message(24, struct.pack("<BBBBBBBBI", 2, 0, 0, 0, 254, 3, 0, 1, 0) + attribute(9, hop + hop))
    asked = here + pieces(FAMILY + DONE, features + DONE, links + DONE, routes + DONE, routes + DONE)
    yield "port-here", b"\x0a" + asked + pieces(end() + DONE) + here
    yield "port-elsewhere", b"\x0a" + asked + pieces(end(attribute(37, u32(1))) + DONE,
                                                     message(88, bytes(4) + attribute(1, u32(1))) + DONE) + here


def stations():
    tids = b"".join(attribute(tid, b"".join(attribute(n, u32(n * tid, 0)) for n in range(1, 5)) +
                              attribute(6, attribute(4, u32(1)) + attribute(5, u32(2)))) for tid in (1, 7, 17))
    counted = b"".join(attribute(n, u32(n)) for n in (9, 10, 11, 12, 18)) + attribute(23, u32(9, 1)) + attribute(24, u32(5, 0))
    both = b"".join(message(30, bytes(4) + attribute(6, bytes(range(6))) + attribute(21, info))
                    for info in (counted, counted + attribute(31, tids)))
    yield "stations", b"\x0b" + pieces(FAMILY + DONE, both + DONE)


def who(inode):
    """Two processes, the second of which owns the socket, and its name."""
    return b"\2" + name(b"41") + b"\1" + name(b"5") + name(b"socket:[1]") + \
        name(b"42") + b"\2" + name(b".") + name(b"3") + name(b"socket:[%d]" % inode) + \
        name(b"socket:[%d]" % inode) + pieces(b"42 (a ) b) T 1 42 42 0 -1\n")


def others():
    hosts = b"".join(message(28, struct.pack("<BxHiHBB", family, 0, 2, 1, 0, 1) + attribute(1, bytes(range(size))))
                     for family, size in ((2, 4), (10, 16)))
    sockets = b"".join(message(20, struct.pack("<BBBB", 2, 7, 0, 0) + struct.pack(">H", 53 + n) + bytes(46) + u32(0, 1, 0, 0, 77) +
                               attribute(7, u32(9000, 10000 * n, 0, 0, 0, 0, 0, 0, 5 + n))) for n in range(3))
    yield "others", b"\x0d" + pieces(hosts + DONE, sockets + DONE, sockets + DONE) + who(77)


def connections():
    """One that is open, one whose other end has closed, and one in a state that no kernel has yet."""
    told = attribute(2, u32(*range(1, 61)))
    each = b"".join(message(20, struct.pack("<BBBB", family, state, 0, 0) + struct.pack(">HH", 80, 4000 + state) + bytes(44) +
                            u32(0, 1, 0, 0, 77 + state) + told) for family, state in ((2, 1), (10, 8), (2, 200)))
    yield "connections", b"\x0e" + pieces(each + DONE, each + DONE) + who(78) + pieces(each + DONE)


def lines():
    interrupts = b"           CPU0       CPU1\n" + b"".join(
        b" %d:   17   0  PCI-MSIX-0000:00:03.0   %d-edge      virtio0-%s.%d\n" % (20 + n, n, w, n // 2)
        for n, w in enumerate([b"input", b"output"] * 2)) + b" 9: 1 2 IO-APIC 9-fasteoi acpi, eth0-TxRx-0\nNMI: 0 0 x\n"
    yield "interrupts", b"\0" + pieces(interrupts)
    yield "affinity", b"\1" + pieces(b"0-3,8\n", b"2\n")
    for n, text in enumerate((b"0-3,8,1023", b"ff,00000003", b"0", b"3-1", b"99999999999999999999")):
        yield f"list{n}", b"\2" + pieces(text)
    stat = b"cpu 1 2 3\n" + b"".join(b"cpu%d 10 20 30 400 5 6 7 8 0 0\n" % n for n in (0, 1, 17)) + b"intr 5\n"
    yield "stat", b"\3" + pieces(stat, stat.replace(b"400", b"900"))
    snmp = b"Udp: InDatagrams NoPorts InErrors\nUdp: 5 3 2\nTcpExt: ListenDrops\nTcpExt: 7\n"
    yield "counters", b"\4" + pieces(snmp, snmp, b"Udp6NoPorts  \t 7\n", b"XfrmInError 3\n", b"0000a 00001 00002 0 0 0 0 0 0 0 3 0 1\n",
                                     b"entries drop early_drop\n 1 a b\n")
    yield "symbols", b"\5" + pieces(b"ffffffffc0a01230 t e1000e_poll\t[e1000e]\nffffffff81 T __tracepoint_x\n")
    kernel = b"ffffffffc0a01230 t e1000e_poll\t[e1000e]\nffffffffc0a01240 t e1000_xmit_frame\t[e1000e]\n" \
        b"ffffffffc0a01250 t __pfx_e1000e_poll\t[e1000e]\nffffffff81000000 T __traceiter_e1000e_trace_mac_register\t[e1000e]\n" \
        b"ffffffff81000010 t arp_rcv\nffffffff81000020 t arp_rcv\n0 A zero\n"
    yield "probes", b"\6\0" + pieces(kernel) + b"\1" + name(b"e1000e_trace") + pieces(b"1234\n")
    yield "probes-long", b"\6\0" + pieces(b"0" * 638 + b" t x\n")	# read up to the blank
    yield "probes-asked", b"\6\1" + pieces(kernel, b"arp_rcv\ne1000e_poll [e1000e]\ne1000_xmit_frame [e1000e]\n")
    yield "effort", b"\7\2" + name(b"17") + pieces(b"ksoftirqd/1\n") + name(b"self") + \
        pieces(stat, b"5000 300 2\n") * 2
    yield "holder", b"\x08\x4d" + who(77)
    thread = name(b"18") + pieces(b"napi/eth0-8193\n", b"Name:\tnapi\nCpus_allowed_list:\t0-3\n") + b"\0"
    yield "threads", b"\x09\6" + thread * 6
    yield "threads-few", b"\x09\3" + thread * 3
    locks = b"1: POSIX  ADVISORY  WRITE 7 00:1b:17 0 EOF\n2: FLOCK  ADVISORY  WRITE 41 00:1b:17 0 EOF\n" \
        b"2: -> FLOCK  ADVISORY  WRITE 42 00:1b:17 0 EOF\n3: FLOCK  ADVISORY  READ 43 00:1b:17 0 EOF\n"
    yield "lock", b"\x0a\1" + pieces(locks, b"41 (one) S 1\n", b"43 (two) T 1\n")
    yield "lock-given", b"\x0a\1" + pieces(locks, b"41 (one) S 1\n", b"43 (two) S 1\n") + b"\0"
    yield "event", b"\x0b\2" + name(b".") + pieces(b"") + name(b"net") + pieces(b"1234\n")


def names():
    for n, (name, other, rest) in enumerate((
            (b"eth0", b"eth1", b"eth%u\0drops\0"), (b"a\33[31m", b"\xc2\x9b2J\xff", b"%s%s%ss\0s\0"),
            (b"rx_queue_0_drops", b"eth0-TxRx-0", b"%s-TxRx-%d\0eth0\0"), ("höhe ‮x ".encode(), b"\xe2\x80", b"\0"))):
        yield f"name{n}", bytes([len(name)]) + name + bytes([len(other)]) + other + rest


def questions():
    rows = [("tcp:::receive,ip:::send", "tcp_dport == 80 && !(tcp_flags & SYN|ACK) || ip_saddr in 10.0.0.0/8", "ip_saddr,cpu",
             "tcp_plength", "cs_cid", ""),
            ("socket:::*", "so_ret <= -1 && execname == 'sshd' && so_family != inet6", "", "so_ret:-10:100:5",
             "syscall::sendto:entry", "tid,pid"),
            ("syscall::accept*:return", "errno == ECONNREFUSED", "probefunc,errno", "retval", "", ""),
            ("arp:::", "arp_sha == 02:00:00:00:00:01", "args[4]->arp_spa", "probename,timestamp", "", "")]
    clauses = ['tcp:::receive /args[2]->ip_saddr == "fd00::1"/ { @x[args[4]->tcp_dport] = lquantize(cpu, 0, 128, 1); }',
               "syscall::sendto:entry {@c[execname]=sum(arg2)}"]
    for n, row in enumerate(rows):
        for action in range(8):
            yield f"question{n}-{action}", b"".join(bytes([len(w)]) + w.encode() for w in row) + \
                bytes([n % 3, action, n * 8 + action]) + clauses[n % 2].encode()


def main(to):
    for target, seeds in ("module", modules()), ("record", records()), ("netlink", answers()), ("proc", lines()), ("names", names()), \
            ("question", questions()):
        os.makedirs(f"{to}/{target}", exist_ok=True)
        for name, data in seeds:
            with open(f"{to}/{target}/{name}", "wb") as f:
                f.write(data)


main(sys.argv[1])

/* SPDX-License-Identifier: GPL-2.0 */
/* Questions from options: what they ask of events, and what is refused with which words. */
#include <stdlib.h>

#include "lib/util/error.h"
#include "probes/question.h"
#include "probes/raw.h"

#define SUBJECT "question "
#include "check.h"

#define H(group) (1ull << GROUP_##group)

static struct question q;

static bool ask(const char *name, struct posed asked)
{
	struct error e = {};

	return check(!question_ask(&q, &asked, &e), name, e.what);
}

static void refused(struct posed asked, const char *what, const char *try)
{
	struct error e = {};

	if (!check(question_ask(&q, &asked, &e) < 0 && e.err, what, "it is taken"))
		return;
	same_text("why not", e.what, what);
	same_text("instead", e.try, try);
}

static const struct term *term(unsigned i)
{
	return &q.query.term[i];
}

static void conditions(void)
{
	if (ask("comparisons", (struct posed){ "tcp:::receive", .count = true,
		.where = "tcp_dport==80&&tcp_plength > 0 || ip_saddr in 10.0.0.0/8" })) {
		same("three terms", q.query.nr_terms, 3);
		holds(!term(0)->ends && term(1)->ends && term(2)->ends,
		      "the first two belong together");
		holds(term(0)->op == OP_EQ && term(1)->op == OP_GT && term(2)->op == OP_EQ,
		      "operators");
		same("value", term(0)->val[0], 80);
		same("what is read before the filter", q.query.filter_need,
		     H(TCPPORTS) | H(TCP) | H(ADDR));
	}
	if (ask("masks", (struct posed){ "tcp:::send", .count = true,
		.where = "tcp_flags & SYN | ACK && !(tcp_flags & (RST|FIN)) && !ipv4_offset && "
			 "tcp_seq" })) {
		holds(term(0)->op == OP_ANY && term(0)->mask[0] == 0x12 && !term(0)->val[0], "any");
		holds(term(1)->op == OP_NONE && term(1)->mask[0] == 0x05, "none");
		holds(term(2)->op == OP_EQ && !term(2)->val[0] && term(2)->mask[0] == UINT64_MAX,
		      "not");
		holds(term(3)->op == OP_NE && !term(3)->val[0], "alone");
	}
	if (ask("names", (struct posed){ "tcp:::state-change,socket:::send", .count = true,
		.where = "tcps_state != state-established && execname == 'my prog' && so_ret <= -1 "
			 "|| (so_protocol == tcp) && probename == \"send\" && !(so_ret < 0)" })) {
		holds(term(0)->op == OP_NE && term(0)->val[0] == 1, "a state");
		holds(!memcmp(term(1)->val, "my prog", 8) && term(1)->size == 16, "a string");
		holds(term(2)->is_signed && (__s64)term(2)->val[0] == -1, "below 0");
		same("D's name of a probe", term(4)->val[0], PROBE_socket_send);
		holds(term(5)->op == OP_GE && term(5)->ends, "an inverse");
	}
	holds(ask("members", (struct posed){ "tcp:::receive,tcp:::send", .count = true,
		.where = "args[2]->ip_saddr == \"fd00::1\" && args[4]->tcp_dport >= 1024" }) &&
	      term(0)->offset == field_find("ip_saddr")->offset, "are those of the arguments");
}

#define WHERE(p, w, ...) refused((struct posed){ p, .where = w }, __VA_ARGS__)

static void conditions_refused(void)
{
	WHERE("tcp:::send", "tcp_dpord == 80", "--where: \"tcp_dpord\" is no field", "tcp_dport");
	WHERE("tcp:::send", "tcp_dport = 80",
	      "--where: \"= 80\" is not one of == != < <= > >= & in", "");
	WHERE("tcp:::send", "tcp_dport ==", "--where: a value is missing behind \"tcp_dport ==\"",
	      "");
	WHERE("tcp:::send", "", "--where: a field is missing behind \"\"", "");
	WHERE("tcp:::send", "tcp_dport == 80 and", "--where: \"and\" is not && or ||", "");
	WHERE("tcp:::send", "tcp_dport == 80 &&",
	      "--where: a field is missing behind \"tcp_dport == 80 &&\"", "");
	WHERE("tcp:::send", "tcp_dport == http",
	      "--where: \"http\" is no value of tcp_dport, which takes a number", "");
	WHERE("tcp:::send", "tcps_state < listen",
	      "--where: tcps_state is no number, to be compared by <", "tcps_state == listen");
	WHERE("tcp:::send", "ip_saddr & 10", "--where: ip_saddr has no bits for &", "ip_saddr ==");
	WHERE("tcp:::send", "tcp_dport in 10.0.0.0/8",
	      "--where: tcp_dport is no address, which \"in\" is for", "tcp_dport == 10.0.0.0/8");
	WHERE("tcp:::send", "ip_saddr", "--where: ip_saddr must be compared with a value",
	      "ip_saddr ==");
	WHERE("tcp:::send", "!tcp_dport == 80",
	      "--where: ! stands before a field alone, or before parentheses",
	      "!(tcp_dport == 80)");
	WHERE("tcp:::send", "(tcp_dport == 80 && tcp_sport == 1)",
	      "--where: \"&& tcp_sport == 1)\" is not ): parentheses hold a single comparison", "");
	WHERE("tcp:::send", "tcp_flags & 0", "--where: tcp_flags & 0 is never true", "");
	WHERE("tcp:::send", "tcp_flags & (SYN", "--where: \"(SYN\" is not closed by )", "");
	WHERE("tcp:::send", "execname == 'x", "--where: \"'x\" is not closed by '", "");
	WHERE("tcp:::send", "args[1]->ip_saddr == 1.1.1.1",
	      "--where: args[1] of tcp:::send is csinfo_t, which has no ip_saddr",
	      "args[2]->ip_saddr");
	WHERE("tcp:::send", "args[7]->ip_saddr == 1.1.1.1",
	      "--where: args[7] of tcp:::send is nothing, which has no ip_saddr",
	      "args[2]->ip_saddr");
	WHERE("tcp:::send", "args[2]->ip_sadr == 1.1.1.1",
	      "--where: args[2] of tcp:::send is ipinfo_t, which has no ip_sadr",
	      "args[2]->ip_saddr");
	WHERE("tcp:::send", "args[x]->ip_saddr == 1.1.1.1",
	      "--where: cannot read \"args[x]->ip_saddr\"", "args[2]->ip_saddr");
	WHERE("tcp:::send", "timestamp > 5", "--where: timestamp can only be printed",
	      "--delta cs_cid");
	WHERE("tcp:::send,udp:::send", "probename == send",
	      "--where: several of the probes are called so; give the provider, too", "");
	WHERE("tcp:::send", "cpu==1&&cpu==1&&cpu==1&&cpu==1&&cpu==1&&cpu==1&&cpu==1&&cpu==1&&"
	      "cpu==1&&cpu==1&&cpu==1&&cpu==1&&cpu==1&&cpu==1&&cpu==1&&cpu==1&&cpu==1",
	      "--where: more than 16 comparisons", "");
}

static void keys(void)
{
	if (ask("keys",
		(struct posed){ "ip:::send",
				.by = "probename , ip_ver,ip_saddr,ipv4_tos,ip_proto" })) {
		same("they are counted", q.query.aggregation, AGG_COUNT);
		holds(q.query.part[0].at == 0 && q.query.part[1].at == 4 &&
			      q.query.part[2].at == 8 && q.query.part[3].at == 24 &&
			      q.query.part[4].at == 25,
		      "each lies aligned");
		same("their size", q.query.key_size, 8 + 32);
		same("what they need", q.query.need, H(BASE) | H(ADDR) | H(IPV4) | H(IP));
		same("what the user named", q.required, H(BASE) | H(ADDR) | H(IPV4) | H(IP));
	}
	holds(ask("a MAC address", (struct posed){ "arp:::send", .by = "eth_istagged,arp_sha" }) &&
	      q.query.part[1].at == 2 && q.query.key_size == 16, "lies at halves of words");
	holds(ask("no key", (struct posed){ "ip:::send", .count = true }) &&
		      q.query.key_size == 8 && q.query.need == H(IP) && !q.required,
	      "what tells the probe is needed all the same");
	refused((struct posed){ "tcp:::send", .by = "ip_saddr,ip_daddr,tcps_laddr,tcps_raddr,cpu" },
		"--by: the keys are longer than 64 bytes, up to cpu", "");
	refused((struct posed){ "tcp:::send", .by = "cpu,cpu,cpu,cpu,cpu,cpu,cpu,cpu,cpu" },
		"--by: more than 8 keys", "");
	refused((struct posed){ "tcp:::send", .by = "cpu,,pid" }, "--by: \"\" is no field",
		"nicprobe list -v tcp:::send");
	refused((struct posed){ "tcp:::receive", .by = "pid" },
		"--by: events of tcp:::receive have no pid: they happen in softirq, where the "
		"current process is a bystander",
		"nicprobe list -v tcp:::receive");
	refused((struct posed){ "tcp:::send", .by = "udp_dport" },
		"--by: events of tcp:::send have no udp_dport", "nicprobe list -v tcp:::send");
	refused((struct posed){ "tcp:::connect-refused", .by = "args[0]->pkt_len" },
		"--by: events of tcp:::connect-refused have no pkt_len",
		"nicprobe list -v tcp:::connect-refused");
	holds(ask("a field of one of them",
		  (struct posed){ "tcp:::send,udp:::send", .by = "udp_dport" }),
	      "is a field");
	refused((struct posed){ "tcp:::send", .by = "timestamp" },
		"--by: timestamp can only be printed", "--delta cs_cid");
}

static void actions(void)
{
	holds(ask("sum", (struct posed){ "socket:::send", .sum = "so_ret" }) &&
	      q.query.aggregation == AGG_SUM && q.query.measure.is_signed &&
	      q.query.measure.offset == field_find("so_ret")->offset && q.query.measure.size == 8,
	      "of a signed field");
	holds(ask("quantize",
		  (struct posed){ "tcp:::send", .by = "cpu",
				  .quantize = "args[4]->tcp_plength" }) &&
		      q.query.slots == QUANTIZE_SLOTS && q.measured == field_find("tcp_plength"),
	      "has slots");
	holds(ask("lquantize", (struct posed){ "nic:::rx-packet", .lquantize = "cpu:0:128:2" }) &&
		      q.query.slots == 66 && !q.query.low && q.query.step == 2 && q.high == 128,
	      "has steps");
	holds(ask("a step of 1", (struct posed){ "socket:::send", .lquantize = "so_ret:-5:5" }) &&
	      q.query.slots == 12 && q.query.low == -5, "need not be said");
	if (ask("columns", (struct posed){ "tcp:::state-change", .delta = "cs_cid" })) {
		same("they are printed", q.query.aggregation, AGG_PRINT);
		holds(q.nr_printed == 7 && q.printed[0] == field_find("delta_ns"), "with the time");
		same("none is required but the key of times", q.required, H(CID));
	}
	holds(ask("print",
		  (struct posed){ "tcp:::send,tcp:::receive", .print = "timestamp,tcp_flags" }) &&
		      q.nr_printed == 2 && q.required == (H(BASE) | H(TCP)),
	      "only what is asked");
	holds(ask("all", (struct posed){ .probes = ":::" }) && q.nr_printed == PRINTED_MOST,
	      "as many as there is room for");
	refused((struct posed){ "tcp:::send", .sum = "tcps_state" },
		"--sum: tcps_state is no number", "");
	refused((struct posed){ "tcp:::send", .sum = "tcp_seq", .max = "tcp_seq" },
		"--sum and --max exclude each other", "");
	refused((struct posed){ "tcp:::send", .by = "cpu", .print = "cpu" },
		"--by and --print exclude each other", "");
	refused((struct posed){ "tcp:::send", .lquantize = "cpu:0:x" },
		"--lquantize: \"cpu:0:x\" is no field, low, high and step",
		"--lquantize ip_plength:0:1500:100");
	refused((struct posed){ "tcp:::send", .lquantize = "cpu:10:5:1" },
		"--lquantize: from 10 to 5 by 1 is no range", "");
	refused((struct posed){ "tcp:::send", .lquantize = "cpu:0:10:3" },
		"--lquantize: from 0 to 10 are no whole steps of 3", "");
	refused((struct posed){ "tcp:::send", .lquantize = "cpu:0:1025:1" },
		"--lquantize: more than 1024 steps", "");
	refused((struct posed){ "tcp:::send", .lquantize = "cpu:-9223372036854775808:1:1" },
		"--lquantize: from -9223372036854775808 to 1 by 1 is no range", "");
}

static void times(void)
{
	if (ask("since",
		(struct posed){ "tcp:::connect-established", .since = "tcp:::connect-request",
				.on = "cs_cid", .by = "ip_saddr", .quantize = "delta_ns",
				.where = "delta_ns > 1000" })) {
		holds(q.since == probe_bit(PROBE_tcp_connect_request) && !q.query.delta &&
		      q.query.nr_on == 1 && q.query.on[0].group == GROUP_CID, "has its key");
		holds(q.query.filter_need & H(SINCE), "the time is known before the filter");
		holds(q.query.need & H(TCP), "what tells the beginning is needed");
	}
	if (ask("calls", (struct posed){ "syscall::sendto:return", .since = "syscall::sendto:entry",
		.on = "tid", .quantize = "delta_ns" })) {
		same("two functions", q.nr_functions, 2);
		holds(q.function_of[0] == 1ull << PROBE_syscall_return &&
		      q.function_of[1] == 1ull << PROBE_syscall_entry, "each of its probe");
		same_text("function", q.function[1], "sendto");
	}
	refused((struct posed){ "tcp:::send", .since = "tcp:::receive" },
		"--since and --on belong together", "--since PROBE --on cs_cid");
	refused((struct posed){ "tcp:::send", .since = "tcp:::send", .on = "cs_cid" },
		"--since: tcp:::send is traced itself", "--delta cs_cid");
	refused((struct posed){ "tcp:::send", .since = "tcp:::receive", .on = "cs_cid",
				.delta = "cpu" },
		"--since and --delta exclude each other", "");
	refused((struct posed){ "tcp:::send", .delta = "cs_cid,cpu,pid" },
		"--delta: more than 2 fields", "");
	refused((struct posed){ "tcp:::connect-established", .since = "tcp:::accept-refused",
				.on = "cs_cid" },
		"--on: events of tcp:::accept-refused have no cs_cid",
		"nicprobe list -v tcp:::accept-refused");
	refused((struct posed){ "tcp:::send", .quantize = "delta_ns" },
		"--quantize: delta_ns is measured by --since or --delta",
		"--since PROBE --on cs_cid");
}

static void probes(void)
{
	holds(ask("several", (struct posed){ "tcp:::send, udp:::send", .count = true }) &&
	      q.probes == (1ull << PROBE_tcp_send | 1ull << PROBE_udp_send), "with commas");
	refused((struct posed){ .probes = "tcp:::sent" }, "PROBE: \"tcp:::sent\" is no probe",
		"tcp:::send");
	refused((struct posed){ .probes = "" },
		"PROBE: \"\" is no probe; they are called PROVIDER:::NAME", "nicprobe list ':::'");
	refused((struct posed){ .probes = "syscall::sendtoo:entry" },
		"PROBE: \"sendtoo\" is no system call", "sendto");
	setenv("NICPROBE_CANNOT", "fentry,kprobe,kprobe.multi", 1);
	refused((struct posed){ "fbt::__alloc_skb:entry", .quantize = "arg0" },
		"PROBE: functions of the kernel cannot be traced here: taken away by "
		"$NICPROBE_CANNOT, and taken away by $NICPROBE_CANNOT",
		"nicprobe list ':::'");
	unsetenv("NICPROBE_CANNOT");
	refused((struct posed){ .probes = "sdt:net_dev_queue" },
		"PROBE: \"sdt:net_dev_queue\" is no pattern of four parts",
		"sdt:GROUP::EVENT");
}

/* What is shown by default is there. */
static void columns(void)
{
	bool all = true;

	for (int p = 0; p < NR_STABLE_PROBES; p++) {
		struct posed asked = { .probes = text("%s", probe_name(p)),
				       .print = stable_probes[p].columns };
		struct error e = {};

		if (raw_has(probe_bit(p)))
			continue;	/* what they name is the kernel's */
		all &= must(!question_ask(&q, &asked, &e), stable_probes[p].columns, e.what);
	}
	holds(all, "every probe has the columns that are shown by default");
}

/* Packets begin with the Ethernet header if all probes have it. */
static void packets(void)
{
	if (ask("packets of frames", (struct posed){ "nic:::rx-packet,arp:::receive",
						     .snaplen = 99 }))
		holds(q.query.ethernet && q.query.snaplen == 99 && q.query.need & H(ETH),
		      "from the Ethernet header on");
	if (ask("packets of IP and frames", (struct posed){ "tcp:::send,nic:::rx-packet",
							    .snaplen = 99 }))
		holds(!q.query.ethernet && q.required & H(PKT), "from the IP header on");
	refused((struct posed){ "tcp:::send,tcp:::state-change", .snaplen = 99 },
		"--pcap: tcp:::state-change has no packet: it tells of a socket", "");
	refused((struct posed){ "tcp:::send,arp:::send", .snaplen = 99 },
		"--pcap: packets of tcp:::send begin with the IP header, which those of arp:::send "
		"have not: a file for each", "");
}

int main(void)
{
	packets();
	conditions();
	conditions_refused();
	keys();
	actions();
	times();
	probes();
	columns();
	return failed > 0;
}

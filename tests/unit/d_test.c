/* SPDX-License-Identifier: GPL-2.0 */
/* Clauses of D ask the same as options do; what lies beyond is refused at the word it begins at. */
#include "lib/util/error.h"
#include <stdlib.h>

#include "probes/question.h"

#define SUBJECT "d "
#include "check.h"

static struct question q, options;

/* The clause and the options are the same question. */
static void same_question(const char *clause, struct posed asked)
{
	const char *name = strchr(clause, '\n') ? "a clause of several lines" : clause;
	struct error e = {};

	if (!check(!question_ask_d(&q, clause, &e), name, e.what) ||
	    !check(!question_ask(&options, &asked, &e), "the same by options", e.what))
		return;
	holds(!memcmp(&q, &options, sizeof(q)), "they are the same");
}

static void refused(const char *clause, const char *what, const char *try)
{
	struct error e = {};

	if (!check(question_ask_d(&q, clause, &e) < 0, clause, "it is taken"))
		return;
	same_text("why not", e.what, what);
	same_text("instead", e.try, try);
}

#define SHAPE "@[execname] = count();"

static void taken(void)
{
	same_question("tcp:::receive /args[2]->ip_plength > 0/ "
		      "{ @[args[2]->ip_saddr] = quantize(args[4]->tcp_plength); }",
		      (struct posed){ "tcp:::receive", .where = "ip_plength > 0", .by = "ip_saddr",
				      .quantize = "tcp_plength" });
	same_question("syscall::sendto:entry {@c[execname]=sum(arg2)}",
		      (struct posed){ "syscall::sendto:entry", .by = "execname", .sum = "arg2" });
	same_question("tcp:::accept-refused {@c[args[2]->ip_daddr,args[4]->tcp_sport]=count()}",
		      (struct posed){ "tcp:::accept-refused", .by = "ip_daddr,tcp_sport" });
	same_question("tcp:::receive /args[4]->tcp_dport==80/ {@pkts[args[2]->ip_saddr]=count()}",
		      (struct posed){ "tcp:::receive", .where = "tcp_dport == 80",
				      .by = "ip_saddr" });
	same_question("tcp:::accept-established { @[args[4]->tcp_dport] = count(); }",
		      (struct posed){ "tcp:::accept-established", .by = "tcp_dport" });
	same_question(
		"ip:::send,\n ip:::receive\n{\n\t@[probename, args[2]->ip_saddr, "
		"args[2]->ip_daddr] =\n\t    sum(args[2]->ip_plength);\n}\n",
		(struct posed){ "ip:::send,ip:::receive", .by = "probename,ip_saddr,ip_daddr",
				.sum = "ip_plength" });
	same_question("udp:::send { @[args[4]->udp_dport] = sum(args[4]->udp_length); }",
		      (struct posed){ "udp:::send", .by = "udp_dport", .sum = "udp_length" });
	same_question("ip:::send { @[args[3]->if_name] = sum(args[2]->ip_plength); }",
		      (struct posed){ "ip:::send", .by = "if_name", .sum = "ip_plength" });
	same_question("ip:::send { @[args[4]->ipv4_protostr] = count(); }",
		      (struct posed){ "ip:::send", .by = "ipv4_protocol" });
	same_question(
		"tcp:::state-change /args[5]->tcps_state == TCP_STATE_SYN_SENT && "
		"args[3]->tcps_state != TCP_STATE_ESTABLISHED/ "
		"{ @[args[3]->tcps_raddr] = count(); }",
		(struct posed){ "tcp:::state-change", .by = "tcps_raddr",
				.where = "tcpls_state == syn-sent && tcps_state != established" });
	same_question(
		"tcp:::receive /(args[4]->tcp_flags & (TH_SYN|TH_ACK)) && "
		"!(args[4]->tcp_flags & TH_RST)/ { @ = count(); }",
		(struct posed){ "tcp:::receive", .count = true,
				.where = "tcp_flags & SYN|ACK && !(tcp_flags & RST)" });
	same_question("ip:::send /args[2]->ip_daddr == \"10.0.0.0/8\" || execname == \"a{b/c\"/ "
		      "{ @n = max(args[2]->ip_plength) }",
		      (struct posed){ "ip:::send",
				      .where = "ip_daddr in 10.0.0.0/8 || execname == 'a{b/c'",
				      .max = "ip_plength" });
	same_question("nic:::rx-packet { @[args[3]->if_name] = lquantize(cpu, 0, 128, 1); }",
		      (struct posed){ "nic:::rx-packet", .by = "if_name",
				      .lquantize = "cpu:0:128:1" });
	same_question("gld:::send { @[args[3]->if_name] = quantize(args[0]->pkt_len); }",
		      (struct posed){ "nic:::tx-start", .by = "if_name", .quantize = "pkt_len" });
}

static void not_taken(void)
{
	/* the order of arguments of 2006 */
	refused("tcp:::receive /args[2]->tcp_dport==80/ {@pkts[args[1]->ip_daddr]=count()}",
		"the condition: args[2] of tcp:::receive is ipinfo_t, which has no tcp_dport",
		"args[4]->tcp_dport");
	refused("tcp:::accept-established {@[args[2]->tcp_dport]=count()}",
		"the keys: args[2] of tcp:::accept-established is ipinfo_t, which has no tcp_dport",
		"args[4]->tcp_dport");
	setenv("NICPROBE_CANNOT", "fentry,kprobe,kprobe.multi", 1);
	refused("fbt::__alloc_skb:entry {@size=quantize(arg0)}",
		"the probes: functions of the kernel cannot be traced here: taken away by "
		"$NICPROBE_CANNOT, and taken away by $NICPROBE_CANNOT",
		"nicprobe list ':::'");
	refused("tcp:::send { printf(\"%d\", pid); }",
		"the clause of D stops at \"printf\", where @ should be", SHAPE);
	refused("tcp:::send { @[execname] = stddev(arg0); }",
		"the clause of D stops at \"stddev\", where count, sum, min, max, avg, quantize or "
		"lquantize should be", SHAPE);
	refused("tcp:::send { @a = count(); @b = sum(arg0); }",
		"the clause of D stops at \"@\", where } should be", SHAPE);
	refused("tcp:::send { @a = count(); } tcp:::receive { @b = count(); }",
		"the clause of D stops at \"tcp\", where the end should be", SHAPE);
	refused("tcp:::send", "the clause of D ends, where { should be", SHAPE);
	refused("tcp:::send /pid == 1 { @ = count(); }", "the clause of D ends, where / should be",
		SHAPE);
	refused("tcp:::send { @[pid = count(); }", "the clause of D ends, where ] should be",
		SHAPE);
	refused("tcp:::send { @[pid] = count(pid); }",
		"the clause of D stops at \"pid\", where ) should be", SHAPE);
	refused("tcp:::send { @[pid] += 1; }", "the clause of D stops at \"+\", where = should be",
		SHAPE);
	refused("tcp:::send { @[this->x] = count(); }", "the keys: \"this->x\" is no field",
		"nicprobe list -v tcp:::send");
	refused("tcp:::send { @ = lquantize(tcp_plength, 0); }",
		"lquantize(): \"tcp_plength:0\" is no field, low, high and step",
		"lquantize(args[2]->ip_plength, 0, 1500, 100)");
	refused("tcp:::send { @ = sum(execname); }", "sum(): execname is no number", "");
}

int main(void)
{
	taken();
	not_taken();
	return failed > 0;
}

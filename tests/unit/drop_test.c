/* SPDX-License-Identifier: GPL-2.0 */
/* What drop and counters say of each loss with a remedy; and of one packet less: nothing. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../bpf/counters.h"
#include "../../bpf/drop.h"
#include "../../bpf/remedy.h"
#include "../../lib/names.h"
#include "../../lib/symbol.h"

#define SUBJECT "drop "
#include "check.h"

static struct snapshot snapshot = { .meta = { .iface = "eth0", .netns = 1 } };

/* One row in the table of a meter, and what is said of it. */
static unsigned judged(enum meter_id id, const void *key, uint64_t n)
{
	struct table *t = &snapshot.tables[id];
	uint64_t *row;

	*t = (struct table){ .cpus = 1, .words = meters[id]->row_size / 8 };
	row = table_add(t, meters[id], key);
	if (!row)
		abort();
	*row = n;
	snapshot.findings = (struct findings){};
	meters[id]->judge(&snapshot, &snapshot.findings);
	free(t->cells);
	free(t->keys);
	*t = (struct table){};
	return snapshot.findings.nr;
}

/* No brace is left, and it fits in its place. */
static bool is_whole(const struct finding *f)
{
	return !strpbrk(f->what, "{}") && !strpbrk(f->try, "{}") && *f->try &&
	       strlen(f->what) < sizeof(f->what) - 1 && strlen(f->try) < sizeof(f->try) - 1;
}

/* The number of the first reason that a remedy is for; 0: this kernel has none, or no BTF. */
static uint32_t reason_of(const struct remedy *r)
{
	for (uint32_t i = 2; i < 512; i++)
		if (remedy_of(drop_reason_name(i)) == r)
			return i;
	return 0;
}

static void check_remedy(const struct remedy *r)
{
	struct drop_key key = { .stack = DROP_NO_STACK, .queue = 3, .reason = reason_of(r) };
	const struct finding *f = snapshot.findings.list;

	holds(strlen(remedy_text(r->try, &snapshot)) < sizeof(f->try), text("%s: fits", r->reason));
	holds(!strpbrk(remedy_text(r->try, &snapshot), "{}"),
	      text("%s: nothing left open", r->reason));
	if (!key.reason) {
		printf("skip drop %s: this kernel does not have it\n", r->reason);
		return;
	}
	holds(judged(METER_drop, &key, r->least) == 1 && is_whole(f) &&
	      strstr(f->what, "most of queue 3"),
	      text("%s: speaks of %u", r->reason, (unsigned)r->least));
	holds(r->least == 1 || !judged(METER_drop, &key, r->least - 1),
	      text("%s: silent of less", r->reason));
	snapshot.seconds = 1e6;
	holds(!judged(METER_drop, &key, r->least * 277) && judged(METER_drop, &key, r->least * 278),
	      text("%s: silent of so few in so long", r->reason));
	snapshot.seconds = 1;
	key.direction = DROP_UNSURE;
	holds(!judged(METER_drop, &key, 1000),
	      text("%s: silent of what may be another's", r->reason));
}

/* What ethtool and its like call losses; who had them; how many before it is said; and what. */
static const struct counted {
	const char *source, *name, *who;	/* who NULL: no loss */
	uint64_t least;				/* 0: never spoken of */
	const char *says, *tries;
} counted[] = {
	{ "ip -s link", "rx_missed_errors", "hardware", 1, "no room in the receive ring of eth0",
	  "ethtool -G eth0 rx N" },
	{ "ip -s link", "rx_over_errors", "hardware", 1, "no room in the receive ring", "-L eth0" },
	{ "ip -s link", "rx_crc_errors", "hardware", 10, "arrived broken at eth0", "ethtool -m" },
	{ "ip -s link", "rx_dropped", "any", 0, NULL, NULL },
	{ "ip -s link", "rx_packets", NULL, 0, NULL, NULL },
	{ "ethtool -S", "rx_no_buffer_count", "hardware", 1, "no receive buffer", "-G eth0 rx" },
	{ "ethtool -S", "rx_out_of_buffer", "hardware", 1, "no receive buffer", "-G eth0 rx" },
	{ "ethtool -S", "bw_in_allowance_exceeded", "hardware", 1, "size of instance", "instance" },
	{ "ethtool -S", "linklocal_allowance_exceeded", "hardware", 1, "provider's DNS", "cache" },
	{ "ethtool -S", "conntrack_allowance_available", NULL, 0, NULL, NULL },
	{ "ethtool -S", "alloc_rx_buff_failed", "driver", 1, "no memory", "min_free_kbytes" },
	{ "ethtool -S", "rx_queue_0_alloc_failed", "driver", 1, "no memory", "min_free_kbytes" },
	{ "ethtool -S", "rx_queue_3_xdp_drops", "xdp", 10, "by an XDP program", "bpftool net" },
	{ "ethtool -S", "rx_queue_0_drops", "driver", 0, NULL, NULL },
	{ "ethtool -S", "tx_timeout_count", "driver", 0, NULL, NULL },
	{ "ethtool -S", "rx_csum_errors", "driver", 0, NULL, NULL },
	{ "ethtool -S", "interrupts", NULL, 0, NULL, NULL },
	{ "ethtool -S", "tx_deferred_ok", NULL, 0, NULL, NULL },
	{ "ethtool -S", "rx_bytes", NULL, 0, NULL, NULL },
	{ "ethtool -S", "Tx0 ring full", "driver", 0, NULL, NULL },
	{ "ethtool -S", "Rx1 pkts rx OOB", "hardware", 0, NULL, NULL },
	{ "softnet", "cpu1 dropped", "kernel", 1, "backlog of their CPU full", "max_backlog=" },
	{ "softnet", "cpu1 time_squeeze", "kernel", 0, NULL, NULL },
	{ "conntrack", "drop", "netfilter", 1, "table of connections", "nf_conntrack_max=" },
	{ "conntrack", "early_drop", "netfilter", 1, "table of connections", "nf_conntrack_max=" },
	{ "conntrack", "insert_failed", "netfilter", 0, NULL, NULL },
	{ "tc -s", "pfifo 8001: dropped", "qdisc", 10, "queueing discipline", "tc -s qdisc" },
	{ "tc -s", "clsact ffff: dropped", "tc", 0, NULL, NULL },
	{ "nstat", "UdpRcvbufErrors", "socket", 10, "buffer of their socket", "rmem_max=" },
	{ "nstat", "TcpExtListenOverflows", "socket", 1, "accept queue full", "somaxconn=" },
	{ "nstat", "UdpNoPorts", "kernel", 0, NULL, NULL },
	{ "nstat", "TcpExtTCPBacklogDrop", "kernel", 10, "buffer of their socket", "rmem_max=" },
	{ "nstat", "TcpExtTCPTimeouts", NULL, 0, NULL, NULL },
	{ "nstat", "TcpInSegs", NULL, 0, NULL, NULL },
	{ "nstat", "TcpExtTCPSACKDiscard", NULL, 0, NULL, NULL },
	{ "nstat", "Ip6InNoRoutes", "kernel", 0, NULL, NULL },
	{}
};

static void check_counted(const struct counted *c)
{
	const struct finding *f = snapshot.findings.list;
	struct counters_key key = {};

	holds(counter_is_loss(c->source, c->name) == !!c->who,
	      text("%s %s: %s", c->source, c->name, c->who ? "a loss" : "no loss"));
	if (!c->who)
		return;
	same_text(text("%s: by %s", c->name, c->who), counter_who(c->source, c->name), c->who);
	snprintf(key.counter, sizeof(key.counter), "%s", c->name);
	snprintf(key.source, sizeof(key.source), "%s", c->source);
	snprintf(key.who, sizeof(key.who), "%s", c->who);
	if (!c->least) {
		holds(!judged(METER_counters, &key, 1000), text("%s: never spoken of", c->name));
		return;
	}
	holds(judged(METER_counters, &key, c->least) == 1 && is_whole(f) &&
	      strstr(f->what, c->says) && strstr(f->try, c->tries), text("%s: speaks", c->name));
	holds(!judged(METER_counters, &key, c->least - 1), text("%s: silent of less", c->name));
}

static void check_names(void)
{
	char name[128];

	holds(pattern_fits("FQ_*", "FQ_FLOW_LIMIT") && !pattern_fits("FQ_*", "XFQ_") &&
	      pattern_fits("XDP", "XDP") && !pattern_fits("XDP", "XDPX"), "patterns");
	holds(!remedy_of("OTHERHOST") && !remedy_of("NOT_SPECIFIED"), "no remedy for the benign");
	same_text("a reason without a name", drop_reason_name(0xfff7fff0), "?fff7fff0");
	if (strcmp(drop_reason_name(0), "?0"))
		holds(!strcmp(drop_reason_name(2), "NO_SOCKET") ||
		      !strcmp(drop_reason_name(3), "NO_SOCKET"), "a reason, by the kernel's BTF");
	else
		printf("skip drop: no BTF, no names\n");
	if (strcmp(drop_reason_name(0x10007), "?10007"))
		holds(strlen(drop_reason_name(0x10007)) > 8,
		      text("a reason of a subsystem: %s", drop_reason_name(0x10007)));
	else
		printf("skip drop: no subsystem has reasons of its own\n");
	symbol_text(1, name, sizeof(name));
	holds(!strcmp(name, "0x1") && !symbol_at(1), text("an address without a name: %s", name));
	holds(!tracepoint_args("no_such_tracepoint"), "no such tracepoint");
}

int main(void)
{
	for (const struct remedy *r = remedies; r->reason; r++)
		check_remedy(r);
	for (const struct counted *c = counted; c->source; c++)
		check_counted(c);
	check_names();
	return failed > 0;
}

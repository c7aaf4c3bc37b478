/* SPDX-License-Identifier: GPL-2.0 */
/* Findings for each loss in drop or counters; and silence for one packet less. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/counters/counters.h"
#include "bpf/drop/drop.h"
#include "lib/kernel/reasons.h"
#include "bpf/hwstat/hwstat.h"
#include "findings/dropping.h"
#include "lib/kernel/btf.h"
#include "lib/kernel/symbol.h"

#define SUBJECT "drop "
#include "judge.h"

static struct snapshot snapshot = { .seconds = 1, .meta = { .iface = "eth0", .netns = 1,
							   .cpus = 4 } };

/* One row in the table of a meter; returns the number of findings. */
static unsigned judged(enum meter_id id, const void *key, uint64_t n)
{
	struct table *t = &snapshot.tables[id];
	uint64_t *row;

	*t = (struct table){ .cpus = 1, .words = meters[id]->row_size / 8 };
	row = table_add(t, meters[id], key);
	if (!row)
		abort();
	*row = n;
	snapshot.meta.on = 1ull << id;
	findings_judge(&snapshot, setup_unknown());
	free(t->cells);
	free(t->keys);
	*t = (struct table){};
	return snapshot.findings.nr;
}

/* What the first finding suggests. */
static const char *tries(void)
{
	static char words[900];

	finding_try(snapshot.findings.list, words, sizeof(words));
	return words;
}

/* No braces are left, and it fits. */
static bool is_whole(const struct finding *f)
{
	return !strpbrk(f->what, "{}") && !strpbrk(tries(), "{}") && *tries() &&
	       strlen(f->what) < sizeof(f->what) - 1 && strlen(f->advice) < sizeof(f->advice) - 1;
}

/* The number of a reason by name; "X*": the first with that prefix. 0: not in this kernel. */
static uint32_t reason_of(const char *name)
{
	size_t len = strcspn(name, "*");

	for (uint32_t i = 2; i < 512; i++)
		if (!strncmp(drop_reason_name(i), name, len) &&
		    (name[len] || !drop_reason_name(i)[len]))
			return i;
	return 0;
}

static void check_loss(const struct loss *l, const char *reason)
{
	const char *name = text("%.*s", (int)strcspn(reason, "@"), reason);
	struct drop_key key = { .stack = DROP_NO_STACK, .queue = 3, .reason = reason_of(name) };
	const struct finding *f = snapshot.findings.list;
	unsigned least = l->kind.limits[0]->value;

	if (!key.reason) {
		printf("skip drop %s: this kernel does not have it\n", reason);
		return;
	}
	if (l->meant || strchr(reason, '@')) {
		holds(!judged(METER_drop, &key, 1000), text("%s: not wherever it is", reason));
		return;
	}
	holds(judged(METER_drop, &key, least) == 1 && !strcmp(f->kind->id, l->kind.id) &&
	      is_whole(f) && strstr(f->what, "most on queue 3"),
	      text("%s: speaks of %u", reason, least));
	holds(least == 1 || !judged(METER_drop, &key, least - 1),
	      text("%s: silent of less", reason));
	snapshot.seconds = 1e6;
	holds(!judged(METER_drop, &key, least * 277) && judged(METER_drop, &key, least * 278),
	      text("%s: silent of so few in so long", reason));
	snapshot.seconds = 1;
	key.direction = DROP_UNSURE;
	holds(!judged(METER_drop, &key, 1000),
	      text("%s: silent of what may be another's", reason));
}

/* Counters of ethtool and others that mean losses: by whom, the threshold, and the sentence. */
static const struct counted {
	const char *source, *name, *who;	/* who NULL: not a loss */
	uint64_t least;				/* 0: never reported */
	const char *id;
} counted[] = {
	{ "ip -s link", "rx_missed_errors", "hardware", 10, "rx-ring-full" },
	{ "ip -s link", "rx_over_errors", "hardware", 10, "rx-ring-full" },
	{ "ip -s link", "rx_crc_errors", "hardware", 10, "rx-broken" },
	{ "ip -s link", "rx_dropped", "any", 0, NULL },
	{ "ip -s link", "collisions", "hardware", 0, NULL },	/* and the link is half duplex */
	{ "ip -s link", "rx_packets", NULL, 0, NULL },
	{ "ethtool -S", "rx_no_buffer_count", "hardware", 10, "rx-ring-full" },
	{ "ethtool -S", "rx_out_of_buffer", "hardware", 10, "rx-ring-full" },
	{ "ethtool -S", "bw_in_allowance_exceeded", "hardware", 1, "allowance-exceeded" },
	{ "ethtool -S", "linklocal_allowance_exceeded", "hardware", 1, "allowance-linklocal" },
	{ "ethtool -S", "conntrack_allowance_available", NULL, 0, NULL },
	{ "ethtool -S", "alloc_rx_buff_failed", "driver", 1, "rx-no-memory" },
	{ "ethtool -S", "rx_queue_0_alloc_failed", "driver", 1, "rx-no-memory" },
	{ "ethtool -S", "rx_queue_3_xdp_drops", "xdp", 10, "xdp-drops" },
	{ "ethtool -S", "rx_queue_0_drops", "driver", 0, NULL },
	{ "ethtool -S", "tx_timeout_count", "driver", 0, NULL },
	{ "ethtool -S", "rx_csum_errors", "driver", 0, NULL },
	{ "ethtool -S", "interrupts", NULL, 0, NULL },
	{ "ethtool -S", "tx_deferred_ok", NULL, 0, NULL },
	{ "ethtool -S", "rx_bytes", NULL, 0, NULL },
	{ "ethtool -S", "Tx0 ring full", "driver", 0, NULL },
	{ "ethtool -S", "Rx1 pkts rx OOB", "hardware", 0, NULL },
	{ "softnet", "cpu1 dropped", "kernel", 10, "backlog-full" },
	{ "softnet", "cpu1 time_squeeze", "kernel", 0, NULL },
	{ "conntrack", "drop", "netfilter", 1, "conntrack-full" },
	{ "conntrack", "early_drop", "netfilter", 0, NULL },
	{ "conntrack", "insert_failed", "netfilter", 0, NULL },
	{ "tc -s", "pfifo 8001: dropped", "qdisc", 10, "qdisc-drops" },
	{ "tc -s", "clsact ffff: dropped", "tc", 0, NULL },
	{ "nstat", "UdpRcvbufErrors", "socket", 10, "socket-full" },
	{ "nstat", "TcpExtListenOverflows", "socket", 1, "accept-queue-full" },
	{ "nstat", "TcpExtListenDrops", "socket", 10, "syn-queue-full" },
	{ "nstat", "Udp6InCsumErrors", "kernel", 10, "checksum-bad" },
	{ "nstat", "IpInUnknownProtos", "kernel", 10, "protocol-unknown" },
	{ "nstat", "UdpNoPorts", "kernel", 50, "udp-port-closed" },
	{ "nstat", "TcpExtTCPBacklogDrop", "kernel", 10, "tcp-backlog-full" },
	{ "nstat", "TcpExtTCPTimeouts", NULL, 0, NULL },
	{ "nstat", "TcpInSegs", NULL, 0, NULL },
	{ "nstat", "TcpExtTCPSACKDiscard", NULL, 0, NULL },
	{ "nstat", "Ip6InNoRoutes", "kernel", 0, NULL },
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
	      !strcmp(f->kind->id, c->id), text("%s: speaks", c->name));
	holds(!judged(METER_counters, &key, c->least - 1), text("%s: silent of less", c->name));
}

static void check_names(void)
{
	char name[128];

	struct drop_key benign = { .stack = DROP_NO_STACK, .reason = reason_of("OTHERHOST") };

	holds(!judged(METER_drop, &benign, 1000000), "nothing is said of the benign");
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

/* ena's rx_dropped is what the card had no buffer for, plus what the stack dropped. */
static void check_dropped_by_card(void)
{
	static const struct {
		const char *name, *driver;
		uint64_t dropped, stack;
		const char *what;
	} list[] = {
		{ "ena: all by the card", "ena", 300, 0, "300 packets found no room" },
		{ "ena: some by the stack", "ena", 300, 8, "292 packets found no room" },
		{ "ena: few by the card", "ena", 17, 8, NULL },
		{ "ena: not what the drivers of others drop", "igb", 300, 0, NULL },
	};
	struct drop_key why = { .stack = DROP_NO_STACK, .reason = reason_of("UNHANDLED_PROTO") };
	struct hwstat_key which = { .way = STAT_RX, .queue = { HWSTAT_ALL >> 8, HWSTAT_ALL & 0xff },
				    .rank = stat_find("rx_drops") - stat_names };

	for (unsigned i = 0; i < sizeof(list) / sizeof(*list); i++) {
		struct snapshot s = { .seconds = 1, .meta = { .iface = "eth0", .cpus = 4 } };

		s.tables[METER_hwstat] = (struct table){ .cpus = 1, .words = 1 };
		s.tables[METER_drop] = (struct table){
			.cpus = 1, .words = meters[METER_drop]->row_size / 8 };
		strcpy(s.meta.driver, list[i].driver);
		*table_add(&s.tables[METER_hwstat], meters[METER_hwstat], &which) = list[i].dropped;
		*table_add(&s.tables[METER_drop], meters[METER_drop], &why) = list[i].stack;
		finds(&s, setup_unknown(), list[i].name,
		      list[i].what ? "rx-ring-full" : NULL, list[i].what, NULL);
		snapshot_free(&s);
	}
}

/*
 * One row since attach: its packets and the last second of each spell; returns the number reported.
 */
static unsigned earlier(const char *reason, uint64_t packets, const unsigned *last, double window)
{
	struct drop_key key = { .stack = DROP_NO_STACK, .reason = reason_of(reason) };
	struct snapshot total = { .mono_ns = 1000500000000, .meta = { .on = 1 << METER_drop } };
	struct table *t = &total.tables[METER_drop];
	struct drop *row;

	*t = (struct table){ .cpus = 1, .words = meter_drop.row_size / 8 };
	row = (void *)table_add(t, &meter_drop, &key);
	if (!row)
		abort();
	row->packets = packets;
	memcpy(row->spell, last, sizeof(row->spell));
	snapshot.interval = true;
	snapshot.seconds = window;
	findings_earlier(&snapshot, &total);
	snapshot.interval = false;
	snapshot.seconds = 1;
	free(t->cells);
	free(t->keys);
	return snapshot.findings.nr_earlier;
}

static void check_earlier(void)
{
	const struct earlier *first = snapshot.findings.earlier;

	if (!reason_of("SOCKET_RCVBUFF")) {
		printf("skip drop: no BTF, no names\n");
		return;
	}
	snapshot.findings = (struct findings){};
	holds(earlier("SOCKET_RCVBUFF", 1234, (unsigned[]){ 999, 700, 650 }, 1) == 1 &&
	      !strcmp(first->kind->id, "socket-full") && first->packets == 1234 &&
	      (int)(first->ago * 10 + .5) == 3005, "earlier: the last second with ten of them");
	holds(!earlier("SOCKET_RCVBUFF", 1234, (unsigned[]){ 700, 0, 0 }, 1),
	      "earlier: not what never was enough");
	holds(!earlier("SOCKET_RCVBUFF", 1234, (unsigned[]){ 999, 999, 0 }, 1) &&
	      !earlier("SOCKET_RCVBUFF", 1234, (unsigned[]){ 999, 700, 0 }, 300),
	      "earlier: not what is of the window");
	holds(!earlier("NO_SOCKET", 1234, (unsigned[]){ 700, 700, 700 }, 1),
	      "earlier: not what may be another's by its place");
	holds(earlier("QDISC_DROP", 20, (unsigned[]){ 999, 700, 0 }, 1) == 1 &&
	      !strcmp(first->kind->id, "qdisc-drops"), "earlier: of the qdisc, too");
	finding_add(&snapshot.findings, kind_find("qdisc-drops"), -1, "now");
	holds(!earlier("QDISC_DROP", 20, (unsigned[]){ 999, 700, 0 }, 1),
	      "earlier: not what is found now");
	snapshot.findings = (struct findings){};
	holds(moments_later(5ull << 32 | 7, 6ull << 32 | 3) == (6ull << 32 | 7),
	      "of two moments in a word the later ones");
}

int main(void)
{
	const struct loss *l;

	check_dropped_by_card();
	for (unsigned i = 0; (l = loss_at(i)); i++)
		for (unsigned k = 0; k < MAX_REASONS && l->reasons[k]; k++)
			check_loss(l, l->reasons[k]);
	for (const struct counted *c = counted; c->source; c++)
		check_counted(c);
	check_names();
	check_earlier();
	return failed > 0;
}

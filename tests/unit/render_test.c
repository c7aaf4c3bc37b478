/* SPDX-License-Identifier: GPL-2.0 */
/* Prints made-up snapshots in every format, for tests/golden/run.sh to compare. */
#include <stdlib.h>
#include <string.h>

#include "bpf/hwstat/hwstat.h"
#include "bpf/irq/irq.h"
#include "bpf/ledger/ledger.h"
#include "findings/subjects.h"
#include "lib/read/thinned.h"
#include "render/render.h"
#include "render/series.h"
#include "account.h"
#include "card.h"
#include "drawn.h"

/* Two findings, a third that follows from one of them, and every optional part. */
static void found(struct snapshot *s)
{
	struct findings *f = &s->findings;
	struct finding *one = finding_add(f, kind_find("rx-flows-collide"), 1, "2 flows share "
					  "receive "
					  "queue 1, which has 99%% of the packets: CPU 1 has 0%% "
					  "of "
					  "its time left, and 2 others have half or more");

	finding_harm(one, .99);
	finding_fact(one, "share", .99, "ratio");
	finding_fact(one, "flows", 2, "flows");
	finding_fix(one, "sh", "-c", "echo f > /sys/class/net/eth0/queues/rx-1/rps_cpus");
	finding_changes(one, "RPS may use 4 CPUs");
	one = finding_add(f, kind_find("backlog-full"), -1, "1234 packets found the backlog of "
			  "their "
			  "CPU full; it holds 1000");
	finding_harm(one, 1234.5);
	finding_fix(one, "sysctl", "-w", "net.core.netdev_max_backlog=4000");
	one->host = true;
	one = finding_add(f, kind_find("ecn-marked"), -1, "8.1%% of the ECN-capable packets "
			  "arrived "
			  "marked CE: a queue on their path is congested");
	finding_harm(one, 6);
	finding_advise(one, "who sends them: nicprobe show %s ecn_source", s->name);
	findings_order(f);
}

static struct snapshot *busy(void)
{
	struct snapshot *s = snapshot("eth0", "ena", 4, 3);

	sizes(s, RX_NIC, 0, 16400, SLOTS(1, 2, 0, 5, 0, 17));
	sizes(s, RX_NIC, 1, 98765432, SLOTS(8000, 120, 33, 0, 1200, 64000));
	sizes(s, RX_NIC, -1, 60, SLOTS(1));
	sizes(s, RX_STACK, 0, 15400, SLOTS(1, 2, 0, 5, 0, 7));
	sizes(s, RX_STACK, 1, 98001000,
	      SLOTS(7990, 120, 33, 0, 200, 100, 40, 800, 90, 0, 20, 1900, 3));
	sizes(s, TX_NIC, 2, 9000, SLOTS(0, 0, 0, 0, 0, 6));
	ecn(s, RX_NIC, 0, 10, 6, 0);
	ecn(s, RX_NIC, 1, 7330, 2, 4);
	ecn(s, TX_NIC, 2, 0, 0, 6);
	source(s, 0, "2001:db8:1234:5678:9abc:def0:1234:5678", 1001);
	source(s, 1, "10.0.0.7", 6);
	source(s, 2, "192.168.178.201", 1);
	rxcpu(s, 0, 1, 25, 16400);
	rxcpu(s, 1, 1, 70000, 95765432);
	rxcpu(s, 1, 3, 3353, 3000000);
	rxcpu(s, -1, 0, 1, 60);
	txlat(s, 0, 60, 4, 0);
	txlat(s, 2, 66, 120000, 17);
	at(s, METER_txlat, "lost", TX_NIC, 2, 0)[TABLE_FULL] = 3;
	s->lost[METER_ecn_source] = 12;
	s->missed = 12;
	s->missed_nobodys = 2;
	s->missed_meter[METER_txlat] = 7;
	s->missed_point[RX_NIC] = 3;
	found(s);
	return s;
}

static struct snapshot *idle(void)
{
	struct snapshot *s = snapshot("eth0", "ena", 4, 0);

	s->seconds = 0.2;
	return s;
}

/* One second of it, for rates; fractions, and only gauges. */
static struct snapshot *interval(void)
{
	struct snapshot *s = busy();

	s->interval = true;
	s->seconds = 2.0034;
	s->meta.sample = 16;
	at(s, METER_txlat, "in_flight", TX_NIC, 3, 0)[0] = 5;
	for (int i = 0; i < 2; i++)	/* everything before has ended: idle */
		at(s, METER_txlat, "in_flight", TX_NIC, 1, 0)[i] = 1234;
	s->findings.nr = s->missed = s->missed_nobodys = s->lost[METER_ecn_source] = 0;
	s->findings.nr_earlier = 2;
	s->findings.earlier[0] = (struct earlier){ kind_find("socket-full"), 1234, 305.5 };
	s->findings.earlier[1] = (struct earlier){ kind_find("qdisc-drops"), 1, 90000 };
	s->missed_meter[METER_txlat] = s->missed_point[RX_NIC] = 0;
	return s;
}

/* A window as `show` has it, which is never a second to the microsecond. */
static struct snapshot *second(void)
{
	struct snapshot *s = interval();

	s->seconds = 1.0071;
	return s;
}

/* txlat adapts to a budget: few packets on one CPU, so many on another that it was paused. */
static struct snapshot *thinned(void)
{
	struct snapshot *s = snapshot("eth0", "ena", 4, 0);

	s->interval = true;
	s->seconds = 1;
	s->meta.adapts = true;
	s->meta.budget = 20000;
	s->plan[METER_txlat] = (struct pace_plan){ .take = 180000, .pass = 27000 };
	s->thinned = calloc(NR_METERS * s->meta.cpus, sizeof(*s->thinned));
	s->thinned[METER_txlat * s->meta.cpus] = (struct thinned){ .taken = 1000 };
	s->thinned[METER_txlat * s->meta.cpus + 1] = (struct thinned){ 3000, 797000, 200000 };
	sizes(s, TX_NIC, 2, 79199000, SLOTS(801000));
	txlat(s, 2, 60, 3002, 0);
	return s;
}

/* It was paused all the time. */
static struct snapshot *paused(void)
{
	struct snapshot *s = snapshot("eth0", "ena", 4, 0);

	s->interval = true;
	s->seconds = 1;
	s->meta.adapts = true;
	s->meta.budget = 500;
	s->plan[METER_txlat] = (struct pace_plan){ .take = 170000, .pass = 37000 };
	s->thinned = calloc(NR_METERS * s->meta.cpus, sizeof(*s->thinned));
	s->thinned[METER_txlat * s->meta.cpus + 1] = (struct thinned){ 0, 800000, 800000 };
	sizes(s, TX_NIC, 2, 79100000, SLOTS(800000));
	return s;
}

/* Each driver figure with its own time, by which rates are computed; one without. */
static struct snapshot *clocks(void)
{
	struct snapshot *s = snapshot("eth0", "ena", 2, 0);

	s->interval = true;
	s->seconds = 2;
	sizes(s, RX_NIC, 0, 100000, SLOTS(1000));
	s->tables[METER_pktsize].seconds = .5;
	ecn(s, RX_NIC, 0, 100, 40, 0);
	s->tables[METER_ecn].seconds = 4;
	rxcpu(s, 0, 1, 1000, 100000);
	txlat(s, 1, 60, 100000, 0);
	s->tables[METER_txlat].seconds = 1;
	return s;
}

static struct snapshot *many(void)
{
	struct snapshot *s = snapshot("enp129s0f0np0", "ice", 256, 30);

	for (unsigned q = 0; q < 8; q++) {
		sizes(s, RX_NIC, 36 * q, 1ull << (20 + 3 * q),
		      SLOTS(1ull << 2 * q, 0, 0, 0, 0, 1ull << 3 * q));
		txlat(s, 30 * q, 40 + 3 * q, 10 << q, q);
	}
	for (unsigned q = 0; q < 256; q += 2)
		ecn(s, TX_NIC, q, q, 0, 1);
	ecn(s, RX_NIC, -1, 1, 1, 1);
	for (unsigned i = 0; i < 30; i++) {
		char address[32];

		snprintf(address, sizeof(address), "10.1.2.%u", i);
		source(s, i, address, 7919 / (i + 1));
	}
	rxcpu(s, 255, 3, 1000000, 64000000);
	s->seconds = 187200;
	return s;
}

/* Names that could break a format, the largest figures, and missing ones. */
static struct snapshot *odd(void)
{
	struct snapshot *s = snapshot("a\"b\\c\n\xff\xc3\xa9", "x{}=,\"y", 1, 1);
	uint64_t *w;

	strcpy(s->name, "blue/a\"b\\c\n\xff\xc3\xa9\033[31m");
	strcpy(s->state, "renamed to \"q\"; figures are those of the old name");
	s->meta.hook[RX_STACK][0] = s->meta.hook[TX_NIC][0] = '\0';
	strcpy(s->meta.note[RX_STACK], "this kernel has neither tcx nor clsact");
	s->wanted |= 1ull << METER_rxcpu;
	free(s->tables[METER_rxcpu].cells);
	s->tables[METER_rxcpu] = (struct table){};
	s->meta.on &= ~(1ull << METER_rxcpu);
	strcpy(s->meta.absent[METER_rxcpu], "no \"xdp\", and no tracepoints in this kernel");
	sizes(s, RX_NIC, 0, UINT64_MAX / 3, SLOTS(UINT64_MAX / 7, [12] = 999999));
	sizes(s, TX_STACK, 0, 1, SLOTS(0));	/* a sum, but no count: read in between */
	ecn(s, RX_NIC, 0, 1001, 9999, 10000);
	source(s, 0, "::ffff:10.0.0.1", UINT64_MAX);
	w = at(s, METER_txlat, "completion", TX_NIC, 0, 0);
	w[1 + LOGLIN_SLOTS - 1] = 3;
	w[0] = 60000000000;
	w = at(s, METER_txlat, "in_flight", TX_NIC, 0, 0);
	w[0] = 5;
	w[1] = 7;	/* more ended than began: read in between */
	return s;
}

/* No meter is on. */
static struct snapshot *card(void)
{
	struct snapshot *s = calloc(1, sizeof(*s));

	s->meta = (struct meta){ .ifindex = 2, .netns = 4026531840, .rx_queues = 64,
				 .tx_queues = 64, .iface = "ens1f0", .driver = "ice" };
	snprintf(s->name, sizeof(s->name), "ens1f0");
	s->when.tv_sec = 1795168800;
	s->hw = card_hw();
	findings_judge(s, s->hw);
	return s;
}

static struct snapshot *both(void)
{
	struct snapshot *s = idle();

	s->hw = card_hw();
	return s;
}

static struct snapshot *account(void)
{
	struct snapshot *s = snapshot("eth0", "igb", 4, 0);

	table_on(s, METER_ledger, 0);
	table_on(s, METER_hwstat, 0);
	account_fill(s);
	return s;
}

/* The same, with two meters requested by name. */
static struct snapshot *named(void)
{
	struct snapshot *s = account();

	s->wanted = 1ull << METER_ledger | 1ull << METER_hwstat;
	return s;
}

/* Some of everything in each default meter, for 64 queues and 16 CPUs. */
static struct snapshot *wide(void)
{
	struct snapshot *s = snapshot("eth0", "ice", 64, 0);

	s->meta.cpus = 16;
	for (int id = 0; id < NR_METERS; id++)
		if (!(meters[id]->by & BY_KEY) && meters_default() >> id & 1) {
			struct table *t = &s->tables[id];

			free(t->cells);
			table_on(s, id, 0);
			for (size_t i = 0; i < (size_t)t->rows * t->cpus * t->words; i++)
				t->cells[i] = 1;
		}
	table_on(s, METER_irq, 64 * 16);
	table_on(s, METER_hwstat, 64 * 20);
	for (unsigned i = 0; i < 64 * 16; i++) {
		struct irq_key *key = (void *)(s->tables[METER_irq].keys + i * sizeof(*key));

		*key = (struct irq_key){ .irq = 30 + i / 16, .cpu = i % 16, .rx = i / 16,
					 .tx = i / 16 };
		snprintf(key->name, sizeof(key->name), "ice-TxRx-%u", i / 16);
		s->tables[METER_irq].cells[i * s->tables[METER_irq].words] = 1;
	}
	for (unsigned i = 0; i < 64 * 20; i++) {
		struct hwstat_key *key = (void *)(s->tables[METER_hwstat].keys + i * sizeof(*key));

		*key = (struct hwstat_key){ .queue = { 0, i / 20 }, .rank = i % 20 };
		s->tables[METER_hwstat].cells[i] = 1;
	}
	return s;
}

/* A meter with more labels than fit on a narrow page. */
static struct snapshot *vectors(void)
{
	struct snapshot *s = snapshot("eth0", "ice", 3, 0);
	struct table *t = &s->tables[METER_irq];

	table_on(s, METER_irq, 3);
	s->wanted = 1ull << METER_irq;
	for (unsigned i = 0; i < 3; i++) {
		struct irq_key *key = (void *)(t->keys + i * sizeof(*key));

		*key = (struct irq_key){ .irq = 1030 + i, .cpu = i, .rx = i, .tx = i };
		snprintf(key->name, sizeof(key->name), "ice-TxRx-%u", i);
		t->cells[i * t->words] = 7000 >> 3 * i;
	}
	return s;
}

static const struct {
	const char *name;
	struct snapshot *(*make)(void);
} cases[] = {
	{ "busy", busy }, { "idle", idle }, { "interval", interval }, { "second", second },
	{ "clocks", clocks }, { "thinned", thinned }, { "paused", paused },
	{ "many", many }, { "odd", odd }, { "card", card }, { "both", both },
	{ "account", account }, { "named", named }, { "wide", wide }, { "vectors", vectors },
};

static void drop(struct snapshot *s)
{
	for (int id = 0; id < NR_METERS; id++) {
		free(s->tables[id].cells);
		free(s->tables[id].keys);
	}
	free(s->thinned);
	free(s);
}

static void print(const struct renderer *r, struct snapshot *const *list, unsigned nr,
		  const struct look *look)
{
	if (r->begin)
		r->begin(stdout, look);
	for (unsigned i = 0; r->one && i < nr; i++)
		r->one(stdout, list[i], look);
	if (r->all)
		r->all(stdout, (const struct snapshot *const *)list, nr, look);
	if (r->end)
		r->end(stdout, look);
}

static const struct renderer *renderer(const char *name)
{
	static const struct renderer *const list[] = {
#define R(name) &renderer_##name,
		RENDERERS(R)
#undef R
	};

	for (unsigned i = 0; i < sizeof(list) / sizeof(*list); i++)
		if (!strcmp(list[i]->name, name))
			return list[i];
	return NULL;
}

/* render_test FORMAT CASE[+CASE…] [WIDTH] [colour] [ascii] [brief] [queues] [own] [source]… */
int main(int argc, char **argv)
{
	struct look look = { .width = argc > 3 ? atoi(argv[3]) : 80, .utf8 = true };
	const struct renderer *r = argc > 2 ? renderer(argv[1]) : NULL;
	struct snapshot *list[8];
	unsigned nr = 0;

	setenv("TZ", "UTC0", 1);	/* clocks are local */
	for (int i = 4; i < argc; i++) {
		look.colour |= !strcmp(argv[i], "colour");
		look.utf8 &= strcmp(argv[i], "ascii") != 0;
		look.brief |= !strcmp(argv[i], "brief");
		look.queues |= !strcmp(argv[i], "queues");
		for (unsigned e = 0; e < NR_EACH; e++)
			look.each |= (unsigned)!strcmp(argv[i], each_names[e]) << e;
	}
	for (char *name = argc > 2 ? strtok(argv[2], "+") : NULL; name; name = strtok(NULL, "+"))
		for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++)
			if (!strcmp(cases[i].name, name) && nr < 8)
				list[nr++] = cases[i].make();
	if (!r || !nr) {
		fputs("usage: render_test FORMAT CASE[+CASE…] [WIDTH] [colour] [ascii] [brief] "
		      "[queues]\n", stderr);
		return 2;
	}
	print(r, list, nr, &look);
	while (nr)
		drop(list[--nr]);
	return 0;
}

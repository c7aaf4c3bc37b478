/* SPDX-License-Identifier: GPL-2.0 */
/* What the meter bql says of limits that are wrong, on snapshots made up; and when nothing. */
#include <stdlib.h>
#include <string.h>

#include "../../lib/snapshot.h"

#define SUBJECT "bql: "
#include "check.h"

static void table_on(struct snapshot *s, enum meter_id id)
{
	struct table *t = &s->tables[id];

	*t = (struct table){
		.rows = meter_rows(meters[id], s->meta.rows),
		.cpus = 1,
		.words = meters[id]->row_size / 8,
	};
	t->cells = calloc((size_t)t->rows * t->words, 8);
	s->wanted |= 1ull << id;
}

static uint64_t *words(struct snapshot *s, enum meter_id id, const char *name)
{
	for_each_metric(k, meters[id])
		if (!strcmp(k->name, name))
			return (uint64_t *)cell(&s->tables[id], 1, 0, k);
	exit(2);
}

/* `n` samples in the slot that begins at 2^power, in the stored unit. */
static void samples(struct snapshot *s, enum meter_id id, const char *name, unsigned power,
		    uint64_t n)
{
	uint64_t *w = words(s, id, name);

	w[0] = n << power;
	w[1 + 1 + (power - LOGLIN_MIN) * LOGLIN_STEPS] = n;
}

static unsigned tx_usecs;		/* of moderation, next time */

static void expect(const char *name, uint64_t starved, unsigned sent_in, uint64_t stalls,
		   const char *what, const char *try)
{
	struct snapshot s = { .seconds = 10, .meta = { .rows = 3, .sample = 1 } };
	const struct finding *one = s.findings.list;

	strcpy(s.meta.iface, "eth0");
	s.meta.tx_usecs = tx_usecs;
	table_on(&s, METER_bql);
	table_on(&s, METER_txlat);
	samples(&s, METER_bql, "stopped_by_bql", 16, 100);
	samples(&s, METER_bql, "in_flight", 17, 1000);	/* 128 KiB */
	samples(&s, METER_txlat, "completion", sent_in, 1000);
	*words(&s, METER_bql, "starved") = starved;
	*words(&s, METER_bql, "stalls") = stalls;
	meter_bql.judge(&s, &s.findings);
	check(s.findings.nr == !!what && (!what || (strstr(one->what, what) &&
						    !strcmp(one->try, try))), name,
	      text("%s (%s)", one->what, one->try));
	snapshot_free(&s);
}

int main(void)
{
	expect("all well: silent", 5, 20, 0, NULL, NULL);
	expect("the card ran dry", 20, 20, 0, "the byte limit of queue 1 is too small: packets "
	       "waited, and in 20 of 100 stops by BQL the card, given 147 kB at most, ran dry",
	       "echo 294912 > /sys/class/net/eth0/queues/tx-1/byte_queue_limits/limit_min");
	expect("much in flight, and slow", 0, 24, 0, "the byte limit of queue 1 is huge: the "
	       "driver has 139 kB, which take 17.8 ms to send",
	       "echo 7813 > /sys/class/net/eth0/queues/tx-1/byte_queue_limits/limit_max");
	tx_usecs = 9000;
	expect("much in flight, held back by moderation: txlat's to say", 0, 24, 0, NULL, NULL);
	tx_usecs = 8000;
	expect("much in flight, longer than moderation", 0, 24, 0, "is huge",
	       "echo 7813 > /sys/class/net/eth0/queues/tx-1/byte_queue_limits/limit_max");
	tx_usecs = 0;
	expect("stalls", 0, 20, 3, "completions of queue 1 stalled 3 times",
	       "the longest: cat /sys/class/net/eth0/queues/tx-1/byte_queue_limits/stall_max; "
	       "does its interrupt come late? ethtool -c eth0");
	return failed > 0;
}

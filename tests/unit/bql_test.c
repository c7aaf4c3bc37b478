/* SPDX-License-Identifier: GPL-2.0 */
/* Findings about byte queue limits, on made-up snapshots; and silence. */
#include <stdlib.h>
#include <string.h>

#define SUBJECT "bql: "
#include "judge.h"

static void table_on(struct snapshot *s, enum meter_id id)
{
	struct table *t = &s->tables[id];

	*t = (struct table){
		.rows = meter_rows(meters[id], s->meta.rows),
		.cpus = 1,
		.words = meters[id]->row_size / 8,
	};
	t->cells = calloc((size_t)t->rows * t->words, 8);
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

static unsigned tx_usecs;		/* of moderation, in the next snapshot */

static void expect(const char *name, uint64_t starved, unsigned sent_in, uint64_t stalls,
		   const char *id, const char *what, const char *try)
{
	struct snapshot s = { .seconds = 10, .meta = { .rows = 3, .tx_queues = 2, .sample = 1 } };
	struct hw *h = setup_unknown();

	strcpy(s.meta.iface, "eth0");
	*set(&group_coalesce, &h->coalesce, "tx-usecs") = tx_usecs;
	table_on(&s, METER_bql);
	table_on(&s, METER_txlat);
	samples(&s, METER_bql, "stopped_by_bql", 16, 100);
	samples(&s, METER_bql, "in_flight", 17, 1000);	/* 128 KiB */
	samples(&s, METER_txlat, "completion", sent_in, 1000);
	*words(&s, METER_bql, "starved") = starved;
	*words(&s, METER_bql, "stalls") = stalls;
	judge_all(&s, h);
	/* slow completions follow from a huge limit */
	while (s.findings.nr > 1 && s.findings.list[s.findings.nr - 1].under >= 0)
		s.findings.nr--;
	check(id ? s.findings.nr == 1 && !strcmp(s.findings.list->kind->id, id) &&
	      strstr(s.findings.list->what, what) : !s.findings.nr, name,
	      s.findings.nr ? s.findings.list->what : "nothing was found");
	if (id && s.findings.nr) {
		char words_[900];

		finding_try(s.findings.list, words_, sizeof(words_));
		holds(strstr(words_, try), text("%s: what to try", name));
	}
	snapshot_free(&s);
}

int main(void)
{
	expect("all well: silent", 5, 10, 0, NULL, NULL, NULL);
	expect("the card ran dry", 20, 10, 0, "bql-limit-small", "the byte limit of queue 1 is too "
	       "small: packets waited, and in 20 of 100 stops by BQL the card, given 147 kB at "
	       "most, "
	       "ran dry", "echo 589824 > "
	       "/sys/class/net/eth0/queues/tx-1/byte_queue_limits/limit_max");
	expect("much in flight, and slow", 0, 24, 0, "bql-limit-large", "the byte limit of queue 1 "
	       "is "
	       "huge: the driver holds 139 kB, which take 17.8 ms to send",
	       "echo 7813 > /sys/class/net/eth0/queues/tx-1/byte_queue_limits/limit_max");
	tx_usecs = 18000;
	expect("much in flight, held back by moderation", 0, 24, 0, "tx-completion-slow",
	       "the card delays them by 18000 us", "ethtool -C eth0 tx-usecs 50");
	tx_usecs = 8000;
	expect("much in flight, longer than moderation", 0, 24, 0, "bql-limit-large", "is huge",
	       "echo 7813 > /sys/class/net/eth0/queues/tx-1/byte_queue_limits/limit_max");
	tx_usecs = 0;
	expect("stalls", 0, 10, 3, "tx-stalls", "completions of queue 1 stalled 3 times",
	       "the longest stall: cat "
	       "/sys/class/net/eth0/queues/tx-1/byte_queue_limits/stall_max; "
	       "does its interrupt come late? ethtool -c eth0");
	return failed > 0;
}

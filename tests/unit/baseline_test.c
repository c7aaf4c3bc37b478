/* SPDX-License-Identifier: GPL-2.0 */
/* Figures since the baseline, with queues that appear and disappear: no row exceeds the growth. */
#include <stdlib.h>
#include <string.h>

#include "bpf/counters/counters.h"
#include "bpf/hwstat/hwstat.h"
#include "lib/read/baseline.h"

#define SUBJECT "baseline "
#include "check.h"

/* Queues of a driver, and its total: packets received. */
struct figures {
	uint64_t queue[4], all;
	unsigned nr;
};

static struct table told(const struct figures *q)
{
	struct table t = { .cpus = 1, .words = 1 };

	for (unsigned i = 0; i <= q->nr; i++) {
		unsigned queue = i < q->nr ? i : HWSTAT_ALL;
		struct hwstat_key key = {
			.way = STAT_RX, .queue = { queue >> 8, queue },
			.rank = stat_find("rx_packets") - stat_names,
		};

		*table_add(&t, &meter_hwstat, &key) = i < q->nr ? q->queue[i] : q->all;
	}
	return t;
}

static void forget(struct table *t)
{
	free(t->cells);
	free(t->keys);
}

/* -1: no such row. */
static int64_t of(const struct table *t, unsigned queue)
{
	for (unsigned row = 0; row < t->rows; row++)
		if (hwstat_queue((const void *)(t->keys + row * sizeof(struct hwstat_key))) ==
		    queue)
			return t->cells[row];
	return -1;
}

static void less(const struct meter *m, uint64_t *now, const uint64_t *then)
{
	(void)m;
	*now -= *now >= *then ? *then : 0;
}

static void queues(void)
{
	static const struct {
		const char *name;
		struct figures then, now;
		int64_t queue[4], all;
		bool changed;
	} list[] = {
		{ "the same queues", { { 5, 7 }, 12, 2 }, { { 6, 9 }, 15, 2 },
		  { 1, 2, -1, -1 }, 3, false },
		{ "queues that are new", { { 5, 7 }, 12, 2 }, { { 6, 9, 3, 4 }, 22, 4 },
		  { 1, 2, 3, 4 }, 10, false },
		{ "nothing had come", { {}, 0, 2 }, { { 6, 9, 3, 4 }, 22, 4 },
		  { 6, 9, 3, 4 }, 22, false },
		{ "queues that counted before", { { 5, 7 }, 112, 2 }, { { 6, 9, 53, 54 }, 122, 4 },
		  { 1, 2, -1, -1 }, 10, true },
		{ "queues that have gone", { { 5, 7, 50, 50 }, 112, 4 }, { { 6, 9 }, 122, 2 },
		  { 1, 2, -1, -1 }, 10, true },
		{ "a queue that has nothing yet", { { 5, 7 }, 112, 2 }, { { 6, 9, 0 }, 115, 3 },
		  { 1, 2, 0, -1 }, 3, false },
		{ "a driver that began anew", { { 50, 70 }, 120, 2 }, { { 6, 9, 1 }, 16, 3 },
		  { 6, 9, 1, -1 }, 16, false },
	};

	for (unsigned i = 0; i < sizeof(list) / sizeof(*list); i++) {
		struct table then = told(&list[i].then), now = told(&list[i].now);

		table_since(&meter_hwstat, &now, NULL, &then, less);
		for (unsigned q = 0; q < 4; q++)
			same(text("%s: queue %u", list[i].name, q), of(&now, q), list[i].queue[q]);
		same(text("%s: all", list[i].name), of(&now, HWSTAT_ALL), list[i].all);
		same(text("%s: changed", list[i].name), now.changed, list[i].changed);
		forget(&then);
		forget(&now);
	}
}

/* Driver statistics that the baseline lacks are left out; new kernel counters began at 0. */
static void losses(void)
{
	struct counters_key old = { .counter = "rx_queue_3_drops", .source = "ethtool -S" };
	struct counters_key qdisc = { .counter = "tbf 8001: dropped", .source = "tc -s" };
	struct table then = { .cpus = 1, .words = 1 }, now = then;

	*table_add(&now, &meter_counters, &old) = 5;
	*table_add(&now, &meter_counters, &qdisc) = 6;
	table_since(&meter_counters, &now, NULL, &then, less);
	same("losses: one is left", now.rows, 1);
	same("losses: that of the kernel", now.cells[0], 6);
	forget(&now);
	now = (struct table){ .cpus = 1, .words = 1 };
	*table_add(&then, &meter_counters, &old) = 0;
	*table_add(&now, &meter_counters, &old) = 5;
	table_since(&meter_counters, &now, NULL, &then, less);
	same("losses: one that stood at 0", now.rows ? (int64_t)now.cells[0] : -1, 5);
	forget(&then);
	forget(&now);
}

int main(void)
{
	queues();
	losses();
	return failed > 0;
}

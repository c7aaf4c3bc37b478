/* SPDX-License-Identifier: GPL-2.0 */
/* Marks of this host's own qdisc, on snapshots made up. */
#include <stdlib.h>
#include <string.h>

#include "../../bpf/qdisc.h"
#include "../../xdp/ecn.h"

#define SUBJECT "qdisc: "
#include "judge.h"

static void table_on(struct snapshot *s, enum meter_id id, unsigned rows)
{
	struct table *t = &s->tables[id];

	*t = (struct table){ .rows = rows, .cpus = 1, .words = meters[id]->row_size / 8 };
	t->cells = calloc((size_t)t->rows * t->words, 8);
	if (meters[id]->key_size)
		t->keys = calloc(rows, meters[id]->key_size);
}

static void expect(const char *name, uint64_t marks, const char *what)
{
	struct snapshot s = { .seconds = 10, .meta = { .rows = 2, .tx_queues = 1, .sample = 1 } };

	for (int p = 0; p < NR_POINTS; p++)
		strcpy(s.meta.tap[p], "tp_btf");
	table_on(&s, METER_qdisc, 1);
	table_on(&s, METER_ecn, meter_rows(&meter_ecn, 2));
	strcpy(((struct qdisc_key *)s.tables[METER_qdisc].keys)->kind, "fq_codel");
	for (int p = TX_STACK; p <= TX_NIC; p++) {
		uint64_t *w = (uint64_t *)cell(&s.tables[METER_ecn], 2 * p, 0, meter_ecn.metrics);

		w[ECN_ECT0] = 2000 - (p == TX_NIC) * marks;
		w[ECN_CE] = 7 + (p == TX_NIC) * marks;
	}
	finds(&s, setup_unknown(), name, what ? "ecn-marked-here" : NULL, what, "tc -s qdisc show "
	      "dev");
	snapshot_free(&s);
}

int main(void)
{
	expect("no marks of its own: silent", 0, NULL);
	expect("few marks: silent", 19, NULL);
	expect("marks", 40, "own qdisc (fq_codel) marked 40 packets CE, 2.0%");
	return failed > 0;
}

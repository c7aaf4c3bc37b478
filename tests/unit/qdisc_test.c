/* SPDX-License-Identifier: GPL-2.0 */
/* Marks of this host's own qdisc, on snapshots made up: qdisc says them, and ecn does not. */
#include <stdlib.h>
#include <string.h>

#include "../../lib/snapshot.h"
#include "../../bpf/qdisc.h"
#include "../../xdp/ecn.h"

#define SUBJECT "qdisc: "
#include "check.h"

static void table_on(struct snapshot *s, enum meter_id id, unsigned rows)
{
	struct table *t = &s->tables[id];

	*t = (struct table){ .rows = rows, .cpus = 1, .words = meters[id]->row_size / 8 };
	t->cells = calloc((size_t)t->rows * t->words, 8);
	if (meters[id]->key_size)
		t->keys = calloc(rows, meters[id]->key_size);
	s->wanted |= 1ull << id;
}

static void expect(const char *name, uint64_t marks, const char *what)
{
	struct snapshot s = { .seconds = 10, .meta = { .rows = 2, .sample = 1 } };
	const char *said;

	for (int p = 0; p < NR_POINTS; p++)
		strcpy(s.meta.tap[p], "tp_btf");
	table_on(&s, METER_qdisc, 1);
	table_on(&s, METER_ecn, meter_rows(&meter_ecn, 2));
	strcpy(((struct qdisc_key *)s.tables[METER_qdisc].keys)->kind, "fq_codel");
	for (int p = TX_STACK; p <= TX_NIC; p++) {
		uint64_t *w = (uint64_t *)cell(&s.tables[METER_ecn], 2 * p, 0, meter_ecn.metrics);

		w[ECN_ECT0] = 1000 - (p == TX_NIC) * marks;
		w[ECN_CE] = 7 + (p == TX_NIC) * marks;
	}
	meter_qdisc.judge(&s, &s.findings);
	meter_ecn.judge(&s, &s.findings);
	said = s.findings.nr ? s.findings.list[0].what : "nothing";
	check(s.findings.nr == !!what && (!what || strstr(said, what)), name,
	      text("it says %s", said));
	snapshot_free(&s);
}

int main(void)
{
	expect("no marks of its own: silent", 0, NULL);
	expect("few marks: silent", 9, NULL);
	expect("marks", 20, "own qdisc (fq_codel) marked 20 packets CE, 2.0%");
	return failed > 0;
}

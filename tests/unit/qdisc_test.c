/* SPDX-License-Identifier: GPL-2.0 */
/* Marks by this host's own qdisc, on made-up snapshots. */
#include <stdlib.h>
#include <string.h>

#include "bpf/qdisc/qdisc.h"
#include "lib/kernel/symbol.h"
#include "lib/util/log.h"
#include "xdp/ecn.h"

#define SUBJECT "qdisc: "
#include "judge.h"

static void table_on(struct snapshot *s, enum meter_id id, unsigned rows)
{
	struct table *t = &s->tables[id];

	*t = (struct table){ .rows = rows, .cpus = 1, .words = meters[id]->row_size / 8 };
	t->cells = calloc((size_t)t->rows * t->words, 8);
	if (meters[id]->key.size)
		t->keys = calloc(rows, meters[id]->key.size);
}

static void expect(const char *name, const char *kind, uint64_t marks, const char *what)
{
	struct snapshot s = { .seconds = 10, .meta = { .rows = 2, .tx_queues = 1, .sample = 1 } };

	for (int p = 0; p < NR_POINTS; p++)
		strcpy(s.meta.hook[p], "tp_btf");
	table_on(&s, METER_qdisc, 1);
	table_on(&s, METER_ecn, meter_rows(&meter_ecn, 2));
	strcpy(((struct qdisc_key *)s.tables[METER_qdisc].keys)->kind, kind);
	for (int p = TX_STACK; p <= TX_NIC; p++) {
		uint64_t *w = (uint64_t *)cell(&s.tables[METER_ecn], 2 * p, 0, meter_ecn.metrics);

		w[ECN_ECT0] = 2000 - (p == TX_NIC) * marks;
		w[ECN_CE] = 7 + (p == TX_NIC) * marks;
	}
	finds(&s, setup_unknown(), name, what ? "ecn-marked-here" : NULL, what, "tc -s qdisc show "
	      "dev");
	snapshot_free(&s);
}

/* One of five drops, at this function: where it is counted. */
static void place(const char *function, bool followed, uint64_t by_qdisc, uint64_t otherwise,
		  uint64_t split)
{
	struct qdisc_place at = { .followed = followed, .location = symbol_address(function) };
	struct qdisc row = { .dropped = { 7, 5 } };

	if (!at.location) {
		printf("skip qdisc: a drop in %s: this kernel does not have it, or does not tell\n",
		       function);
		return;
	}
	qdisc_place_tell(&row, &at, 1);
	holds(row.dropped[QDISC_DROPPED] == by_qdisc &&
	      row.dropped[QDISC_DROPPED_OTHER] == otherwise && row.lost[QDISC_SEGMENTED] == split,
	      text("a drop in %s, %s", function, followed ? "followed" : "not followed"));
	at.followed = true;
	qdisc_place_tell(&row, &at, 100);
	holds(row.dropped[QDISC_DROPPED_OTHER] <= otherwise,
	      text("no more of them in %s than there are", function));
}

int main(void)
{
	place("kfree_skb_list_reason", true, 7, 5, 0);
	place("kfree_skb_list_reason", false, 7, 5, 0);
	place("tbf_enqueue", true, 7, 4, 1);
	place("tbf_enqueue", false, 7, 5, 0);
	place("codel_dequeue", true, 8, 4, 0);
	place("cake_dequeue", false, 8, 5, 0);

	expect("no marks of its own: silent", "fq_codel", 0, NULL);
	expect("few marks: silent", "fq_codel", 19, NULL);
	expect("marks", "fq_codel", 40, "own qdisc (fq_codel) marked 40 packets CE, 2.0%");
	expect("marks below a shaper", "tbf", 40, "own qdisc (one below tbf) marked 40 packets");
	return failed > 0;
}

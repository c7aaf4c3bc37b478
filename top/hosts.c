/* SPDX-License-Identifier: GPL-2.0 */
/* Hosts in the first view of top: their connections, a line each. */
#include <stdlib.h>

#include "lib/util/log.h"
#include "top/cells.h"
#include "top/hosts.h"
#include "top/values.h"

enum {
	NAME, OPENED, FAILED, OPENED_P99, ACCEPTED, ENDED, RECEIVED, SENT, AGAIN, RTT_P50, RTT_P99,
	DROPPED, FINDINGS, NR_COLUMNS
};

static const struct head columns[NR_COLUMNS] = {
	[NAME] = { "host", "", 0, true },
	[OPENED] = { "opened/s", "connections", 0, false },
	[FAILED] = { "failed/s", "connections", 4, false },
	[OPENED_P99] = { "p99", "connections", 7, false },
	[ACCEPTED] = { "accepted/s", "connections", 0, false },
	[ENDED] = { "ended/s", "connections", 9, false },
	[RECEIVED] = { "received bits/s", "of those ended", 10, false },
	[SENT] = { "sent bits/s", "of those ended", 11, false },
	[AGAIN] = { "sent again/s", "TCP", 3, false },
	[RTT_P50] = { "rtt p50", "TCP", 8, false },
	[RTT_P99] = { "rtt p99", "TCP", 6, false },
	[DROPPED] = { "drops/s", "", 5, false },
	[FINDINGS] = { "findings", "", 2, true },
};

static void cells(struct grid *g, const struct top_iface *w, const struct host_values *v)
{
	grid_line(g);
	grid_cell(g, NAME, w->name);
	grid_cell(g, OPENED, cell_count(v->opened));
	grid_cell(g, FAILED, cell_count(v->failed));
	grid_cell(g, OPENED_P99, cell_seconds(v->connect_p99));
	grid_cell(g, ACCEPTED, cell_count(v->accepted));
	grid_cell(g, ENDED, cell_count(v->ended));
	grid_cell(g, RECEIVED, cell_count(v->received * 8));
	grid_cell(g, SENT, cell_count(v->sent * 8));
	grid_cell(g, AGAIN, cell_count(v->again));
	grid_cell(g, RTT_P50, cell_seconds(v->rtt_p50));
	grid_cell(g, RTT_P99, cell_seconds(v->rtt_p99));
	grid_cell(g, DROPPED, cell_count(v->dropped));
	grid_cell(g, FINDINGS, found_text(w, &v->found));
}

void hosts_table(struct doc *d, const struct top_iface *const *hosts, unsigned nr)
{
	int *targets = calloc(nr + 1, sizeof(*targets));
	unsigned *styles = calloc(nr + 1, sizeof(*styles));
	struct grid g = {};

	heads_add(&g, columns, NR_COLUMNS);
	for (unsigned i = 0; i < nr && targets && styles; i++) {
		struct host_values v;

		values_host(&hosts[i]->window, &v);
		cells(&g, hosts[i], &v);
		targets[i] = hosts[i]->id;
		styles[i] = found_style(hosts[i], &v.found);
	}
	if (nr && targets && styles)
		doc_grid(d, &g, targets, styles, false);
	grid_free(&g);
	free(targets);
	free(styles);
}

/* SPDX-License-Identifier: GPL-2.0 */
/* The first view of top: every interface and host, a line each, and the findings. */
#include <math.h>
#include <stdlib.h>

#include "lib/util/log.h"
#include "render/findings.h"
#include "top/cells.h"
#include "top/hosts.h"
#include "top/values.h"

enum {
	NAME, DRIVER, RX_PACKETS, RX_BITS, RX_BUFFER, RX_BUSIEST, RX_CE, RX_SPARK, TX_PACKETS,
	TX_BITS, TX_BUFFER, TX_P50, TX_P99, TX_SPARK, DROPS, CAUSE, POLLS, COST, FINDINGS,
	NR_COLUMNS
};

static const struct head columns[NR_COLUMNS] = {
	[NAME] = { "interface", "", 0, true },
	[DRIVER] = { "driver", "", 14, true },
	[RX_PACKETS] = { "packets/s", "received", 0, false },
	[RX_BITS] = { "bits/s", "received", 3, false },
	[RX_BUFFER] = { "/buffer", "received", 12, false },
	[RX_BUSIEST] = { "busiest", "received", 8, false },
	[RX_CE] = { "CE", "received", 11, false },
	[RX_SPARK] = { "", "", 15, true },
	[TX_PACKETS] = { "packets/s", "sent", 0, false },
	[TX_BITS] = { "bits/s", "sent", 4, false },
	[TX_BUFFER] = { "/buffer", "sent", 13, false },
	[TX_P50] = { "p50", "txlat", 9, false },
	[TX_P99] = { "p99", "txlat", 5, false },
	[TX_SPARK] = { "", "", 16, true },
	[DROPS] = { "drops/s", "", 1, false },
	[CAUSE] = { "cause", "", 7, true },
	[POLLS] = { "polls/s", "", 10, false },
	[COST] = { "cost", "", 6, false },
	[FINDINGS] = { "findings", "", 2, true },
};

struct top_row {
	struct top_iface *w;
	struct values v;
	double keys[NR_COLUMNS];
};

/* What the kernel counts of an interface that is not attached. */
static void link_values(const struct top_iface *w, struct values *v)
{
	const struct link_rates *r = &w->link;
	struct way none = { NAN, NAN, NAN, -1, NAN };

	*v = (struct values){ .rx = none, .tx = none, .ce = NAN, .drops = NAN, .p50 = NAN,
			      .p99 = NAN, .polls = NAN, .cost = NAN };
	if (!r->known)
		return;
	v->rx.packets = r->rx_packets / r->seconds;
	v->rx.bytes = r->rx_bytes / r->seconds;
	v->tx.packets = r->tx_packets / r->seconds;
	v->tx.bytes = r->tx_bytes / r->seconds;
	v->drops = r->dropped / r->seconds;
}

static void row_fill(struct top_row *r, struct top_iface *w)
{
	struct values *v = &r->v;

	r->w = w;
	if (w->attached && w->window.interval)
		values_of(&w->window, v);
	else
		link_values(w, v);
	for (unsigned i = 0; i < NR_COLUMNS; i++)
		r->keys[i] = NAN;
	r->keys[RX_PACKETS] = r->keys[RX_SPARK] = v->rx.packets;
	r->keys[RX_BITS] = v->rx.bytes;
	r->keys[RX_BUFFER] = v->rx.per_buffer;
	r->keys[RX_BUSIEST] = v->rx.share;
	r->keys[RX_CE] = v->ce;
	r->keys[TX_PACKETS] = r->keys[TX_SPARK] = v->tx.packets;
	r->keys[TX_BITS] = v->tx.bytes;
	r->keys[TX_BUFFER] = v->tx.per_buffer;
	r->keys[TX_P50] = v->p50;
	r->keys[TX_P99] = v->p99;
	r->keys[DROPS] = r->keys[CAUSE] = v->drops;
	r->keys[POLLS] = v->polls;
	r->keys[COST] = v->cost;
	r->keys[FINDINGS] = v->found.nr ? v->found.worst * 1000. + v->found.nr : NAN;
}

static const char *busiest_text(const struct way *way)
{
	return way->busiest < 0 ? "-" : text("%s q%d", cell_share(way->share), way->busiest);
}

static void cells(const struct ui *ui, struct grid *g, const struct top_row *r, unsigned spark)
{
	const struct values *v = &r->v;
	const struct top_iface *w = r->w;

	grid_line(g);
	grid_cell(g, NAME, w->name);
	grid_cell(g, DRIVER, w->driver);
	grid_cell(g, RX_PACKETS, cell_count(v->rx.packets));
	grid_cell(g, RX_BITS, cell_count(v->rx.bytes * 8));
	grid_cell(g, RX_BUFFER, cell_count(v->rx.per_buffer));
	grid_cell(g, RX_BUSIEST, busiest_text(&v->rx));
	grid_cell(g, RX_CE, cell_share(v->ce));
	grid_cell(g, RX_SPARK, cell_spark(ui, w, PAST_RECEIVED, 0, 0, spark));
	grid_cell(g, TX_PACKETS, cell_count(v->tx.packets));
	grid_cell(g, TX_BITS, cell_count(v->tx.bytes * 8));
	grid_cell(g, TX_BUFFER, cell_count(v->tx.per_buffer));
	grid_cell(g, TX_P50, cell_seconds(v->p50));
	grid_cell(g, TX_P99, cell_seconds(v->p99));
	grid_cell(g, TX_SPARK, cell_spark(ui, w, PAST_SENT, 0, 0, spark));
	grid_cell(g, DROPS, cell_count(v->drops));
	grid_cell(g, CAUSE, v->cause);
	grid_cell(g, POLLS, cell_count(v->polls));
	grid_cell(g, COST, cell_percent(v->cost));
	grid_cell(g, FINDINGS, found_text(w, &v->found));
}

static void table(struct ui *ui, struct doc *d, const struct top_row *rows,
		  const struct row_order *order, unsigned nr)
{
	unsigned wide = d->page.width, spark = wide > 190 && ui->look.colour ? (wide - 172) / 2 : 0;
	int *targets = calloc(nr + 1, sizeof(*targets));
	unsigned *styles = calloc(nr + 1, sizeof(*styles));
	struct grid g = {};

	heads_add(&g, columns, NR_COLUMNS);
	for (unsigned i = 0; i < g.nr; i++)
		g.columns[i].gone = !spark && !*columns[i].head;
	heads_mark(&ui->sort[VIEW_OVERVIEW], &g, &ui->look);
	for (unsigned i = 0; i < nr && targets && styles; i++) {
		const struct top_row *r = &rows[order[i].nr];

		cells(ui, &g, r, spark > 60 ? 60 : spark);
		targets[i] = r->w->id;
		styles[i] = found_style(r->w, &r->v.found);
	}
	if (targets && styles)
		doc_grid(d, &g, targets, styles, true);
	d->fixed = d->nr_columns ? d->heads + 1 : 0;
	grid_free(&g);
	free(targets);
	free(styles);
}

/* What is found on one that is attached. */
static void findings(struct doc *d, const struct top_iface *w)
{
	if (*w->state)
		page_remark(&d->page, 0, text("%s: %s", w->name, w->state));
	if (!w->window.findings.nr && !w->window.findings.nr_earlier)
		return;
	page_newline(&d->page);
	page_styled(&d->page, STYLE_BOLD, w->name);
	page_newline(&d->page);
	findings_table(&d->page, &w->window);
}

void view_overview(struct ui *ui, struct doc *d)
{
	const struct model *m = ui->model;
	struct top_row *rows = calloc(m->nr + 1, sizeof(*rows));
	struct row_order *order = calloc(m->nr + 1, sizeof(*order));
	const struct top_iface **hosts = calloc(m->nr + 1, sizeof(*hosts));
	unsigned nr = 0, nr_hosts = 0, attached = 0;

	for (unsigned i = 0; rows && order && hosts && i < m->nr; i++) {
		struct top_iface *w = m->list[i];

		attached += w->attached;
		if (!ui_passes(ui, w->name) && !ui_passes(ui, w->driver))
			continue;
		if (w->attached && w->window.meta.host) {
			hosts[nr_hosts++] = w;
			continue;
		}
		row_fill(&rows[nr], w);
		order[nr] = (struct row_order){ w->id, w->name, rows[nr].keys, nr };
		nr++;
	}
	if (rows && order && hosts) {
		rows_sort(order, nr, &ui->sort[VIEW_OVERVIEW]);
		if (nr || !nr_hosts)
			table(ui, d, rows, order, nr);
		if (nr && nr_hosts)
			page_newline(&d->page);
		hosts_table(d, hosts, nr_hosts);
		if (!nr && !nr_hosts)
			page_dim(&d->page, 2, m->nr ? "no interface has the filter in its name" :
				 "there is no interface");
		if (*m->remark) {
			page_newline(&d->page);
			page_dim(&d->page, 2, m->remark);
		} else if (m->nr && !attached) {
			page_newline(&d->page);
			page_dim(&d->page, 2, text("Nothing is attached: these are the kernel's "
				 "own counts. %s", ui->plain ?
				 "nicprobe attach IFACE measures more." :
				 "a attaches the selected interface for as long as top runs, A for "
				 "good."));
		}
		for (unsigned i = 0; i < nr; i++)
			findings(d, rows[order[i].nr].w);
		for (unsigned i = 0; i < nr_hosts; i++)
			findings(d, hosts[i]);
	}
	free(rows);
	free(order);
	free(hosts);
}

/* SPDX-License-Identifier: GPL-2.0 */
/* One interface: rates, findings, queues, CPUs, latencies as time goes, and every meter. */
#include <math.h>
#include <stdlib.h>

#include "lib/util/log.h"
#include "render/findings.h"
#include "render/glance.h"
#include "render/table.h"
#include "top/cells.h"
#include "top/values.h"

static unsigned clamp(int wide, unsigned least, unsigned most)
{
	return wide < (int)least ? least : wide > (int)most ? most : (unsigned)wide;
}

/* "received  12.35k packets/s  98.23M bits/s  ▁▂▃" */
static void rate_line(const struct ui *ui, struct doc *d, const struct top_iface *w,
		      const char *name, double packets, double bytes, enum past_kind kind)
{
	struct page *p = &d->page;
	char range[64] = "";
	double least, most;
	unsigned wide;

	page_spaces(p, 2);
	page_put(p, name, -1);
	page_to(p, 12);
	page_put(p, text("%s packets/s", cell_count(packets)), -1);
	if (bytes >= 0) {
		page_to(p, 30);
		page_put(p, text("%s bits/s", cell_count(bytes * 8)), -1);
	}
	if (past_range(&w->past, past_find(&w->past, kind, 0, 0), SPAN, &least, &most))
		snprintf(range, sizeof(range), "%s to %s", cell_count(least), cell_count(most));
	wide = p->width > 80 ? clamp(p->width - 80, 24, 90) : p->width > 46 ? p->width - 46 : 0;
	if (wide > 8) {
		page_to(p, 46);
		page_style(p, "36");
		page_put(p, cell_spark(ui, w, kind, 0, 0, wide), -1);
		page_style(p, STYLE_PLAIN);
	}
	if (p->width > 46 + wide + 24 && *range) {
		page_to(p, 46 + wide);
		page_spaces(p, 1);
		page_styled(p, STYLE_DIM, text("%s, %s", range, span_text(ui)));
	}
	page_newline(p);
}

/* An interface that is not attached: what the kernel counts anyway. */
static void plain(const struct ui *ui, struct doc *d, const struct top_iface *w)
{
	const struct link_rates *r = &w->link;
	struct page *p = &d->page;
	double seconds = r->known ? r->seconds : NAN;

	page_styled(p, STYLE_BOLD, w->name);
	page_spaces(p, 2);
	page_wrap(p, 2, text("%s, %u rx and %u tx queues, %s, not attached", w->driver,
			     w->rx_queues, w->tx_queues, w->up ? "up" : "down"));
	page_newline(p);
	page_newline(p);
	rate_line(ui, d, w, "received", r->rx_packets / seconds, r->rx_bytes / seconds,
		  PAST_RECEIVED);
	rate_line(ui, d, w, "sent", r->tx_packets / seconds, r->tx_bytes / seconds, PAST_SENT);
	rate_line(ui, d, w, "dropped", r->dropped / seconds, -1, PAST_DROPS);
	page_newline(p);
	page_dim(p, 2, "These are the kernel's own counts: buffers after GRO and before GSO, where "
		 "the driver counts so. a attaches the interface for as long as top runs, A for "
		 "good: then there are queues, CPUs, latencies, drops by cause and findings.");
}

static void summary(const struct ui *ui, struct doc *d, const struct top_iface *w)
{
	const struct snapshot *s = &w->window;
	struct page *p = &d->page;
	struct values v;

	values_of(s, &v);
	page_newline(p);
	rate_line(ui, d, w, "received", v.rx.packets, v.rx.bytes, PAST_RECEIVED);
	rate_line(ui, d, w, "sent", v.tx.packets, v.tx.bytes, PAST_SENT);
	rate_line(ui, d, w, "dropped", v.drops, -1, PAST_DROPS);
	if (!isnan(v.cost))
		page_remark(p, 2, text("measuring takes %s of a CPU at this rate",
				       cell_percent(v.cost)));
	else
		page_remark(p, 2, text("what measuring takes was not measured yet: nicprobe cost "
				       "%s", w->name));
}

static void findings(struct doc *d, const struct snapshot *s)
{
	doc_section(d, "findings", text("of the last %.3g s", s->seconds));
	if (!s->findings.nr)
		page_dim(&d->page, 2, "no findings");
	findings_table(&d->page, s);
}

enum { QUEUE, RECEIVED, RX_BAR, RX_PAST, SENT, TX_BAR, TX_PAST, P99, POLLS, NR_COLUMNS };

struct queue_row {
	int queue;
	struct queue_values v;
	double keys[NR_COLUMNS];
	char name[16];
};

static void queue_fill(struct queue_row *r, const struct snapshot *s, int queue)
{
	r->queue = queue;
	values_queue(s, queue, &r->v);
	snprintf(r->name, sizeof(r->name), queue < 0 ? "q?" : "q%d", queue);
	r->keys[QUEUE] = queue < 0 ? 1e9 : queue;
	r->keys[RECEIVED] = r->keys[RX_BAR] = r->keys[RX_PAST] = r->v.received;
	r->keys[SENT] = r->keys[TX_BAR] = r->keys[TX_PAST] = r->v.sent;
	r->keys[P99] = r->v.p99;
	r->keys[POLLS] = r->v.polls;
}

static void queue_cells(const struct ui *ui, struct grid *g, const struct top_iface *w,
			const struct queue_row *r, const double most[2], unsigned bar,
			unsigned past)
{
	grid_line(g);
	grid_cell(g, QUEUE, r->name);
	grid_cell(g, RECEIVED, cell_count(r->v.received));
	grid_cell(g, RX_BAR, cell_bar(ui, most[0] > 0 ? r->v.received / most[0] : 0, bar));
	grid_cell(g, SENT, cell_count(r->v.sent));
	grid_cell(g, TX_BAR, cell_bar(ui, most[1] > 0 ? r->v.sent / most[1] : 0, bar));
	grid_cell(g, P99, cell_seconds(r->v.p99));
	grid_cell(g, POLLS, cell_count(r->v.polls));
	if (r->queue < 0)
		return;
	grid_cell(g, RX_PAST, cell_spark(ui, w, PAST_QUEUE_RECEIVED, r->queue, 0, past));
	grid_cell(g, TX_PAST, cell_spark(ui, w, PAST_QUEUE_SENT, r->queue, 0, past));
}

static void queue_table(struct ui *ui, struct doc *d, const struct top_iface *w,
			const struct queue_row *rows, const struct row_order *order, unsigned nr)
{
	static const struct head columns[NR_COLUMNS] = {
		[QUEUE] = { "", "", 0, true },
		[RECEIVED] = { "packets/s", "received", 0, false },
		[RX_BAR] = { "", "received", 1, true },
		[RX_PAST] = { "", "received", 4, true },
		[SENT] = { "packets/s", "sent", 0, false }, [TX_BAR] = { "", "sent", 2, true },
		[TX_PAST] = { "", "sent", 5, true },
		[P99] = { "p99", "txlat", 3, false },
		[POLLS] = { "polls/s", "", 6, false },
	};
	unsigned wide = d->page.width, bar = wide < 120 ? 8 : 16;
	unsigned past = clamp(((int)wide - (wide < 120 ? 68 : 86)) / 2, 7, 60);
	int *targets = calloc(nr + 1, sizeof(*targets));
	double most[2] = { 0, 0 };
	struct grid g = {};

	heads_add(&g, columns, NR_COLUMNS);
	for (unsigned i = 0; i < g.nr; i++) {
		struct column *c = &g.columns[i];

		c->width = i == RX_BAR || i == TX_BAR ? bar : i == RX_PAST || i == TX_PAST ? past :
			   c->width;
	}
	heads_mark(&ui->sort[VIEW_INTERFACE], &g, &ui->look);
	for (unsigned i = 0; i < nr; i++) {
		most[0] = rows[i].v.received > most[0] ? rows[i].v.received : most[0];
		most[1] = rows[i].v.sent > most[1] ? rows[i].v.sent : most[1];
	}
	for (unsigned i = 0; i < nr && targets; i++) {
		const struct queue_row *r = &rows[order[i].nr];

		queue_cells(ui, &g, w, r, most, bar, past);
		targets[i] = r->queue < 0 ? DOC_NOTHING : TARGET_QUEUE + r->queue;
	}
	if (targets)
		doc_grid(d, &g, targets, NULL, true);
	grid_free(&g);
	free(targets);
}

static void queues(struct ui *ui, struct doc *d, const struct top_iface *w)
{
	const struct snapshot *s = &w->window;
	unsigned most = s->meta.rx_queues > s->meta.tx_queues ? s->meta.rx_queues :
			s->meta.tx_queues;
	struct queue_row *rows = calloc(most + 2, sizeof(*rows));
	struct row_order *order = calloc(most + 2, sizeof(*order));
	unsigned nr = 0;

	doc_section(d, "queues", text("bars: compared with the busiest; curves: the %s",
				      span_text(ui)));
	for (unsigned i = 0; rows && order && i <= most; i++) {
		struct queue_row *r = &rows[nr];

		queue_fill(r, s, i < most ? (int)i : QUEUE_UNKNOWN);
		if (i == most && !(r->v.received > 0) && !(r->v.sent > 0))
			continue;
		if (!ui_passes(ui, r->name))
			continue;
		order[nr] = (struct row_order){ .keys = r->keys, .nr = nr };
		nr++;
	}
	if (rows && order) {
		rows_sort(order, nr, &ui->sort[VIEW_INTERFACE]);
		queue_table(ui, d, w, rows, order, nr);
	}
	free(rows);
	free(order);
}

/* CPUs that took packets, or spend time on the network. */
static void cpus(const struct ui *ui, struct doc *d, const struct top_iface *w)
{
	static const char *const heads[] = { "", "packets/s", "network", "", "idle", "" };
	const struct snapshot *s = &w->window;
	unsigned nr = s->load.nr > s->meta.cpus ? s->load.nr : s->meta.cpus, others = 0;
	unsigned wide = d->page.width, past = clamp((int)wide - 54, 8, 90);
	struct grid g = {};

	if (!nr)
		return;
	doc_section(d, "cpus", text("time for the network: interrupts and softirqs, of all "
				    "interfaces; curves: the %s", span_text(ui)));
	for (unsigned i = 0; i < sizeof(heads) / sizeof(*heads); i++) {
		struct column *c = grid_column(&g, i == 5 ? 4 : i == 4 ? 3 : i == 3, heads[i]);

		if (c)
			c->left = !*heads[i];
	}
	for (unsigned cpu = 0; cpu < nr; cpu++) {
		struct processor_values v;

		values_cpu(s, cpu, &v);
		if (!(v.packets > 0) && !(v.network >= .005)) {
			others++;
			continue;
		}
		grid_line(&g);
		grid_cell(&g, 0, text("cpu%u", cpu));
		grid_cell(&g, 1, cell_count(v.packets));
		grid_cell(&g, 2, cell_share(v.network));
		grid_cell(&g, 3, cell_bar(ui, v.network, 12));
		grid_cell(&g, 4, cell_share(v.idle));
		grid_cell(&g, 5, cell_spark(ui, w, PAST_CPU, cpu, 0, past));
	}
	if (g.nr_lines)
		grid_print(&g, &d->page);
	if (others)
		page_dim(&d->page, 2, text("%u %sCPU%s took no packets of it", others,
					   g.nr_lines ? "other " : "", others > 1 ? "s" : ""));
	grid_free(&g);
}

static const char *range_text(const struct top_iface *w, unsigned id, unsigned nr)
{
	double least, most;

	if (!past_range(&w->past, past_find(&w->past, PAST_P99, id, nr), SPAN, &least, &most))
		return "";
	return text("%s to %s", cell_seconds(least), cell_seconds(most));
}

static void latency_row(const struct ui *ui, struct grid *g, const struct top_iface *w, unsigned id,
			unsigned nr, const struct metric *k, unsigned past)
{
	uint64_t *words = calloc(k->words, sizeof(*words));
	char name[64];

	if (!words || !words_of_queue(&w->window, meters[id], k, QUEUE_ALL, NR_POINTS, words)) {
		free(words);
		return;
	}
	snprintf(name, sizeof(name), "%s %s", meters[id]->name, k->name);
	for (char *c = name; *c; c++)
		*c = *c == '_' ? ' ' : *c;
	grid_line(g);
	grid_cell(g, 0, name);
	grid_cell(g, 1, cell_seconds(hist_percentile(k, words, .5)));
	grid_cell(g, 2, cell_seconds(hist_percentile(k, words, .99)));
	grid_cell(g, 3, cell_spark(ui, w, PAST_P50, id, nr, past));
	grid_cell(g, 4, cell_spark(ui, w, PAST_P99, id, nr, past));
	grid_cell(g, 5, range_text(w, id, nr));
	free(words);
}

/* Percentiles of every time that is measured, as time goes. */
static void latencies(const struct ui *ui, struct doc *d, const struct top_iface *w)
{
	static const char *const heads[] = {
		"", "p50", "p99", "p50 before", "p99 before", "its range"
	};
	static const unsigned char drops[] = { 0, 0, 0, 3, 1, 2 };
	unsigned past = clamp(((int)d->page.width - 66) / 2, 10, 80), nr_targets = 0;
	int targets[NR_METERS * LATENCIES];
	struct grid g = {};

	for (unsigned i = 0; i < sizeof(heads) / sizeof(*heads); i++) {
		struct column *c = grid_column(&g, drops[i], heads[i]);

		if (c)
			c->left = !i || i > 2;
	}
	for (unsigned id = 0; id < NR_METERS; id++) {
		unsigned nr = 0;

		for_each_metric(k, meters[id]) {
			if (is_latency(k) && nr < LATENCIES && w->window.tables[id].cells &&
			    past_find(&w->past, PAST_P99, id, nr)) {
				unsigned before = g.nr_lines;

				latency_row(ui, &g, w, id, nr, k, past);
				if (g.nr_lines > before)
					targets[nr_targets++] = TARGET_LATENCY + id * LATENCIES +
								nr;
			}
			nr++;
		}
	}
	if (g.nr_lines) {
		doc_section(d, "latency", text("percentiles of the window, and in the %s",
					       span_text(ui)));
		doc_grid(d, &g, targets, NULL, false);
	}
	grid_free(&g);
}

static void meters_listed(const struct ui *ui, struct doc *d, const struct snapshot *s)
{
	const char *idle = "";

	doc_section(d, "meters", "Enter shows the tables and histograms of one");
	for (unsigned id = 0; id < NR_METERS; id++) {
		unsigned line = doc_lines(d);

		if (!meter_shown(s, id) || !ui_passes(ui, meters[id]->name))
			continue;
		if (glance(&d->page, s, meters[id]))
			doc_target(d, line, TARGET_METER + id, 0);
		else
			idle = text("%s%s%s", idle, *idle ? ", " : "", meters[id]->name);
	}
	if (*idle)
		page_dim(&d->page, 2, text("no activity: %s", idle));
	table_losses(&d->page, s);
}

void view_interface(struct ui *ui, struct doc *d)
{
	struct top_iface *w = ui_interface(ui);

	if (!w) {
		page_remark(&d->page, 0, "the interface is gone");
		return;
	}
	if (!w->attached) {
		plain(ui, d, w);
		return;
	}
	if (!w->window.interval) {
		page_remark(&d->page, 0, text("%s: the first window has just begun", w->name));
		return;
	}
	table_heading(&d->page, &w->window);
	table_blind(&d->page, &w->window);
	if (!w->window.meta.host)	/* which has no packets of its own, and no queues */
		summary(ui, d, w);
	findings(d, &w->window);
	if (!w->window.meta.host) {
		queues(ui, d, w);
		cpus(ui, d, w);
	}
	latencies(ui, d, w);
	meters_listed(ui, d, &w->window);
}

/* SPDX-License-Identifier: GPL-2.0 */
/* A queue or a meter of an interface: its figures, and its histograms beside those a minute ago. */
#include <stdlib.h>

#include "lib/util/log.h"
#include "render/block.h"
#include "render/glance.h"
#include "render/table.h"
#include "top/cells.h"
#include "top/histogram.h"
#include "top/values.h"

/* The interface, if it has a window; else NULL, and a line says why. */
static struct top_iface *shown(const struct ui *ui, struct doc *d)
{
	struct top_iface *w = ui_interface(ui);

	if (w && w->attached && w->window.interval)
		return w;
	page_remark(&d->page, 0, !w ? "the interface is gone" : !w->attached ?
		    text("%s is not attached any more", w->name) :
		    text("%s: the first window has just begun", w->name));
	return NULL;
}

/* What was a minute ago, or a line that says why it is not known. */
static struct both both_of(struct doc *d, struct top_iface *w, struct snapshot *then)
{
	struct both b = { .now = &w->window };

	if (model_ago(w, then, &b.from, &b.to)) {
		b.ago = then;
		return b;
	}
	page_newline(&d->page);
	page_dim(&d->page, 0, "what was a minute ago is shown beside it as soon as a minute has "
		 "passed");
	return b;
}

static void rate(const struct ui *ui, struct doc *d, const struct top_iface *w, const char *name,
		 double packets, enum past_kind kind, int queue)
{
	struct page *p = &d->page;

	page_spaces(p, 2);
	page_put(p, name, -1);
	page_to(p, 12);
	page_put(p, text("%s packets/s", cell_count(packets)), -1);
	if (p->width > 44) {
		page_to(p, 32);
		page_put(p, cell_spark(ui, w, kind, queue, 0, p->width - 33), -1);
	}
	page_newline(p);
}

/* The figures of one meter, of this queue, at one point or all. */
static void figures_line(const struct ui *ui, struct doc *d, const struct snapshot *s,
			 const struct meter *m, int queue, unsigned point)
{
	const struct table *t = &s->tables[meter_id(m)];
	struct metric whole = { .words = t->words };
	uint64_t *words = calloc(t->words + 1, sizeof(*words));
	char said[400];

	if (words && words_of_queue(s, m, &whole, queue, point, words)) {
		glance_words(&ui->look, s, m, words, said, sizeof(said));
		if (*said)
			page_line(&d->page, 2, point < NR_POINTS ?
				  text("%s %s", m->name, point_names[point]) : m->name, 22, said);
	}
	free(words);
}

void view_queue(struct ui *ui, struct doc *d)
{
	struct top_iface *w = shown(ui, d);
	int queue = ui->places[ui->depth].queue;
	struct snapshot then = {};
	struct queue_values v;
	struct both b;

	if (!w)
		return;
	page_styled(&d->page, STYLE_BOLD, text("%s q%d", w->name, queue));
	page_spaces(&d->page, 2);
	page_wrap(&d->page, 2, text("%s, in the last %.3g s; curves: the %s", w->driver,
				    w->window.seconds, span_text(ui)));
	page_newline(&d->page);
	page_newline(&d->page);
	values_queue(&w->window, queue, &v);
	rate(ui, d, w, "received", v.received, PAST_QUEUE_RECEIVED, queue);
	rate(ui, d, w, "sent", v.sent, PAST_QUEUE_SENT, queue);
	doc_section(d, "figures", "of this queue, by meter");
	for (unsigned id = 0; id < NR_METERS; id++) {
		const struct meter *m = meters[id];

		if (!meter_shown(&w->window, id) || !(m->by & (BY_QUEUE | BY_KEY)))
			continue;
		for (unsigned point = 0; m->by & BY_POINT && point < NR_POINTS; point++)
			figures_line(ui, d, &w->window, m, queue, point);
		if (!(m->by & BY_POINT))
			figures_line(ui, d, &w->window, m, queue, NR_POINTS);
	}
	b = both_of(d, w, &then);
	for (enum shown shown = SHOWN_TIMES; shown <= SHOWN_OTHERS; shown++)
		for (unsigned id = 0; id < NR_METERS; id++)
			if (meter_shown(&w->window, id) && meters[id]->by & (BY_QUEUE | BY_KEY))
				histograms(ui, d, &b, meters[id], queue, shown);
	snapshot_free(&then);
}

void view_meter(struct ui *ui, struct doc *d)
{
	struct top_iface *w = shown(ui, d);
	const struct meter *m = meters[ui->places[ui->depth].meter];
	struct look look = ui->look;
	struct snapshot then = {};
	struct both b;

	if (!w)
		return;
	table_heading(&d->page, &w->window);
	look.queues = true;
	d->page.look = &look;
	if (!meter_shown(&w->window, meter_id(m)))
		page_remark(&d->page, 0, text("%s is not attached: %s", m->name,
					      w->window.meta.absent[meter_id(m)]));
	else if (!block(&d->page, &w->window, m))
		page_dim(&d->page, 0, text("%s: no activity in this window", m->name));
	d->page.look = &ui->look;
	b = both_of(d, w, &then);
	histograms(ui, d, &b, m, QUEUE_ALL, SHOWN_ALL);
	snapshot_free(&then);
}

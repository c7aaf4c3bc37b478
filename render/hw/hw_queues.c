/* SPDX-License-Identifier: GPL-2.0 */
/* The table of interrupts, NAPI instances and CPUs by queue; runs of queues share a line. */
#include <stddef.h>
#include <string.h>

#include "render/grid.h"
#include "render/hw/hw.h"

enum { QUEUES, NAPI, IRQ, NAME, MAY, DOES, NODE, THREAD, RPS, FLOWS, XPS, NR_COLUMNS };

/* The cells of a line; columns that are empty in all lines are left out. */
static void cells(const struct hw *h, const struct hw_span *s, char cell[NR_COLUMNS][HW_CELL])
{
	const struct hw_line *l = &h->lines[s->first];

	memset(cell, 0, NR_COLUMNS * HW_CELL);
	hw_queues(cell[QUEUES], h, s);
	if (l->napi)
		hw_numbers(cell[NAPI], l->napi, s->napi_step, s->nr);
	if (l->irq) {
		hw_numbers(cell[IRQ], l->irq, s->irq_step, s->nr);
		hw_vector(cell[NAME], h, s);
	}
	hw_cpus(cell[MAY], h, s, offsetof(struct hw_line, may), &s->may);
	hw_cpus(cell[DOES], h, s, offsetof(struct hw_line, does), &s->does);
	if (l->node >= 0 && h->nodes > 1)
		snprintf(cell[NODE], HW_CELL, "%d", l->node);
	hw_cpus(cell[THREAD], h, s, offsetof(struct hw_line, thread), &s->thread);
	hw_cpus(cell[RPS], h, s, offsetof(struct hw_line, rps), &s->rps);
	if (l->rps_flows)
		snprintf(cell[FLOWS], HW_CELL, "%u", l->rps_flows);
	hw_cpus(cell[XPS], h, s, offsetof(struct hw_line, xps), &s->xps);
}

static const struct {
	const char *head;
	bool left;
	unsigned char drop;	/* if too narrow, the highest is dropped first */
} heads[] = {
	[QUEUES] = { "queues", true, 0 }, [NAPI] = { "NAPI", false, 4 },
	[IRQ] = { "IRQ", false, 0 }, [NAME] = { "interrupt", true, 3 },
	[MAY] = { "affinity", true, 2 }, [DOES] = { "effective", true, 0 },
	[NODE] = { "node", false, 6 }, [THREAD] = { "thread CPUs", true, 1 },
	[RPS] = { "RPS to", true, 1 }, [FLOWS] = { "RFS flows", false, 5 },
	[XPS] = { "XPS from", true, 1 },
};

static void columns_find(const struct hw *h, bool used[NR_COLUMNS])
{
	char cell[NR_COLUMNS][HW_CELL];

	for (unsigned i = 0; i < h->nr;) {
		struct hw_span s = hw_fold(h, i);

		cells(h, &s, cell);
		for (unsigned c = 0; c < NR_COLUMNS; c++)
			used[c] |= *cell[c];
		i += s.nr;
	}
}

/* True if any line stands for several queues. */
static bool lines_add(const struct hw *h, struct grid *g, const bool used[NR_COLUMNS])
{
	char cell[NR_COLUMNS][HW_CELL];
	bool folded = false;

	for (unsigned i = 0; i < h->nr;) {
		struct hw_span s = hw_fold(h, i);
		unsigned column = 0;

		cells(h, &s, cell);
		grid_line(g);
		for (unsigned c = 0; c < NR_COLUMNS; c++)
			if (used[c])
				grid_cell(g, column++, cell[c]);
		i += s.nr;
		folded |= s.nr > 1;
	}
	return folded;
}

void hw_queues_table(struct page *p, const struct hw *h)
{
	bool used[NR_COLUMNS] = {}, any = false, folded;
	struct grid g = {};

	columns_find(h, used);
	for (unsigned c = QUEUES + 1; c < NR_COLUMNS; c++)
		any |= used[c];
	if (!any)	/* nothing but the number of queues, which is shown elsewhere */
		return;
	for (unsigned c = 0; c < NR_COLUMNS; c++) {
		struct column *column = used[c] ? grid_column(&g, heads[c].drop, heads[c].head) :
						  NULL;

		if (!column)
			continue;
		column->left = heads[c].left;
		column->say = heads[c].drop;
	}
	page_newline(p);
	folded = lines_add(h, &g, used);
	grid_print(&g, p);
	if (folded) {
		page_style(p, STYLE_DIM);
		page_remark(p, 2, "a..b: one per queue, in this order; in turn: repeating from "
			    "the first");
		page_style(p, STYLE_PLAIN);
	}
	grid_free(&g);
}

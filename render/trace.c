/* SPDX-License-Identifier: GPL-2.0 */
/* What `trace` has gathered, as tables and distributions. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/util/log.h"
#include "render/grid.h"
#include "render/trace_stacks.h"
#include "render/units.h"

#define VALUE_SIZE	96
#define BAR		40

static const char *const figure_names[] = {
	[AGG_COUNT] = "count", [AGG_SUM] = "sum", [AGG_MIN] = "min", [AGG_MAX] = "max",
	[AGG_AVG] = "average",
};

static const char *key_text(const struct question *q, const struct query_key *k, unsigned i)
{
	char value[VALUE_SIZE];

	if (k->absent >> i & 1)
		return "-";
	field_text(q->keys[i], k->bytes + q->query.part[i].at, value, sizeof(value));
	return text("%s", value);
}

static bool is_time(const struct field *f)
{
	return f && f->unit && !strcmp(f->unit, "ns");
}

static const char *number_text(const struct field *f, double n)
{
	char t[UNITS_SIZE];

	if (is_time(f)) {
		units_seconds(t, n * 1e-9);
		return text("%s", t);
	}
	return n == trunc(n) ? text("%.0f", n) : text("%.1f", n);
}

static void rows_print(struct page *page, const struct trace_result *r)
{
	const struct question *q = r->question;
	const struct field *of = q->query.aggregation == AGG_COUNT ? NULL : q->measured;
	struct page own = *page;
	struct grid g = {};
	char *table = NULL;
	unsigned nr = 0;
	size_t size;

	for (unsigned i = 0; i < q->nr_keys; i++) {
		struct column *c;

		if (field_is_stack(q->keys[i]))
			continue;
		c = grid_column(&g, 0, q->keys[i]->name);
		nr++;

		if (c)
			c->left = true;
	}
	grid_column(&g, 0, of ? text("%s %s", figure_names[q->query.aggregation], of->name) :
				figure_names[AGG_COUNT]);
	for (int row = 0; row < r->nr; row++) {
		unsigned at = 0;

		grid_line(&g);
		for (unsigned i = 0; i < q->nr_keys; i++)
			if (!field_is_stack(q->keys[i]))
				grid_cell(&g, at++, key_text(q, &r->rows[row].key, i));
		grid_cell(&g, nr, number_text(of, gathered_figure(q, &r->rows[row])));
	}
	if (nr < q->nr_keys)
		own.out = open_memstream(&table, &size) ?: page->out;
	grid_print(&g, &own);
	grid_free(&g);
	if (own.out == page->out)
		return;
	fclose(own.out);
	rows_with_stacks(page, r, table);
	free(table);
}

/* The least value of a slot. */
static double slot_begins(const struct query *q, unsigned slot)
{
	if (q->aggregation == AGG_LQUANTIZE)
		return slot ? (double)q->low + (double)(slot - 1) * q->step : -INFINITY;
	if (slot == QUANTIZE_ZERO)
		return 0;
	return slot > QUANTIZE_ZERO ? ldexp(1, slot - QUANTIZE_ZERO - 1) :
				      -ldexp(1, QUANTIZE_ZERO - slot) + 1;
}

static const char *slot_text(const struct question *q, unsigned slot)
{
	if (q->query.aggregation == AGG_LQUANTIZE && !slot)
		return text("< %s", number_text(q->measured, q->query.low));
	if (q->query.aggregation == AGG_LQUANTIZE && slot == q->query.slots - 1)
		return text(">= %s", number_text(q->measured, slot_begins(&q->query, slot)));
	return number_text(q->measured, slot_begins(&q->query, slot));
}

static const char *bar_text(const struct look *look, double share)
{
	static const char *const eighths[] = { "", "▏", "▎", "▍", "▌", "▋", "▊", "▉" };
	unsigned parts = share * BAR * 8 + .5;
	char bar[BAR * 3 + 8] = "";

	if (!look->utf8) {
		memset(bar, '@', (parts + 7) / 8);
		bar[(parts + 7) / 8] = 0;
		return text("%s", bar);
	}
	for (unsigned i = 0; i < parts / 8; i++)
		strcat(bar, "█");
	strcat(bar, eighths[parts % 8]);
	return text("%s", bar);
}

static void distribution_print(struct page *page, const struct trace_result *r,
			       const struct gathered *row)
{
	const struct question *q = r->question;
	unsigned first = 0, last = q->query.slots - 1;
	struct grid g = {};
	struct column *c;
	__u64 most = 0;

	while (first < last && !row->slot[first])
		first++;
	while (last > first && !row->slot[last])
		last--;
	for (unsigned i = first; i <= last; i++)
		most = row->slot[i] > most ? row->slot[i] : most;
	grid_column(&g, 0, text("%s from", q->measured->name));
	grid_column(&g, 0, "count");
	c = grid_column(&g, 1, "");
	if (c)
		c->left = true;
	for (unsigned i = first; i <= last; i++) {
		grid_line(&g);
		grid_cell(&g, 0, slot_text(q, i));
		grid_cell(&g, 1, text("%" PRIu64, (uint64_t)row->slot[i]));
		grid_cell(&g, 2, bar_text(page->look, most ? (double)row->slot[i] / most : 0));
	}
	grid_print(&g, page);
	grid_free(&g);
}

static void distributions_print(struct page *page, const struct trace_result *r)
{
	const struct question *q = r->question;

	for (int row = 0; row < r->nr; row++) {
		char keys[300] = "";

		for (unsigned i = 0; i < q->nr_keys; i++) {
			if (field_is_stack(q->keys[i]))
				continue;
			snprintf(keys + strlen(keys), sizeof(keys) - strlen(keys), "%s%s %s",
				 *keys ? ", " : "", q->keys[i]->name,
				 key_text(q, &r->rows[row].key, i));
		}
		if (row)
			page_newline(page);
		page_wrap(page, 2,
			  text("%s%scount %" PRIu64 ", mean %s", keys, *keys ? ": " : "",
			       (uint64_t)r->rows[row].n,
			       number_text(q->measured,
					   r->rows[row].n ?
						   (double)r->rows[row].sum / r->rows[row].n :
						   0)));
		page_newline(page);
		stacks_print(page, q, &r->rows[row].key);
		distribution_print(page, r, &r->rows[row]);
	}
}

static const char *const loss_texts[] = {
	[LOST_KEY] = "events had a key without room, and are not counted: try --keys",
	[LOST_EVENT] = "events are not shown: they came faster than they were printed",
	[LOST_NESTED] = "events are not counted: too many programs interrupted each other",
	[LOST_TIME] = "times have no beginning: there was no room for it",
	[LOST_HEADER] = "packets had their headers in pages, where they cannot be read here",
	[LOST_LINK] = "packets are not in the file: they lack the header with which it begins",
	[LOST_CALL] = "calls or timers are not whole: there was no room to note their beginning",
	[LOST_STACK] = "stacks found no room: they are shown as -",
	[LOST_MISSED] = "events were missed: their program was running on the same CPU already",
};

void trace_losses(struct page *page, const __u64 losses[NR_LOSSES + 1])
{
	for (int i = 0; i <= NR_LOSSES; i++)
		if (losses[i])
			page_remark(page, 2, text("lost: %" PRIu64 " %s.", (uint64_t)losses[i],
						  loss_texts[i]));
}

void trace_table(struct page *page, const struct trace_result *r)
{
	const struct query *q = &r->question->query;

	if (r->interval)
		page_remark(page, 0, text("in %.2f s:", r->seconds));
	if (!r->nr)
		page_remark(page, 2, r->interval ? "no such event" :
			    text("no such event in %.2f s", r->seconds));
	else if (q->aggregation == AGG_QUANTIZE || q->aggregation == AGG_LQUANTIZE)
		distributions_print(page, r);
	else
		rows_print(page, r);
	if (r->left_out)
		page_remark(page, 2, text("%d more", r->left_out));
	trace_losses(page, r->losses);
	fflush(page->out);
}

#define LINE_LEAST	8

/* A column is as wide as most of its values; longer ones push what follows. */
static int column_width(const struct field *f)
{
	static const unsigned char widths[] = {
		[FORMAT_DECIMAL] = 8, [FORMAT_HEX] = 8, [FORMAT_ADDRESS] = 15, [FORMAT_MAC] = 17,
		[FORMAT_STRING] = 12, [FORMAT_STATE] = 12, [FORMAT_TCP_FLAGS] = 8,
		[FORMAT_REASON] = 20, [FORMAT_SYMBOL] = 28, [FORMAT_ERRNO] = 12,
		[FORMAT_SYSCALL] = 12, [FORMAT_PROBE] = 20, [FORMAT_SOURCE] = 20,
	};
	int width = f->format < sizeof(widths) && widths[f->format] ? widths[f->format] :
								       LINE_LEAST;

	if (f->format == FORMAT_WORD)
		width = 18;
	if (f->size == 8 && f->format == FORMAT_DECIMAL)
		width = 14;
	return (int)strlen(f->name) > width ? (int)strlen(f->name) : width;
}

static bool is_text(const struct field *f)
{
	return f->format != FORMAT_DECIMAL && f->format != FORMAT_HEX && f->format != FORMAT_WORD;
}

/* A process chooses its own name: it reaches the terminal without control characters. */
static void cell_print(const struct page *page, const struct field *f, const char *value,
		       bool last)
{
	int room = column_width(f) - (int)text_columns(value);

	fprintf(page->out, "%*s", is_text(f) || room < 0 ? 0 : room, "");
	text_harmless(page->out, value, page->look->utf8);
	fprintf(page->out, "%*s%s", is_text(f) && !last && room > 0 ? room : 0, "",
		last ? "\n" : "  ");
}

/* The last that has a column: stacks have lines of their own. */
static const struct field *last_column(const struct question *q)
{
	unsigned i = q->nr_printed;

	while (i && field_is_stack(q->printed[i - 1]))
		i--;
	return i ? q->printed[i - 1] : NULL;
}

void trace_heads(const struct page *page, const struct question *q)
{
	for (unsigned i = 0; i < q->nr_printed; i++)
		if (!field_is_stack(q->printed[i]))
			cell_print(page, q->printed[i], q->printed[i]->name,
				   q->printed[i] == last_column(q));
}

void trace_line(const struct page *page, const struct question *q, const struct probe_event *e)
{
	for (unsigned i = 0; i < q->nr_printed; i++) {
		const struct field *f = q->printed[i];
		char value[VALUE_SIZE] = "-";

		if (field_is_stack(f))
			continue;
		if (e->have >> f->group & 1)
			field_text(f, (const char *)e + f->offset, value, sizeof(value));
		cell_print(page, f, value, f == last_column(q));
	}
	for (unsigned i = 0; i < q->nr_printed; i++)
		if (field_is_stack(q->printed[i]))
			stack_print((struct page *)page, q->printed[i],
				    (const char *)e + q->printed[i]->offset,
				    e->have >> q->printed[i]->group & 1);
}

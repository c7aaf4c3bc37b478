/* SPDX-License-Identifier: GPL-2.0 */
/* What a view says, as lines of text of any number; some of them can be selected. */
#include <stdlib.h>
#include <string.h>

#include "lib/util/grow.h"
#include "top/doc.h"

void doc_begin(struct doc *d, const struct look *look, unsigned width)
{
	*d = (struct doc){ .page = { .look = look, .width = width } };
	d->page.out = open_memstream(&d->text, &d->size);
	if (!d->page.out) {		/* whatever is written then goes nowhere */
		d->page.out = fopen("/dev/null", "we");
		d->short_of_memory = true;
	}
}

unsigned doc_lines(struct doc *d)
{
	fflush(d->page.out);
	for (; d->text && d->counted < d->size; d->counted++)
		d->begun += d->text[d->counted] == '\n';
	return d->begun;
}

/* Makes line `nr` exist in the list, without its text. */
static struct doc_line *line(struct doc *d, unsigned nr)
{
	while (d->nr <= nr) {
		struct doc_line *list = grow(d->lines, d->nr, sizeof(*list));

		if (!list) {
			d->short_of_memory = true;
			return NULL;
		}
		d->lines = list;
		list[d->nr++] = (struct doc_line){ .text = "", .target = DOC_NOTHING };
	}
	return &d->lines[nr];
}

void doc_target(struct doc *d, unsigned nr, int target, unsigned style)
{
	struct doc_line *l = line(d, nr);

	if (!l)
		return;
	l->target = target;
	l->style = style;
}

void doc_section(struct doc *d, const char *name, const char *what)
{
	struct doc_line *l;

	page_section(&d->page, name, what);
	page_newline(&d->page);
	l = line(d, doc_lines(d) - 1);
	if (l)
		l->section = true;
}

static void columns_note(struct doc *d, const struct grid *g, unsigned heads)
{
	unsigned at = 0;

	d->heads = heads;
	d->nr_columns = g->nr < DOC_COLUMNS ? g->nr : DOC_COLUMNS;
	for (unsigned i = 0; i < d->nr_columns; i++) {
		const struct column *c = &g->columns[i];

		if (c->gone)
			continue;
		at += at ? c->tight ? 1 : 2 : 2;
		d->columns[i].from = at;
		at += c->width;
		d->columns[i].to = at;
	}
}

void doc_grid(struct doc *d, struct grid *g, const int *targets, const unsigned *styles,
	      bool sortable)
{
	unsigned before = doc_lines(d), rows = g->nr_lines, first;

	grid_print(g, &d->page);
	first = doc_lines(d) - rows;
	if (first < before || g->short_of_memory) {
		d->short_of_memory = true;
		return;
	}
	for (unsigned i = 0; i < rows; i++)
		doc_target(d, first + i, targets[i], styles ? styles[i] : 0);
	if (sortable && first > before)
		columns_note(d, g, first - 1);
}

void doc_end(struct doc *d)
{
	unsigned nr = 0;

	page_end(&d->page);
	fclose(d->page.out);
	d->page.out = NULL;
	for (char *at = d->text; at && *at; nr++) {
		char *end = strchr(at, '\n');
		struct doc_line *l = line(d, nr);

		if (!l)
			return;
		l->text = at;
		if (!end)
			break;
		*end = '\0';
		at = end + 1;
	}
}

void doc_free(struct doc *d)
{
	if (d->page.out)
		fclose(d->page.out);
	free(d->text);
	free(d->lines);
	*d = (struct doc){};
}

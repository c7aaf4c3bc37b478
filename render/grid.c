/* SPDX-License-Identifier: GPL-2.0 */
/* A table of aligned columns, which drops columns where the terminal is too narrow. */
#include <stdlib.h>
#include <string.h>

#include "lib/util/grow.h"
#include "lib/util/log.h"
#include "render/grid.h"

#define INDENT		2	/* of the whole grid */
#define SHORTEST	5	/* names are not cut to less than this */
#define WORD		12	/* names up to this length are single words: cutting ruins them */

/* The gap before a column, unless it is the first. */
static unsigned gap(const struct column *c)
{
	return c->tight ? 1 : 2;
}

struct column *grid_column(struct grid *g, unsigned char drop, const char *head)
{
	struct column *c = grow(g->columns, g->nr, sizeof(*c));

	if (!c) {
		g->short_of_memory = true;
		return NULL;
	}
	g->columns = c;
	c += g->nr++;
	*c = (struct column){ .drop = drop };
	snprintf(c->head, sizeof(c->head), "%s", head);
	c->width = text_columns(c->head);
	return c;
}

void grid_line(struct grid *g)
{
	struct grid_line *lines = grow(g->lines, g->nr_lines, sizeof(*lines));

	if (!lines) {
		g->short_of_memory = true;
		return;
	}
	g->lines = lines;
	g->lines[g->nr_lines++] = (struct grid_line){ .cells = calloc(g->nr + 1, sizeof(char *)) };
}

void grid_cell(struct grid *g, unsigned column, const char *text)
{
	struct grid_line *line = g->lines + g->nr_lines - 1;
	unsigned width = text_columns(text);

	if (!g->nr_lines || !line->cells || column >= g->nr) {
		g->short_of_memory = true;
		return;
	}
	free(line->cells[column]);
	line->cells[column] = strdup(text);
	if (width > g->columns[column].width)
		g->columns[column].width = width;
}

static void span(struct grid *g, unsigned column, const char *style, const char *text)
{
	struct grid_line *line = g->lines + g->nr_lines - 1;

	if (!g->nr_lines)
		return;
	free(line->span);
	line->span = strdup(text);
	line->style = style;
	line->from = column;
}

void grid_span(struct grid *g, unsigned column, const char *text)
{
	span(g, column, STYLE_DIM, text);
}

void grid_name(struct grid *g, const char *text)
{
	span(g, 0, STYLE_BOLD, text);
}

unsigned grid_width(const struct grid *g)
{
	unsigned width = 0;

	for (unsigned i = 0; i < g->nr; i++)
		if (!g->columns[i].gone)
			width += (width ? gap(&g->columns[i]) : INDENT) + g->columns[i].width;
	return width;
}

/* The least important column, among equals the last; NULL: all must stay. */
static struct column *least(const struct grid *g)
{
	struct column *c = NULL;

	for (unsigned i = 0; i < g->nr; i++)
		if (!g->columns[i].gone && g->columns[i].drop &&
		    (!c || g->columns[i].drop >= c->drop))
			c = &g->columns[i];
	return c;
}

/* The widest name: names can be cut, numbers cannot. */
static struct column *widest_name(const struct grid *g)
{
	struct column *c = NULL;

	for (unsigned i = 0; i < g->nr; i++)
		if (!g->columns[i].gone && g->columns[i].left &&
		    (!c || g->columns[i].width > c->width))
			c = &g->columns[i];
	return c;
}

/* The order does not depend on the width: a narrower page drops the same columns and more. */
void grid_make_way(struct grid *g, unsigned width)
{
	struct column *c;

	while (grid_width(g) > width && (c = least(g)))
		c->gone = true;
}

/* The width after cutting all names that are longer than WORD. */
static unsigned narrowest(const struct grid *g)
{
	unsigned width = grid_width(g);

	for (unsigned i = 0; i < g->nr; i++)
		if (!g->columns[i].gone && g->columns[i].left && g->columns[i].width > WORD)
			width -= g->columns[i].width - WORD;
	return width;
}

/* Drops whole names, last first, rather than cut them to "reas…" or push figures off the page. */
static void further_make_way(struct grid *g, unsigned width)
{
	for (unsigned i = g->nr; i-- && narrowest(g) > width;)
		if (g->columns[i].further)
			g->columns[i].gone = g->columns[i].say = true;
}

static void fit(struct grid *g, unsigned width)
{
	struct column *c;

	grid_make_way(g, width);
	further_make_way(g, width);
	while (grid_width(g) > width && (c = widest_name(g)) && c->width > SHORTEST)
		c->width--;
}

/* The page column where column `i` begins. */
static unsigned start_of(const struct grid *g, unsigned i)
{
	unsigned at = 0;

	for (unsigned j = 0; j < i; j++)
		if (!g->columns[j].gone)
			at += (at ? gap(&g->columns[j]) : INDENT) + g->columns[j].width;
	return at ? at + gap(&g->columns[i]) : INDENT;
}

static void put(struct page *p, const struct column *c, const char *s)
{
	unsigned wide = text_columns(s), pad = c->width > wide ? c->width - wide : 0;

	if (!c->left)
		page_spaces(p, pad);
	page_put(p, s, c->width);
}

static void to_column(const struct grid *g, struct page *p, unsigned i)
{
	unsigned at = start_of(g, i);

	if (at > p->at)
		page_spaces(p, at - p->at);
}

static void heads(const struct grid *g, struct page *p)
{
	for (unsigned i = 0; i < g->nr; i++) {
		if (g->columns[i].gone || !g->columns[i].head[0])
			continue;
		if (!p->at)
			page_style(p, STYLE_DIM);
		to_column(g, p, i);
		put(p, &g->columns[i], g->columns[i].head);
	}
	page_end_dim(p);
}

static void rule(struct page *p, unsigned nr)
{
	while (nr--)
		page_put(p, p->look->utf8 ? "─" : "-", 1);
}

/* "── lost ──" above columns of this total width. */
static void group(struct page *p, const char *name, unsigned width)
{
	unsigned wide = text_columns(name), left;

	if (wide + 4 > width) {
		page_spaces(p, width > wide ? width - wide : 0);
		page_put(p, name, width);
		return;
	}
	left = (width - wide - 2) / 2;
	rule(p, left);
	page_spaces(p, 1);
	page_put(p, name, wide);
	page_spaces(p, 1);
	rule(p, width - wide - 2 - left);
}

/* The width of the group that begins at column `i`; *next: the first column after it. */
static unsigned group_width(const struct grid *g, unsigned i, unsigned *next)
{
	unsigned last = i, j;

	for (j = i; j < g->nr && !strcmp(g->columns[j].group, g->columns[i].group); j++)
		if (!g->columns[j].gone)
			last = j;
	*next = j;
	return start_of(g, last) + g->columns[last].width - start_of(g, i);
}

/* Widens groups to fit their names as far as the page has room. */
static void widen_groups(struct grid *g, unsigned width)
{
	for (unsigned i = 0, next; i < g->nr; i++) {
		unsigned wide = text_columns(g->columns[i].group), spare, has;

		if (g->columns[i].gone || !wide)
			continue;
		has = group_width(g, i, &next);
		spare = width > grid_width(g) ? width - grid_width(g) : 0;
		if (wide > has)
			g->columns[i].width += wide - has < spare ? wide - has : spare;
		i = next - 1;
	}
}

static void groups(const struct grid *g, struct page *p)
{
	for (unsigned i = 0, next; i < g->nr; i++) {
		const char *name = g->columns[i].group;

		if (g->columns[i].gone || !*name)
			continue;
		if (!p->at)
			page_style(p, STYLE_DIM);
		to_column(g, p, i);
		group(p, name, group_width(g, i, &next));
		i = next - 1;
	}
	page_end_dim(p);
}

static void print_line(const struct grid *g, struct page *p, const struct grid_line *line)
{
	for (unsigned i = 0; line->cells && i < g->nr; i++) {
		if (!line->cells[i] || g->columns[i].gone)
			continue;
		to_column(g, p, i);
		put(p, &g->columns[i], line->cells[i]);
	}
	if (line->span) {
		to_column(g, p, line->from);
		page_style(p, line->style);
		page_put(p, line->span, -1);
		page_style(p, STYLE_PLAIN);
	}
	page_newline(p);
}

/* "dropped failed" where another column is named "failed", too; else the heading alone. */
static const char *full_name(const struct grid *g, const struct column *c)
{
	for (unsigned i = 0; i < g->nr; i++)
		if (*c->group && &g->columns[i] != c && !strcmp(g->columns[i].head, c->head))
			return text("%.*s %s", (int)strcspn(c->group, "/"), c->group, c->head);
	return c->head;
}

/* Names dropped columns that have values, lest they be taken for 0. */
static void say_gone(const struct grid *g, struct page *p)
{
	for (unsigned i = 0; i < g->nr; i++) {
		if (!g->columns[i].gone || !g->columns[i].say)
			continue;
		if (!p->at)
			page_style(p, STYLE_DIM);
		page_wrap(p, INDENT, p->at ? "," : "  no room for:");
		page_wrap(p, INDENT, " ");
		page_wrap(p, INDENT, full_name(g, &g->columns[i]));
	}
	page_end_dim(p);
}

void grid_print(struct grid *g, struct page *p)
{
	if (p->table) {
		p->table(p, g);
		return;
	}
	fit(g, p->width);
	widen_groups(g, p->width);
	groups(g, p);
	heads(g, p);
	for (unsigned i = 0; i < g->nr_lines; i++)
		print_line(g, p, &g->lines[i]);
	say_gone(g, p);
	if (g->short_of_memory) {
		page_put(p, "  (out of memory: incomplete)", -1);
		page_newline(p);
	}
}

void grid_free(struct grid *g)
{
	for (unsigned i = 0; i < g->nr_lines; i++) {
		for (unsigned j = 0; g->lines[i].cells && j < g->nr; j++)
			free(g->lines[i].cells[j]);
		free(g->lines[i].cells);
		free(g->lines[i].span);
	}
	free(g->lines);
	free(g->columns);
	*g = (struct grid){};
}

/* SPDX-License-Identifier: GPL-2.0 */
/* The tables of a window as HTML: those that `show` prints, with the same cells. */
#include <stdlib.h>
#include <string.h>

#include "lib/util/log.h"
#include "render/block.h"
#include "render/grid.h"
#include "render/sampled.h"
#include "render/table.h"
#include "report/account.h"
#include "report/html.h"

#define WIDE	1000000		/* columns: no table is too wide */

/* What a meter prints: text into `said`, tables into `html`. */
struct tabling {
	struct page page;
	char *said, *markup;
	size_t said_size, html_size, told;	/* told: so much of `said` is in `html` */
	FILE *html;
	bool heading;		/* the first line is one, and is left out */
};

/* Lines that were printed since, as paragraphs. */
static void said_put(struct tabling *t)
{
	char *line, *end, *last;

	fflush(t->page.out);
	if (!t->said)
		return;
	line = t->said + t->told;
	last = t->said + t->said_size;
	for (; line < last; line = end + 1) {
		end = memchr(line, '\n', last - line);
		if (!end)
			break;
		*end = '\0';
		line += strspn(line, " ");
		if (*line && !t->heading)
			html(t->html, "<p class=\"note\">%s</p>\n", line);
		t->heading &= !*line;
	}
	t->told = t->said_size;
}

static bool any_group(const struct grid *g)
{
	for (unsigned i = 0; i < g->nr; i++)
		if (*g->columns[i].group)
			return true;
	return false;
}

static void heads_put(FILE *out, const struct grid *g)
{
	fputs("<thead>", out);
	for (unsigned i = 0, to; any_group(g) && i < g->nr; i = to) {
		for (to = i + 1; to < g->nr; to++)
			if (strcmp(g->columns[to].group, g->columns[i].group))
				break;
		if (!i)
			fputs("<tr>", out);
		if (*g->columns[i].group)
			html(out, "<th colspan=\"%u\" scope=\"colgroup\" class=\"g\">%s</th>",
			     to - i, g->columns[i].group);
		else
			html(out, "<td colspan=\"%u\"></td>", to - i);
		if (to == g->nr)
			fputs("</tr>", out);
	}
	fputs("<tr>", out);
	for (unsigned i = 0; i < g->nr; i++) {
		const struct column *c = &g->columns[i];

		if (*c->head)
			html(out, c->left ? "<th scope=\"col\" class=\"l\">%s</th>" :
			     "<th scope=\"col\">%s</th>", c->head);
		else
			fputs("<td></td>", out);
	}
	fputs("</tr></thead>\n", out);
}

static void line_put(FILE *out, const struct grid *g, const struct grid_line *l)
{
	unsigned to = l->span ? l->from : g->nr;
	bool named = false;

	fputs("<tr>", out);
	for (unsigned i = 0; i < to; i++) {
		const char *cell = l->cells && l->cells[i] ? l->cells[i] : "";
		bool left = g->columns[i].left;

		if (left && *cell && !named) {
			html(out, "<th scope=\"row\">%s</th>", cell);
			named = true;
		} else if (left) {
			html(out, "<td class=\"l\">%s</td>", cell);
		} else {
			html(out, "<td>%s</td>", cell);
		}
	}
	if (l->span && g->nr > to)
		html(out, "<td colspan=\"%u\" class=\"l s\">%s</td>", g->nr - to, l->span);
	fputs("</tr>\n", out);
}

static void table_put(struct page *p, const struct grid *g)
{
	struct tabling *t = p->table_of;
	FILE *out = t->html;

	said_put(t);
	if (!g->nr_lines)
		return;
	fputs("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"table\"><table>\n",
	      out);
	heads_put(out, g);
	fputs("<tbody>\n", out);
	for (unsigned i = 0; i < g->nr_lines; i++)
		line_put(out, g, &g->lines[i]);
	fputs("</tbody></table></div>\n", out);
	if (g->short_of_memory)
		fputs("<p class=\"note\">out of memory: incomplete</p>\n", out);
}

static bool begin(struct tabling *t, const struct look *look, bool heading)
{
	*t = (struct tabling){ .heading = heading };
	t->page = (struct page){ .look = look, .width = WIDE, .table = table_put, .table_of = t };
	t->page.out = open_memstream(&t->said, &t->said_size);
	t->html = open_memstream(&t->markup, &t->html_size);
	return t->page.out && t->html;
}

/* NULL: it said nothing. */
static char *end(struct tabling *t)
{
	if (t->html && t->page.out)
		said_put(t);
	if (t->page.out)
		fclose(t->page.out);
	if (t->html)
		fclose(t->html);
	free(t->said);
	if (t->markup && *t->markup)
		return t->markup;
	free(t->markup);
	return NULL;
}

static void absent_put(FILE *out, const char *no, const char *name, const char *why)
{
	if (why)
		html(out, "<p class=\"note\">%s<b>%s</b>: %s</p>\n", no, name, why);
}

static void notes(struct course *c, const struct snapshot *s, const struct look *look)
{
	struct tabling t;

	if (begin(&t, look, false)) {
		table_blind(&t.page, s);
		table_losses(&t.page, s);
		said_put(&t);
		for (unsigned i = 0; i < NR_POINTS; i++)
			absent_put(t.html, "no ", point_names[i], point_absent(s, i));
		for (unsigned id = 0; id < NR_METERS; id++) {
			absent_put(t.html, "no ", meters[id]->name, meter_absent(s, id));
			absent_put(t.html, "", meters[id]->name, meter_remark(s, id));
		}
	} else {
		c->short_of_memory = true;
	}
	c->notes = end(&t);
}

static void heading(struct course *c, const struct snapshot *s)
{
	size_t at = snprintf(c->heading, sizeof(c->heading), "%s", target_text(&s->meta));

	for (unsigned i = 0; i < NR_POINTS && at < sizeof(c->heading); i++)
		if (*s->meta.hook[i])
			at += snprintf(c->heading + at, sizeof(c->heading) - at, "%s %s %s",
				       i ? "," : ";", point_names[i], s->meta.hook[i]);
}

void account_tables(struct course *c, const struct snapshot *s)
{
	static const struct look look = { .width = WIDE, .utf8 = true, .queues = true };
	struct tabling t;

	heading(c, s);
	for (unsigned id = 0; id < NR_METERS; id++) {
		if (!meter_shown(s, id))
			continue;
		snprintf(c->sampled[id], sizeof(c->sampled[id]), "%s", sampled_text(s, id) ?: "");
		if (begin(&t, &look, true))
			block(&t.page, s, meters[id]);
		else
			c->short_of_memory = true;
		c->tables[id] = end(&t);
	}
	notes(c, s, &look);
}

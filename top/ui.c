/* SPDX-License-Identifier: GPL-2.0 */
/* What top shows: the views on a canvas, between a line above and a line below. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/util/log.h"
#include "render/units.h"
#include "top/ui.h"

void ui_begin(struct ui *ui, struct model *m, const struct look *look, double interval)
{
	*ui = (struct ui){ .look = *look, .model = m, .interval = interval };
	ui->look.colour = true;		/* the canvas keeps styles; the terminal may have none */
	ui->places[0].selected = DOC_NOTHING;
	for (unsigned i = 0; i < NR_VIEWS; i++)
		ui->sort[i] = (struct ui_sort){ 0, DOC_NOTHING, false };
}

void ui_end(struct ui *ui)
{
	doc_free(&ui->doc);
}

bool ui_passes(const struct ui *ui, const char *name)
{
	return !*ui->filter || strcasestr(name, ui->filter);
}

void ui_say(struct ui *ui, bool urgent, const char *what, ...)
{
	va_list args;

	va_start(args, what);
	vsnprintf(ui->message, sizeof(ui->message), what, args);
	va_end(args);
	ui->urgent = urgent;
}

struct top_iface *ui_interface(const struct ui *ui)
{
	const struct ui_place *at = &ui->places[ui->depth];

	if (at->view == VIEW_OVERVIEW)
		return at->selected < 0 ? NULL : model_find(ui->model, at->selected);
	return model_find(ui->model, at->iface);
}

static void view(struct ui *ui, struct doc *d)
{
	switch (ui->places[ui->depth].view) {
	case VIEW_INTERFACE:
		view_interface(ui, d);
		break;
	case VIEW_QUEUE:
		view_queue(ui, d);
		break;
	case VIEW_METER:
		view_meter(ui, d);
		break;
	case VIEW_HELP:
		view_help(d);
		break;
	default:
		view_overview(ui, d);
	}
}

/* The line that is selected; the first that can be, if that target is gone; -1: none. */
static int selected_line(struct ui *ui)
{
	struct ui_place *at = &ui->places[ui->depth];
	int first = -1;

	for (unsigned i = 0; i < ui->doc.nr; i++) {
		if (ui->doc.lines[i].target == DOC_NOTHING)
			continue;
		if (ui->doc.lines[i].target == at->selected)
			return i;
		if (first < 0)
			first = i;
	}
	if (at->view == VIEW_OVERVIEW && first >= 0)
		at->selected = ui->doc.lines[first].target;
	return at->view == VIEW_OVERVIEW ? first : -1;
}

/* Scrolls as little as is needed to show the selected line, and no further than the end. */
static void scroll(struct ui *ui, int line, bool follow)
{
	struct ui_place *at = &ui->places[ui->depth];
	unsigned fixed = ui->doc.fixed, room = ui->rows > fixed ? ui->rows - fixed : 1;
	unsigned nr = ui->doc.nr > fixed ? ui->doc.nr - fixed : 0;

	if (follow && line >= (int)fixed) {
		unsigned l = line - fixed;

		at->top = l < at->top ? l : l >= at->top + room ? l - room + 1 : at->top;
	}
	if (at->top + room > nr)
		at->top = nr > room ? nr - room : 0;
}

static const char *title(const struct ui *ui)
{
	const struct ui_place *at = &ui->places[ui->depth];
	const struct top_iface *w = ui_interface(ui);
	const char *more = ui->look.utf8 ? "›" : ">";

	switch (at->view) {
	case VIEW_INTERFACE:
		return text(" %s %s", more, w ? w->name : "gone");
	case VIEW_QUEUE:
		return text(" %s %s %s q%d", more, w ? w->name : "gone", more, at->queue);
	case VIEW_METER:
		return text(" %s %s %s %s", more, w ? w->name : "gone", more,
			    meters[at->meter]->name);
	case VIEW_HELP:
		return text(" %s keys", more);
	default:
		return "";
	}
}

static void head(struct ui *ui, struct canvas *c)
{
	const struct model *m = ui->model;
	char clock[32], window[48] = "";
	struct tm tm;
	const char *right, *state;
	unsigned at, wide;

	localtime_r(&m->when.tv_sec, &tm);
	strftime(clock, sizeof(clock), "%T", &tm);
	if (m->seconds > 0)
		snprintf(window, sizeof(window), m->span ? "window %.3g s" : "%.0f s since z",
			 m->seconds);
	if (ui->file)
		strftime(clock, sizeof(clock), "%F %T", &tm);
	state = ui->file ? m->paused ? "" : "playing  " : m->paused ? "paused  " : "";
	right = text("%s%s%s%s %s", state,
		     *ui->filter ? text("/%s  ", ui->filter) : "", window, *window ? " " : "",
		     clock);
	at = canvas_put(c, 0, 0, text("nicprobe top%s%s%s", ui->file ? " " : "", ui->file ?: "",
				      title(ui)), CELL_BOLD);
	wide = text_columns(right);
	if (at + 2 + wide <= c->width)
		canvas_put(c, c->width - wide, 0, right, 0);
	else if (at + 2 + 8 <= c->width)
		canvas_put(c, c->width - 8, 0, m->paused && !ui->file ? "  paused" :
			   clock + strlen(clock) - 8, 0);
	canvas_line(c, 0, CELL_REVERSE);
}

/* The keys that do something here, as many as there is room for. */
static void foot(struct ui *ui, struct canvas *c)
{
	enum { ALWAYS, LIVE, REPLAY };
	static const struct { const char *key, *what; unsigned views, when; } hints[] = {
		{ "q", "quit", ~0u, ALWAYS }, { "?", "keys", ~(1u << VIEW_HELP), ALWAYS },
		{ "t T", "moment", ~(1u << VIEW_HELP), REPLAY },
		{ "e E", "event", ~(1u << VIEW_HELP), REPLAY },
		{ "b", "time", ~(1u << VIEW_HELP), REPLAY },
		{ "Space", "play", ~(1u << VIEW_HELP), REPLAY },
		{ "Enter", "zoom", 1 << VIEW_OVERVIEW | 1 << VIEW_INTERFACE, ALWAYS },
		{ "Esc", "back", ~(1u << VIEW_OVERVIEW), ALWAYS },
		{ "a", "attach", 1 << VIEW_OVERVIEW | 1 << VIEW_INTERFACE, LIVE },
		{ "Tab", "section", ~(1u << VIEW_OVERVIEW | 1u << VIEW_HELP), ALWAYS },
		{ "s", "sort", 1 << VIEW_OVERVIEW | 1 << VIEW_INTERFACE, ALWAYS },
		{ "/", "filter", 1 << VIEW_OVERVIEW | 1 << VIEW_INTERFACE, ALWAYS },
		{ "< >", "window", ~(1u << VIEW_HELP), ALWAYS },
		{ "Space", "pause", ~(1u << VIEW_HELP), LIVE },
		{ "z", "since now", ~(1u << VIEW_HELP), ALWAYS },
	};
	unsigned y = c->height - 1, x = 0, view = 1u << ui->places[ui->depth].view;

	if (ui->timing) {
		canvas_put(c, 0, y, text("go to %s_  a time as 03:12:05 or -10m, Enter", ui->time),
			   CELL_BOLD);
		return;
	}
	if (ui->typing) {
		canvas_put(c, 0, y, text("/%s_  Enter: filter, Esc: all", ui->filter), CELL_BOLD);
		return;
	}
	if (*ui->message) {
		canvas_put(c, 0, y, ui->message, ui->urgent ? CELL_RED | CELL_BOLD : CELL_BOLD);
		return;
	}
	for (unsigned i = 0; i < sizeof(hints) / sizeof(*hints); i++) {
		unsigned wide = strlen(hints[i].key) + strlen(hints[i].what) + 1;

		if (!(hints[i].views & view) || x + wide > c->width ||
		    hints[i].when == (ui->file ? LIVE : REPLAY))
			continue;
		x = canvas_put(c, x, y, hints[i].key, CELL_BOLD);
		x = canvas_put(c, x + 1, y, hints[i].what, CELL_DIM) + 2;
	}
}

/* The chosen heading is underlined by being shown in reverse. */
static void heading_mark(struct ui *ui, struct canvas *c, unsigned y)
{
	const struct ui_place *at = &ui->places[ui->depth];
	unsigned i = ui->sort[at->view].column;

	if (i >= ui->doc.nr_columns)
		return;
	for (unsigned x = ui->doc.columns[i].from; x < ui->doc.columns[i].to && x < c->width; x++)
		c->cells[(size_t)y * c->width + x].style |= CELL_BOLD | CELL_CYAN;
}

static void body(struct ui *ui, struct canvas *c, int line)
{
	const struct doc *d = &ui->doc;
	const struct ui_place *at = &ui->places[ui->depth];

	for (unsigned i = 0; i < ui->rows; i++) {
		unsigned nr = i < d->fixed ? i : i + at->top, y = i + 1;

		if (nr >= d->nr)
			break;
		canvas_put(c, 0, y, d->lines[nr].text, d->lines[nr].style);
		if (d->nr_columns && nr == d->heads)
			heading_mark(ui, c, y);
		if ((int)nr == line)
			canvas_line(c, y, CELL_REVERSE);
	}
	if (d->nr > at->top + ui->rows && ui->rows > 1)
		canvas_put(c, c->width > 2 ? c->width - 2 : 0, ui->rows, ui->look.utf8 ? "↓" : "v",
			   CELL_BOLD);
}

void ui_draw(struct ui *ui, struct canvas *c)
{
	struct ui_place *at = &ui->places[ui->depth];
	int line;

	if (!c->width || !c->height)
		return;
	doc_free(&ui->doc);
	ui->look.width = c->width;
	doc_begin(&ui->doc, &ui->look, c->width);
	view(ui, &ui->doc);
	doc_end(&ui->doc);
	ui->rows = c->height > 2 ? c->height - 2 : 0;
	if (ui->doc.fixed + 2 > ui->rows)	/* rather the lines than their headings */
		ui->doc.fixed = 0;
	line = selected_line(ui);
	scroll(ui, line, at->follow);
	at->follow = false;
	head(ui, c);
	body(ui, c, line);
	if (c->height > 1)
		foot(ui, c);
}

/* SPDX-License-Identifier: GPL-2.0 */
/* What keys and the mouse do. */
#include <stdlib.h>
#include <string.h>

#include "top/ui.h"

static const double spans[] = { 1, 2, 5, 10, 30, 60 };

/* The line `by` lines that can be selected further down (up: negative); -1: there is none. */
static int line_from(const struct ui *ui, int from, int by)
{
	int step = by < 0 ? -1 : 1, found = -1;

	for (int i = from + step; by && i >= 0 && i < (int)ui->doc.nr; i += step)
		if (ui->doc.lines[i].target != DOC_NOTHING) {
			found = i;
			by -= step;
		}
	return found;
}

static int selected(const struct ui *ui)
{
	const struct ui_place *at = &ui->places[ui->depth];

	for (unsigned i = 0; at->selected != DOC_NOTHING && i < ui->doc.nr; i++)
		if (ui->doc.lines[i].target == at->selected)
			return i;
	return -1;
}

static bool on_screen(const struct ui *ui, int line)
{
	const struct ui_place *at = &ui->places[ui->depth];
	int first = at->top + ui->doc.fixed, end = at->top + ui->rows;

	return line >= first && line < end;
}

static void select_line(struct ui *ui, int line)
{
	ui->places[ui->depth].selected = ui->doc.lines[line].target;
	ui->places[ui->depth].follow = true;
}

/* Scrolls by so many lines; where there is nothing to select, that is all that keys do. */
static void scroll_by(struct ui *ui, int by)
{
	struct ui_place *at = &ui->places[ui->depth];

	at->top = by < 0 && at->top < (unsigned)-by ? 0 : at->top + by;
}

/*
 * To the next line that can be selected. If it is not on the screen, what lies between is not
 * jumped over: the page moves.
 */
static void move(struct ui *ui, int by)
{
	int line = selected(ui), to;

	if (line < 0 || !on_screen(ui, line)) {	/* begin with what is on the screen */
		int edge = by > 0 ? (int)(ui->places[ui->depth].top + ui->doc.fixed) - 1 :
			   (int)(ui->places[ui->depth].top + ui->rows);

		if (edge > (int)ui->doc.nr)
			edge = ui->doc.nr;
		to = line_from(ui, edge, by < 0 ? -1 : 1);
	} else {
		to = line_from(ui, line, by);
	}
	if (to >= 0 && (on_screen(ui, to) || abs(by) > 1 || abs(to - line) == 1))
		select_line(ui, to);
	else
		scroll_by(ui, by);
}

static void move_to_end(struct ui *ui, bool last)
{
	int to = last ? line_from(ui, ui->doc.nr, -1) : line_from(ui, -1, 1);

	if (to >= 0)
		select_line(ui, to);
	if (ui->places[ui->depth].view == VIEW_OVERVIEW)
		return;
	ui->places[ui->depth].follow = false;
	ui->places[ui->depth].top = last ? ui->doc.nr : 0;
}

/* To the next section, and the first line of it that can be selected. */
static void section(struct ui *ui, int step)
{
	struct ui_place *at = &ui->places[ui->depth];
	int nr = ui->doc.nr, line = at->section, tried = 0;

	if (at->view == VIEW_OVERVIEW) {
		move(ui, step);
		return;
	}
	do			/* around */
		line = (line + step + nr) % (nr ?: 1);
	while (++tried <= nr && line < nr && !ui->doc.lines[line].section);
	if (tried > nr)
		return;
	at->section = at->top = line;
	at->selected = DOC_NOTHING;
	for (int l = line + 1; l < nr && !ui->doc.lines[l].section; l++)
		if (ui->doc.lines[l].target != DOC_NOTHING) {
			at->selected = ui->doc.lines[l].target;
			break;
		}
}

static void open_view(struct ui *ui, enum ui_view view, int queue, int meter)
{
	struct top_iface *w = ui_interface(ui);
	struct ui_place to = { .view = view, .iface = w ? w->id : 0, .queue = queue, .meter = meter,
			       .selected = DOC_NOTHING };

	if (ui->depth + 1 == PLACES || (!w && view != VIEW_HELP))
		return;
	ui->places[++ui->depth] = to;
	*ui->filter = '\0';
}

static void enter(struct ui *ui)
{
	const struct ui_place *at = &ui->places[ui->depth];
	int target = at->selected;

	if (target == DOC_NOTHING || selected(ui) < 0)
		return;
	if (at->view == VIEW_OVERVIEW)
		open_view(ui, VIEW_INTERFACE, 0, 0);
	else if (at->view == VIEW_INTERFACE && target >= TARGET_LATENCY)
		open_view(ui, VIEW_METER, 0, (target - TARGET_LATENCY) / LATENCIES);
	else if (at->view == VIEW_INTERFACE && target >= TARGET_METER)
		open_view(ui, VIEW_METER, 0, target - TARGET_METER);
	else if (at->view == VIEW_INTERFACE && target >= TARGET_QUEUE)
		open_view(ui, VIEW_QUEUE, target - TARGET_QUEUE, 0);
}

static void back(struct ui *ui)
{
	if (*ui->filter)
		*ui->filter = '\0';
	else if (ui->depth)
		ui->depth--;
}

static void column(struct ui *ui, int step)
{
	struct ui_sort *sort = &ui->sort[ui->places[ui->depth].view];
	int nr = ui->doc.nr_columns;

	for (int i = sort->column + step; i >= 0 && i < nr; i += step)
		if (ui->doc.columns[i].to) {
			sort->column = i;
			return;
		}
}

static void sort_by(struct ui *ui, int column)
{
	struct ui_sort *sort = &ui->sort[ui->places[ui->depth].view];

	if (!ui->doc.nr_columns)
		return;
	sort->reverse = sort->by == column && !sort->reverse;
	sort->by = sort->column = column;
	ui->places[ui->depth].follow = true;
}

static void span(struct ui *ui, int step)
{
	struct model *m = ui->model;
	int nr = sizeof(spans) / sizeof(*spans), at = 0;

	while (at < nr && spans[at] < m->span)
		at++;
	if (m->span)
		at += step;
	m->span = spans[at < 0 ? 0 : at >= nr ? nr - 1 : at];
	model_again(m);
	ui_say(ui, false, "windows of %g s, as far as there are moments so long ago", m->span);
}

/* A key while text is typed: the filter or a time. False: it has ended, by Enter or Esc. */
static bool type(char *to, size_t size, int key)
{
	size_t len = strlen(to);

	if (key == UI_KEY_ESC)
		*to = '\0';
	else if (key == UI_KEY_BACKSPACE && len)
		to[len - 1] = '\0';
	else if (key >= ' ' && key < 0x7f && len + 1 < size)
		strcpy(to + len, (char[]){ key, '\0' });
	return key != UI_KEY_ESC && key != UI_KEY_ENTER;
}

static enum ui_action type_time(struct ui *ui, int key)
{
	ui->timing = type(ui->time, sizeof(ui->time), key);
	ui->go = (struct ui_go){ .time = ui->time };
	return !ui->timing && *ui->time ? UI_GO : UI_NOTHING;
}

/* Keys that go to another moment of a recording. */
static enum ui_action go(struct ui *ui, int key)
{
	static const struct { int key; struct ui_go go; } known[] = {
		{ 't', { .moments = 1 } }, { 'T', { .moments = -1 } },
		{ ']', { .seconds = 60 } }, { '[', { .seconds = -60 } },
		{ '}', { .seconds = 600 } }, { '{', { .seconds = -600 } },
		{ 'e', { .events = 1 } }, { 'E', { .events = -1 } },
		{ 'r', { .first = true } }, { 'R', { .last = true } },
	};

	if (key == 'b') {
		ui->timing = true;
		*ui->time = '\0';
	}
	for (unsigned i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (key == known[i].key) {
			ui->go = known[i].go;
			return UI_GO;
		}
	return UI_NOTHING;
}

static void pause_or_not(struct ui *ui)
{
	ui->model->paused = !ui->model->paused;
}

static enum ui_action act(struct ui *ui, int key)
{
	int page = ui->rows > ui->doc.fixed + 1 ? ui->rows - ui->doc.fixed - 1 : 1;

	switch (key) {
	case 'q':
		if (ui->places[ui->depth].view != VIEW_HELP)
			return UI_QUIT;
		back(ui);
		break;
	case '?':
		if (ui->places[ui->depth].view != VIEW_HELP)
			open_view(ui, VIEW_HELP, 0, 0);
		break;
	case 'a':
		return UI_ATTACH;
	case 'A':
		return UI_ATTACH_FOR_GOOD;
	case 's':
		sort_by(ui, ui->sort[ui->places[ui->depth].view].column);
		break;
	case '/':
		ui->typing = true;
		break;
	case 'z':
		model_zero(ui->model);
		ui_say(ui, false, "the window begins now; < or > ends that");
		break;
	case ' ':
		pause_or_not(ui);
		break;
	case '<':
		span(ui, -1);
		break;
	case '>':
		span(ui, 1);
		break;
	case UI_KEY_ENTER:
		enter(ui);
		break;
	case UI_KEY_ESC:
	case UI_KEY_BACKSPACE:
		back(ui);
		break;
	case UI_KEY_TAB:
		section(ui, 1);
		break;
	case UI_KEY_BACKTAB:
		section(ui, -1);
		break;
	case 'j':
	case UI_KEY_DOWN:
		move(ui, 1);
		break;
	case 'k':
	case UI_KEY_UP:
		move(ui, -1);
		break;
	case UI_KEY_PAGE_DOWN:
		move(ui, page);
		break;
	case UI_KEY_PAGE_UP:
		move(ui, -page);
		break;
	case 'g':
	case UI_KEY_HOME:
		move_to_end(ui, false);
		break;
	case 'G':
	case UI_KEY_END:
		move_to_end(ui, true);
		break;
	case 'h':
	case UI_KEY_LEFT:
		column(ui, -1);
		break;
	case 'l':
	case UI_KEY_RIGHT:
		column(ui, 1);
		break;
	}
	return UI_NOTHING;
}

enum ui_action ui_key(struct ui *ui, int key)
{
	*ui->message = '\0';
	if (ui->timing)
		return type_time(ui, key);
	if (ui->typing) {
		ui->typing = type(ui->filter, sizeof(ui->filter), key);
		return UI_NOTHING;
	}
	if (ui->file && (key == 'a' || key == 'A'))
		ui_say(ui, true, "a recording has nothing to attach");
	else if (ui->file && ui->places[ui->depth].view != VIEW_HELP && go(ui, key) == UI_GO)
		return UI_GO;
	else if (!ui->timing)
		return act(ui, key);
	return UI_NOTHING;
}

void ui_click(struct ui *ui, unsigned x, unsigned y, bool twice)
{
	const struct ui_place *at = &ui->places[ui->depth];
	unsigned line = y - 1 < ui->doc.fixed ? y - 1 : y - 1 + at->top;

	*ui->message = '\0';
	if (!y || y > ui->rows || line >= ui->doc.nr)
		return;
	for (unsigned i = 0; line == ui->doc.heads && i < ui->doc.nr_columns; i++)
		if (x >= ui->doc.columns[i].from && x < ui->doc.columns[i].to)
			sort_by(ui, i);
	if (ui->doc.lines[line].target == DOC_NOTHING)
		return;
	select_line(ui, line);
	if (twice)
		enter(ui);
}

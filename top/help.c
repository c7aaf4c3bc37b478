/* SPDX-License-Identifier: GPL-2.0 */
/* The keys of top. */
#include "top/ui.h"

static const struct {
	const char *keys, *what;
} keys[] = {
	{ "arrows, j k", "select a line; also PgUp, PgDn, Home, End, g, G" },
	{ "Enter", "look closer: at an interface, then at a queue or a meter" },
	{ "Esc, Backspace", "back" },
	{ "Tab", "the next section; Shift-Tab: the one before" },
	{ "left, right, h l", "select a column of the table" },
	{ "s", "sort by it; again: the other way round" },
	{ "/", "show only lines with this in their name; Esc: all" },
	{ "< >", "a shorter or longer window: 1, 2, 5, 10, 30, 60 seconds" },
	{ "t, T", "in a recording: the next moment, the one before" },
	{ "e, E", "the next event (a finding, a setting), the one before" },
	{ "] [ } {", "a minute further or back, ten minutes" },
	{ "b, r, R", "to a time that is typed; to the begin; to the end" },
	{ "z", "the window begins now" },
	{ "Space", "pause; again: go on; a recording: play" },
	{ "a", "attach the interface until top ends; again: detach it" },
	{ "A", "attach it for good; nicprobe detach ends that" },
	{ "?", "these keys" },
	{ "q", "quit; in the help: back" },
	{ "mouse", "a click selects a line, or sorts by a heading; twice: look closer" },
};

void view_help(struct doc *d)
{
	page_styled(&d->page, STYLE_BOLD, "keys of nicprobe top");
	page_newline(&d->page);
	for (unsigned i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		page_line(&d->page, 2, keys[i].keys, 20, keys[i].what);
	page_newline(&d->page);
	page_remark(&d->page, 2, "Dim interfaces are not attached: they show what the kernel "
		    "counts anyway. Rates are those of the window, curves those of the last "
		    "minutes. A "
		    "dash is a figure that is not known; 0 is a count. nicprobe-top(8) has more.");
}

/* SPDX-License-Identifier: GPL-2.0 */
/* top as plain lines: the overview of each window, for logs. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cmd/show.h"
#include "cmd/top.h"
#include "lib/util/error.h"
#include "lib/util/log.h"

#define WIDE	240	/* columns where there is no terminal and no COLUMNS: nothing is left out */

static void print(struct model *m, const struct look *look, double interval)
{
	struct ui ui;
	struct doc d;
	char clock[64];
	struct tm tm;

	ui_begin(&ui, m, look, interval);
	ui.look.colour = false;
	ui.plain = true;
	doc_begin(&d, &ui.look, look->width);
	view_overview(&ui, &d);
	doc_end(&d);
	localtime_r(&m->when.tv_sec, &tm);
	strftime(clock, sizeof(clock), "%F %T", &tm);
	printf("%s  window %.3g s\n", clock, m->seconds);
	for (unsigned i = 0; i < d.nr; i++)
		puts(d.lines[i].text);
	putchar('\n');
	doc_free(&d);
	ui_end(&ui);
	output_flush();
}

/* Windows of a recording, as far as it goes. */
static int batch_replay(const struct top_request *wanted, struct model *m, const struct look *look)
{
	struct error e = {};

	if (*replay_damage(m->source))
		tell(replay_damage(m->source));
	for (unsigned i = 0; (!wanted->count || i < wanted->count) && !ferror(stdout); i++) {
		/* at first the window that ends where it begins, if there is a whole one */
		if (i || m->seconds < .95 * wanted->interval) {
			m->span = replay_further(m->source, wanted->interval);
			if (!m->span)
				break;
			if (model_read(m, &e))
				return failed(&e);
		}
		print(m, look, wanted->interval);
	}
	return EXIT_SUCCESS;
}

int batch_run(const struct top_request *wanted, struct model *m)
{
	struct look look = terminal_look();
	struct timespec next;
	struct error e = {};

	if (!isatty(STDOUT_FILENO) && !getenv("COLUMNS"))
		look.width = WIDE;
	if (wanted->from)
		return batch_replay(wanted, m, &look);
	clock_gettime(CLOCK_MONOTONIC, &next);
	if (model_read(m, &e))
		return failed(&e);
	for (unsigned i = 0; (!wanted->count || i < wanted->count) && !ferror(stdout); i++) {
		show_wait(&next, wanted->interval);
		if (model_read(m, &e))
			return failed(&e);
		print(m, &look, wanted->interval);
	}
	return EXIT_SUCCESS;
}

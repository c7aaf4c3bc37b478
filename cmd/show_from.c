/* SPDX-License-Identifier: GPL-2.0 */
/* nicprobe show --from: what a recording has, shown as show would have shown it then. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cmd/cmd.h"
#include "cmd/show.h"
#include "cmd/show_when.h"
#include "lib/util/error.h"
#include "lib/util/log.h"
#include "lib/util/near.h"

/* The frames at which a window begins and ends. */
struct between {
	unsigned from, to;
};

static int no_frame(const struct view *v, const struct recording *r, unsigned iface,
		    const char *why)
{
	unsigned nr = recording_frames(r, iface);

	return error_set(v->error, -ENODATA, NULL, "%s: %s has %u frame%s, from %s to %s", why,
			 recording_iface(r, iface), nr, nr == 1 ? "" : "s",
			 show_when_text(recording_when(r, iface, 0)),
			 show_when_text(recording_when(r, iface, nr - 1)));
}

/* The window of one frame or of -w SECONDS that `at` lies in, or is the end of. */
static int window_at(const struct view *v, const struct recording *r, unsigned iface, uint64_t at,
		     struct between *b)
{
	unsigned nr = recording_frames(r, iface);
	int to = recording_at(r, iface, at);
	bool later = to >= 0 && to < (int)nr - 1 && recording_when(r, iface, to + 1) > at;
	int from;

	if (to < 0 || (!later && at > recording_when(r, iface, to) + 1000000000))
		return no_frame(v, r, iface, text("%s is not in it", show_when_text(at)));
	if (later && recording_when(r, iface, to) < at)
		to++;
	if (!to)
		to = 1;
	from = to - 1;
	if (v->interval)
		from = recording_at(r, iface, recording_when(r, iface, to) -
				    (uint64_t)(v->interval * 1e9) + 50000000);
	*b = (struct between){ from < 0 ? 0 : from < to ? from : to - 1, to };
	return nr > 1 ? 0 : no_frame(v, r, iface, "no window can be shown");
}

/*
 * From the first frame that is no earlier than A to the last that is no later than B. Before a
 * moment at which the clock was set back, frames may have these times, too.
 */
static int window_between(const struct view *v, const struct recording *r, unsigned iface,
			  struct between *b)
{
	unsigned nr = recording_frames(r, iface);
	int to = v->from.end ? recording_at(r, iface, v->from.end) : (int)nr - 1;
	int from = to;

	while (from > 0 && recording_when(r, iface, from - 1) >= v->from.begin &&
	       recording_when(r, iface, from - 1) <= recording_when(r, iface, from))
		from--;
	if (from >= to)
		return no_frame(v, r, iface, text("no two frames lie between %s and %s",
						  show_when_text(v->from.begin),
						  show_when_text(v->from.end)));
	*b = (struct between){ from, to };
	return 0;
}

/* Without times: the last run of it, since the interface was attached. */
static int window_last(const struct view *v, struct recording *r, unsigned iface,
		       struct between *b)
{
	unsigned nr = recording_frames(r, iface);

	*b = (struct between){ recording_joined(r, iface, nr - 1), nr - 1 };
	return b->from < b->to ? 0 : no_frame(v, r, iface, "no window can be shown");
}

static int window_find(const struct view *v, struct recording *r, unsigned iface,
		       struct between *b)
{
	if (v->from.at)
		return window_at(v, r, iface, v->from.at, b);
	if (v->from.begin || v->from.end)
		return window_between(v, r, iface, b);
	return window_last(v, r, iface, b);
}

/* Prints windows: `total` are the counts since attach at their ends. */
static void windows_print(const struct view *v, struct snapshot *windows, struct snapshot *total,
			  unsigned nr)
{
	const struct snapshot **list = calloc(nr + 1, sizeof(*list));

	for (unsigned i = 0; list && i < nr; i++) {
		bool totals = v->total || v->format->all;

		if (totals)
			findings_copy(&total[i].findings, &windows[i].findings);
		list[i] = totals ? &total[i] : &windows[i];
	}
	if (list)
		show_list(v, list, nr);
	free(list);
}

static void choose(const struct view *v, struct snapshot *s)
{
	if (v->wanted)
		s->wanted &= v->wanted;
}

/* Of all interfaces, or of the one that was named. */
static int show_once(const struct view *v, struct recording *r)
{
	unsigned nr = recording_ifaces(r), shown = 0;
	struct snapshot *windows = calloc(nr, sizeof(*windows));
	struct snapshot *total = calloc(nr, sizeof(*total));
	int err = windows && total ? 0 : -ENOMEM, wrong = 0;

	for (unsigned i = 0; i < nr && !err; i++) {
		struct between b = {};

		if (v->iface && strcmp(v->iface, recording_iface(r, i)))
			continue;
		wrong = window_find(v, r, i, &b);
		wrong = wrong ?: recording_window(r, i, b.from, b.to, &windows[shown],
						  &total[shown], v->error);
		if (wrong && v->iface)
			err = wrong;
		if (wrong) {
			snapshot_free(&windows[shown]);
			snapshot_free(&total[shown]);
			continue;
		}
		choose(v, &windows[shown]);
		choose(v, &total[shown++]);
	}
	if (!err && !shown)
		err = wrong ?: -ENODATA;
	if (!err)
		windows_print(v, windows, total, shown);
	for (unsigned i = 0; windows && total && i < shown; i++) {
		snapshot_free(&windows[i]);
		snapshot_free(&total[i]);
	}
	free(windows);
	free(total);
	return err;
}

static int iface_check(const struct view *v, const struct recording *r)
{
	struct near near = near_to(v->iface ?: "");
	const char *names = "";

	for (unsigned i = 0; v->iface && i < recording_ifaces(r); i++) {
		if (!strcmp(v->iface, recording_iface(r, i)))
			return 0;
		near_try(&near, recording_iface(r, i));
		names = text("%s%s%s", names, *names ? ", " : "", recording_iface(r, i));
	}
	if (!v->iface)
		return 0;
	return error_set(v->error, -ENOENT, *near.name ? text("nicprobe show %s --from %s",
			 near.name, v->from.path) : NULL, "%s is not in %s: it has %s", v->iface,
			 v->from.path, names);
}

/* Events of the time that is shown, one a line. */
static void events_print(const struct view *v, const struct recording *r)
{
	for (unsigned i = 0; i < recording_events(r); i++) {
		const struct recorded_event *e = recording_event(r, i);

		if ((v->from.begin && e->when < v->from.begin) ||
		    (v->from.end && e->when > v->from.end) ||
		    (v->iface && *e->iface && strcmp(v->iface, e->iface)))
			continue;
		show_event(v, e);
	}
}

/* What a recording has not, or has only once. True after printing an error. */
static bool asks_too_much(const struct view *v)
{
	if (v->hw)
		usage_error("nicprobe show --from FILE --events", "a recording has no hw section, "
			    "only the changes of settings");
	else if (v->again || v->count)
		usage_error("nicprobe show --from FILE --at TIME -w SECONDS", "show --from shows "
			    "one window: -i and -c are for what is attached now");
	else if (v->from.at_text && *v->from.between_text)
		usage_error("leave out --at", "--at and --between exclude each other");
	else
		return false;
	return true;
}

int show_from(struct view *v)
{
	struct recording *r;
	int err;

	if (asks_too_much(v))
		return EXIT_USAGE;
	err = recording_open(&r, v->from.path, v->error);
	if (err)
		return failed(v->error);
	if (*recording_damage(r))
		tell(recording_damage(r));
	err = show_times(v, r) ?: iface_check(v, r);
	if (!err && v->from.events)
		events_print(v, r);
	else if (!err) {
		if (v->format->begin)
			v->format->begin(stdout, &v->look);
		err = show_once(v, r);
		if (v->format->end)
			v->format->end(stdout, &v->look);
	}
	recording_close(r);
	if (err)
		return failed(v->error);
	return EXIT_SUCCESS;
}

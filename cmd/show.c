/* SPDX-License-Identifier: GPL-2.0 */
/* nicprobe show: what was measured over a window, by default the last second, or since attach. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cmd/cmd.h"
#include "cmd/show.h"
#include "cmd/show_when.h"
#include "findings/subjects.h"
#include "lib/attach/pins.h"
#include "lib/hw/hw.h"
#include "lib/net/here.h"
#include "lib/net/iface.h"
#include "lib/util/error.h"
#include "lib/util/heap.h"
#include "lib/util/log.h"
#include "render/shown.h"
#include "render/units.h"

static int detached(const struct view *v)
{
	return error_set(v->error, -ENOENT, NULL, "%s was detached meanwhile",
			 v->iface ?: "the interface");
}

/* A single interface without any of the requested meters is an error, not an empty table. */
static int none_wanted(const struct view *v, const struct snapshot *s)
{
	int id = 0;

	while (id < NR_METERS - 1 && !(v->wanted >> id & 1))
		id++;
	if (v->nr > 1 || s->wanted || *s->meta.absent[id])
		return 0;
	return error_set(v->error, -ENOENT,
			 text("nicprobe detach %s, and attach it with -m all", s->name),
			 "%s is not measured on %s", meters[id]->name, s->name);
}

/* Takes a snapshot of each interface, skipping those that were detached meanwhile. */
static int take_all(struct view *v, struct snapshot *all)
{
	int lock = pins_lock(false, v->error), err = 0;

	v->look.unread = v->unread;
	for (unsigned i = 0; i < v->nr && !err; i++) {
		err = snapshot_take(&all[i], v->dirs[i], v->error);
		if ((err == -ENOENT || err == -ENODATA) && v->nr > 1) {
			all[i].meta.magic = err = 0;
			error_forget(v->error);
		} else if (err && v->nr > 1 && v->format->all) {
			failed(v->error);
			error_forget(v->error);
			all[i].meta.magic = err = 0;
			v->look.unread++;
		} else if (err == -ENOENT || err == -ENODATA) {
			detached(v);
		} else if (err) {
			error_set(v->error, err, NULL, "cannot read the counts of %s: %s",
				  v->iface ?: "the interface", strerror(-err));
		}
		if (v->wanted)
			all[i].wanted &= v->wanted;
		if (!err && v->wanted)
			err = none_wanted(v, &all[i]);
	}
	pins_unlock(lock);
	return err;
}

static void free_all(const struct view *v, struct snapshot *all)
{
	for (unsigned i = 0; all && i < v->nr; i++)
		snapshot_free(&all[i]);
	free(all);
}

void show_list(const struct view *v, const struct snapshot *const *list, unsigned nr)
{
	for (unsigned i = 0; i < nr && v->format->one; i++) {
		v->format->one(stdout, list[i], &v->look);
		if (v->format == &renderer_table && !only_hw(v) && !v->wanted)
			show_cost(list[i]);
	}
	if (v->format->all)
		v->format->all(stdout, list, nr, &v->look);
	output_flush();
}

/* Adds the hw section, if requested, and the findings. 0 or -errno. */
static int judge(const struct view *v, struct snapshot *s, struct hw *hw)
{
	/* if the interface is gone, its state says so: reading hw may then fail */
	if (v->hw && show_hw_add(s, hw, v->error) && v->nr == 1 && !*s->state)
		return -ENODEV;
	findings_judge(s, s->hw);
	error_forget(v->error);
	return 0;
}

/*
 * Diagnoses `all`, and prints it; or, if `shown` is not NULL, prints `shown` with the findings of
 * `all`. `total`: the counts since attach when `all` are windows; otherwise NULL.
 */
static int print_all(struct view *v, struct snapshot *all, struct snapshot *shown,
		     const struct snapshot *total)
{
	const struct snapshot **list = calloc(v->nr ?: 1, sizeof(*list));
	const struct snapshot **windows = calloc(v->nr ?: 1, sizeof(*windows));
	struct hw *hw = calloc(v->nr ?: 1, sizeof(*hw));
	unsigned nr = 0;
	int err = hw && list && windows ? 0 : -ENOMEM;

	for (unsigned i = 0; i < v->nr && !err; i++) {
		if (!all[i].meta.magic)
			continue;
		err = judge(v, &all[i], &hw[i]);
		if (total)
			findings_earlier(&all[i], &total[i]);
		windows[nr] = &all[i];
		list[nr++] = shown ? &shown[i] : &all[i];
		if (shown) {
			findings_copy(&shown[i].findings, &all[i].findings);
			shown[i].hw = all[i].hw;
		}
	}
	v->look.windows = windows;
	if (!err)
		show_list(v, list, nr);
	v->look.windows = NULL;
	for (unsigned i = 0; hw && i < v->nr; i++) {
		hw_free(&hw[i]);
		if (shown)
			shown[i].hw = NULL;
	}
	free(hw);
	free(list);
	free(windows);
	return err;
}

void show_wait(struct timespec *next, double interval)
{
	double whole = floor(interval);

	next->tv_sec += whole;
	next->tv_nsec += (interval - whole) * 1e9;
	if (next->tv_nsec >= 1000000000) {
		next->tv_nsec -= 1000000000;
		next->tv_sec++;
	}
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, next, NULL) == EINTR)
		;
}

/* Turns `now` into the difference to `before`; a new attachment has no difference yet. */
static int window(const struct view *v, struct snapshot *now, struct snapshot *before)
{
	if (now->meta.since == before->meta.since)
		snapshot_diff(now, before);
	else if (v->nr > 1)	/* shown from the next window on */
		now->meta.magic = 0;
	else
		return detached(v);
	return 0;
}

/* Formats of counters show totals; their findings are still those of the window. */
static int show_windows(struct view *v)
{
	struct snapshot *before = calloc(v->nr ?: 1, sizeof(*before));
	struct timespec next;
	int err = before ? take_all(v, before) : -ENOMEM;

	clock_gettime(CLOCK_MONOTONIC, &next);
	for (unsigned i = 0; !err && (!v->count || i < v->count) && !ferror(stdout); i++) {
		struct snapshot *now = calloc(v->nr ?: 1, sizeof(*now));
		struct snapshot *keep = calloc(v->nr ?: 1, sizeof(*keep));

		show_wait(&next, v->interval);
		err = now && keep ? take_all(v, now) : -ENOMEM;
		for (unsigned k = 0; k < v->nr && !err; k++)
			err = snapshot_copy(&keep[k], &now[k]) ?: window(v, &now[k], &before[k]);
		if (!err)
			err = print_all(v, now, v->format->all ? keep : NULL, keep);
		free_all(v, now);
		free_all(v, before);
		before = keep;
	}
	free_all(v, before);
	return err;
}

static int show_totals(struct view *v)
{
	struct snapshot *all = calloc(v->nr ?: 1, sizeof(*all));
	int err = all ? take_all(v, all) : -ENOMEM;

	if (!err)
		err = print_all(v, all, NULL, NULL);
	free_all(v, all);
	return err;
}

static bool interval_take(void *to, const char *value)
{
	struct view *v = to;

	(void)value;
	return v->again = true;
}

static bool each_take(void *to, const char *value)
{
	struct view *v = to;

	return show_each(value, &v->look.each);
}

static const struct option_spec options[] = {
	{ 'w', "window", "SECONDS", "measure for this long, then show it (default: 1)",
	  OPTION_NUMBER, INTO(struct view, interval), SECONDS },
	{ 't', "total", NULL, "show the counts since attach, without waiting",
	  OPTION_FLAG, INTO(struct view, total) },
	{ 'q', "queues", NULL, "show every queue, however many there are",
	  OPTION_FLAG, INTO(struct view, look.queues) },
	{ 0, "each", "LABEL,…", "metrics of every queue, cpu, interrupt, flow, source,\n"
				"remote host, domain or own (the driver's own\n"
				"statistics)",
	  .words = "@each", .list = true, .take = each_take },
	{ 'i', "interval", "SECONDS", "show one window after the other",
	  OPTION_NUMBER, INTO(struct view, interval), SECONDS, .take = interval_take },
	{ 0, "from", "FILE", "show a recording instead of what is attached now",
	  OPTION_FILE, INTO(struct view, from.path) },
	{ 0, "at", "TIME", "…the window at TIME: 03:12:05, \"2026-11-25 03:12\",\n"
			   "@SECONDS, or -10m: before its end",
	  OPTION_STRING, INTO(struct view, from.at_text) },
	{ 0, "between", "A B", "…the window from A to B (default: all of it)",
	  OPTION_TIMES, INTO(struct view, from.between_text), .example = "03:10 03:20" },
	{ 0, "events", NULL, "…what happened: findings, settings, links",
	  OPTION_FLAG, INTO(struct view, from.events) },
	{ 'c', "count", "COUNT", "stop after COUNT windows", OPTION_WHOLE,
	  INTO(struct view, count), 1, 1e6, .most_unsaid = true, .example = "1" },
	{}
};

static int show_them(struct view *v)
{
	int err;

	heap_keep();
	if (v->format->begin)
		v->format->begin(stdout, &v->look);
	err = only_hw(v) ? show_hw(v) : v->total ? show_totals(v) : show_windows(v);
	if (err)
		failed(v->error);
	if (v->format->end)
		v->format->end(stdout, &v->look);
	return err ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* [IFACE] [hw] [METER…]; a section name is a section unless an interface has that name. */
static int show(struct view *v, char **args)
{
	const char *iface = NULL;
	int lock = -ENOENT, err;

	if (*args && ((strcmp(*args, "hw") && !meter_find(*args)) || iface_index_of(*args)))
		iface = *args++;
	if (show_sections(v, args))
		return EXIT_USAGE;
	if (v->look.each && !v->format->all)
		return usage_error("-f openmetrics, or --queues for a table of every queue",
				   "--each is for metrics, and not for -f %s", v->format->name);
	v->look.each |= show_named(v->wanted);
	v->look.brief = !v->wanted && !v->look.queues;
	if (v->from.path) {
		v->iface = iface;
		return show_from(v);
	}
	if (show_from_lacks(v))
		return EXIT_USAGE;
	if (v->total && !only_hw(v) && (v->interval || v->count))
		return usage_error("leave out -t", "-t shows counts at once: it excludes -w, -i "
				   "and -c");
	netns_go_home();
	if (!only_hw(v))
		lock = pins_lock(false, v->error);
	if (lock < 0 && lock != -ENOENT)
		return failed(v->error);
	err = show_interfaces(v, iface);
	pins_unlock(lock);
	if (err)
		return failed(v->error);
	if (!v->nr && !v->format->all) {
		error_set(v->error, -ENOENT, "nicprobe attach IFACE", "nothing is attached");
		return failed(v->error);
	}
	if (!v->interval)
		v->interval = 1;
	if (!v->again && !v->count)
		v->count = 1;
	return show_them(v);
}

static int run(int argc, char **argv)
{
	struct error e = {};
	struct view v = { .look = terminal_look(), .error = &e };
	int status;

	if (!options_take(&command_show, argc, argv, &v, &status))
		return status;
	v.format = format_wanted;
	v.look.colour = terminal_look().colour;	/* --color is known now */
	status = show(&v, argv + optind);
	free(v.dirs);
	return status;
}

const struct command command_show = {
	.name = "show",
	.args = "[[NETNS/]IFACE] [hw] [METER…] [OPTION…]",
	.help = "show findings and measurements; hw: show the card's settings",
	.options = { format_options, options },
	.run = run,
};

/* SPDX-License-Identifier: GPL-2.0 */
/* nicprobe list: the attached interfaces; with -v, all that can be measured. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cmd/cmd.h"
#include "cmd/describe.h"
#include "cmd/listed.h"
#include "cmd/show.h"
#include "cmd/views.h"
#include "lib/attach/pins.h"
#include "lib/net/iface.h"
#include "lib/util/clock.h"
#include "lib/util/error.h"
#include "lib/util/grow.h"
#include "lib/util/log.h"
#include "probes/raw.h"
#include "render/json_writer.h"
#include "render/shown.h"
#include "render/text.h"
#include "render/units.h"

static struct page page;

static void on_names(const struct meta *meta, char *names, size_t size)
{
	int at = 0;

	*names = 0;
	for (int id = 0; id < NR_METERS; id++)
		if (meta->on >> id & 1 && at < (int)size)
			at += snprintf(names + at, size - at, "%s%s", at ? " " : "",
				       meters[id]->name);
}

static double age(const struct meta *meta)
{
	return (clock_ns(CLOCK_BOOTTIME) - meta->since) * 1e-9;
}

static void row_json(struct json *j, const struct listed *l)
{
	json_open(j, NULL, '{');
	json_interface(j, &l->meta, l->label);
	json_double(j, "seconds", age(&l->meta));
	attached_meters(j, &l->meta);
	if (*l->state)
		json_string(j, "state", l->state);
	listed_json(j, l);
	json_close(j);
}

/* Meters stand beside the interface, or below it where less than this is left of the line. */
#define METERS_WIDTH	20

static void row_text(const struct listed *l, unsigned width)
{
	char names[256], since[UNITS_SIZE];
	const char *head;

	on_names(&l->meta, names, sizeof(names));
	units_duration(since, age(&l->meta));
	head = text("%-*s %-12s %11s", width, l->label, l->meta.driver, since);
	if (strlen(head) + 2 + METERS_WIDTH > page.width) {
		page_remark(&page, 0, head);
		page_dim(&page, 2, names);
	} else {
		page_line(&page, 0, head, strlen(head) + 2, names);
	}
	if (*l->state)
		page_remark(&page, 2, l->state);
	listed_print(&page, l);
}

struct interfaces {
	struct listed **list;
	unsigned nr;
	struct error *error;
};

static int each(const char *dir, __u32 netns, const char *iface, void *arg)
{
	struct interfaces *all = arg;
	struct attached now = {};
	struct listed *l, **list;
	struct error e = {}, of_it = {};
	struct meta meta;
	char label[96];
	int err;

	iface_label(netns, iface, label, sizeof(label));
	err = meta_read(dir, &meta, &e);
	if (err) {
		error_set(&of_it, err, e.try, "%s: %s", label, err == -ENODATA ?
			  "an attach was interrupted; the next attach or detach removes its "
			  "remains" : e.what);
		failed(&of_it);
		return 0;
	}
	list = grow(all->list, all->nr, sizeof(*list));
	l = calloc(1, sizeof(*l));
	if (list)
		all->list = list;
	if (!list || !l || !(l->dir = strdup(dir))) {
		free(l);
		return error_set(all->error, -ENOMEM, NULL, "out of memory for %u interfaces",
				 all->nr + 1);
	}
	attached_state(&meta, &now);
	netns_go_home();
	l->meta = meta;
	snprintf(l->label, sizeof(l->label), "%s", label);
	snprintf(l->state, sizeof(l->state), "%s", now.state);
	listed_take(l);
	list[all->nr++] = l;
	return 0;
}

/* Other processes may attach and detach during the window: the lock is not held. */
static int windows(const struct interfaces *all, double seconds)
{
	struct timespec next;
	struct error e = {};
	int lock;

	clock_gettime(CLOCK_MONOTONIC, &next);
	show_wait(&next, seconds);
	lock = pins_lock(false, &e);
	for (unsigned i = 0; i < all->nr && (lock >= 0 || lock == -ENOENT); i++)
		listed_window(all->list[i]);	/* -ENOENT: nothing is attached any more */
	pins_unlock(lock);
	return lock < 0 && lock != -ENOENT ? failed(&e) : EXIT_SUCCESS;
}

static void rows_print(const struct interfaces *all)
{
	struct json j = { .out = stdout };
	unsigned width = 16;

	for (unsigned i = 0; i < all->nr; i++)
		if (strlen(all->list[i]->label) > width)
			width = strlen(all->list[i]->label);
	if (json_wanted)
		json_open(&j, NULL, '[');
	for (unsigned i = 0; i < all->nr; i++)
		if (json_wanted)
			row_json(&j, all->list[i]);
		else
			row_text(all->list[i], width);
	if (json_wanted) {
		json_close(&j);
		putchar('\n');
	}
}

static int list_attached(double window)
{
	struct error e = {};
	int lock = pins_lock(false, &e), status = EXIT_SUCCESS;
	struct interfaces all = { .error = &e };

	if (lock < 0 && lock != -ENOENT)
		return failed(&e);
	if (lock >= 0 && pins_each(each, &all) == -ENOMEM)
		status = failed(&e);
	else if (lock < 0 && !json_wanted)
		puts("nothing is attached");
	pins_unlock(lock);
	if (window > 0 && all.nr && windows(&all, window))
		status = EXIT_FAILURE;
	rows_print(&all);
	for (unsigned i = 0; i < all.nr; i++) {
		snapshot_free(&all.list[i]->s);
		free(all.list[i]->dir);
		free(all.list[i]);
	}
	free(all.list);
	return status;
}

struct list_options {
	bool all, man;
	double window;
};

static const struct option_spec options[] = {
	{ 'w', "window", "SECONDS", "measure for this long; show rates and findings",
	  OPTION_NUMBER, INTO(struct list_options, window), SECONDS },
	{ 'v', "verbose", "[METER…]", "list all meters, and which work here, or why not;\n"
				      "or describe these meters, probes or a view",
	  OPTION_FLAG, INTO(struct list_options, all), .operands = "meters" },
	{ 0, "man", NULL, "print the source of nicprobe-probes(7)", OPTION_FLAG,
	  INTO(struct list_options, man) },
	{}
};

/* Probes by patterns: "tcp:::", "ip:::drop-*". */
static int list_probes(char **patterns, bool verbose)
{
	int status = EXIT_SUCCESS;
	struct error e = {};

	for (; *patterns && !status; patterns++)
		if (raw_is(*patterns))
			status = describe_raw(&page, *patterns, verbose, json_wanted, &e) ?
				 failed(&e) : EXIT_SUCCESS;
		else if (describe_probes(&page, *patterns, verbose, json_wanted))
			status = probe_lacking(*patterns, &e) ? failed(&e) :
				 usage_error("nicprobe list '*:::'", "no probe \"%s\"", *patterns);
	return status;
}

static int run(int argc, char **argv)
{
	struct list_options wanted = {};
	struct error e = {};
	__u64 only = 0, bits;
	int status;

	if (!options_take(&command_list, argc, argv, &wanted, &status))
		return status;
	page = terminal_page(stdout, 60);
	if (wanted.man) {
		probes_man(stdout);
		return EXIT_SUCCESS;
	}
	if (optind < argc && *argv[optind] == '@') {
		const char *name = argv[optind] + 1;

		if (json_wanted ? views_json(stdout, name, &e) :
				  views_print(&page, name, wanted.all, &e))
			return failed(&e);
		return EXIT_SUCCESS;
	}
	if (optind < argc && strchr(argv[optind], ':'))
		return list_probes(argv + optind, wanted.all);
	if (optind != argc && !wanted.all)
		return usage_error(text("nicprobe list -v %s", argv[optind]),
				   "list takes meters only with -v");
	for (; optind < argc; only |= bits, optind++) {
		bits = meters_parse(argv[optind]);
		if (!bits)
			return EXIT_USAGE;
	}
	netns_go_home();
	if (wanted.all && json_wanted)
		describe_json(only);
	else if (wanted.all)
		describe(&page, only);
	else
		return list_attached(wanted.window);
	return EXIT_SUCCESS;
}

const struct command command_list = {
	.name = "list",
	.args = "[-w SECONDS] | [-v] PROBE…|@[VIEW] | -v [METER…]",
	.help = "list what is attached, or probes; -v: what can be measured",
	.options = { options },
	.run = run,
};

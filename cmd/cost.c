/* SPDX-License-Identifier: GPL-2.0 */
/* nicprobe cost: what our programs take of the CPUs, for each kernel event. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cmd/cmd.h"
#include "cmd/show.h"
#include "lib/attach/pins.h"
#include "lib/kernel/permits.h"
#include "lib/read/cost.h"
#include "lib/util/error.h"
#include "lib/util/log.h"
#include "render/grid.h"
#include "render/json_writer.h"
#include "render/shown.h"
#include "render/units.h"

static double percent(double ns, double seconds)
{
	return seconds > 0 ? ns / seconds / 1e7 : 0;
}

static const char *ns_text(double ns)
{
	char t[UNITS_SIZE];

	units_seconds(t, ns * 1e-9);
	return text("%s", t);
}

static const char *count_text(double n)
{
	char t[UNITS_SIZE];

	units_count(t, n);
	return text("%s", t);
}

static const char *percent_text(double percent)
{
	return percent >= .005 || percent <= 0 ? text("%.2f%%", percent) : "<0.01%";
}

/* "txlat, drop, tx-nic" */
static const char *users_text(struct users users)
{
	char list[400] = "";

	for (int id = 0; id < NR_METERS; id++)
		if (users.meters >> id & 1)
			snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%s",
				 *list ? ", " : "", meters[id]->name);
	for (int p = 0; p < NR_POINTS; p++)
		if (users.points >> p & 1)
			snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%s",
				 *list ? ", " : "", point_names[p]);
	return text("%s", list);
}

static void events_print(const struct cost *c, struct page *page)
{
	static const char *const heads[] = {
		"event", "programs", "runs", "inside", "to call", "of a CPU", "wanted by"
	};
	enum { EVENT, PROGRAMS, RUNS, INSIDE, CALLING, SHARE, BY };
	struct grid g = {};

	for (int i = EVENT; i <= BY; i++) {
		struct column *column = grid_column(&g, i == PROGRAMS ? 2 : i == RUNS, heads[i]);

		if (column)
			column->left = i == EVENT || i == BY;
	}
	for (unsigned i = 0; i < c->nr; i++) {
		const struct cost_event *e = &c->events[i];

		if (!e->runs)
			continue;
		grid_line(&g);
		grid_cell(&g, EVENT, e->event);
		grid_cell(&g, PROGRAMS, text("%u", e->programs));
		grid_cell(&g, RUNS, count_text(e->runs));
		grid_cell(&g, INSIDE, ns_text(e->inside / e->runs));
		grid_cell(&g, CALLING, e->traced ? ns_text(e->calling / e->runs) : "");
		grid_cell(&g, SHARE, percent_text(percent(e->inside + e->calling, c->seconds)));
		grid_cell(&g, BY, users_text(e->users));
	}
	if (g.nr_lines) {
		page_newline(page);
		grid_print(&g, page);
	}
	grid_free(&g);
}

/* Which XDP program of ours was not timed, or NULL. */
static const char *untimed(const struct snapshot *all, unsigned nr, const struct cost *c)
{
	for (unsigned i = 0; i < c->nr; i++)
		if (!c->events[i].traced)
			return NULL;
	for (unsigned i = 0; i < nr; i++)
		if (!strncmp(all[i].meta.hook[RX_NIC], "xdp", 3))
			return "The XDP program is not in it: a dispatcher calls it, which the "
			       "kernel times as a whole.";
	return NULL;
}

static const char *names_text(const struct snapshot *all, unsigned nr)
{
	char names[300] = "";

	for (unsigned i = 0; i < nr; i++)
		snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s%s",
			 i ? ", " : "", all[i].name);
	return text("%s", names);
}

/* `packets` below 0: they are not counted. */
static void cost_print(const struct snapshot *all, unsigned nr, const struct cost *c,
		       double packets)
{
	struct page page = terminal_page(stdout, 40);
	double sum = c->inside + c->calls, asking = c->runs * c->calling.timed;

	page_wrap(&page, 2, text("%s: %s of a CPU, in %.2f s", names_text(all, nr),
				 percent_text(percent(sum, c->seconds)), c->seconds));
	page_newline(&page);
	if (packets < 0 && nr == 1 && all->meta.host)
		page_remark(&page, 2, "Packets are not counted: the host has no meter that does.");
	else if (packets < 0)
		page_remark(&page, 2, "Packets are not counted in both directions: pktsize is not "
				      "attached, or has no hook.");
	else if (packets >= 1)
		page_remark(&page, 2, text("%s for each of %s packets: %s in our programs, %s "
					   "to call them.", ns_text(sum / packets),
					   count_text(packets), ns_text(c->inside / packets),
					   ns_text(c->calls / packets)));
	else
		page_remark(&page, 2, "No packet came or went meanwhile.");
	events_print(c, &page);
	page_newline(&page);
	page_remark(&page, 2, text("To call the first program of an event takes this kernel %s, a "
				   "further one %s: measured just now.",
				   ns_text(c->calling.first), ns_text(c->calling.further)));
	page_remark(&page, 2, "Programs of events run for the packets of every interface of this "
			      "host: those are in it.");
	page_remark(&page, 2, text("Not in it: measuring, which takes %s for each run of any BPF "
				   "program; for ours it was %s of a CPU.",
				   ns_text(c->calling.timed),
				   percent_text(percent(asking, c->seconds))));
	if (untimed(all, nr, c))
		page_remark(&page, 2, untimed(all, nr, c));
}

static void event_json(struct json *j, const struct cost_event *e, double seconds)
{
	json_open(j, NULL, '{');
	json_string(j, "event", e->event);
	json_uint(j, "programs", e->programs);
	json_uint(j, "runs", e->runs);
	json_double(j, "inside_seconds", e->inside * 1e-9);
	json_double(j, "calling_seconds", e->calling * 1e-9);
	json_double(j, "cpu_percent", percent(e->inside + e->calling, seconds));
	json_open(j, "meters", '[');
	for (int id = 0; id < NR_METERS; id++)
		if (e->users.meters >> id & 1)
			json_string(j, NULL, meters[id]->name);
	json_close(j);
	json_open(j, "points", '[');
	for (int p = 0; p < NR_POINTS; p++)
		if (e->users.points >> p & 1)
			json_string(j, NULL, point_names[p]);
	json_close(j);
	json_close(j);
}

static void cost_json(const struct snapshot *all, unsigned nr, const struct cost *c,
		      double packets)
{
	double sum = c->inside + c->calls;
	struct json j = { .out = stdout };

	json_open(&j, NULL, '{');
	json_open(&j, "interfaces", '[');
	for (unsigned i = 0; i < nr; i++)
		json_string(&j, NULL, all[i].name);
	json_close(&j);
	json_double(&j, "seconds", c->seconds);
	json_double(&j, "cpu_percent", percent(sum, c->seconds));
	if (packets >= 0)
		json_double(&j, "packets", packets);
	if (packets >= 1)
		json_double(&j, "seconds_per_packet", sum * 1e-9 / packets);
	json_double(&j, "inside_seconds", c->inside * 1e-9);
	json_double(&j, "calling_seconds", c->calls * 1e-9);
	json_double(&j, "first_program_seconds", c->calling.first * 1e-9);
	json_double(&j, "further_program_seconds", c->calling.further * 1e-9);
	json_double(&j, "timing_seconds_per_run", c->calling.timed * 1e-9);
	if (untimed(all, nr, c))
		json_string(&j, "remark", untimed(all, nr, c));
	json_open(&j, "events", '[');
	for (unsigned i = 0; i < c->nr; i++)
		event_json(&j, &c->events[i], c->seconds);
	json_close(&j);
	json_close(&j);
	putchar('\n');
}

static int take(const struct view *v, struct snapshot *all)
{
	int lock = pins_lock(false, v->error), err = lock < 0 ? lock : 0;

	for (unsigned i = 0; i < v->nr && !err; i++) {
		err = snapshot_take(&all[i], v->dirs[i], v->error);
		if (err == -ENOENT || err == -ENODATA)
			error_set(v->error, err, NULL, "%s was detached meanwhile",
				  v->iface ?: "an interface");
	}
	pins_unlock(lock);
	return err;
}

/* Keeps the result for `nicprobe show`. */
static int keep(const struct view *v, double ns)
{
	int lock = pins_lock(true, v->error), err = lock < 0 ? lock : 0;

	for (unsigned i = 0; i < v->nr && !err; i++)
		err = cost_keep(v->dirs[i], ns, v->error);
	pins_unlock(lock);
	return err;
}

int cost_measure(const struct view *v, struct snapshot *before, struct snapshot *now,
		 bool (*wait)(double seconds), struct cost *cost, double *packets)
{
	struct cost_watch *watch;
	bool counted = true;
	int err, end;

	watch = cost_begin((const char (*)[DIR_SIZE])v->dirs, v->nr, v->error);
	if (!watch)
		return -EIO;
	err = take(v, before);		/* within: a packet that is counted has its runs */
	if (!err && !wait(v->interval))
		err = -EINTR;
	err = err ?: take(v, now);
	end = cost_end(watch, err ? NULL : cost, v->error);
	err = err ?: end;
	*packets = 0;
	for (unsigned i = 0; i < v->nr && !err; i++) {
		uint64_t n;

		if (now[i].meta.since != before[i].meta.since)
			err = error_set(v->error, -ENOENT, NULL, "%s was attached anew meanwhile",
					now[i].name);
		else
			snapshot_diff(&now[i], &before[i]);
		counted = counted && packets_both(&now[i], &n);
		if (!err && counted)
			*packets += n;
	}
	if (!counted)
		*packets = -1;
	if (!err && *packets >= 1)
		err = keep(v, (cost->inside + cost->calls) / *packets);
	return err;
}

static bool wait_for(double seconds)
{
	struct timespec next;

	clock_gettime(CLOCK_MONOTONIC, &next);
	show_wait(&next, seconds);
	return true;
}

static int measure(const struct view *v, struct snapshot *before, struct snapshot *now)
{
	struct cost cost = {};
	double packets;
	int err = cost_measure(v, before, now, wait_for, &cost, &packets);

	if (!err)
		(json_wanted ? cost_json : cost_print)(now, v->nr, &cost, packets);
	free(cost.events);
	return err;
}

static int cost_of(struct view *v, const char *iface)
{
	struct snapshot *before, *now;
	int lock = pins_lock(false, v->error), err;

	if (lock < 0 && lock != -ENOENT)
		return failed(v->error);
	err = show_interfaces(v, iface);
	pins_unlock(lock);
	if (!err && !v->nr)
		err = error_set(v->error, -ENOENT, "nicprobe attach IFACE", "nothing is attached");
	if (err)
		return failed(v->error);
	before = calloc(v->nr, sizeof(*before));
	now = calloc(v->nr, sizeof(*now));
	err = before && now ? measure(v, before, now) :
	      error_set(v->error, -ENOMEM, NULL, "out of memory");
	for (unsigned i = 0; before && now && i < v->nr; i++) {
		snapshot_free(&before[i]);
		snapshot_free(&now[i]);
	}
	free(before);
	free(now);
	return err ? failed(v->error) : EXIT_SUCCESS;
}

static const struct option_spec options[] = {
	{ 'w', "window", "SECONDS", "measure for this long (default: 1)", OPTION_NUMBER,
	  INTO(struct view, interval), SECONDS },
	{}
};

static int run(int argc, char **argv)
{
	struct error e = {};
	struct view v = { .error = &e, .interval = 1 };
	int status;

	if (!options_take(&command_cost, argc, argv, &v, &status))
		return status;
	if (optind + 1 < argc)
		return usage_error("nicprobe cost IFACE", "cost takes one interface, or none: all");
	if (kernel_permits_all(&e))
		return failed(&e);
	netns_go_home();
	status = cost_of(&v, argv[optind]);
	free(v.dirs);
	return status;
}

const struct command command_cost = {
	.name = "cost",
	.args = "[[NETNS/]IFACE] [-w SECONDS]",
	.help = "measure what nicprobe itself takes of the CPUs",
	.options = { options },
	.run = run,
};

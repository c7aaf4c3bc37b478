/* SPDX-License-Identifier: GPL-2.0 */
/* nicprobe record: keeps what show would show, a frame after each interval, in a file. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cmd/child.h"
#include "cmd/cmd.h"
#include "cmd/kept.h"
#include "lib/attach/held.h"
#include "lib/util/amount.h"
#include "lib/util/clock.h"
#include "lib/util/error.h"
#include "lib/util/heap.h"
#include "lib/util/log.h"
#include "render/units.h"

#define SLICE_NS	20000000	/* a command that has ended is noticed after this */

struct wanted {
	double interval, most, ring;
};

static bool span_take(const char *option, const char *value, double *seconds)
{
	if (time_parse(value, seconds))
		return true;
	usage_error(text("%s 10m", option), "%s takes a time like 90s, 10m, 1h or 2d, not \"%s\"",
		    option, value);
	return false;
}

static bool for_take(void *to, const char *value)
{
	return span_take("--for", value, &((struct wanted *)to)->most);
}

static bool ring_take(void *to, const char *value)
{
	struct wanted *w = to;

	if (!span_take("--ring", value, &w->ring))
		return false;
	if (w->ring >= 10)
		return true;
	usage_error("--ring 1h", "--ring takes 10s or more, not \"%s\"", value);
	return false;
}

static const struct option_spec options[] = {
	{ 'i', "interval", "SECONDS", "the time between two frames (default: 1)",
	  OPTION_NUMBER, INTO(struct wanted, interval), .least = .1, .most = 3600, .example = "1" },
	{ 0, "for", "TIME", "stop after 90s, 10m, 1h or 2d (default: at Ctrl-C, or\n"
			    "when COMMAND ends)", .take = for_take },
	{ 0, "ring", "TIME", "keep the last TIME in FILE and FILE.old, at most twice\n"
			     "as much; what is older is removed", .take = ring_take },
	{}
};

/* While it is recorded. */
struct going {
	bool command;		/* a command runs */
	int status;		/* its exit status, once it has ended */
};

/* Until `next`; false: the command ended, or there is none and a signal came. */
static bool wait_until(uint64_t next, struct going *g)
{
	for (;;) {
		uint64_t now = clock_ns(CLOCK_MONOTONIC), left = next > now ? next - now : 0;
		struct timespec slice;

		if (g->command ? child_ended(&g->status) : child_signal()) {
			g->command = false;
			return false;
		}
		if (!left)
			return true;
		if (g->command && left > SLICE_NS)
			left = SLICE_NS;
		slice = (struct timespec){ left / 1000000000, left % 1000000000 };
		clock_nanosleep(CLOCK_MONOTONIC, 0, &slice, NULL);
	}
}

/* A frame at each interval until the end, and one there. 0 or -errno. */
static int frames(struct kept *k, const struct wanted *w, struct going *g, struct error *e)
{
	uint64_t begin = clock_ns(CLOCK_MONOTONIC), step = w->interval * 1e9, nr = 0;
	uint64_t end = w->most ? begin + (uint64_t)(w->most * 1e9) : UINT64_MAX, next, now;
	bool more = true;
	int err;

	heap_keep();
	held_until(w->interval);
	for (;;) {
		k->last = !more || clock_ns(CLOCK_MONOTONIC) >= end;
		err = kept_frame(k, e);
		held_until(w->interval);
		kept_progress(k);
		now = clock_ns(CLOCK_MONOTONIC);
		if (err || k->last)
			return err;
		while ((next = begin + ++nr * step) <= now)	/* it is late: not twice at once */
			;
		more = wait_until(next < end ? next : end, g);
	}
}

static int record(struct kept *k, const struct wanted *w, char **argv, struct error *e)
{
	int status = argv ? child_start(argv) : 0, err;
	struct going g = { .command = argv };

	if (status)
		return status;
	err = frames(k, w, &g, e);
	kept_progress_end(k);
	if (err)
		failed(e);
	if (g.command)		/* it goes on, whatever became of the recording */
		child_end();
	if (err)
		return EXIT_FAILURE;
	if (!kept_any(k)) {
		error_set(e, -ENODATA, "nicprobe attach IFACE", "nothing was attached meanwhile: "
			  "%s has no frames", k->how.path);
		return failed(e);
	}
	kept_tell(k);
	return argv ? g.status : child_signal() && child_signal() != SIGINT ?
	       128 + child_signal() : EXIT_SUCCESS;
}

/* What follows "--" is the command; it ends the operands here. NULL: there is none. */
static char **command_of(int *argc, char **argv)
{
	for (int i = 1; i < *argc; i++)
		if (!strcmp(argv[i], "--")) {
			argv[i] = NULL;
			*argc = i;
			return argv + i + 1;
		}
	return NULL;
}

static int run(int argc, char **argv)
{
	struct wanted w = { .interval = 1 };
	char **command = command_of(&argc, argv);
	struct kept k = {};
	struct error e = {};
	int status, wrong;

	if (!options_take(&command_record, argc, argv, &w, &status))
		return status;
	if (optind >= argc)
		return usage_error("nicprobe record FILE", "record needs a file to write to");
	if (command && !*command)
		return usage_error("nicprobe record FILE -- COMMAND", "there is no command "
				   "after --");
	if (command && w.most)
		return usage_error("leave out --for", "record ends with COMMAND, or after --for: "
				   "not both");
	wrong = command ? child_wrong(*command) : 0;
	if (wrong) {
		error_set(&e, -wrong, NULL, "cannot run %s: %s", *command, strerror(wrong));
		failed(&e);
		return wrong == ENOENT ? 127 : 126;
	}
	k.how = (struct recorder_how){ argv[optind], w.interval, w.ring };
	signals_ready();
	if (kept_open(&k, argv + optind + 1, command, &e))
		return failed(&e);
	status = record(&k, &w, command, &e);
	kept_close(&k);
	return status;
}

const struct command command_record = {
	.name = "record",
	.args = "FILE [[NETNS/]IFACE…] [OPTION…] [-- COMMAND…]",
	.help = "keep the measurements in a file, for show --from",
	.options = { options },
	.run = run,
};

/* SPDX-License-Identifier: GPL-2.0 */
/* The options of attach and run that select what to measure, and how. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/words.h"
#include "lib/core/hook.h"
#include "lib/util/amount.h"
#include "lib/util/log.h"

#define SAMPLE_MOST	1000000

static __u64 meter_bit(const char *name)
{
	const struct meter *m = meter_find(name);

	if (m)
		return 1ull << meter_id(m);
	if (!strcmp(name, "hw")) {
		usage_error("nicprobe show IFACE hw",
			    "hw is not a meter: it needs no attach");
		return 0;
	}
	usage_error(did_you_mean("@meters", name, "", "nicprobe list -v"), "no meter \"%s\"", name);
	return 0;
}

__u64 meters_parse(const char *list)
{
	char *copy = strdup(list), *rest, *name;
	__u64 bits = 0;

	for (name = strtok_r(copy, ",", &rest); name; name = strtok_r(NULL, ",", &rest)) {
		__u64 bit = strcmp(name, "all") ? meter_bit(name) : (1ull << NR_METERS) - 1;

		if (!bit) {
			bits = 0;
			goto out;
		}
		bits |= bit;
	}
	if (!bits)
		usage_error("nicprobe list -v", "-m needs a meter");
out:
	free(copy);
	return bits;
}

bool hook_choosable(const struct hook *t)
{
	return t->points & 1 << RX_NIC || t == &hook_tc;
}

static bool rx_take(void *to, const char *name)
{
	struct request *req = to;

	req->rx = strcmp(name, "auto") ? name : NULL;
	if (!req->rx)
		return true;
	for (const struct hook *const *t = hooks; *t; t++)
		if (hook_choosable(*t) && !strcmp((*t)->name, name))
			return true;
	usage_error(did_you_mean("@hooks", name, "--rx ", "--rx auto"),
		    "no hook \"%s\" for received packets", name);
	return false;
}

static bool globs_check(const char *globs, const char *option)
{
	if (globs[strspn(globs, ",")])
		return true;
	usage_error(text("%s 'ena_*'", option), "%s needs a function", option);
	return false;
}

bool request_fits(struct request *req)
{
	if (req->budget && req->sample) {
		usage_error("leave out --sample", "--budget sets how many packets are followed, "
			    "and so does --sample");
		return false;
	}
	req->adapts |= req->budget;
	if (req->meters >> METER_driver & 1 ||
	    (!req->functions && !req->timed && !req->max_functions))
		return true;
	usage_error("-m driver", "%s requires the meter driver",
		    req->functions ? "--functions" : req->timed ? "--time" : "--max-functions");
	return false;
}

/* "+qdisc,-irq": each with its sign. */
static bool changes_parse(struct request *req, const char *list)
{
	char *copy = strdupa(list), *rest;

	for (char *name = strtok_r(copy, ",", &rest); name; name = strtok_r(NULL, ",", &rest)) {
		__u64 bit = strchr("+-", *name) && name[1] ? meter_bit(name + 1) : 0;

		if (!name[1])
			usage_error("nicprobe list -v", "-m %s needs a meter", name);
		else if (!strchr("+-", *name))
			usage_error(text("-m +%s or -m -%s", name, name), "either every meter "
				    "of -m has a + or - before it, or none: %s has none", name);
		if (!bit)
			return false;
		*(*name == '+' ? &req->added : &req->removed) |= bit;
		*(*name == '+' ? &req->removed : &req->added) &= ~bit;
	}
	req->meters = (req->meters | req->added) & ~req->removed;
	return true;
}

static bool meters_take(void *to, const char *list)
{
	struct request *req = to;

	if (*list && strchr("+-", *list))
		return changes_parse(req, list);
	req->meters = meters_parse(list);
	req->by_name = strcmp(list, "all");	/* "all" skips meters that cannot work */
	return req->meters;
}

static bool sample_take(void *to, const char *value)
{
	struct request *req = to;

	req->adapts = !strcmp(value, "auto");
	req->sample = 0;
	if (req->adapts)
		return true;
	if (count_parse(value, 1, SAMPLE_MOST, &req->sample))
		return true;
	usage_error("--sample 16", "--sample takes a whole number from 1 to %u, or auto, not "
		    "\"%s\"", SAMPLE_MOST, value);
	return false;
}

static bool budget_take(void *to, const char *value)
{
	struct request *req = to;

	if (percent_parse(value, &req->budget))
		return true;
	usage_error("--budget 2", "--budget takes a percentage from 0.01 to 100, not \"%s\"",
		    value);
	return false;
}

static bool functions_take(void *to, const char *globs)
{
	(void)to;
	return globs_check(globs, "--functions");
}

static bool time_take(void *to, const char *globs)
{
	(void)to;
	return globs_check(globs, "--time");
}

const struct option_spec request_options[] = {
	{ 'm', "meters", "METER,…", "attach these, or fail (default: all cheap ones that\n"
				    "work here); +METER, -METER: add or remove one",
	  .words = "@meters all", .list = true, .take = meters_take },
	{ 0, "rx", "HOOK", "the hook for received packets: auto (default),\n"
			   "xdp, driver, tc, xdp-generic",
	  .words = "@hooks", .take = rx_take },
	{ 0, "sample", "N", "follow one packet in N, 1: all; auto (default):\n"
			    "all, but no more than 10000 per second and CPU",
	  .words = "auto", .take = sample_take },
	{ 0, "budget", "PERCENT", "auto, but so many as take this much of each CPU",
	  .take = budget_take },
	{ 0, "stacks", NULL, "record the kernel stack of each drop",
	  OPTION_FLAG, INTO(struct request, stacks) },
	{ 0, "group", "GROUP", "let members of GROUP use show and list without root",
	  OPTION_STRING, INTO(struct request, group), .words = "@groups" },
	{ .help = "For the meter driver:" },
	{}
};

const struct option_spec driver_options[] = {
	{ 0, "functions", "GLOB,…", "count calls of these functions instead of the known\n"
				    "ones; MODULE:GLOB: of one module",
	  OPTION_STRING, INTO(struct request, functions), .take = functions_take },
	{ 0, "time", "GLOB,…", "also measure how long these functions take",
	  OPTION_STRING, INTO(struct request, timed), .take = time_take },
	{ 0, "max-functions", "N", "fail rather than attach to more (default: 512)",
	  OPTION_COUNT, INTO(struct request, max_functions), 1, 100000, .example = "512" },
	{}
};

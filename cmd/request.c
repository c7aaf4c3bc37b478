/* SPDX-License-Identifier: GPL-2.0 */
/* The options of attach and run that select what to measure, and how. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "lib/core/hook.h"
#include "lib/util/log.h"
#include "lib/util/near.h"

static __u64 meter_bit(const char *name)
{
	const struct meter *m = meter_find(name);
	struct near near = near_to(name);

	if (m)
		return 1ull << meter_id(m);
	if (!strcmp(name, "hw")) {
		usage_error("nicprobe show IFACE hw",
			    "hw is not a meter: it needs no attach");
		return 0;
	}
	for (int id = 0; id < NR_METERS; id++)
		near_try(&near, meters[id]->name);
	usage_error(*near.name ? near.name : "nicprobe list -v", "no meter \"%s\"", name);
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

static bool rx_parse(struct request *req, const char *name)
{
	struct near near = near_to(name);

	near_try(&near, "auto");
	req->rx = strcmp(name, "auto") ? name : NULL;
	if (!req->rx)
		return true;
	for (const struct hook *const *t = hooks; *t; t++) {
		if (!hook_choosable(*t))
			continue;
		near_try(&near, (*t)->name);
		if (!strcmp((*t)->name, name))
			return true;
	}
	usage_error(*near.name ? text("--rx %s", near.name) : "--rx auto",
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

bool request_fits(const struct request *req)
{
	if (req->meters >> METER_driver & 1 ||
	    (!req->functions && !req->timed && !req->max_functions))
		return true;
	usage_error("-m driver", "%s requires the meter driver",
		    req->functions ? "--functions" : req->timed ? "--time" : "--max-functions");
	return false;
}

static bool number_parse(unsigned *to, const char *option, unsigned example, unsigned most)
{
	unsigned long number;
	char *end;

	number = strtoul(optarg, &end, 10);
	if (*end || end == optarg || !number || number > most) {
		usage_error(text("%s %u", option, example), "%s takes a whole number from 1 to "
			    "%u, not \"%s\"", option, most, optarg);
		return false;
	}
	*to = number;
	return true;
}

/* "+qdisc,-irq": each with its sign. */
static bool changes_parse(struct request *req, const char *list)
{
	char *copy = strdupa(list), *rest;

	for (char *name = strtok_r(copy, ",", &rest); name; name = strtok_r(NULL, ",", &rest)) {
		__u64 bit = strchr("+-", *name) ? meter_bit(name + 1) : 0;

		if (!strchr("+-", *name))
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

bool request_option(struct request *req, int option)
{
	req->tell = tell;
	switch (option) {
	case 'm':
		if (*optarg && strchr("+-", *optarg))
			return changes_parse(req, optarg);
		req->meters = meters_parse(optarg);
		req->by_name = strcmp(optarg, "all");	/* "all" skips meters that cannot work */
		return req->meters;
	case 'R':
		return rx_parse(req, optarg);
	case 'G':
		req->group = optarg;
		return true;
	case 'K':
		req->stacks = true;
		return true;
	case 'F':
		req->functions = optarg;
		return globs_check(optarg, "--functions");
	case 'T':
		req->timed = optarg;
		return globs_check(optarg, "--time");
	case 'X':
		return number_parse(&req->max_functions, "--max-functions", 512, 100000);
	case 'S':
		return number_parse(&req->sample, "--sample", 16, 1000000);
	}
	return true;
}

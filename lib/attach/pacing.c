/* SPDX-License-Identifier: GPL-2.0 */
/* How much time meters may take to follow packets: written to a map, where programs read it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "lib/attach/pacing.h"
#include "lib/core/meter.h"
#include "lib/core/pace.h"
#include "lib/kernel/yard.h"
#include "lib/util/error.h"

#define SLICE_NS	16000000	/* a slice is at least this long… */
#define SLICE_PACKETS	16		/* …and so long that it may follow so many… */
#define SLICE_MOST_NS	1000000000	/* …but no longer */
#define PS		1000		/* the unit of plans is a picosecond */

unsigned pacing_tick(void)
{
	struct timespec tick;

	/* the coarse clock advances by ticks, and nothing else tells how long one is */
	if (clock_getres(CLOCK_MONOTONIC_COARSE, &tick) || tick.tv_sec || !tick.tv_nsec)
		return 10000000;
	return tick.tv_nsec;
}

struct pace_plan pacing_plan(const struct meter *m, unsigned meters, unsigned budget, unsigned tick,
			     double yard)
{
	struct pace_plan plan = {
		.take = m->thins.take * PS * yard / YARD_NS,
		.pass = m->thins.pass * PS * yard / YARD_NS,
	};
	double slice;

	if (budget) {
		plan.room = (double)tick * PS * budget / 1e6 / meters;
	} else {
		plan.pass = 0;
		plan.room = (double)tick * plan.take * PACE_RATE / 1e9;
		plan.burst = PACE_RATE;
	}
	slice = plan.room ? (double)SLICE_PACKETS * plan.take / plan.room * tick : SLICE_MOST_NS;
	slice = slice < SLICE_NS ? SLICE_NS : slice > SLICE_MOST_NS ? SLICE_MOST_NS : slice;
	plan.ticks = slice / tick + .5 < 1 ? 1 : slice / tick + .5;
	return plan;
}

static int plans_write(int fd, const struct meta *meta)
{
	unsigned nr = 0, tick = pacing_tick();
	static double yard;	/* measured once */
	int err = 0;

	for (int id = 0; id < NR_METERS; id++)
		nr += meta->on >> id & 1 && meter_adapts(meters[id], meta);
	if (nr && meta->budget && !yard)
		err = yard_measure(&yard);
	for (__u32 id = 0; id < NR_METERS && !err; id++) {
		struct pace_plan plan;

		if (!(meta->on >> id & 1) || !meter_adapts(meters[id], meta))
			continue;
		plan = pacing_plan(meters[id], nr, meta->budget, tick, yard ?: YARD_NS);
		if (bpf_map_update_elem(fd, &id, &plan, BPF_ANY))
			err = -errno;
	}
	return err;
}

static int counts_forget(int fd, const struct meta *meta, __u64 bits)
{
	struct pace *none = calloc(meta->cpus, sizeof(*none));
	int err = none ? 0 : -ENOMEM;

	for (__u32 id = 0; id < NR_METERS && !err; id++)
		if (bits >> id & 1 && bpf_map_update_elem(fd, &id, none, BPF_ANY))
			err = -errno;
	free(none);
	return err;
}

int pacing_begin(const struct site *site, const struct meta *meta, __u64 bits)
{
	int plan = bpf_obj_get(pin_path(site, PACE_PLAN_MAP)), counts = -1;
	int err = plan < 0 ? -errno : plans_write(plan, meta);

	if (bits && !err)
		counts = bpf_obj_get(pin_path(site, PACE_MAP));
	if (bits && !err)
		err = counts < 0 ? -errno : counts_forget(counts, meta, bits);
	if (plan >= 0)
		close(plan);
	if (counts >= 0)
		close(counts);
	return err ? error_set(site->error, err, NULL, "cannot say how many packets to follow: %s",
			       strerror(-err)) : 0;
}

int pacing_write(const struct site *site, const struct meta *meta)
{
	bool none = !meta->adapts || access(pin_path(site, PACE_PLAN_MAP), F_OK);

	return none ? 0 : pacing_begin(site, meta, 0);
}

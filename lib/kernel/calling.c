/* SPDX-License-Identifier: GPL-2.0 */
/* What this kernel takes to run BPF programs at a tracepoint, and to time them. */
#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "lib/kernel/calling.h"
#include "lib/util/clock.h"
#include "lib/util/error.h"
#include "calling.skel.h"

#define EVENTS	500		/* of one try… */
#define TRIES	20		/* …of which the quickest counts: nothing interrupted it */

/* ns for one event. The name stays the same: nobody sees that it was set. */
static double event_ns(void)
{
	char name[16] = "";
	double best = 0;

	prctl(PR_GET_NAME, name);
	for (int try = 0; try < TRIES; try++) {
		uint64_t begin = clock_ns(CLOCK_MONOTONIC);
		double ns;

		for (int i = 0; i < EVENTS; i++)
			prctl(PR_SET_NAME, name);
		ns = (double)(clock_ns(CLOCK_MONOTONIC) - begin) / EVENTS;
		if (!try || ns < best)
			best = ns;
	}
	return best;
}

static int statistics(const struct bpf_program *prog, struct bpf_prog_info *info)
{
	__u32 len = sizeof(*info);

	memset(info, 0, sizeof(*info));
	return bpf_obj_get_info_by_fd(bpf_program__fd(prog), info, &len) ? -errno : 0;
}

/* While the statistics are on, with one program attached, which takes `one` without them. */
static int timed(const struct bpf_program *prog, double one, struct calling *c)
{
	struct bpf_prog_info before, after;
	int fd = bpf_enable_stats(BPF_STATS_RUN_TIME), err;

	if (fd < 0)
		return -errno;
	err = statistics(prog, &before);
	c->timed = event_ns() - one;
	err = err ?: statistics(prog, &after);
	close(fd);
	if (!err && after.run_cnt == before.run_cnt)
		err = -ENODATA;
	if (!err)
		c->inside = (double)(after.run_time_ns - before.run_time_ns) /
			    (after.run_cnt - before.run_cnt);
	return err;
}

static int measure(const struct bpf_program *prog, const struct bpf_program *further,
		   struct calling *c)
{
	double none = event_ns(), one, two;
	struct bpf_link *first = bpf_program__attach(prog), *second;
	int err;

	if (!first)
		return -errno;
	one = event_ns();
	err = timed(prog, one, c);
	second = err ? NULL : bpf_program__attach(further);
	if (!err && !second)
		err = -errno;
	two = event_ns();
	bpf_link__destroy(second);
	bpf_link__destroy(first);
	c->first = one > none ? one - none : 0;
	c->further = two > one ? two - one : 0;
	c->timed = c->timed > 0 ? c->timed : 0;
	return err;
}

int calling_measure(struct calling *c, struct error *e)
{
	struct calling_bpf *obj = calling_bpf__open_and_load();
	int err = obj ? 0 : -errno, cpu = sched_getcpu();
	cpu_set_t all, here;

	if (!err) {
		CPU_ZERO(&here);
		CPU_SET(cpu, &here);
		if (sched_getaffinity(0, sizeof(all), &all) || cpu < 0 ||
		    sched_setaffinity(0, sizeof(here), &here))
			cpu = -1;
		err = measure(obj->progs.calling, obj->progs.calling_further, c);
		if (cpu >= 0)
			sched_setaffinity(0, sizeof(all), &all);
	}
	calling_bpf__destroy(obj);
	return err ? error_set(e, err, NULL, "cannot measure what the kernel takes to run a "
			       "program: %s", strerror(-err)) : 0;
}

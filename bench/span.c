/* SPDX-License-Identifier: GPL-2.0 */
/* Wall and CPU time, and the CPU and network namespace of the process. */
#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "lib/net/iface.h"
#include "bench.h"

static uint64_t now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

struct span span_begin(void)
{
	return (struct span){ now(CLOCK_MONOTONIC), now(CLOCK_PROCESS_CPUTIME_ID) };
}

struct span span_so_far(const struct span *s)
{
	return (struct span){ now(CLOCK_MONOTONIC) - s->wall,
			      now(CLOCK_PROCESS_CPUTIME_ID) - s->cpu };
}

unsigned int span_ms(const struct span *s)
{
	return (now(CLOCK_MONOTONIC) - s->wall) / 1000000;
}

void cpu_pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("cannot pin to CPU %d: %s", cpu, strerror(errno));
	setpriority(PRIO_PROCESS, 0, -20);	/* preemption would leave cold caches */
}

void enter(const char *netns)
{
	if (netns_enter(netns, NULL))
		die("cannot enter the network namespace %s", netns);
}

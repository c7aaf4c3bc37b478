/* SPDX-License-Identifier: GPL-2.0 */
/* Reads CPU time from /proc/stat, and PMU counters if available. */
#include <dirent.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/proc/load.h"
#include "lib/util/log.h"
#include "trial/scenario/effort.h"

static int counter_open(enum pmu what, int cpu)
{
	static const unsigned long long config[NR_PMU] = {
		[PMU_CYCLES] = PERF_COUNT_HW_CPU_CYCLES,
		[PMU_INSTRUCTIONS] = PERF_COUNT_HW_INSTRUCTIONS,
		[PMU_CACHE_MISSES] = PERF_COUNT_HW_CACHE_MISSES,
	};
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE, .size = sizeof(attr), .config = config[what],
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
	};

	return syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static const char *why_not(int err)
{
	if (err == EACCES || err == EPERM)
		return "not permitted: see sysctl kernel.perf_event_paranoid";
	return err == ENOENT || err == EOPNOTSUPP || err == ENODEV ?
	       "this machine has no PMU (as most virtual machines)" : strerror(err);
}

/* Finds the ksoftirqd threads; they are not visible in a PID namespace. */
static void softirqd_find(struct pmus *p)
{
	DIR *proc = opendir("/proc");
	const struct dirent *e;
	char name[32];
	unsigned cpu;

	while (proc && (e = readdir(proc))) {
		FILE *f = *e->d_name < '1' || *e->d_name > '9' ? NULL :
			  fopen(text("/proc/%s/comm", e->d_name), "re");

		if (f && fgets(name, sizeof(name), f) &&
		    sscanf(name, "ksoftirqd/%u", &cpu) == 1 && cpu < EFFORT_CPUS)
			p->softirqd[cpu] = atoi(e->d_name);
		if (f)
			fclose(f);
	}
	if (proc)
		closedir(proc);
}

/* Run time in ns: the first number of schedstat. */
static uint64_t process_ran(int pid)
{
	FILE *f = pid ? fopen(text("/proc/%d/schedstat", pid), "re") : NULL;
	unsigned long long ran = 0;

	if (f && fscanf(f, "%llu", &ran) != 1)
		ran = 0;
	if (f)
		fclose(f);
	return ran;
}

void pmus_open(struct pmus *p)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);

	*p = (struct pmus){ .nr = cpus < EFFORT_CPUS ? cpus : EFFORT_CPUS };
	softirqd_find(p);
	p->fd = calloc(p->nr, sizeof(*p->fd));
	if (!p->fd)
		p->nr = 0;
	for (unsigned cpu = 0; cpu < p->nr; cpu++)
		for (int i = 0; i < NR_PMU; i++) {
			p->fd[cpu][i] = counter_open(i, cpu);
			if (p->fd[cpu][i] < 0 && !*p->why)
				snprintf(p->why, sizeof(p->why), "%s", why_not(errno));
			p->has[i] |= p->fd[cpu][i] >= 0;	/* some CPUs may be offline */
		}
	if (!p->has[PMU_CYCLES])
		pmus_close(p);
}

void pmus_close(struct pmus *p)
{
	for (unsigned cpu = 0; cpu < p->nr; cpu++)
		for (int i = 0; i < NR_PMU; i++)
			if (p->fd[cpu][i] >= 0)
				close(p->fd[cpu][i]);
	free(p->fd);
	memset(p->has, 0, sizeof(p->has));
	p->fd = NULL;
	p->nr = 0;
}

/* Scales a counter that the kernel multiplexed for lack of hardware counters. */
static uint64_t counter_read(int fd)
{
	struct { uint64_t value, enabled, running; } c = {};

	if (fd < 0 || read(fd, &c, sizeof(c)) != sizeof(c) || !c.running)
		return 0;
	return c.running == c.enabled ? c.value : (double)c.value * c.enabled / c.running;
}

void effort_read(const struct pmus *p, struct effort *e)
{
	uint64_t tick = 1000000000ull / sysconf(_SC_CLK_TCK);
	struct cpu_load l;

	load_read(&l);
	*e = (struct effort){ .cpus = l.nr < EFFORT_CPUS ? l.nr : EFFORT_CPUS };
	for (unsigned cpu = 0; cpu < e->cpus; cpu++) {
		const uint64_t *ticks = l.ticks[cpu];

		for (int i = 0; i < NR_SPENT; i++)
			e->all[cpu] += ticks[i] * tick;
		e->busy[cpu] = e->all[cpu] - tick * (ticks[SPENT_IDLE] + ticks[SPENT_IOWAIT] +
						     ticks[SPENT_STEAL]);
		e->softirqd[cpu] = process_ran(p->softirqd[cpu]);
	}
	load_free(&l);
	for (unsigned cpu = 0; cpu < p->nr; cpu++)
		for (int i = 0; i < NR_PMU; i++)
			e->pmu[i] += counter_read(p->fd[cpu][i]);
}

void effort_diff(struct effort *now, const struct effort *before)
{
	for (unsigned cpu = 0; cpu < now->cpus; cpu++) {
		now->busy[cpu] -= before->busy[cpu];
		now->all[cpu] -= before->all[cpu];
		now->softirqd[cpu] -= before->softirqd[cpu];
	}
	for (int i = 0; i < NR_PMU; i++)
		now->pmu[i] -= before->pmu[i];
}

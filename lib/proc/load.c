/* SPDX-License-Identifier: GPL-2.0 */
/* CPU time from /proc/stat: since boot, or between two moments. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/proc/cpus.h"
#include "lib/proc/load.h"

#define ENOUGH	20	/* ticks: a share of fewer means little */

static int room(struct cpu_load *l, unsigned cpu)
{
	unsigned nr = l->nr ?: 4;
	uint64_t (*ticks)[NR_SPENT];

	while (nr <= cpu)
		nr *= 2;
	if (nr == l->nr)
		return 0;
	ticks = realloc(l->ticks, nr * sizeof(*ticks));
	if (!ticks)
		return -ENOMEM;
	memset(ticks + l->nr, 0, (nr - l->nr) * sizeof(*ticks));
	l->ticks = ticks;
	l->nr = nr;
	return 0;
}

/* "cpu3 100 0 50 …"; skips the line "cpu", which is the sum. */
int load_parse(FILE *f, struct cpu_load *l)
{
	char line[512];

	*l = (struct cpu_load){};
	while (fgets(line, sizeof(line), f) && !strncmp(line, "cpu", 3)) {
		char *at = line + 3;
		unsigned long cpu = strtoul(at, &at, 10);

		if (!isdigit((unsigned char)line[3]) || cpu >= MAX_CPUS)
			continue;
		if (room(l, cpu))
			return -ENOMEM;
		for (unsigned i = 0; i < NR_SPENT; i++)
			l->ticks[cpu][i] = strtoull(at, &at, 10);
	}
	return 0;
}

int load_read(struct cpu_load *l)
{
	FILE *f = fopen("/proc/stat", "re");
	int err;

	*l = (struct cpu_load){};
	if (!f)
		return -errno;
	err = load_parse(f, l);
	fclose(f);
	return err;
}

void load_free(struct cpu_load *l)
{
	free(l->ticks);
	*l = (struct cpu_load){};
}

/* iowait may decrease (proc(5)): counts as 0 then. */
void load_diff(struct cpu_load *now, const struct cpu_load *before)
{
	if (!before->nr)
		load_free(now);
	for (unsigned cpu = 0; cpu < now->nr; cpu++)
		for (unsigned i = 0; i < NR_SPENT; i++) {
			uint64_t old = cpu < before->nr ? before->ticks[cpu][i] : 0;
			uint64_t *new = &now->ticks[cpu][i];

			*new = *new > old ? *new - old : 0;
		}
}

int load_copy(struct cpu_load *to, const struct cpu_load *from)
{
	*to = (struct cpu_load){};
	if (!from->nr)
		return 0;
	to->ticks = malloc(from->nr * sizeof(*to->ticks));
	if (!to->ticks)
		return -ENOMEM;
	memcpy(to->ticks, from->ticks, from->nr * sizeof(*to->ticks));
	to->nr = from->nr;
	return 0;
}

double load_share(const struct cpu_load *l, unsigned cpu, enum spent what)
{
	double all = 0;	/* as a double, so that the sum of large counts cannot wrap */

	for (unsigned i = 0; cpu < l->nr && i < NR_SPENT; i++)
		all += l->ticks[cpu][i];
	return all >= ENOUGH ? l->ticks[cpu][what] / all : NAN;
}

double load_network(const struct cpu_load *l, unsigned cpu)
{
	return load_share(l, cpu, SPENT_IRQ) + load_share(l, cpu, SPENT_SOFTIRQ);
}

double load_idle(const struct cpu_load *l, unsigned cpu)
{
	return load_share(l, cpu, SPENT_IDLE) + load_share(l, cpu, SPENT_IOWAIT);
}

/* SPDX-License-Identifier: GPL-2.0 */
/* Lines of /proc/stat are parsed, and shares computed between two readings. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib/proc/load.h"

#define SUBJECT "load "
#include "check.h"

static struct cpu_load parsed(const char *lines)
{
	struct cpu_load l = {};
	FILE *f = fmemopen((void *)lines, strlen(lines), "r");

	must(f && !load_parse(f, &l), "a file is read", lines);
	if (f)
		fclose(f);
	return l;
}

/* Shortly after boot, the sum's first figure could pass for a CPU number. */
static void test_sum_is_no_cpu(void)
{
	struct cpu_load l = parsed("cpu  3 0 7 100 0 0 40 0 0 0\n"
				   "cpu0 1 0 5 60 0 0 10 0 0 0\n"
				   "cpu2 2 0 2 40 0 0 30 0 0 0\n"
				   "intr 4711 5\n");

	holds(l.nr > 2 && !load_network(&l, 2) == !l.ticks[2][SPENT_SOFTIRQ], "CPU 2 is there");
	holds(isnan(load_idle(&l, 3)), "the line of the sum is no CPU 3");
	holds(isnan(load_idle(&l, 1)), "CPU 1, which is offline, has no time");
	holds(fabs(load_idle(&l, 0) - 60.0 / 76) < 1e-9, "CPU 0's idle share");
	load_free(&l);
}

static void test_between(void)
{
	struct cpu_load a = parsed("cpu0 10 0 10 100 5 1 10 0\n");
	struct cpu_load b = parsed("cpu0 20 0 30 110 4 1 70 0\n");

	load_diff(&b, &a);
	holds(b.ticks[0][SPENT_IOWAIT] == 0, "iowait that went back is none");
	holds(fabs(load_share(&b, 0, SPENT_SOFTIRQ) - .6) < 1e-9, "of 100 ticks 60 in softirqs");
	holds(isnan(load_share(&b, 5, SPENT_USER)), "a CPU that there is not");
	load_free(&a);
	load_free(&b);
}

int main(void)
{
	test_sum_is_no_cpu();
	test_between();
	return failed;
}

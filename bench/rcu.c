/* SPDX-License-Identifier: GPL-2.0 */
/* Expedites RCU: each XDP test_run patches the dispatcher and waits for two grace periods. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"

#define EXPEDITED "/sys/kernel/rcu_expedited"

static char expedited_before[16];

static void expedited_set(const char *value)
{
	FILE *f = fopen(EXPEDITED, "w");

	if (!f)
		return;		/* not expedited: takes longer */
	fputs(value, f);
	fclose(f);
}

static void expedited_restore(void)
{
	expedited_set(expedited_before);
}

static void interrupted(int number)
{
	exit(128 + number);	/* acceptable here, as our exit handlers do not print */
}

void rcu_expedite(void)
{
	FILE *f = fopen(EXPEDITED, "r");

	if (!f || !fgets(expedited_before, sizeof(expedited_before), f))
		*expedited_before = 0;
	if (f)
		fclose(f);
	if (!*expedited_before)
		return;
	atexit(expedited_restore);
	signal(SIGINT, interrupted);
	signal(SIGTERM, interrupted);
	signal(SIGPIPE, interrupted);
	expedited_set("1");
}

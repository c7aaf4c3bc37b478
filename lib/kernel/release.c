/* SPDX-License-Identifier: GPL-2.0 */
/* What the version of this kernel says of it, where nothing else does. */
#include <string.h>
#include <sys/utsname.h>

#include "lib/core/nic_driver.h"
#include "lib/kernel/release.h"

#define DEFERS "skb_attempt_defer_free"

static unsigned version(void)
{
	static unsigned known;		/* it is asked for in each reading */
	struct utsname here;

	if (!known && !uname(&here))
		known = release_version(here.release);
	return known;
}

bool release_before(unsigned kernel)
{
	return version() && version() < kernel;
}

bool release_defers(void)
{
	return version() >= KERNEL(6, 19);
}

bool release_needs(const char *function)
{
	return strcmp(function, DEFERS) || release_defers();
}

bool release_preempts(void)
{
	return version() >= KERNEL(7, 0);
}

bool release_realtime(void)
{
	struct utsname here;

	return !uname(&here) && strstr(here.version, "PREEMPT_RT");
}

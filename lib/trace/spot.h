/* SPDX-License-Identifier: GPL-2.0 */
/* Where a tracer can stand: what became of a function or tracepoint that a driver's table names. */
#ifndef NICPROBE_SPOT_H
#define NICPROBE_SPOT_H

#include <stdbool.h>

struct spot {
	bool there;
	bool fentry, kprobe;	/* can be put there; functions only */
	char why[64];		/* why not, or where it went; "": nothing to say */
};

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* Where a tracer can attach: the state of a function or tracepoint of a driver's table. */
#ifndef NICPROBE_SPOT_H
#define NICPROBE_SPOT_H

#include <stdbool.h>

struct spot {
	bool there;
	bool fentry, kprobe;	/* can be attached; functions only */
	char why[64];		/* why not, or what it became; "": nothing */
};

#endif

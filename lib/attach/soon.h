/* SPDX-License-Identifier: GPL-2.0 */
/* Links to an interface that are made while programs are loaded. */
#ifndef NICPROBE_SOON_H
#define NICPROBE_SOON_H

#include <stdbool.h>

#include <linux/bpf.h>

struct site;

enum soon_step { SOON_LINK, SOON_PIN };	/* what failed */

/*
 * Makes a link to the interface, and pins it. 0 or -errno; where site->soon, 0 may mean that it is
 * still being made: a failure makes soon_settle() fail, then.
 */
int soon_link(const struct site *, int prog, enum bpf_attach_type, __u32 flags, const char *pin,
	      enum soon_step *failed);
/* Is one still being made? If so, the kernel may let nobody else read interfaces. */
bool soon_pending(void);
/* Waits for all that are still being made. -errno of the first one that failed. */
int soon_settle(void);
/* Did one fail since this was asked last? */
bool soon_failed(void);

#endif

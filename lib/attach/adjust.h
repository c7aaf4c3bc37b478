/* SPDX-License-Identifier: GPL-2.0 */
/* Adds meters to what is attached, and takes some away: what the others have counted stays. */
#ifndef NICPROBE_ADJUST_H
#define NICPROBE_ADJUST_H

#include "lib/attach/attach.h"

struct error;

/*
 * As request->added and ->removed say, in the namespace the process is in. 0 and what is attached
 * now; -ENOENT: it is not attached, without an error; or -errno, an error, and all is as it
 * was.
 */
int adjust_iface(const char *name, const struct request *, struct meta *done, struct error *);

#endif

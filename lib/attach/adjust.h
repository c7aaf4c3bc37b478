/* SPDX-License-Identifier: GPL-2.0 */
/* Adds meters to what is attached, and takes some away: what the others have counted stays. */
#ifndef NICPROBE_ADJUST_H
#define NICPROBE_ADJUST_H

#include "lib/attach/attach.h"

struct error;

/*
 * Adds request->added and takes away ->removed, in the namespace the process is in. Returns 0, and
 * what is attached now; -ENOENT without an error: the interface is not attached; or -errno and an
 * error, with all as it was.
 */
int adjust_iface(const char *name, const struct request *, struct meta *done, struct error *);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* What the running kernel has of the names in a driver's table. */
#ifndef NICPROBE_RUNNING_H
#define NICPROBE_RUNNING_H

#include "lib/core/nic_driver.h"
#include "lib/trace/kallsyms.h"
#include "lib/trace/spot.h"

struct running;

/* NULL: /proc/kallsyms is not readable. */
struct running *running_open(const struct driver *);
void running_close(struct running *);

/* Is it present, built in or loaded? */
bool running_here(const struct running *, const struct driver *);
/* The same for each of `drivers`, in one pass. */
void running_all(bool *here);
struct spot running_function(const struct running *, const char *name);
struct spot running_tracepoint(const struct running *, const char *name);

#endif

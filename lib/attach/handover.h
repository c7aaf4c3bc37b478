/* SPDX-License-Identifier: GPL-2.0 */
/* Replaces the attached programs of an interface that is detached while others need them. */
#ifndef NICPROBE_HANDOVER_H
#define NICPROBE_HANDOVER_H

#include "lib/core/host.h"

struct error;

extern const char *const shared_names[NR_SHARED];

/* The shared struct, mapped from its pin; NULL and errno: ENOENT if nothing is shared. */
struct host *host_map(void);
void host_unmap(struct host *);

/* The slot of the interface whose pins are in `pins`; 0: none. */
__u32 slot_find(const struct host *, const char *pins);

/* Events that each program did not see, of whomever, since there is a struct host. */
void missed_ever(const struct host *, __u64 missed[NR_SHARED]);

/*
 * Replaces those programs of `which`, 1 << SHARED_x, that still pass events on: by programs that do
 * nothing else. No event is lost and none is passed on twice. 0 or -errno and an error.
 */
int handover(struct host *, __u64 which, struct error *);

/* Ends a change that was interrupted. 0 or -errno and an error. */
int handover_finish(struct host *, struct error *);

/* Returns when no program runs any more that began before. */
void kernel_pause(void);

#endif

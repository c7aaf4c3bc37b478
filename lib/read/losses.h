/* SPDX-License-Identifier: GPL-2.0 */
/* What was not counted, by meter; and what our programs did not see at all. */
#ifndef NICPROBE_LOSSES_H
#define NICPROBE_LOSSES_H

#include "lib/read/snapshot.h"

/* Adds to s->lost what found no room in maps, and to s->missed events that nobody counted. */
void losses_lost(struct snapshot *s, const char *pins);
void losses_missed(struct snapshot *s, const char *pins);

/*
 * Whose figures lack what a program missed, by what its name begins with: a point's for those that
 * count there for all packet meters, else a meter's. NULL: nobody's.
 */
uint64_t *missed_by(struct snapshot *s, const char *program);

#endif

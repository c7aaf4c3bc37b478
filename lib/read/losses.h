/* SPDX-License-Identifier: GPL-2.0 */
/* What was not counted, by meter; and what our programs did not see at all. */
#ifndef NICPROBE_LOSSES_H
#define NICPROBE_LOSSES_H

#include "lib/read/snapshot.h"

/* Adds to s->lost what found no room in maps, and to s->missed events that nobody counted. */
void losses_lost(struct snapshot *s, const char *pins);
void losses_missed(struct snapshot *s, const char *pins);

/*
 * Whose figures may lack what the program of a pin missed: an event that several want is missed by
 * all of them. Nobody: it is no program of ours.
 */
struct users missed_by(const struct meta *, const char *pin);

#endif

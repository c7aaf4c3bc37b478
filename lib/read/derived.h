/* SPDX-License-Identifier: GPL-2.0 */
/* Meters that are made of what others counted; and residues, which are what is left between two. */
#ifndef NICPROBE_DERIVED_H
#define NICPROBE_DERIVED_H

#include "lib/read/snapshot.h"

struct error;
struct site;

/* What this row has grown since, in place. Levels stay as they are. */
void row_since(const struct meter *, uint64_t *now, const uint64_t *before);

/*
 * A residue: of the ways to count, that which leaves the least; and of what that can be, as
 * it was not all read at one moment, what is nearest to 0. `within`: how far that is off at most;
 * 0 where it comes out even.
 */
int64_t residue_of(const struct metric *, const uint64_t *words, uint64_t *within);

/* Derives every such meter of a snapshot whose others are read. 0 or -errno. */
int derived_read(struct snapshot *, const char *pins, struct error *);
/* The same as the last thing of attach: what is left then is pinned, and taken off later. */
int derived_pin(const struct site *, const struct meter *, const struct meta *);
/* The first meter among those it is made of that is not on; NULL: all are. */
const struct meter *derived_lacks(const struct meter *, uint64_t on);

#endif

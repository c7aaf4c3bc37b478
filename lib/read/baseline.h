/* SPDX-License-Identifier: GPL-2.0 */
/* Figures that the kernel keeps by itself: what they were at attach is pinned, and taken off. */
#ifndef NICPROBE_BASELINE_H
#define NICPROBE_BASELINE_H

#include "lib/core/hook.h"
#include "lib/read/snapshot.h"

struct error;
struct pinned_map;

/* Reads the figures of a meter that has .read, for begin_all() to pin. 0 or -errno. */
int baseline_read(const struct site *, const struct meter *, const struct meta *);

/* Pins a table that a meter of keys has read, under its name. 0 or -errno. */
int table_pin(const struct site *, const struct meter *, const struct table *);

/*
 * Reads them anew, less what is pinned. A figure that is smaller now began
 * anew (a driver was reset): it is shown whole. One that was not there is shown
 * whole only if it surely began at 0 since; else it is left out. 0 or -errno.
 */
int baseline_since(const struct meter *, const struct meta *, struct table *,
		   const struct pinned_map *, struct error *);

typedef void row_less(const struct meter *, uint64_t *now, const uint64_t *then);
/*
 * Takes then's rows off now's, both summed over CPUs. Rows of `now` that may have more than what
 * came since are left out: those that `then` has not, unless meter.began() knows better. `cells`:
 * where the words of now's rows are, which it then has room for; NULL: it has them.
 */
void table_since(const struct meter *, struct table *now, const uint64_t *cells,
		 const struct table *then, row_less *);

#endif

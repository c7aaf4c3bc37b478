/* SPDX-License-Identifier: GPL-2.0 */
/* Figures that the kernel keeps by itself: what they were at attach is pinned, and taken off. */
#ifndef NICPROBE_BASELINE_H
#define NICPROBE_BASELINE_H

#include "snapshot.h"
#include "tap.h"

/* Reads the figures of a meter that has .read, and pins them under its name. 0, or a complaint. */
int baseline_pin(const struct site *, const struct meter *, const struct meta *);

/* Pins a table that a meter of keys has read. 0, or a complaint. */
int table_pin(const struct site *, const struct meter *, const struct table *);

/*
 * Reads them anew, less what is pinned. A figure that is smaller now began
 * anew (a driver was reset): it is shown whole. 0 or -errno.
 */
int baseline_since(const struct meter *, const struct meta *, struct table *, int pinned);

#endif

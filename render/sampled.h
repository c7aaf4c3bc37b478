/* SPDX-License-Identifier: GPL-2.0 */
/* How output marks the figures of a meter that does not follow every packet. */
#ifndef NICPROBE_RENDER_SAMPLED_H
#define NICPROBE_RENDER_SAMPLED_H

#include "lib/read/thinned.h"

/* "1 packet in 16.1: 1780 of 28.66k"; NULL: its rows have every packet. Storage as in text(). */
const char *sampled_text(const struct snapshot *, int id);

/* The label of its samples in OpenMetrics, which never changes: "16", "auto"; "": none. */
const char *sampled_label(const struct snapshot *, int id);

/* What was asked for: "1 packet in 16 timed"; NULL: nothing. */
const char *sampled_rule(const struct meta *);

/* Which of the attached meters follow single packets, and how many: "txlat: 1 packet in 16". */
const char *sampled_meters(const struct meta *);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* How OpenMetrics and Prometheus' older text format are written: heads, labels and their values. */
#ifndef NICPROBE_RENDER_OPENMETRICS_H
#define NICPROBE_RENDER_OPENMETRICS_H

#include <stdbool.h>
#include <stdio.h>

struct snapshot;

struct metrics_out {
	FILE *out;
	bool old;		/* text format 0.0.4 */
};

/* `type`: "counter", "gauge", "histogram" or, with a name that ends with _info, "info". */
void openmetrics_head(const struct metrics_out *, const char *family, const char *type,
		      const char *unit, const char *help);
void openmetrics_escaped(FILE *, const char *);
/* ",NAME=\"VALUE\""; a label without a value is none. */
void openmetrics_label(FILE *, const char *name, const char *value);
/* "SAMPLE{interface=…,netns=…": the caller closes it. */
void openmetrics_labels(FILE *, const char *sample, const struct snapshot *);

/* What nicprobe says of itself, of the links, and what it found; `unread` could not be read. */
void own_openmetrics(const struct metrics_out *, const struct snapshot *const *, unsigned nr,
		     unsigned unread);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* Writes the elements of OpenMetrics and of the older Prometheus text format: heads and labels. */
#ifndef NICPROBE_RENDER_OPENMETRICS_H
#define NICPROBE_RENDER_OPENMETRICS_H

#include <stdbool.h>
#include <stdio.h>

struct snapshot;

struct metrics_out {
	FILE *out;
	bool old;		/* text format 0.0.4 */
};

/* `type`: "counter", "gauge", "histogram", or "info" for a name that ends in _info. */
void openmetrics_head(const struct metrics_out *, const char *family, const char *type,
		      const char *unit, const char *help);
void openmetrics_escaped(FILE *, const char *);
/* ",NAME=\"VALUE\""; nothing if the value is empty. */
void openmetrics_label(FILE *, const char *name, const char *value);
/* "SAMPLE{interface=…,netns=…": the caller closes it. */
void openmetrics_labels(FILE *, const char *sample, const struct snapshot *);

/* Metrics of nicprobe itself, of links, and findings; `unread`: unreadable attachments. */
void own_openmetrics(const struct metrics_out *, const struct snapshot *const *, unsigned nr,
		     unsigned unread);

/* How the packets of each point spread over the queues, in these windows of the snapshots. */
void spread_openmetrics(const struct metrics_out *, const struct snapshot *const *,
			const struct snapshot *const *windows, unsigned nr);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* What `trace` prints: tables, distributions, events, and the same as JSON and OpenMetrics. */
#ifndef NICPROBE_RENDER_TRACE_H
#define NICPROBE_RENDER_TRACE_H

#include "probes/run.h"
#include "render/text.h"

struct trace_result {
	const struct question *question;
	const struct gathered *rows;	/* the greatest first */
	int nr;
	int left_out;			/* rows that --top leaves out */
	double seconds;
	bool interval;
	const __u64 *losses;		/* NR_LOSSES + 1 */
};

void trace_table(struct page *, const struct trace_result *);
void trace_json(FILE *, const struct trace_result *);
/* OpenMetrics, or the text format of Prometheus before it. */
void trace_metrics(FILE *, const struct trace_result *, bool prometheus);

/* One event: a line of a table, under headings that trace_heads() prints; or an object of JSON. */
void trace_heads(const struct page *, const struct question *);
void trace_line(const struct page *, const struct question *, const struct probe_event *);
void trace_event_json(FILE *, const struct question *, const struct probe_event *);

/* A sentence for each kind of loss. */
void trace_losses(struct page *, const __u64 losses[NR_LOSSES + 1]);

#endif

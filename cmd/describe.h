/* SPDX-License-Identifier: GPL-2.0 */
/* nicprobe list -v: what nicprobe can measure, and what works here. */
#ifndef NICPROBE_DESCRIBE_H
#define NICPROBE_DESCRIBE_H

#include <stdbool.h>
#include <stdio.h>

#include <linux/types.h>

struct error;
struct json;
struct meter;
struct metric;
struct page;

/* Everything; or with `only` (1 << METER_x), a page for each of these meters. */
void describe(struct page *, __u64 only);
/* One object on stdout; its keys are in nicprobe-json(5). */
void describe_json(__u64 only);

/* One meter. `permitted`: we may ask the kernel. */
void describe_meter(struct page *, const struct meter *, bool permitted);
void describe_meter_json(struct json *, const struct meter *);
const char *metric_kind(const struct metric *);		/* "counter" */

/*
 * The stable probes that a pattern names: a line each, or all about them. -ENOENT: none. JSON is
 * always all.
 */
int describe_probes(struct page *, const char *pattern, bool verbose, bool as_json);
/* Functions and tracepoints that a pattern of fbt or sdt names; -errno and an error. */
int describe_raw(struct page *, const char *pattern, bool verbose, bool as_json, struct error *);
void probes_man(FILE *);		/* the source of nicprobe-probes(7) */

#endif

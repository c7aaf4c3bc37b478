/* SPDX-License-Identifier: GPL-2.0 */
/* nicprobe list -v: what nicprobe can measure, and what works here. */
#ifndef NICPROBE_DESCRIBE_H
#define NICPROBE_DESCRIBE_H

#include <stdbool.h>

#include <linux/types.h>

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

#endif

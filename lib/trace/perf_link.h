/* SPDX-License-Identifier: GPL-2.0 */
/* A program at an event of perf. */
#ifndef NICPROBE_PERF_LINK_H
#define NICPROBE_PERF_LINK_H

#include <linux/types.h>

struct perf_event_attr;

/* The type of the events of "kprobe" or "uprobe"; -1: this kernel has none. */
int perf_type(const char *source);
/* Opens the event, and attaches the program. The link, which holds the event; or -errno. */
int perf_link(int prog, struct perf_event_attr *, __u64 cookie);

#endif

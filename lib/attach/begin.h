/* SPDX-License-Identifier: GPL-2.0 */
/* All that is attached to an interface begins to count at once, when one word says so. */
#ifndef NICPROBE_BEGIN_H
#define NICPROBE_BEGIN_H

#include "lib/attach/attach.h"

/*
 * The map of that word, in every object of ours (meter.bpf.h), and its pin beside the others: bpffs
 * has no names with a dot. It is the number of beginnings: 0 until an attach is whole, and one
 * more after each `attach -m +METER`. A program counts from the beginning on that config.from
 * names. An attach that was cut short never counted.
 */
#define BEGUN_MAP	".data.begun"
#define BEGUN_PIN	"begun"

/* The number of the next beginning, for config.from: 1 where nothing is attached. Or -errno. */
int begin_next(const struct site *);

/*
 * One of those meters, for `req`: to be attached, its figures to be read, or to be made of what
 * the others counted. 0 or -errno.
 */
typedef int begin_meter(const struct site *, const struct request *, const struct meter *,
			struct meta *);

/*
 * Calls it for each meter of `bits`: first for those with programs, then for those whose figures
 * the kernel keeps, last of them what others are made of; then the word is written; then for those
 * that are made of others. `since`, if not NULL: when it was written, CLOCK_BOOTTIME in ns. What
 * is pinned of figures is what they were before the word: what came while they were read, and
 * until it is written, is in them alone. 0 or -errno.
 */
int begin_all(const struct site *, const struct request *, struct meta *, __u64 bits,
	      begin_meter *, __u64 *since);

#endif

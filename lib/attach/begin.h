/* SPDX-License-Identifier: GPL-2.0 */
/* All meters of an interface begin to count at once, when one shared word is written. */
#ifndef NICPROBE_BEGIN_H
#define NICPROBE_BEGIN_H

#include "lib/attach/attach.h"

/*
 * The map of that word (struct begun), in each of our objects (meter.bpf.h), and its pin: bpffs
 * forbids a dot in names. The word is 0 until an attach is complete, then 1, and grows by 1 with
 * each `attach -m +METER`. A program counts once the word has reached its config.from. So the
 * programs of an attach that was cut short never count.
 */
#define BEGUN_MAP	".data.begun"
#define BEGUN_PIN	"begun"

/*
 * Beside it is a word that tells whether rows have counts that are of no queue in use at attach.
 * Then, or if nobody can tell, meta.near becomes 0.
 */
void begin_near(struct meta *, const char *pins);

/* The next value of the word, for config.from: 1 if nothing is attached. Or -errno. */
int begin_next(const struct site *);

/*
 * Begins one meter for `req`: attaches its programs, reads its figures, or derives it from other
 * meters. 0 or -errno.
 */
typedef int begin_meter(const struct site *, const struct request *, const struct meter *,
			struct meta *);

/*
 * Calls the function for each meter of `bits`: first for those with programs, then for those that
 * read figures of the kernel (last of these, the ones that others are derived from); then writes
 * the word; then calls it for derived meters. `since`, if not NULL: when the word was written,
 * CLOCK_BOOTTIME in ns. The pinned figures are those read before the word was written: packets in
 * between count in the figures of the kernel only. 0 or -errno.
 */
int begin_all(const struct site *, const struct request *, struct meta *, __u64 bits,
	      begin_meter *, __u64 *since);

#endif

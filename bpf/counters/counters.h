/* SPDX-License-Identifier: GPL-2.0 */
/* Losses that the kernel, the driver and the card count by themselves. */
#ifndef NICPROBE_COUNTERS_H
#define NICPROBE_COUNTERS_H

#include <stdint.h>

#include "lib/core/meta.h"
#include "lib/read/snapshot.h"

struct counters_key {		/* texts, filled up with zeros */
	char counter[40];	/* "UdpNoPorts", "rx_missed_errors" */
	char who[12];		/* "kernel", "qdisc", "driver", "hardware" … */
	char source[12];	/* who says so: "nstat", "ethtool -S" … */
};

struct counters {
	uint64_t events;
};

/* All of them as they are now, zeros too. 0 or -errno. */
int counters_read(const struct meta *, struct table *);

/* Is a name of this source about losses? */
bool counter_is_loss(const char *source, const char *name);
/* Who lost it, by the name of the counter. */
const char *counter_who(const char *source, const char *name);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* Losses counted by the kernel, the driver and the card. */
#ifndef NICPROBE_COUNTERS_H
#define NICPROBE_COUNTERS_H

#include <stdint.h>

#include "lib/core/meta.h"
#include "lib/read/snapshot.h"

struct error;

struct counters_key {		/* texts, padded with zeros */
	char counter[40];	/* "UdpNoPorts", "rx_missed_errors" */
	char who[12];		/* "kernel", "qdisc", "driver", "hardware" … */
	char source[12];	/* which tool shows it: "nstat", "ethtool -S" … */
};
KEY_BYTES(struct counters_key, 64);

struct counters {
	uint64_t events;
};

/* Reads their present values. 0 or -errno. */
int counters_read(const struct meta *, struct table *, struct error *);

/* Does a counter of this name count losses? */
bool counter_is_loss(const char *source, const char *name);
/* Who lost the packets, by the name of the counter. */
const char *counter_who(const char *source, const char *name);

#endif

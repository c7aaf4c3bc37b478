/* SPDX-License-Identifier: GPL-2.0 */
/* From connect() to the first byte that the program reads. */
#ifndef NICPROBE_FIRSTBYTE_H
#define NICPROBE_FIRSTBYTE_H

#include "bpf/connect/connect.h"

struct firstbyte_key {
	struct connect_key to;
};
KEY_BYTES(struct firstbyte_key, 36);

struct firstbyte {
	__u64 answered;		/* connections of which something was read */
	__u64 silent;		/* that ended, and nothing was */
	HIST(latency, LOGLIN_SLOTS);	/* ns, from connect() on */
	HIST(answer, LOGLIN_SLOTS);	/* ns, from established on */
};

#endif

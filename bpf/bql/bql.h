/* SPDX-License-Identifier: GPL-2.0 */
/* One TX queue: its bytes in flight relative to its byte queue limit, and its stops. */
#ifndef NICPROBE_BQL_H
#define NICPROBE_BQL_H

#include "lib/core/abi.h"

/* Log-linear as times, but shorter: the last slots begin at 256% of the limit and at 8 MiB. */
#define BQL_FILL_SLOTS	((14 - LOGLIN_MIN) * LOGLIN_STEPS + 2)
#define BQL_SIZE_SLOTS	((23 - LOGLIN_MIN) * LOGLIN_STEPS + 2)
#define BQL_FULL	6400	/* a fill of 100%, so that 1% is not below the first slot */

enum bql_by {
	BQL_BY_DRIVER,		/* mostly as its ring is full */
	BQL_BY_BQL,		/* the limit is reached; the driver would take more */
	NR_BQL_BY
};

struct bql {
	__u64 came, went;	/* stops that began, and ended */
	__u64 stops[NR_BQL_BY];
	__u64 idle;		/* of those that ended: no packet waited meanwhile */
	__u64 starved;		/* stops by BQL that lasted until nothing was in flight */
	__u64 stalls;		/* counted by the kernel's stall detector, if it is on (6.9) */
	HIST(in_flight, BQL_SIZE_SLOTS);	/* bytes */
	/* Where all words above are 0, these are: the meter's `lead`. */
	HIST(fill, BQL_FILL_SLOTS);		/* of the limit, in 1 / BQL_FULL */
	HIST(by_bql, LOGLIN_SLOTS);
	HIST(by_driver, LOGLIN_SLOTS);
};
#endif

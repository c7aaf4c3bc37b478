/* SPDX-License-Identifier: GPL-2.0 */
/* One outcome of packets in XDP programs: event, program, destination and result. */
#ifndef NICPROBE_XDP_H
#define NICPROBE_XDP_H

#include "lib/core/abi.h"

#define XDP_KEYS 1024

enum xdp_event {
	XDP_EXCEPTION,		/* result: the action */
	XDP_REDIRECTED,		/* result: an errno, as for all but the last two */
	XDP_SENT_TO,		/* batches from programs of this interface to another… */
	XDP_SENT_FROM,		/* …and from programs of another interface to this one */
	XDP_SENT_BACK,		/* XDP_TX, if the driver traces it: veth */
	XDP_CPU_ENQUEUE,	/* to the thread of a cpumap; result: enum xdp_cpu */
	XDP_CPU_DONE,		/* by that thread; result: enum xdp_cpu */
	NR_XDP_EVENTS
};

enum xdp_cpu { XDP_CPU_OK, XDP_CPU_FULL, XDP_CPU_PASSED, XDP_CPU_REDIRECTED, XDP_CPU_DROPPED,
	       XDP_CPU_NO_MEMORY, NR_XDP_CPU };

#define XDP_NOT_TAKEN 0xffff	/* result: dropped, and the kernel gave no errno */

struct xdp_key {
	__u32 event, result;
	__u32 prog;			/* id; 0: not known */
	union {
		struct {
			__u32 map_type, map, index;
		};
		char dev[16];		/* XDP_SENT_: the other interface */
	};
};
KEY_BYTES(struct xdp_key, 28);

struct xdp {
	__u64 packets;
};

#endif

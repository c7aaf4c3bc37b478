/* SPDX-License-Identifier: GPL-2.0 */
/* How long TCP itself held data back that a program had written, and why. */
#ifndef NICPROBE_TCPWAIT_H
#define NICPROBE_TCPWAIT_H

#include "bpf/host/remote.h"

/* What holds the first octet that was not sent yet, in the order in which the kernel asks. */
enum tcpwait_cause {
	TCPWAIT_NOTHING,	/* there is none, or it is about to be sent */
	TCPWAIT_PACING,		/* the rate that congestion control has chosen */
	TCPWAIT_MAX_RATE,	/* that which the program allows: SO_MAX_PACING_RATE */
	TCPWAIT_CWND,		/* the congestion window */
	TCPWAIT_RWND,		/* the receiver's window */
	TCPWAIT_NAGLE,		/* less than a segment, and one such was not acknowledged */
	TCPWAIT_CORK,		/* TCP_CORK or MSG_MORE: the program will write more */
	TCPWAIT_SMALL_QUEUES,	/* enough of the connection waits in qdisc and driver */
	TCPWAIT_OTHER,
	NR_TCPWAIT
};

struct tcpwait_key {
	struct remote remote;
	__u32 cause;		/* enum tcpwait_cause */
};
KEY_BYTES(struct tcpwait_key, 20);

struct tcpwait {
	__u64 bytes;		/* payload of the segments whose sending ended a wait */
	HIST(held, LOGLIN_SLOTS);	/* ns */
};

#ifndef __bpf__
extern const char *const tcpwait_causes[NR_TCPWAIT];	/* NULL of TCPWAIT_NOTHING */
#endif

#endif

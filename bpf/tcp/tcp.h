/* SPDX-License-Identifier: GPL-2.0 */
/* TCP by remote host: what was sent again and why, resets, round trips. */
#ifndef NICPROBE_TCP_H
#define NICPROBE_TCP_H

#include "bpf/host/remote.h"

enum tcp_again {
	TCP_AGAIN_TIMEOUT,	/* the retransmission timer expired */
	TCP_AGAIN_FAST,		/* acknowledgements told of the loss */
	TCP_AGAIN_PROBE,	/* a tail loss probe: nothing was heard for two round trips */
	TCP_AGAIN_SYN,
	TCP_AGAIN_SYNACK,
	NR_TCP_AGAIN
};

struct tcp_key {
	struct remote remote;
};
KEY_BYTES(struct tcp_key, 16);

struct tcp {
	__u64 again[NR_TCP_AGAIN];	/* segments */
	__u64 segments;		/* with data, sent: of connections that ended or sent again */
	__u64 resets_sent, resets_received;
	/* of connections when they ended: */
	__u64 out_of_order;	/* segments that came after later ones */
	__u64 duplicates;	/* segments that the other side had already */
	HIST(rtt, LOGLIN_SLOTS);	/* ns, smoothed */
	HIST(rtt_min, LOGLIN_SLOTS);	/* ns, the least of the last minutes */
	HIST(busy, LOGLIN_SLOTS);	/* us, while it had data to send or unacknowledged… */
	HIST(by_receiver, LOGLIN_SLOTS);	/* …of these, while the window was full */
	/* …and while the send buffer was full, and all of it on its way: */
	HIST(by_sndbuf, LOGLIN_SLOTS);	/* one whose size the program has set */
	HIST(by_wmem, LOGLIN_SLOTS);	/* one that is as large as the kernel makes any */
};

#ifndef __bpf__
extern const char *const tcp_kinds[NR_TCP_AGAIN];	/* words for enum tcp_again */
#endif

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* Structures shared by a trial's BPF programs and user space. */
#ifndef NICPROBE_LIVE_H
#define NICPROBE_LIVE_H

#include <linux/types.h>

struct live_config {		/* of the generator */
	__u32 ifindex;		/* to send the frames from */
	__u32 flows, threads;
	__u32 saddr, daddr, port, payload, end;	/* as in struct frame_at */
	__u32 macs[3];		/* the first 12 bytes, which receivers may have modified */
};

struct live_state {		/* per CPU */
	__u64 sent;		/* frames redirected */
	__u32 first, next;	/* flows of this CPU: first, first + threads… */
};

struct redirects_config {
	__u32 ifindex, netns;	/* of the redirect target */
};

#define REDIRECT_ERRORS	256	/* rows by errno; the last is for all higher ones */

struct redirected {		/* frames redirected to an interface, by errno */
	__u64 sent;
	__u64 dropped;		/* by ndo_xdp_xmit */
	__u64 refused;		/* by the redirect itself, before ndo_xdp_xmit */
};

struct sink_config {
	__u32 action;		/* XDP_DROP, XDP_PASS, or XDP_REDIRECT: back to the sender */
	__u32 ifindex;
	__u32 rows;		/* one per queue; the last is for all higher ones */
	__u32 least, most;	/* range of sizes of our frames; 0: count all frames */
};

struct sink_count {		/* per queue and CPU */
	__u64 packets, bytes;
	__u64 others;		/* packets of other sizes */
};

#endif

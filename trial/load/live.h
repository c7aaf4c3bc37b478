/* SPDX-License-Identifier: GPL-2.0 */
/* What the BPF programs of a trial and who runs them agree on. */
#ifndef NICPROBE_LIVE_H
#define NICPROBE_LIVE_H

#include <linux/types.h>

struct live_config {		/* of the generator */
	__u32 ifindex;		/* where the frames leave */
	__u32 flows, threads;
	__u32 saddr, daddr, port, payload, end;	/* as in struct frame_at */
	__u32 macs[3];		/* the frame's first 12 bytes: who got it may have changed them */
};

struct live_state {		/* of a CPU */
	__u64 sent;		/* frames that were handed to the redirect */
	__u32 first, next;	/* its flows are first, first + threads… */
};

struct redirects_config {
	__u32 ifindex, netns;	/* of what frames are redirected to */
};

#define REDIRECT_ERRORS	256	/* errno, the last: this or more */

struct redirected {		/* of frames redirected to an interface, by errno */
	__u64 sent;
	__u64 dropped;		/* by ndo_xdp_xmit: it took less than it was given */
	__u64 refused;		/* never given to it */
};

struct sink_config {
	__u32 action;		/* XDP_DROP, XDP_PASS, or XDP_REDIRECT: back whence it came */
	__u32 ifindex;
	__u32 rows;		/* one a queue; the last is any above */
	__u32 least, most;	/* sizes of frames that are ours; 0: all are */
};

struct sink_count {		/* of a queue and CPU */
	__u64 packets, bytes;
	__u64 others;		/* packets that are not of the size that is sent */
};

#endif

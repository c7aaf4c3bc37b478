/* SPDX-License-Identifier: GPL-2.0 */
/* One receive queue: what became of its frames in GRO, and the buffers that came out. */
#ifndef NICPROBE_GRO_H
#define NICPROBE_GRO_H

#include "lib/core/abi.h"

enum gro_frame {
	GRO_FRAME_MERGED,	/* into a buffer that is held; its head was still needed… */
	GRO_FRAME_MERGED_FREE,	/* …or freed */
	GRO_FRAME_HELD,		/* it began a buffer */
	GRO_FRAME_NORMAL,	/* it is a buffer by itself */
	GRO_FRAME_CONSUMED,	/* a protocol took it: decryption */
	GRO_FRAME_PAST,		/* the driver handed it up without GRO */
	NR_GRO_FRAMES
};

/* Why a frame was not merged: held or normal, each has one. */
enum gro_alone {
	GRO_FIRST,		/* nothing of its flow was held: others may join it */
	GRO_ACK,		/* TCP without payload */
	GRO_FLAGS,		/* TCP with PSH, FIN, SYN, RST or URG, and nothing to join */
	GRO_ECN,		/* of these the flow was held, but with another codepoint… */
	GRO_SEQUENCE,		/* …what was held ended elsewhere: loss, or out of order… */
	GRO_HEADER,		/* …DSCP, acknowledgement, window or options differ */
	GRO_UDP,
	GRO_UDP_FLOW,		/* UDP, as long as the one before it of its flow, in one poll */
	GRO_FRAGMENT,
	GRO_PROTOCOL,		/* another protocol than TCP and UDP */
	GRO_NOT_IP,
	GRO_OFF,		/* GRO is off */
	GRO_XDP,		/* a generic XDP program: GRO does nothing then */
	GRO_CARD,		/* it came merged, and is not taken further */
	GRO_OTHER,		/* IP options, a wrong checksum, … */
	GRO_UNREAD,		/* its header is where we cannot read it */
	NR_GRO_ALONE
};

struct gro {
	HIST(size, SEGS_SLOTS);	/* buffers, by the wire packets in them */
	__u64 bytes;		/* in them */
	__u64 frames[NR_GRO_FRAMES];
	__u64 alone[NR_GRO_ALONE];
	__u64 card[2];		/* frames that the card had merged, and wire packets in them */
};

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* One receive queue: results of its frames in GRO, and the resulting buffers. */
#ifndef NICPROBE_GRO_H
#define NICPROBE_GRO_H

#include "lib/core/abi.h"

enum gro_frame {
	GRO_FRAME_MERGED,	/* into a held buffer; its head is still used… */
	GRO_FRAME_MERGED_FREE,	/* …or freed */
	GRO_FRAME_HELD,		/* begins a buffer */
	GRO_FRAME_NORMAL,	/* is a buffer by itself */
	GRO_FRAME_CONSUMED,	/* taken by a protocol, for decryption */
	GRO_FRAME_PAST,		/* delivered by the driver without GRO */
	NR_GRO_FRAMES
};

/* Why a frame was not merged: one cause per held or normal frame. */
enum gro_alone {
	GRO_FIRST,		/* no frame of its flow was held: later ones may join it */
	GRO_ACK,		/* TCP without payload */
	GRO_FLAGS,		/* TCP with PSH, FIN, SYN, RST or URG, and nothing to join */
	GRO_ECN,		/* its flow was held, but with another codepoint… */
	GRO_SEQUENCE,		/* …another sequence number: loss or reordering… */
	GRO_HEADER,		/* …another DSCP, acknowledgement, window or options */
	GRO_UDP,
	GRO_UDP_FLOW,		/* UDP of the same length as the one before, in the same poll */
	GRO_FRAGMENT,
	GRO_PROTOCOL,		/* neither TCP nor UDP */
	GRO_NOT_IP,
	GRO_OFF,		/* GRO is off */
	GRO_XDP,		/* a generic XDP program disables GRO */
	GRO_CARD,		/* already merged by the card, which GRO does not merge further */
	GRO_OTHER,		/* IP options, a wrong checksum, … */
	GRO_UNREAD,		/* we cannot read its header */
	NR_GRO_ALONE
};

struct gro {
	HIST(size, SEGS_SLOTS);	/* buffers, by the wire packets in them */
	__u64 bytes;		/* in them */
	__u64 frames[NR_GRO_FRAMES];
	__u64 alone[NR_GRO_ALONE];
	__u64 card[2];		/* frames merged by the card, and wire packets in them */
};

#endif

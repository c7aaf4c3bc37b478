/* SPDX-License-Identifier: GPL-2.0 */
/* What a card does to a frame on its way out: splits it (TSO, USO), and fills in checksums. */
#ifndef NICPROBE_SEGMENT_H
#define NICPROBE_SEGMENT_H

#include <stddef.h>
#include <stdint.h>

struct offload {
	uint16_t l3, l4;	/* where the headers begin; l4 0: no checksum, no split */
	uint16_t payload;	/* …and end */
	uint16_t mss;		/* 0: one frame */
	bool ip_sum, l4_sum;	/* fill it in */
};

/* Each frame that leaves: `out` is called for it. Returns how many; 0: what was asked makes no sense. */
unsigned segment(const uint8_t *frame, size_t size, const struct offload *,
		 void (*out)(void *arg, const uint8_t *frame, size_t size), void *arg);

#endif

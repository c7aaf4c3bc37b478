/* SPDX-License-Identifier: GPL-2.0 */
/* What a card does to a frame on its way out: splits it (TSO, USO), and fills in checksums. */
#ifndef NICPROBE_SEGMENT_H
#define NICPROBE_SEGMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct offload {
	uint16_t l3, l4;	/* where the headers begin; l4 0: no checksum, no split */
	uint16_t payload;	/* …and end */
	uint16_t mss;		/* 0: one frame */
	bool ip_sum, l4_sum;	/* fill it in */
};

/* Calls `out` for each frame that leaves. Returns how many; 0: what was asked makes no sense. */
unsigned segment(const uint8_t *frame, size_t size, const struct offload *,
		 void (*out)(void *arg, const uint8_t *frame, size_t size), void *arg);

/* The ones' complement sum of big-endian words (RFC 1071): 0xffff if it was filled in. */
uint16_t sum_words(uint32_t sum, const uint8_t *at, size_t size);

#endif

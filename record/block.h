/* SPDX-License-Identifier: GPL-2.0 */
/* The blocks of a recording, each with its checksum; docs/record.md has the format. */
#ifndef NICPROBE_RECORD_BLOCK_H
#define NICPROBE_RECORD_BLOCK_H

#include "record/bytes.h"

enum block_type {
	BLOCK_RUN = 'R',	/* where and how what follows was recorded */
	BLOCK_NAMES = 'N',	/* what the numbers of frames are called */
	BLOCK_IFACE = 'I',	/* an interface: what is known of it, and seldom changes */
	BLOCK_FULL = 'F',	/* a frame by itself */
	BLOCK_DIFF = 'D',	/* a frame as the difference to the one before, of this interface */
	BLOCK_EVENT = 'E',
};

#define BLOCK_HEAD	20	/* bytes: a mark, type, way, interface, length, time */
#define BLOCK_TAIL	4	/* CRC32C of head and body */
#define BLOCK_MOST	(64 << 20)	/* bytes of a body, packed or not */

struct file_block {
	enum block_type type;
	unsigned iface;
	uint64_t when;		/* ns of CLOCK_REALTIME */
	enum { NOT_PACKED, PACKED, PACKED_AFTER } packed;	/* by zlib; with the body before */
	const uint8_t *body;
	size_t len;		/* of the body */
	size_t size;		/* of all of it */
};

/*
 * Adds a block; its body is packed where that makes it shorter. `before`: a body that is like it,
 * and that the reader has when it comes to this one; NULL: there is none.
 */
void block_add(struct bytes *, enum block_type, unsigned iface, uint64_t when,
	       const struct bytes *body, const struct bytes *before);

/* The block at `at`, which is whole: false, there is none. */
bool block_at(const uint8_t *file, size_t size, size_t at, struct file_block *);
/* Where the next whole block begins, from `at` on; `size`: there is none. */
size_t block_find(const uint8_t *file, size_t size, size_t at);
/* Its body, unpacked into `room` if it is packed; `before`: as above. False: it cannot be. */
bool block_body(const struct file_block *, struct bytes *room, const struct bytes *before,
		struct reading_of *);

uint32_t crc32c(const void *, size_t);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* Entries of ENA's admin queues: a command, and the reply to it. */
#ifndef NICPROBE_ENA_ADMIN_H
#define NICPROBE_ENA_ADMIN_H

#include <string.h>

#include "ena.h"

enum result { SUCCESS = 0, NO_RESOURCE = 1, UNSUPPORTED = 3, ILLEGAL = 5 };

struct address {
	uint32_t low;
	uint16_t high, reserved;
};

struct command {
	uint16_t id;
	uint8_t opcode, flags;
	union {
		uint8_t raw[60];
		struct {
			uint8_t direction, reserved, placement, contiguous;
			uint16_t cq, depth;
			struct address base;
		} create_sq;
		struct {
			uint16_t nr;
			uint8_t direction;
		} destroy_sq;
		struct {
			uint8_t interrupts, words;
			uint16_t depth;
			uint32_t vector;
			struct address base;
		} create_cq;
		struct {
			uint16_t nr;
		} destroy_cq;
		struct {
			uint32_t length;	/* of what does not fit in here, but is in memory */
			struct address at;
			uint8_t flags, nr, version, reserved;
			uint32_t value[11];
		} feature;
		struct {
			uint32_t length;
			struct address at;
			uint8_t type, scope;
			uint16_t reserved[3];
			uint32_t metrics[2];
		} stats;
	};
};

struct reply {
	uint16_t id;
	uint8_t result, phase;
	uint16_t extended, sq_head;
	uint8_t data[56];
};

_Static_assert(sizeof(struct command) == 64 && sizeof(struct reply) == 64, "an entry is 64 bytes");

static inline uint64_t address(const struct address *a)
{
	return a->low | (uint64_t)a->high << 32;
}

static inline void put(struct reply *r, const void *data, size_t size)
{
	memcpy(r->data, data, size);
}

/* ena_features.c */
enum result ena_feature_get(struct model *, const struct command *, struct reply *);
enum result ena_feature_set(struct model *, const struct command *);

#endif

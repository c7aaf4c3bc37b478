/* SPDX-License-Identifier: GPL-2.0 */
/* Frames on the wire, as a receiver reads them. */
#ifndef WIRE_H
#define WIRE_H

#include <stddef.h>
#include <stdint.h>

/* Sums the words received; all ones means an intact checksum. */
static inline uint16_t folded(uint32_t sum, const uint8_t *at, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		sum += i % 2 ? at[i] : at[i] << 8;
		sum = (sum & 0xffff) + (sum >> 16);
	}
	return sum;
}

static inline unsigned word(const uint8_t *at)
{
	return at[0] << 8 | at[1];
}

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* What a card reads out of a frame that arrives: headers, whether their sums are right, a hash. */
#ifndef NICPROBE_FLOW_H
#define NICPROBE_FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FLOW_TCP = 6, FLOW_UDP = 17 };

struct flow {
	unsigned version;		/* of IP: 4, 6, or 0: it is none */
	unsigned protocol;		/* FLOW_TCP, FLOW_UDP, or 0: another, or a fragment */
	const uint8_t *addresses;	/* from and to, together `address_size` bytes */
	size_t address_size;
	const uint8_t *ports;		/* from and to, 4 bytes */
	bool ip_wrong, l4_wrong;
	bool l4_checked;		/* there was a sum */
	bool fragment;
};

/* `frame` begins with MAC addresses; tags of VLANs are stepped over. */
struct flow flow_read(const uint8_t *frame, size_t size);

/* Of RSS. `key` has four bytes more than there is input. */
uint32_t toeplitz(const uint8_t *key, const uint8_t *input, size_t size);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* Losses of one AF_XDP socket bound to a queue. */
#ifndef NICPROBE_XSK_H
#define NICPROBE_XSK_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/core/meta.h"
#include "lib/read/snapshot.h"

struct nlmsghdr;

/* Constant while the socket is bound. Sorts by memcmp() in the order shown. */
struct xsk_key {
	uint8_t queue[2];	/* big endian */
	uint8_t zero_copy;
	uint8_t unused;
	uint32_t inode, uid;
	uint32_t umem;		/* see struct xsk */
	uint32_t rx_ring, fill_ring;	/* descriptors */
	uint64_t cookie;	/* a new socket may have the inode of an old one */
};
KEY_BYTES(struct xsk_key, 32);

struct xsk_row {		/* as enum xsk_count */
	uint64_t rx_dropped, rx_invalid, rx_ring_full, fill_ring_empty;
	uint64_t tx_invalid, tx_ring_empty;
};

static inline unsigned xsk_queue(const struct xsk_key *key)
{
	return key->queue[0] << 8 | key->queue[1];
}

/*
 * Packets for the socket that it did not get; without those for which a zero-copy card had no
 * frame, as they never reached this host.
 */
static inline uint64_t xsk_lost(const struct xsk_row *row)
{
	return row->rx_dropped + row->rx_ring_full;
}

/* The owner: "xdpsock (pid 12)"; if no process is visible, "uid 0 (socket 4711)". As text(). */
const char *xsk_whose(const struct xsk_key *);

#endif

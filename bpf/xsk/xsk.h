/* SPDX-License-Identifier: GPL-2.0 */
/* One AF_XDP socket, bound to a queue: what it lost. */
#ifndef NICPROBE_XSK_H
#define NICPROBE_XSK_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/core/meta.h"
#include "lib/read/snapshot.h"

struct nlmsghdr;

/* All of it stays as long as the socket is bound. In the order shown: bytes compare as that. */
struct xsk_key {
	uint8_t queue[2];	/* the higher byte first */
	uint8_t zero_copy;
	uint8_t unused;
	uint32_t inode, uid;
	uint32_t umem;		/* see struct xsk */
	uint32_t rx_ring, fill_ring;	/* descriptors */
	uint64_t cookie;	/* a socket that is made anew may have the inode of the old one */
};

struct xsk_row {		/* as enum xsk_count */
	uint64_t rx_dropped, rx_invalid, rx_ring_full, fill_ring_empty;
	uint64_t tx_invalid, tx_ring_empty;
};

static inline unsigned xsk_queue(const struct xsk_key *key)
{
	return key->queue[0] << 8 | key->queue[1];
}

/*
 * Packets that the socket was to have and did not get. Not those for which a card with zero copy
 * had no frame: they never were in this host.
 */
static inline uint64_t xsk_lost(const struct xsk_row *row)
{
	return row->rx_dropped + row->rx_ring_full;
}

/* Whose it is: "xdpsock (pid 12)"; where no process is seen, "uid 0 (socket 4711)". As text(). */
const char *xsk_whose(const struct xsk_key *);

#endif

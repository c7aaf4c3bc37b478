/* SPDX-License-Identifier: GPL-2.0 */
/* The AF_XDP sockets of an interface, as NETLINK_SOCK_DIAG has them: queue, rings, losses. */
#ifndef NICPROBE_XSKS_H
#define NICPROBE_XSKS_H

#include <linux/types.h>
#include <stdbool.h>

struct nlmsghdr;

/* What the kernel counts of each, as struct xdp_diag_stats has it (linux/xdp_diag.h). */
enum xsk_count {
	XSK_RX_DROPPED,		/* packets: no frame was free, or it is longer than one */
	/* invalid descriptors of the RX ring: nothing counts there (6.1 to 6.18) */
	XSK_RX_INVALID,
	XSK_RX_RING_FULL,	/* packets */
	/* times that no frame was in the fill ring; with copies each is a packet dropped, too */
	XSK_FILL_RING_EMPTY,
	XSK_TX_INVALID,		/* descriptors to send that were refused */
	XSK_TX_RING_EMPTY,	/* times that there was nothing (more) to send: no loss */
	NR_XSK_COUNTS
};

struct xsk {
	__u64 cookie;		/* of the socket: never used again while the system runs */
	__u32 inode, uid;
	__u32 queue;
	/* its memory; sockets of one queue with the same have one fill ring, and its count, too */
	__u32 umem;
	bool zero_copy;
	/* descriptors; 0: it has no such ring */
	__u32 rx_ring, tx_ring, fill_ring, completion_ring;
	__u64 counts[NR_XSK_COUNTS];
};

struct xsks {
	/* 0; -ENOENT: this kernel does not tell, and there are some in this namespace */
	int err;
	unsigned ifindex, nr;
	struct xsk *list;	/* by queue */
};

/* Those in the network namespace the process is in that are bound to a queue of this interface. */
void xsks_read(unsigned ifindex, struct xsks *);
void xsks_free(struct xsks *);

/* Why this kernel does not tell of any; NULL: it does. It may load the module that tells. */
const char *xsks_cannot(void);

/* Adds the socket of one answer, if it is of ->ifindex. As mnl_cb_t, of a struct xsks. */
int xsks_take(const struct nlmsghdr *, void *xsks);

#endif

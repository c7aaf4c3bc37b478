/* SPDX-License-Identifier: GPL-2.0 */
/* The AF_XDP sockets of an interface, by NETLINK_SOCK_DIAG: queue, rings, losses. */
#ifndef NICPROBE_XSKS_H
#define NICPROBE_XSKS_H

#include <linux/types.h>
#include <stdbool.h>

struct nlmsghdr;

/* Counters of struct xdp_diag_stats (linux/xdp_diag.h). */
enum xsk_count {
	XSK_RX_DROPPED,		/* packets: no free frame, or longer than a frame */
	/* invalid descriptors of the RX ring: never counted (6.1 to 6.18) */
	XSK_RX_INVALID,
	XSK_RX_RING_FULL,	/* packets */
	/* empty fill ring; in copy mode each also drops a packet */
	XSK_FILL_RING_EMPTY,
	XSK_TX_INVALID,		/* rejected TX descriptors */
	XSK_TX_RING_EMPTY,	/* times there was nothing (more) to send: not a loss */
	NR_XSK_COUNTS
};

struct xsk {
	__u64 cookie;		/* of the socket: never reused until reboot */
	__u32 inode, uid;
	__u32 queue;
	/* its UMEM; sockets of a queue with the same UMEM share the fill ring and its count */
	__u32 umem;
	bool zero_copy;
	/* descriptors; 0: no such ring */
	__u32 rx_ring, tx_ring, fill_ring, completion_ring;
	__u64 counts[NR_XSK_COUNTS];
};

struct xsks {
	/* 0; -ENOENT: this kernel does not report them, and this namespace has some */
	int err;
	unsigned ifindex, nr;
	struct xsk *list;	/* by queue */
};

/* Sockets bound to a queue of this interface, in the network namespace the process is in. */
void xsks_read(unsigned ifindex, struct xsks *);
void xsks_free(struct xsks *);

/* Why this kernel does not report them; NULL: it does. May load the sock_diag module. */
const char *xsks_cannot(void);

/* Adds the socket of one answer if it is on ->ifindex. As mnl_cb_t, with a struct xsks. */
int xsks_take(const struct nlmsghdr *, void *xsks);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* One network interface, as the kernel describes it over netlink, ethtool and sysfs. */
#ifndef NICPROBE_IFACE_H
#define NICPROBE_IFACE_H

#include <net/if.h>
#include <stdbool.h>

#include "lib/core/abi.h"


struct iface {
	char name[IFNAMSIZ];
	unsigned ifindex;
	__u32 netns;			/* inode of the network namespace we are in */
	__u64 inode;			/* of its directory in sysfs; 0: not to be had */
	char driver[32];		/* ethtool's, else the link kind ("veth"), else "unknown" */
	unsigned rx_queues, tx_queues;	/* in use now */
	unsigned max_rx_queues, max_tx_queues;	/* it was made with: no index passes these */
	unsigned mtu;
	unsigned tx_ring;		/* descriptors of a TX queue, or the device's txqueuelen */
	unsigned rx_ring, max_rx_ring;	/* of an RX queue, now and at most; 0: not told */
	unsigned tx_usecs, tx_frames;	/* completions wait for so long, or so many; 0: neither */
	bool rx_adaptive, tx_adaptive;	/* …and the driver changes that as it goes */
	bool up, loopback;
	bool gso_frames;		/* a tap whose other end may hand over unsegmented frames */
	char parent[32];		/* the device below it, as sysfs calls it; "": none */
	__u8 mac[8];			/* address; its length in mac[7] */
	__u32 xdp_id;			/* id of the XDP program on it; 0: none */
};

/*
 * All functions look at the network namespace the process is in.
 * 0 or -errno; -ENODEV: no such interface. They say why by complain().
 */
int iface_read(const char *name, struct iface *);
int iface_read_index(unsigned ifindex, struct iface *);

/*
 * The inode of an interface's directory in sysfs; 0: not to be had. It keeps that under every name
 * and in every namespace, and another that is given its index, name and address has another one.
 */
__u64 iface_inode(unsigned ifindex);

/* SIOCETHTOOL: `command` begins with its number, and holds the answer. 0 or -errno. */
int ethtool_ask(const char *name, void *command);

/* Inode of the network namespace the process is in; 0: not to be had. */
__u32 netns_inode(void);
int netns_known(__u32 *inode);	/* the same; 0, or -errno and a complaint */
/* The inode of the one `ip netns` knows by this name, which need not be entered; 0: none. */
__u32 netns_named(const char *name);
/* Enter the namespace `ip netns` knows by this name, for good. 0 or -errno. */
int netns_enter(const char *name);
/* Enter the namespace with this inode, our own or a named one. 0 or -errno: -ENOENT, no name. */
int netns_enter_inode(__u32 inode);
/* SO_NETNS_COOKIE of the namespace we are in, of which no other ever has the same; 0: unknown. */
__u64 netns_cookie(void);
/* The same for one that had this cookie: -ESTALE, another has its inode number now. */
int netns_enter_same(__u32 inode, __u64 cookie);
/* Its name for `ip netns`, or "" for our own or a nameless one. Returns whether it was found. */
bool netns_name(__u32 inode, char *name, unsigned size);
/* Calls `fn` once in our own, then in each named namespace, entered; stops when it returns true. */
bool netns_each(bool (*fn)(const char *name, void *arg), void *arg);

#endif

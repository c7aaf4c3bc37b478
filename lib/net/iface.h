/* SPDX-License-Identifier: GPL-2.0 */
/* One network interface, as netlink, ethtool and sysfs describe it. */
#ifndef NICPROBE_IFACE_H
#define NICPROBE_IFACE_H

#include <net/if.h>
#include <stdbool.h>

#include "lib/core/abi.h"

struct error;


struct iface {
	char name[IFNAMSIZ];
	unsigned ifindex;
	__u32 netns;			/* inode of the current network namespace */
	__u64 inode;			/* of its directory in sysfs; 0: unknown */
	char driver[32];		/* from ethtool, else the link kind ("veth"), else "unknown"
									     */
	unsigned rx_queues, tx_queues;	/* in use now… */
	bool queues_known;		/* …or else those created: they could not be counted */
	unsigned max_rx_queues, max_tx_queues;	/* created; the upper bound of queue numbers */
	unsigned mtu;
	unsigned tx_ring;		/* descriptors per TX queue, or the device's txqueuelen */
	unsigned rx_ring, max_rx_ring;	/* per RX queue, current and maximum; 0: not reported */
	unsigned tx_usecs, tx_frames;	/* moderation of completions; 0: none */
	bool rx_adaptive, tx_adaptive;	/* …which the driver adapts */
	bool up, loopback;
	bool carrier;			/* a tap: a program has opened it */
	bool host;			/* no interface: see host_or_iface_read() */
	bool gso_frames;		/* a tap whose peer may pass unsegmented frames */
	char qdisc[IFNAMSIZ];		/* its root; "noqueue": none; "noop": it is not up yet */
	char parent[32];		/* the device below it, by its sysfs name; "": none */
	__u8 mac[8];			/* address; its length in mac[7] */
	__u32 xdp_id;			/* id of the XDP program on it; 0: none */
	__u32 generic_xdp_id;		/* of generic XDP alone */
};

/*
 * All functions use the network namespace the process is in. They return 0, or -errno with an error
 * message; -ENODEV: no such interface.
 */
int iface_read(const char *name, struct iface *, struct error *);
int iface_read_index(unsigned ifindex, struct iface *, struct error *);
/* So many queues are looked for first: two questions, and not nine, where the guess is right. */
void iface_expect_queues(unsigned rx, unsigned tx);
/*
 * The same as iface_read(); or, for HOST_NAME where no interface is called so, the host: the
 * sockets of the network namespace. It has no ifindex, no queues and no driver.
 */
int host_or_iface_read(const char *name, struct iface *, struct error *);
#define HOST_NAME "host"

/*
 * The inode of an interface's directory in sysfs; 0: unknown. It stays the same under every name
 * and
 * in every namespace, and no later interface with the same index, name and address shares it.
 */
__u64 iface_inode(unsigned ifindex);
/* The name of the interface with this name or alternative name. False: there is none here. */
bool iface_main_name(const char *other, char name[IFNAMSIZ]);

/* SIOCETHTOOL: `command` begins with the command number and receives the answer. 0 or -errno. */
int ethtool_ask(const char *name, void *command);

/* A socket for link queries, tied to the present network namespace; close() it. */
int link_socket(void);
/* The IFF_ flags of an interface, or -errno. */
int link_flags(int sock, const char *name);

#define NETNS_OURS "/proc/thread-self/ns/net"	/* the network namespace the process is in */
/* Its inode; 0: unknown. */
__u32 netns_inode(void);
int netns_known(__u32 *inode, struct error *);	/* the same; 0 or -errno */
/* The inode of the namespace with this `ip netns` name, without entering it; 0: none. */
__u32 netns_named(const char *name);
/* Enters the namespace with this `ip netns` name, for good. 0 or -errno. */
int netns_enter(const char *name, struct error *);
/*
 * Enters the namespace with this inode, ours or a named one. 0 or -errno; -ENOENT: it has no name.
 */
int netns_enter_inode(__u32 inode, struct error *);
/* SO_NETNS_COOKIE of the current namespace, unique among all that ever existed; 0: unknown. */
__u64 netns_cookie(void);
/* The same, for a namespace with this cookie; -ESTALE: its inode number was reused. */
int netns_enter_same(__u32 inode, __u64 cookie, struct error *);
/* Its `ip netns` name; "" for our own or a nameless one. Returns whether it was found. */
bool netns_name(__u32 inode, char *name, unsigned size);
/* Calls `fn` in our own and then in each named namespace, entered; stops when it returns true. */
bool netns_each(bool (*fn)(const char *name, void *arg), void *arg, struct error *);

#endif

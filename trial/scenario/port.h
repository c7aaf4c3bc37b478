/* SPDX-License-Identifier: GPL-2.0 */
/* One of the two interfaces of a trial: where it is, what is at its other end, who needs it. */
#ifndef NICPROBE_PORT_H
#define NICPROBE_PORT_H

#include <linux/if_link.h>

#include "lib/net/iface.h"

/* What a driver does with XDP (include/uapi/linux/netdev.h, 6.3; Debian 12's headers are older). */
enum { XDP_FEATURE_BASIC = 1, XDP_FEATURE_REDIRECT = 2, XDP_FEATURE_NDO_XMIT = 4 };

struct port {
	char label[96];		/* as a user types it: "eth0", "blue/eth0" */
	int netns;		/* a descriptor of its network namespace; -1: it is not open */
	struct iface iface;
};

/* "NETNS/IFACE" or "IFACE", of the namespace the process is in. 0, or -errno and a complaint. */
int port_open(const char *label, struct port *);
void port_close(struct port *);

/* For the calling thread; port_enter() says no more than whether it worked, as the port is open. */
int port_enter(const struct port *);
void port_home(void);

/* The other end of a veth. 0; -ENOENT: it is none; else -errno and a complaint. */
int port_peer(const struct port *, struct port *peer);

/* What the driver says that it does with XDP, now; -1: this kernel does not tell (before 6.3). */
int port_features(const struct port *);

/* 0 or -errno and a complaint. */
int port_statistics(const struct port *, struct rtnl_link_stats64 *);

/* Is something at its other end? */
bool port_has_carrier(const struct port *);

/* Would it send on what is not for this host? */
bool port_forwards(const struct port *, bool ipv6);

/* Does a default route lead through it, or through what is built on it? */
bool port_is_needed(const struct port *);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* One of the two interfaces of a trial: its namespace, its peer, its carrier and routes. */
#ifndef NICPROBE_PORT_H
#define NICPROBE_PORT_H

#include <linux/if_link.h>

#include "lib/net/iface.h"

struct error;

/* XDP features of a driver (include/uapi/linux/netdev.h, 6.3; Debian 12's headers lack them). */
enum { XDP_FEATURE_BASIC = 1, XDP_FEATURE_REDIRECT = 2, XDP_FEATURE_NDO_XMIT = 4 };

struct port {
	char label[96];		/* as a user types it: "eth0", "blue/eth0" */
	int netns;		/* descriptor of its network namespace; -1: not open */
	struct iface iface;
};

/*
 * Opens "NETNS/IFACE", or "IFACE" in the namespace of the process. 0, or -errno with an error
 * message.
 */
int port_open(const char *label, struct port *, struct error *);
void port_close(struct port *);

/* Moves the calling thread to the namespace of the port, and back. 0 or -errno. */
int port_enter(const struct port *, struct error *);
void port_home(void);

/* Opens the other end of a veth. 0; -ENOENT: not a veth; or -errno with an error message. */
int port_peer(const struct port *, struct port *peer, struct error *);

/* The XDP features that the driver has at present; -1: unknown (before Linux 6.3). */
int port_features(const struct port *);

/* 0, or -errno with an error message. */
int port_statistics(const struct port *, struct rtnl_link_stats64 *, struct error *);

/* Does the link have a carrier? True if unknown. */
bool port_has_carrier(const struct port *);

/* Does the host forward packets received on it? */
bool port_forwards(const struct port *, bool ipv6);

/* Does a default route use it, or a device stacked on it? */
bool port_is_needed(const struct port *);

#endif

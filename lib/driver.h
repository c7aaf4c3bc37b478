/* SPDX-License-Identifier: GPL-2.0 */
/* What we know of a NIC driver. Tables only; a driver that is not listed works, too. */
#ifndef NICPROBE_DRIVER_H
#define NICPROBE_DRIVER_H

#include <stdbool.h>

#include "abi.h"

/* Every driver. A new one is a file and a line here. */
#define DRIVERS(D)						\
	D(ena) D(ixgbevf) D(iwlwifi) D(virtio_net) D(e1000)	\
	D(e1000e) D(igb) D(igbvf) D(vmxnet3)			\
	D(veth) D(tun) D(loopback) D(bridge) D(bonding)		\
	D(vlan) D(macvlan) D(vxlan) D(netkit) D(dummy) D(ifb)

#define MAX_PATTERNS 4	/* of names of interrupts; those that are NULL end them */

struct driver {
	const char *name;		/* as `ethtool -i` says it; "generic": any other */
	const char *help;		/* what it is: "Amazon Elastic Network Adapter" */
	enum rx_queue rx_queue;		/* how an skb tells the queue it came from */
	/* what attaching native XDP disturbs; NULL: nothing, so it is chosen */
	const char *xdp;
	bool no_xdp;			/* it has no native XDP */
	bool gro_by_ethtool;		/* it hands packets past GRO unless that was switched on */
	const char *spread;		/* how receive queues get their share; NULL: ethtool -X */
	bool keeps_dev;			/* skb->dev is still its own when it frees a sent packet */
	bool pool;			/* has page pools, although no hardware */
	bool no_pool;			/* has none, although hardware */
	bool kfree_completes;		/* it frees what it has sent as if it were dropped */
	const char *late;		/* who completes late where no card does; NULL: the card */
	const char *no_completion;	/* why its packets never complete; NULL: they do */
	/*
	 * What it calls its interrupts: %i is the name the interface had then, * is anything, and
	 * a number is that of a queue of both directions (%q), or of one (%r, %t); %a: of all.
	 */
	const char *irqs[MAX_PATTERNS];
	/* packets a receive queue holds, where ethtool does not tell; 0: nothing fixed */
	unsigned rx_ring;
	const char *no_napi;		/* why no poll is ever its own; NULL: it may be */
};

#define D(name) extern const struct driver driver_##name;
DRIVERS(D)
#undef D
extern const struct driver driver_generic;
extern const struct driver *const drivers[];	/* ends with NULL; driver_generic is not in it */

const struct driver *driver_find(const char *name);	/* never NULL: driver_generic */

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* The interface to find, and the addresses of its structs in the kernel. */
#ifndef NICPROBE_DEVICE_BPF_H
#define NICPROBE_DEVICE_BPF_H

#include <linux/types.h>

/* The member of a struct that leads to the next one. */
enum device_step {
	TASK_NSPROXY, NSPROXY_NET, NET_INDEXED, DEVICE_INDEXED, DEVICE_INDEX, DEVICE_NAPIS,
	NR_DEVICE_STEPS
};

struct device_wanted {
	__u64 ifindex;
	__u64 at[NR_DEVICE_STEPS];	/* the byte of each member in its struct */
	__u64 dev, net;			/* its struct net_device, and struct net; 0: not found */
	__u64 napis;			/* it has NAPIs */
};

#endif

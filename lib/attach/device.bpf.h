/* SPDX-License-Identifier: GPL-2.0 */
/* The interface to find, and the addresses of its structs in the kernel. */
#ifndef NICPROBE_DEVICE_BPF_H
#define NICPROBE_DEVICE_BPF_H

#include <linux/types.h>

struct device_wanted {
	__u64 ifindex;
	__u64 dev, net;		/* its struct net_device, and struct net; 0: not found */
};

#endif

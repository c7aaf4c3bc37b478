/* SPDX-License-Identifier: GPL-2.0 */
/* Which interface is asked for, and where the kernel has it. */
#ifndef NICPROBE_DEVICE_BPF_H
#define NICPROBE_DEVICE_BPF_H

#include <linux/types.h>

struct device_wanted {
	__u64 ifindex;
	__u64 dev, net;		/* its struct net_device, and struct net; 0: not found */
};

#endif

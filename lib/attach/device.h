/* SPDX-License-Identifier: GPL-2.0 */
/* An interface as the kernel keeps it: its address, by which programs recognise it at once. */
#ifndef NICPROBE_DEVICE_H
#define NICPROBE_DEVICE_H

#include <stdbool.h>
#include <linux/types.h>

/* A device keeps its address as long as it exists, even if it is renamed or moved. */
struct device {
	__u64 dev, net;		/* of its struct net_device and its struct net; 0: not known */
	bool napis;		/* it has NAPIs now */
};

/* An interface of this network namespace. */
struct device device_find(unsigned ifindex);

#endif

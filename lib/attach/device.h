/* SPDX-License-Identifier: GPL-2.0 */
/* The address of an interface in the kernel, by which programs recognise it at once. */
#ifndef NICPROBE_DEVICE_H
#define NICPROBE_DEVICE_H

#include <linux/types.h>

/*
 * The addresses of the struct net_device and of the struct net of an interface of this network
 * namespace. A device keeps its address as long as it exists, even if it is renamed or moved. Both
 * 0: not known.
 */
void device_find(unsigned ifindex, __u64 *dev, __u64 *net);

#endif

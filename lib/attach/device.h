/* SPDX-License-Identifier: GPL-2.0 */
/* Where the kernel has an interface: what programs tell it by at one look. */
#ifndef NICPROBE_DEVICE_H
#define NICPROBE_DEVICE_H

#include <linux/types.h>

/*
 * The addresses of the struct net_device and of the struct net of an interface of this network
 * namespace. A device keeps its address until it is gone, whatever it is named and wherever it is
 * moved. Both 0: the kernel does not tell.
 */
void device_find(unsigned ifindex, __u64 *dev, __u64 *net);

#endif

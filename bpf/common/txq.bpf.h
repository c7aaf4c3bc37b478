/* SPDX-License-Identifier: GPL-2.0 */
/* From a device and a queue number to its struct netdev_queue. */
#ifndef NICPROBE_TXQ_BPF_H
#define NICPROBE_TXQ_BPF_H

#include "lib/core/kernel.bpf.h"

/* By address: the verifier forbids arithmetic on pointers from a typed tracepoint. */
static __always_inline const struct netdev_queue *txq_of(const struct net_device *dev, __u32 queue)
{
	__u64 first = (__u64)PLAIN(dev, _tx);

	return (void *)(first + (__u64)queue * bpf_core_type_size(struct netdev_queue));
}

#endif

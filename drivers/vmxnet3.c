/* SPDX-License-Identifier: GPL-2.0 */
/* vmxnet3, the NIC of VMware virtual machines. */
#include "../lib/driver.h"

/*
 * Packets complete by kfree_skb, reason NOT_SPECIFIED: vmxnet3_unmap_pkt() calls
 * dev_kfree_skb_any(). No drops (6.1, 6.12).
 */
const struct driver driver_vmxnet3 = {
	.name = "vmxnet3",
	.help = "VMware virtual NIC",
	.keeps_dev = true,
	.kfree_completes = true,
	.rx_queue = RX_QUEUE_RECORDED,	/* not what XDP_PASS let through: vmxnet3_xdp.c, 6.12 */
	/* vmxnet3_xdp_set(), 6.12: vmxnet3_quiesce_dev(), no NETIF_F_LRO. 6.1 has no native XDP. */
	.xdp = "resets the device and switches LRO off: what is measured changes",
	/* vmxnet3_request_irqs(), 6.1 and 6.12 */
	.irqs = { "%i-rxtx-%q", "%i-rx-%r", "%i-tx-%t" },
};

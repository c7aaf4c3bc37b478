/* SPDX-License-Identifier: GPL-2.0 */
/* virtio_net, the NIC of most virtual machines. */
#include "../lib/driver.h"

/*
 * With the module parameter napi_tx=N a packet is freed only when a later one is sent: the
 * completion latency then says nothing of the device (__free_old_xmit(), 6.12).
 */
const struct driver driver_virtio_net = {
	.name = "virtio_net",
	.help = "the NIC of virtual machines",
	.late = "the host takes them late: has its vhost thread or emulator enough CPU there?",
	.keeps_dev = true,
	.rx_queue = RX_QUEUE_RECORDED,	/* 6.1 receive_buf(), 6.12 virtnet_receive_done() */
	/*
	 * virtnet_xdp_set(): NAPI off and on for every queue, virtnet_clear_guest_offloads(). It
	 * fails where the host keeps those on, and may bring a queue more into use for each CPU.
	 */
	.xdp = "pauses all queues and switches GRO-HW off: what is measured changes",
	/* vp_find_vqs_msix(): "virtio3-input.0"; 6.1 and 6.12 */
	.irqs = { "*-input.%r", "*-output.%t", "*-virtqueues%a" },
};

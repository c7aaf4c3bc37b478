/* SPDX-License-Identifier: GPL-2.0 */
/* The meter rxcpu: the load of the receive queues by CPU. */
#include "lib/core/nic_driver.h"
#include "lib/read/snapshot.h"
#include "xdp/rxcpu.h"

static const struct metric metrics[] = {
	COUNTER(struct rxcpu, packets, .name = "packets", .unit = "packets",
		.help = "Packets of a receive queue, by the CPU that took them from the driver."),
	COUNTER(struct rxcpu, bytes, .name = "bytes", .unit = "bytes",
		.help = "Bytes of a receive queue, by the CPU that took them from the driver."),
	{}
};

const struct meter meter_rxcpu = {
	.name = "rxcpu",
	.help = "which CPU takes the packets of which receive queue",
	.type = PACKET_METER,
	.by = BY_QUEUE | BY_CPU,
	.point = RX_NIC,
	.row_size = sizeof(struct rxcpu),
	.metrics = metrics,
};

/* SPDX-License-Identifier: GPL-2.0 */
/* The meter ecn_source, and the text of its addresses. */
#include <arpa/inet.h>

#include "lib/core/meter.h"
#include "xdp/ecn_source.h"

static const struct metric metrics[] = {
	COUNTER(struct ecn_source, packets, .name = "packets", .unit = "packets",
		.help = "Packets that arrived marked CE, by source address."),
	{}
};

static void address(const void *key, unsigned nr, char *text, size_t size)
{
	const struct ecn_source_key *from = key;

	(void)nr;
	inet_ntop(from->ipv6 ? AF_INET6 : AF_INET, from->address, text, size);
}

const struct meter meter_ecn_source = {
	.name = "ecn_source",
	.help = "who sent the packets that arrived marked CE",
	.type = PACKET_METER,
	.by = BY_KEY,
	.point = RX_NIC,
	.row_size = sizeof(struct ecn_source),
	.metrics = metrics,
	.key = {
		.size = sizeof(struct ecn_source_key),
		.labels = (const char *const []){ "source", NULL },
		.text = address,
		.each = "source",
		.table = true,
	},
};

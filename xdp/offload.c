/* SPDX-License-Identifier: GPL-2.0 */
/* The meter offload: names of features, and why they are not used. */
#include <stdio.h>

#include "lib/read/snapshot.h"
#include "lib/util/list.h"
#include "lib/util/log.h"
#include "xdp/offload.h"

/* Names of `ethtool -k`, in the order of the bits of gso_type. */
static const char *const features[] = {
	"tx-tcp-segmentation", "tx-gso-robust", "tx-tcp-ecn-segmentation",
	"tx-tcp-mangleid-segmentation", "tx-tcp6-segmentation", "tx-fcoe-segmentation",
	"tx-gre-segmentation", "tx-gre-csum-segmentation", "tx-ipxip4-segmentation",
	"tx-ipxip6-segmentation", "tx-udp_tnl-segmentation", "tx-udp_tnl-csum-segmentation",
	"tx-gso-partial", "tx-tunnel-remcsum-segmentation", "tx-sctp-segmentation",
	"tx-esp-segmentation", "tx-udp-fragmentation", "tx-udp-segmentation", "tx-gso-list",
	"tx-tcp-accecn-segmentation",
};
ONE_EACH(features, NR_GSO_FEATURES);

static const char *const whys[] = {
	[WHY_NOT] = "on",
	[WHY_OFF] = "off",
	[WHY_CANNOT] = "cannot",
	[WHY_NO_SG] = "needs sg",
	[WHY_NO_CHECKSUM] = "needs tx",
	[WHY_TUNNEL] = "not in tunnels",
	[WHY_TAG] = "not with tags",
};
ONE_EACH(whys, NR_WHY);

static const char *const labels[] = { "queue", "feature", "card", NULL };

static const struct metric metrics[] = {
	COUNTER(struct offload, packets, .name = "packets", .unit = "packets",
		.help = "Wire packets that were segmented, checksummed or copied in software."),
	COUNTER(struct offload, buffers, .name = "buffers", .unit = "buffers",
		.help = "Buffers that held these packets."),
	{}
};

static const char *feature_name(unsigned feature)
{
	switch (feature) {
	case FEATURE_SIZE:
		return "gso_max_size";
	case FEATURE_CHECKSUM:
		return "tx-checksumming";
	case FEATURE_SG:
		return "tx-scatter-gather";
	default:
		return feature < NR_GSO_FEATURES ? features[feature] : "?";
	}
}

static void key_text(const void *key, unsigned nr, char *text, size_t size)
{
	const struct offload_key *k = key;

	if (nr == 0)
		snprintf(text, size, "%u", k->queue);
	else
		snprintf(text, size, "%s", nr == 1 ? feature_name(k->feature) :
			 k->why < NR_WHY ? whys[k->why] : "?");
}

const struct meter meter_offload = {
	.name = "offload",
	.help = "what software does for sent packets, and the card's missing features",
	.type = PACKET_METER,
	.by = BY_KEY,
	.point = TX_STACK,
	.row_size = sizeof(struct offload),
	.metrics = metrics,
	.key = {
		.size = sizeof(struct offload_key),
		.labels = labels,
		.text = key_text,
	},
};

/* SPDX-License-Identifier: GPL-2.0 */
/* A made-up card with 64 queues, for the tests of its display. */
#include <errno.h>
#include <linux/ethtool.h>
#include <stdio.h>
#include <string.h>

#include "lib/hw/hw.h"

static void set(const struct setting_group *g, struct settings *s, const char *name,
		long long value)
{
	for (unsigned i = 0; i < g->nr; i++)
		if (!strcmp(g->list[i].name, name))
			s->value[i] = value;
}

static void card_settings(struct hw *h)
{
	for (unsigned i = 0; i < MAX_SETTINGS; i++)
		h->link.value[i] = h->port.value[i] = h->fec.value[i] = h->pause.value[i] =
			h->rings.value[i] = h->channels.value[i] = h->coalesce.value[i] = NOT_TOLD;
	set(&group_link, &h->link, "speed", 100000);
	set(&group_link, &h->link, "duplex", DUPLEX_FULL);
	set(&group_link, &h->link, "autoneg", 1);
	set(&group_port, &h->port, "port", PORT_FIBRE);
	set(&group_fec, &h->fec, "active", ETHTOOL_LINK_MODE_FEC_RS_BIT);
	set(&group_channels, &h->channels, "combined", 64);
	set(&group_channels, &h->channels, "combined-max", 64);
	set(&group_rings, &h->rings, "rx", 2048);
	set(&group_rings, &h->rings, "rx-max", 8160);
	set(&group_rings, &h->rings, "tx", 256);
	set(&group_rings, &h->rings, "tx-max", 8160);
	set(&group_rings, &h->rings, "tx-push", 0);
	set(&group_coalesce, &h->coalesce, "adaptive-rx", 1);
	set(&group_coalesce, &h->coalesce, "rx-usecs", 50);
	h->pause.err = -EOPNOTSUPP;
	hw_note(h, "pause frames", "not reported by its driver");
}

static void card_line(struct hw *h, unsigned i)
{
	struct hw_line *l = &h->lines[i];

	*l = (struct hw_line){ .rx = i, .tx = i, .irq = 120 + i, .napi = 8193 + i,
			       .node = i / 32 };
	l->at = snprintf(l->vector, sizeof(l->vector), "ice-ens1f0-TxRx-");
	l->len = sprintf(l->vector + l->at, "%u", i);
	cpus_from_list(&l->may, i < 32 ? "0-31" : "32-63");
	cpus_add(&l->does, i);
	cpus_add(&l->xps, i);
	if (i == 20)
		cpus_from_list(&l->rps, "16-31");
}

/* Programs at every kind of hook, including ours. */
static const struct hw_above card_above = {
	.nr = 5,
	.programs = {
		{ HOOK_XDP_NATIVE, 31, "xdp_dispatcher", false },
		{ HOOK_XDP_DISPATCHED, 32, "nicprobe_rx", true },
		{ HOOK_XDP_DISPATCHED, 33, "", false },
		{ HOOK_TCX_EGRESS, 40, "cil_to_netdev", false },
		{ HOOK_TC_INGRESS, 41, "shape \"it\"", false },
	},
	.filters = { 3, 1 },
	.qdisc = "mq", .nr_beneath = 2, .beneath = { { "fq_codel", 63 }, { "fq", 1 } },
	.master = { "bond0", "bond" },
	.nr_stacked = 2, .stacked = { { "ens1f0.7", "vlan" }, { "mv0", "macvlan" } },
};

/* 64 queues on two nodes, and an interrupt of its own; otherwise like a 100 Gbit/s card. */
static const struct hw *card_hw(void)
{
	static struct hw h = {
		.iface = { .name = "ens1f0", .ifindex = 2, .driver = "ice", .up = true, .mtu = 9000,
			   .rx_queues = 64, .tx_queues = 64, .mac = { 2, 0, 0, 0, 0, 1, 0, 6 } },
		.version = "6.12.117", .firmware = "4.40 0x8001ba1e 1.3534.0",
		.bus = "0000:17:00.0",
		.carrier = true, .nodes = 2, .by = QUEUES_BY_NETDEV,
		.napi_by = QUEUES_BY_NETDEV, .nr = 65, .rx_missed = 0,
		.card = { "pci", "0000:17:00.0", "8086:1592", "16.0 GT/s PCIe", "16.0 GT/s PCIe",
			  8, 16, .vfs = 4, .max_vfs = 128 },
		.rss = { .function = "toeplitz", .nr = 128, .key_size = 40,
			 .hashed = { 0xf0, 0x30, 0xf0, 0x30 } },
	};
	static struct hw_line lines[65];
	static unsigned table[128];
	static struct ethtool_feature features[] = {
		{ "rx-gro", FEATURE_CAN | FEATURE_ON }, { "rx-checksum", FEATURE_ON },
		{ "tx-tcp-segmentation", FEATURE_CAN | FEATURE_ON },
		{ "tx-udp-segmentation", FEATURE_CAN | FEATURE_ON },
		{ "rx-lro", FEATURE_CAN }, { "hw-tc-offload", FEATURE_CAN | FEATURE_WANTED },
	};
	static struct napi_instance napis[] = { { .id = 8193, .irq = 120,
						 .threaded = NAPI_IN_THREAD, .pid = 77,
					 .defer_hard_irqs = 2, .gro_flush_ns = 50000 } };

	/* of processes that do not exist here: no socket has such an inode */
	static struct xsk xsks[] = {
		{ .queue = 0, .inode = 4000000001, .uid = 1000, .umem = 3, .zero_copy = true,
		  .rx_ring = 2048, .tx_ring = 2048, .fill_ring = 4096, .completion_ring = 2048 },
		{ .queue = 63, .inode = 4000000002, .umem = 4, .rx_ring = 64, .fill_ring = 128,
		  .completion_ring = 64 },
	};

	h.driver = driver_find("ice");
	h.lines = lines;
	h.rss.table = table;
	h.features.list = features;
	h.features.nr = sizeof(features) / sizeof(*features);
	h.napis = (struct napis){ .nr = 1, .list = napis };
	h.above = card_above;
	h.xsks = (struct xsks){ .nr = sizeof(xsks) / sizeof(*xsks), .list = xsks };
	h.nr_notes = 0;
	cpus_from_list(&h.online, "0-63");
	cpus_from_list(&h.card.local, "0-31");
	for (unsigned i = 0; i < h.rss.key_size; i++)
		h.rss.key[i] = 37 * i;
	for (unsigned i = 0; i < 128; i++)
		table[i] = i % 64;
	for (unsigned i = 0; i < 64; i++)
		card_line(&h, i);
	lines[64] = (struct hw_line){ .rx = -1, .tx = -1, .irq = 119, .node = 0 };
	strcpy(lines[64].vector, "ice-0000:17:00.0:misc");
	cpus_from_list(&lines[64].may, "0-63");
	cpus_add(&lines[64].does, 0);
	card_settings(&h);
	return &h;
}

/* SPDX-License-Identifier: GPL-2.0 */
/* The meaning of names in `ethtool -S`, driver by driver; and findings about them. */
#include <stdlib.h>
#include <string.h>

#include "bpf/hwstat/hwstat.h"
#include "lib/util/log.h"

#define SUBJECT "hwstat "
#include "judge.h"

static void names(void)
{
	static const struct {
		const char *driver, *name, *as;	/* as NULL: unknown */
		enum stat_way way;
		int queue;
	} list[] = {
		{ "ena", "queue_12_tx_cnt", "tx_packets", STAT_TX, 12 },
		{ "ena", "queue_3_rx_page_alloc_fail", "rx_alloc_fail", STAT_RX, 3 },
		{ "ena", "pps_allowance_exceeded", "over_pps", STAT_NEITHER, -1 },
		{ "ena", "queue_3_rx_csum_good", NULL, STAT_NEITHER, -1 },
		{ "igb", "rx_queue_7_bytes", "rx_bytes", STAT_RX, 7 },
		{ "igb", "rx_bytes", "rx_card_bytes", STAT_RX, -1 },
		{ "igb", "rx_queue__bytes", NULL, STAT_RX, -1 },
		{ "igb", "rx_queue_7_bytes_more", NULL, STAT_RX, -1 },
		{ "i40e", "tx-15.packets", "tx_packets", STAT_TX, 15 },
		{ "gve", "rx_bytes[4]", "rx_bytes", STAT_RX, 4 },
		{ "gve", "rx_bytes[4", NULL, STAT_RX, -1 },
		{ "virtio_net", "rx0_kicks", "rx_doorbells", STAT_RX, 0 },
		{ "mlx5_core", "ch3_poll", "polls", STAT_RX, 3 },
		{ "nobody's", "rx_queue_7_bytes", NULL, STAT_RX, -1 },
		{ "ena", "conntrack_allowance_exceeded", "over_conntrack", STAT_NEITHER, -1 },
		{ "ena", "conntrack_allowance_available", "conntrack_left", STAT_NEITHER, -1 },
		{}
	};

	for (int i = 0; list[i].name; i++) {
		struct stat_heading h = {};
		const struct driver *d = driver_find(list[i].driver);
		struct stat_meaning m = stat_meaning(d, &h, list[i].name, 1);
		const char *as = m.as ? m.as->name : "-";

		check(!strcmp(as, list[i].as ?: "-") && m.way == list[i].way &&
		      m.queue == list[i].queue && m.level == !strcmp(as, "conntrack_left"),
		      text("%s %s", list[i].driver, list[i].name),
		      text("%s, %d, queue %d", as, m.way, m.queue));
	}
}

/* vmxnet3: lines after a heading belong to its queue, up to an unindented line. */
static void headings(void)
{
	static const struct {
		const char *name;
		uint64_t value;
		const char *as;
		int queue;
	} list[] = {
		{ "Tx Queue#", 0, NULL, -1 }, { "  ucast pkts tx", 9, "tx_packets", 0 },
		{ "Tx Queue#", 1, NULL, -1 }, { "  mcast pkts tx", 9, "tx_packets", 1 },
		{ "  something new", 9, NULL, 1 }, { "Rx Queue#", 1, NULL, -1 },
		{ "     xdp drops", 9, "xdp_drop", 1 },
		{ "tx timeout count", 9, "tx_timeouts", -1 },
	};
	struct stat_heading h = {};

	for (unsigned i = 0; i < sizeof(list) / sizeof(*list); i++) {
		struct stat_meaning m = stat_meaning(driver_find("vmxnet3"), &h, list[i].name,
						     list[i].value);
		const char *as = m.as ? m.as->name : "-";

		check(!strcmp(as, list[i].as ?: "-") && m.queue == list[i].queue,
		      text("vmxnet3 \"%s\"", list[i].name), text("%s, queue %d", as, m.queue));
	}
}

static void put(struct snapshot *s, const char *name, unsigned queue, uint64_t value)
{
	struct hwstat_key key = {
		.way = *name == 't' ? STAT_TX : STAT_RX, .queue = { queue >> 8, queue },
		.rank = stat_find(name) - stat_names,
	};

	*table_add(&s->tables[METER_hwstat], &meter_hwstat, &key) = value;
}

static void findings(void)
{
	static const struct {
		const char *stat, *id, *what;
	} list[] = {
		{ "rx_missed", "rx-ring-full", "found no room" },
		{ "rx_no_buffer", "rx-ring-full", "on queue 3" },
		{ "rx_alloc_fail", "rx-no-memory", "no memory" },
		{ "over_bw_in", "allowance-exceeded", "instance size" },
		{ "over_linklocal", "allowance-linklocal", "provider's DNS" },
		{ "tx_timeouts", "tx-timeout", "gave up" },
		{ "tx_missed", "tx-timeout", "12 times the driver of eth0 found a packet" },
		{ "xdp_drop", "xdp-drops", "by an XDP program" },
		{ "rx_packets", NULL, NULL }, { "rx_drops", NULL, NULL },
	};

	for (unsigned i = 0; i < sizeof(list) / sizeof(*list); i++) {
		struct snapshot s = { .seconds = 60 };

		s.tables[METER_hwstat] = (struct table){ .cpus = 1, .words = 1 };
		strcpy(s.meta.iface, "eth0");
		put(&s, list[i].stat, 2, 5);
		put(&s, list[i].stat, 3, 7);
		finds(&s, setup_unknown(), text("%s: finding", list[i].stat), list[i].id,
		      list[i].what, NULL);
		holds(!list[i].id || strstr(s.findings.list->what, "12 "),
		      text("%s: of all queues", list[i].stat));
		snapshot_free(&s);
	}
}

/* A single event is reported in the singular. */
static void one(void)
{
	static const char *const list[][2] = {
		{ "tx_timeouts", "1 time the driver" }, { "over_bw_in", "1 packet exceeded" },
		{ "rx_alloc_fail", "1 time the driver" },
		{ "tx_missed", "1 time the driver" },
	};

	for (unsigned i = 0; i < sizeof(list) / sizeof(*list); i++) {
		struct snapshot s = { .seconds = 60 };

		s.tables[METER_hwstat] = (struct table){ .cpus = 1, .words = 1 };
		put(&s, list[i][0], 0, 1);
		judge_all(&s, setup_unknown());
		check(s.findings.nr == 1 && !strncmp(s.findings.list[0].what, list[i][1],
						    strlen(list[i][1])),
		      text("%s: one", list[i][0]), s.findings.list[0].what);
		snapshot_free(&s);
	}
}

int main(void)
{
	names();
	headings();
	findings();
	one();
	return failed > 0;
}

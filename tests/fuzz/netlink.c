/* SPDX-License-Identifier: GPL-2.0 */
/* Fuzzes the parsing of netlink answers, and of ethtool's ioctl, its fallback. */
#include <linux/if_link.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/counters/counters.h"
#include "bpf/devlink/devlink.h"
#include "bpf/hooks/clsact.h"
#include "bpf/hwstat/hwstat.h"
#include "bpf/open/open.h"
#include "bpf/station/station.h"
#include "bpf/xsk/xsk.h"
#include "lib/core/hook.h"
#include "lib/hw/hw.h"
#include "lib/net/ethtool.h"
#include "lib/net/full_socket.h"
#include "lib/net/iface.h"
#include "lib/net/inet_sockets.h"
#include "lib/net/napis.h"
#include "lib/net/neighbours.h"
#include "lib/net/netlink.h"
#include "lib/net/queues.h"
#include "lib/net/statistics.h"
#include "lib/read/rows.h"
#include "lib/util/error.h"
#include "lib/util/log.h"
#include "trial/scenario/port.h"
#include "world.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct iface eth0 = {
	.name = "eth0", .ifindex = 2, .driver = "vmxnet3", .rx_queues = 2, .tx_queues = 2,
	.max_rx_queues = 4, .max_tx_queues = 4,
};

static const struct setting_group *const groups[] = {
	&group_link, &group_port, &group_fec, &group_pause, &group_rings, &group_channels,
	&group_coalesce,
};

static void queues(void)
{
	struct queues q;
	struct napis n;

	if (!queues_read(&eth0, driver_find(eth0.driver), &q))
		queues_free(&q);
	napis_read(eth0.ifindex, &n);
	napis_free(&n);
}

static void settings(void)
{
	struct settings s;
	struct features f;
	struct rss r;

	for (unsigned i = 0; i < sizeof(groups) / sizeof(*groups); i++)
		settings_read(&eth0, groups[i], &s);
	features_read(&eth0, &f);
	features_free(&f);
	rss_read(&eth0, &r);
	rss_rules(&eth0);
	rss_free(&r);
}

static void links(void)
{
	struct rtnl_link_stats64 stats;
	struct error e = {};
	struct iface i;

	iface_read("eth0", &i, &e);
	iface_read_index(2, &i, &e);
	link_statistics(2, &stats);
}

static int put(const char *name, uint64_t value, void *arg)
{
	stat_meaning(driver_find(eth0.driver), arg, name, value);
	return 0;
}

static void statistics(void)
{
	struct stat_heading heading = {};

	ethtool_stats_each("eth0", put, &heading);
}

/* Also makes a meter's rows from it, and prints each. */
static void told(const struct meter *m)
{
	struct meta meta = { .ifindex = 2, .iface = "eth0" };
	struct table t = { .cpus = 1, .words = m->row_size / 8 };
	char words[64];

	if (m->cannot)
		m->cannot();
	m->read(&meta, &t, NULL);
	for (unsigned row = 0; row < t.rows; row++)
		for (unsigned i = 0; m->key.labels[i]; i++)
			m->key.text(t.keys + row * m->key.size, i, words,
					   sizeof(words));
	free(t.keys);
	free(t.cells);
}

/* Makes the meters' rows from them. */
static void rows(int (*read)(const struct meta *, struct table *, struct error *))
{
	struct meta meta = { .ifindex = 2, .driver = "vmxnet3" };
	struct table t = { .cpus = 1, .words = 1 };

	read(&meta, &t, NULL);
	free(t.keys);
	free(t.cells);
}

static void above(void)
{
	static struct hw h;

	memset(&h, 0, sizeof(h));
	h.iface = eth0;
	hw_above_read(&h, -1);
}

/* The peer of a veth, and whether a route leads through it. */
static void port(void)
{
	struct port p, peer;
	struct error e = {};

	if (!port_open("eth0", &p, &e)) {
		port_features(&p);
		port_is_needed(&p);
		if (!port_peer(&p, &peer, &e))
			port_close(&peer);
	}
	port_close(&p);
}

static void filters(void)
{
	const struct site site = { .iface = eth0 };

	clsact_exists(eth0.ifindex);
	clsact_blind(&site);
}

static void others(void)
{
	struct full_socket s;
	char one[64];

	neighbours_silent(eth0.ifindex, one, sizeof(one));
	if (strlen(one) >= 46)		/* INET6_ADDRSTRLEN */
		abort();
	full_socket_find(&s);
}

static void connections(void)
{
	const struct socket_facts s = { .family = 2 };

	told(&meter_open);
	tcp_closed(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	machine_begin();
	world_begin(data + 1, size - 1, data[0] < 128);
	switch (data[0] % 15) {
	case 0: queues(); break;
	case 1: settings(); break;
	case 2: links(); break;
	case 3: statistics(); break;
	case 4: rows(counters_read); break;
	case 5: rows(hwstat_read); break;
	case 6: netlink_family("netdev"); break;
	case 7: told(&meter_xsk); break;
	case 8: told(&meter_devlink); break;
	case 9: above(); break;
	case 10: port(); break;
	case 11: told(&meter_station); break;
	case 12: filters(); break;
	case 13: others(); break;
	case 14: connections(); break;
	}
	return 0;
}

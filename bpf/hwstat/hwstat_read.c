/* SPDX-License-Identifier: GPL-2.0 */
/* Reads netdev-genl's queue statistics, `ethtool -S` and `ip -s link`, under common names. */
#include <errno.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/hwstat/hwstat.h"
#include "lib/net/here.h"
#include "lib/net/iface.h"
#include "lib/net/netdev.h"
#include "lib/net/netlink.h"
#include "lib/util/log.h"

extern const struct meter meter_hwstat;

#define RANKS	64		/* more than there are names */

static const struct { unsigned attr; const char *as; } qstats[] = {
	{ NETDEV_A_QSTATS_RX_PACKETS, "rx_packets" }, { NETDEV_A_QSTATS_RX_BYTES, "rx_bytes" },
	{ NETDEV_A_QSTATS_TX_PACKETS, "tx_packets" }, { NETDEV_A_QSTATS_TX_BYTES, "tx_bytes" },
	{ NETDEV_A_QSTATS_RX_ALLOC_FAIL, "rx_alloc_fail" },
	{ NETDEV_A_QSTATS_RX_HW_DROPS, "rx_missed" },
	{ NETDEV_A_QSTATS_RX_CSUM_BAD, "rx_csum_errors" },
	{ NETDEV_A_QSTATS_TX_HW_DROPS, "tx_drops" },
	{ NETDEV_A_QSTATS_TX_STOP, "tx_stop" }, { NETDEV_A_QSTATS_TX_WAKE, "tx_wake" },
};

/* The rows so far of the statistics that have one common name and direction: their numbers, + 1. */
struct name_rows {
	uint32_t all;			/* of the interface */
	uint32_t *queues;		/* NULL: no queue has this name */
};

/* A read in progress. Room for all queues of all names would be a megabyte to clear each time. */
struct reading {
	const struct meta *meta;
	struct table *t;
	enum hwstat_source source;
	struct name_rows at[NR_STAT_WAYS][RANKS];
	struct stat_heading heading;
	const struct driver *driver;
	bool known;			/* some of the driver's statistics have a common name */
	int err;
};

static struct hwstat_key key_of(const struct reading *r, const struct stat_meaning *m)
{
	unsigned queue = m->queue < 0 ? HWSTAT_ALL : m->queue;

	return (struct hwstat_key){
		.way = m->way,
		.queue = { queue >> 8, queue },
		.rank = m->as ? m->as - stat_names : HWSTAT_OWN,
		.source = r->source,
	};
}

/* The row, + 1, that a statistic with a common name has. NULL: no memory. */
static uint32_t *place(struct reading *r, const struct stat_meaning *m, unsigned rank)
{
	struct name_rows *at = &r->at[m->way][rank];

	if (m->queue < 0)
		return &at->all;
	at->queues = at->queues ?: calloc(MAX_QUEUES, sizeof(*at->queues));
	return at->queues ? at->queues + m->queue : NULL;
}

static void places_free(struct reading *r)
{
	for (unsigned way = 0; way < NR_STAT_WAYS; way++)
		for (unsigned rank = 0; rank < RANKS; rank++)
			free(r->at[way][rank].queues);
}

/* Sums statistics with the same common name. A value from an earlier, better source stays. */
static int common_put(struct reading *r, const struct stat_meaning *m, uint64_t value)
{
	struct hwstat_key key = key_of(r, m);
	const struct hwstat_key *keys = (const void *)r->t->keys;
	uint32_t *at = place(r, m, key.rank);

	if (!at)
		return -ENOMEM;
	if (*at && keys[*at - 1].source != r->source)
		return 0;
	if (!*at && !table_add(r->t, &meter_hwstat, &key))
		return -ENOMEM;
	*at = *at ?: r->t->rows;
	r->t->cells[*at - 1] += value;
	r->known |= r->source == HWSTAT_ETHTOOL;
	return 0;
}

static int own_put(const char *name, uint64_t value, void *arg)
{
	struct reading *r = arg;
	struct stat_meaning m = stat_meaning(r->driver, &r->heading, name, value);
	struct hwstat_key key = key_of(r, &m);
	uint64_t *row;

	if (m.level)	/* only counters are shown */
		return 0;
	if (m.as)
		return common_put(r, &m, value);
	if (strstr(name, " Queue#"))
		return 0;
	snprintf(key.own, sizeof(key.own), "%s", name + strspn(name, " "));
	row = table_add(r->t, &meter_hwstat, &key);
	if (row)
		*row = value;
	return row ? 0 : -ENOMEM;
}

static int named_put(struct reading *r, const char *as, int queue, uint64_t value)
{
	struct stat_meaning m = {
		.as = stat_find(as), .queue = queue, .way = *as == 'r' ? STAT_RX : STAT_TX,
	};

	return common_put(r, &m, value);
}

static int queue_stats(const struct nlmsghdr *nlh, void *arg)
{
	struct reading *r = arg;
	uint64_t id = attr_number(genl_attr(nlh, NETDEV_A_QSTATS_QUEUE_ID), ~0ull);

	if (attr_number(genl_attr(nlh, NETDEV_A_QSTATS_IFINDEX), 0) != r->meta->ifindex ||
	    id >= MAX_QUEUES)
		return MNL_CB_OK;
	for (unsigned i = 0; i < sizeof(qstats) / sizeof(*qstats); i++) {
		const struct nlattr *attr = genl_attr(nlh, qstats[i].attr);

		if (attr && !r->err)
			r->err = named_put(r, qstats[i].as, id, attr_number(attr, 0));
	}
	return MNL_CB_OK;
}

/* Since Linux 6.9, with some drivers only; others reply with nothing. 0 or -errno. */
static int qstats_read(struct reading *r)
{
	int family = netlink_family("netdev");
	char buf[MNL_SOCKET_BUFFER_SIZE];
	struct nlmsghdr *request;
	int err;

	if (family < 0)
		return family;
	r->source = HWSTAT_QSTATS;
	request = netlink_request(buf, family, NLM_F_DUMP, NETDEV_CMD_QSTATS_GET);
	mnl_attr_put_u32(request, NETDEV_A_QSTATS_IFINDEX, r->meta->ifindex);
	mnl_attr_put_u32(request, NETDEV_A_QSTATS_SCOPE, NETDEV_QSTATS_SCOPE_QUEUE);
	err = netlink_ask(NETLINK_GENERIC, request, queue_stats, r);
	return r->err ?: err;
}

static int link_read(struct reading *r)
{
#define STAT(name, field) { #name, offsetof(struct rtnl_link_stats64, field) }
	static const struct { const char *as; size_t at; } list[] = {
		STAT(rx_packets, rx_packets), STAT(rx_bytes, rx_bytes),
		STAT(tx_packets, tx_packets), STAT(tx_bytes, tx_bytes),
		STAT(rx_drops, rx_dropped), STAT(tx_drops, tx_dropped),
		STAT(rx_errors, rx_errors), STAT(tx_errors, tx_errors),
		STAT(rx_missed, rx_missed_errors),
	};
#undef STAT
	struct rtnl_link_stats64 stats;
	int err = link_statistics(r->meta->ifindex, &stats);

	r->source = HWSTAT_LINK;
	for (unsigned i = 0; i < sizeof(list) / sizeof(*list) && !err; i++)
		err = named_put(r, list[i].as, STAT_NO_QUEUE,
				*(uint64_t *)((char *)&stats + list[i].at));
	return err;
}

/* A source that fails is left out; only lack of memory, with half a table, is an error. */
static int all_read(struct reading *r, const char *now)
{
	int err = qstats_read(r);

	if (err != -ENOMEM) {
		r->source = HWSTAT_ETHTOOL;
		err = ethtool_stats_each(now, own_put, r);
	}
	if (err != -ENOMEM)
		err = link_read(r);
	places_free(r);
	return err == -ENOMEM ? err : 0;
}

int hwstat_read(const struct meta *meta, struct table *t, struct error *e)
{
	struct reading r = { .meta = meta, .t = t, .driver = driver_find(meta->driver) };
	char now[IF_NAMESIZE];

	(void)e;	/* baseline_read() says what failed */
	/* The interface may be gone or renamed. */
	return iface_name_of(meta->ifindex, now) ? all_read(&r, now) : 0;
}

const char *hwstat_without(const struct meta *meta)
{
	struct table t = { .cpus = 1, .words = sizeof(struct hwstat) / 8 };
	struct reading r = { .meta = meta, .t = &t, .driver = driver_find(meta->driver) };
	const char *why = NULL;
	char now[IF_NAMESIZE];
	unsigned own = 0;

	if (!iface_name_of(meta->ifindex, now) || all_read(&r, now))
		return NULL;
	for (unsigned i = 0; i < t.rows; i++)
		own += ((struct hwstat_key *)(void *)t.keys)[i].rank == HWSTAT_OWN;
	if (r.driver == &driver_generic && own)
		why = text("nicprobe does not know the statistics of %s: they have its names",
			   meta->driver);
	else if (own && r.driver->stats && !r.known)
		why = text("no statistic of %s has a name that nicprobe knows: is it another "
			   "version of the driver?", meta->driver);
	free(t.cells);
	free(t.keys);
	return why;
}

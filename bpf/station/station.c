/* SPDX-License-Identifier: GPL-2.0 */
/* The meter station: packets, retries and losses per station; per TID where mac80211 has them. */
#include <errno.h>
#include <linux/nl80211.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bpf/station/station.h"
#include "bpf/wifi/radio.h"
#include "lib/core/hook.h"
#include "lib/net/netlink.h"
#include "lib/util/error.h"

static const char *const ways[] = { "rx", "tx" };

static const struct metric metrics[] = {
	COUNTER(struct station, packets, .name = "packets", .unit = "packets",
		.help = "MSDUs received from the station and sent to it.", .label = "way",
		.labels = LABELS(struct station, packets, ways)),
	COUNTER(struct station, bytes, .name = "bytes", .unit = "bytes",
		.help = "Bytes received from the station and sent to it.", .label = "way",
		.labels = LABELS(struct station, bytes, ways)),
	COUNTER(struct station, retries, .name = "retries", .unit = "retries",
		.help = "Retransmissions to the station."),
	COUNTER(struct station, failed, .name = "failed", .unit = "packets",
		.help = "Packets that were never acknowledged."),
	COUNTER(struct station, dropped, .name = "dropped", .unit = "packets",
		.help = "Packets dropped by mac80211's queue before the card."),
	COUNTER(struct station, marked, .name = "marked", .unit = "packets",
		.help = "Packets marked CE by that queue."),
	COUNTER(struct station, beacon_losses, .name = "beacon_losses", .unit = "losses",
		.help = "Times that beacons of the station were missed."),
	{}
};

static const char *const labels[] = { "station", "tid", "access", NULL };

/* The access category of a TID: IEEE 802.11, table 10-1. */
static const char *access_of(unsigned tid)
{
	static const char *const categories[] = { "BE", "BK", "BK", "BE", "VI", "VI", "VO", "VO" };

	return tid < STATION_NO_QOS ? categories[tid % 8] : "-";
}

static void key_text(const void *of, unsigned nr, char *out, size_t size)
{
	const struct station_key *key = of;
	const uint8_t *m = key->mac;

	if (nr == 0)
		snprintf(out, size, "%02x:%02x:%02x:%02x:%02x:%02x", m[0], m[1], m[2], m[3], m[4],
			 m[5]);
	else if (nr == 2)
		snprintf(out, size, "%s", access_of(key->tid));
	else if (key->tid == STATION_WHOLE)
		snprintf(out, size, "-");
	else if (key->tid == STATION_NO_QOS)
		snprintf(out, size, "none");
	else
		snprintf(out, size, "%u", key->tid);
}

static uint64_t number(const struct nlattr *nest, unsigned type)
{
	return attr_number(attr_in(nest, type), 0);
}

static int tid_take(const struct nlattr *tid, struct station_key key, struct table *t)
{
	const struct nlattr *queue = attr_in(tid, NL80211_TID_STATS_TXQ_STATS);
	struct station now = {
		.packets = { number(tid, NL80211_TID_STATS_RX_MSDU),
			     number(tid, NL80211_TID_STATS_TX_MSDU) },
		.retries = number(tid, NL80211_TID_STATS_TX_MSDU_RETRIES),
		.failed = number(tid, NL80211_TID_STATS_TX_MSDU_FAILED),
		.dropped = number(queue, NL80211_TXQ_STATS_DROPS),
		.marked = number(queue, NL80211_TXQ_STATS_ECN_MARKS),
	};
	static const struct station nothing;
	uint64_t *row;

	if (!memcmp(&now, &nothing, sizeof(now)))
		return 0;
	key.tid = mnl_attr_get_type(tid) - 1;	/* numbered from 1 */
	row = table_add(t, &meter_station, &key);
	if (!row)
		return -ENOMEM;
	memcpy(row, &now, sizeof(now));
	return 0;
}

static int whole_take(const struct nlattr *info, struct station_key key, struct table *t,
		      bool by_tid)
{
	struct station now = {
		.bytes = { number(info, NL80211_STA_INFO_RX_BYTES64),
			   number(info, NL80211_STA_INFO_TX_BYTES64) },
		.beacon_losses = number(info, NL80211_STA_INFO_BEACON_LOSS),
	};
	uint64_t *row = table_add(t, &meter_station, &key);

	if (!row)
		return -ENOMEM;
	if (!by_tid) {
		now.packets[0] = number(info, NL80211_STA_INFO_RX_PACKETS);
		now.packets[1] = number(info, NL80211_STA_INFO_TX_PACKETS);
		now.retries = number(info, NL80211_STA_INFO_TX_RETRIES);
		now.failed = number(info, NL80211_STA_INFO_TX_FAILED);
	}
	memcpy(row, &now, sizeof(now));
	return 0;
}

int station_take(const struct nlmsghdr *nlh, void *table)
{
	const struct nlattr *mac = genl_attr(nlh, NL80211_ATTR_MAC), *a;
	const struct nlattr *info = genl_attr(nlh, NL80211_ATTR_STA_INFO), *tids;
	struct station_key key = { .tid = STATION_WHOLE };
	int err;

	if (!mac || !info || mnl_attr_get_payload_len(mac) < sizeof(key.mac))
		return MNL_CB_OK;
	memcpy(key.mac, mnl_attr_get_payload(mac), sizeof(key.mac));
	tids = attr_in(info, NL80211_STA_INFO_TID_STATS);
	err = whole_take(info, key, table, tids);
	if (tids)
		mnl_attr_for_each_nested(a, tids)
			err = err ?: tid_take(a, key, table);
	errno = -err;
	return err ? MNL_CB_ERROR : MNL_CB_OK;
}

static int read_all(const struct meta *meta, struct table *t, struct error *e)
{
	char buf[MNL_SOCKET_BUFFER_SIZE];
	int family = netlink_family("nl80211"), err;
	struct nlmsghdr *request;

	if (family == -ENOENT)		/* cfg80211 is gone, and the interface with it */
		return 0;
	if (family < 0)
		return error_set(e, family, NULL, "cannot ask nl80211: %s", strerror(-family));
	request = netlink_request(buf, family, NLM_F_DUMP, NL80211_CMD_GET_STATION);
	mnl_attr_put_u32(request, NL80211_ATTR_IFINDEX, meta->ifindex);
	err = netlink_ask(NETLINK_GENERIC, request, station_take, t);
	if (err == -ENODEV)
		return 0;
	if (err == -EOPNOTSUPP)
		return error_set(e, err, NULL, "the driver has no counters of stations");
	return err ? error_set(e, err, NULL, "cannot ask nl80211 for the stations of %s: %s",
			       meta->iface, strerror(-err)) : 0;
}

static const char *absent(const struct site *site)
{
	char radio[WIFI_RADIO];

	if (access("/sys/class/ieee80211", F_OK))
		return "no radios: this kernel has no cfg80211, or has not loaded it";
	return wifi_radio(site->iface.name, site->iface.ifindex, radio) ? NULL :
	       "not a wireless interface";
}

const struct meter meter_station = {
	.name = "station",
	.help = "packets, retries and losses per wireless station and queue",
	.type = READ_METER,
	.by = BY_KEY,
	.point = RX_NIC,
	.row_size = sizeof(struct station),
	.metrics = metrics,
	.key = {
		.size = sizeof(struct station_key),
		.labels = labels,
		.text = key_text,
		.sorted = true,
	},
	.read = read_all,
	.absent = absent,
};

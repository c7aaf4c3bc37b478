/* SPDX-License-Identifier: GPL-2.0 */
/* Parsing nl80211's answers, and the names of rows. */
#include <linux/genetlink.h>
#include <linux/nl80211.h>
#include <stdlib.h>
#include <string.h>

#include <libmnl/libmnl.h>

#include "bpf/station/station.h"

#define SUBJECT "station "
#include "check.h"

static const uint8_t mac[6] = { 2, 0, 0, 0, 3, 255 };

static struct nlmsghdr *begin(char *buf)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);

	mnl_nlmsg_put_extra_header(nlh, sizeof(struct genlmsghdr));
	mnl_attr_put(nlh, NL80211_ATTR_MAC, sizeof(mac), mac);
	return nlh;
}

static void tid_put(struct nlmsghdr *nlh, unsigned tid, uint64_t rx, uint64_t tx, uint32_t drops)
{
	struct nlattr *nest = mnl_attr_nest_start(nlh, tid + 1), *queue;

	mnl_attr_put_u64(nlh, NL80211_TID_STATS_RX_MSDU, rx);
	mnl_attr_put_u64(nlh, NL80211_TID_STATS_TX_MSDU, tx);
	queue = mnl_attr_nest_start(nlh, NL80211_TID_STATS_TXQ_STATS);
	mnl_attr_put_u32(nlh, NL80211_TXQ_STATS_BACKLOG_PACKETS, 77);
	mnl_attr_put_u32(nlh, NL80211_TXQ_STATS_DROPS, drops);
	mnl_attr_nest_end(nlh, queue);
	mnl_attr_nest_end(nlh, nest);
}

/* By TID, one of which is empty; without TIDs, the driver's totals. */
static struct nlmsghdr *answer(char *buf, bool by_tid)
{
	struct nlmsghdr *nlh = begin(buf);
	struct nlattr *info = mnl_attr_nest_start(nlh, NL80211_ATTR_STA_INFO), *tids;

	mnl_attr_put_u64(nlh, NL80211_STA_INFO_RX_BYTES64, 5000000000);
	mnl_attr_put_u64(nlh, NL80211_STA_INFO_TX_BYTES64, 60);
	mnl_attr_put_u32(nlh, NL80211_STA_INFO_TX_PACKETS, 12);
	mnl_attr_put_u32(nlh, NL80211_STA_INFO_TX_RETRIES, 4);
	mnl_attr_put_u32(nlh, NL80211_STA_INFO_BEACON_LOSS, 3);
	mnl_attr_put_u8(nlh, NL80211_STA_INFO_SIGNAL, 200);
	if (by_tid) {
		tids = mnl_attr_nest_start(nlh, NL80211_STA_INFO_TID_STATS);
		tid_put(nlh, 0, 7, 9, 0);
		tid_put(nlh, 1, 0, 0, 0);
		tid_put(nlh, 6, 0, 1, 2);
		tid_put(nlh, STATION_NO_QOS, 5, 0, 0);
		mnl_attr_nest_end(nlh, tids);
	}
	mnl_attr_nest_end(nlh, info);
	return nlh;
}

static struct table table(void)
{
	return (struct table){ .cpus = 1, .words = sizeof(struct station) / 8 };
}

static const struct station *row(const struct table *t, unsigned nr)
{
	return (void *)(t->cells + nr * t->words);
}

static bool is_called(const struct table *t, unsigned nr, const char *want)
{
	const struct station_key *key = (void *)(t->keys + nr * sizeof(*key));
	char got[96] = "", label[32];

	for (unsigned i = 0; meter_station.key.labels[i]; i++) {
		meter_station.key.text(key, i, label, sizeof(label));
		strcat(strcat(got, i ? " " : ""), label);
	}
	return !strcmp(got, want);
}

int main(void)
{
	char buf[4096] = {};
	struct table t = table();

	holds(station_take(answer(buf, true), &t) == MNL_CB_OK && t.rows == 4,
	      "by TID: those that had something, and the whole");
	holds(is_called(&t, 0, "02:00:00:00:03:ff - -") &&
	      is_called(&t, 1, "02:00:00:00:03:ff 0 BE") &&
	      is_called(&t, 2, "02:00:00:00:03:ff 6 VO") &&
	      is_called(&t, 3, "02:00:00:00:03:ff none -"), "their names");
	holds(row(&t, 0)->bytes[0] == 5000000000 && row(&t, 0)->bytes[1] == 60 &&
	      row(&t, 0)->beacon_losses == 3, "the whole");
	holds(!row(&t, 0)->packets[1] && !row(&t, 0)->retries, "told by TID, it is not told twice");
	holds(row(&t, 1)->packets[0] == 7 && row(&t, 1)->packets[1] == 9, "packets");
	holds(row(&t, 2)->dropped == 2 && row(&t, 2)->packets[1] == 1, "the queue");
	free(t.cells);
	free(t.keys);
	t = table();
	memset(buf, 0, sizeof(buf));
	holds(station_take(answer(buf, false), &t) == MNL_CB_OK && t.rows == 1 &&
	      row(&t, 0)->packets[1] == 12 && row(&t, 0)->retries == 4, "without TIDs");
	memset(buf, 0, sizeof(buf));
	holds(station_take(begin(buf), &t) == MNL_CB_OK && t.rows == 1, "one without figures");
	free(t.cells);
	free(t.keys);
	return failed > 0;
}

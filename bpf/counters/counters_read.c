/* SPDX-License-Identifier: GPL-2.0 */
/* Reads the counters that nstat, softnet_stat, ip -s link, tc -s and ethtool -S show. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/gen_stats.h>
#include <linux/if_link.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/counters/counters.h"
#include "lib/net/here.h"
#include "lib/net/iface.h"
#include "lib/net/netlink.h"
#include "lib/net/statistics.h"
#include "lib/proc/nstat.h"
#include "lib/util/log.h"
#include "lib/util/shortage.h"
#include "lib/util/slurp.h"

#define ROOM	16384	/* lines of 100 CPUs */

extern const struct meter meter_counters;

/* Substrings, ignoring case, of names of loss counters; and of names that only look like one. */
static const char *const losses[] = {
	"drop", "discard", "err", "miss", "noport", "noroute", "overflow", "prune", "reasmfail",
	"reasmtimeout", "fragfail", "unknownproto", "truncated", "reversepath", "toobig", "fifo",
	"no_buf", "nobuf", "out_of_buf", "alloc_fail", "alloc fail", "buff_fail", "page_fail",
	"exceeded", "overrun", "crc", "oversize", "undersize", "jabber", "oob", "ring full",
	"no_space", "timeout", "xfrm", "collision", NULL
}, *const others[] = {
	"interrupt", "deferred", "sackdiscard", "tcptimeouts", "timeoutrehash", "ontimeout",
	"wqueuetoobig", "pkttoobigs", "mptcp", "cache", "csum_none", NULL
};

/* Folds the name once: strcasestr() for each of 60 parts took a seventh of the time of show. */
static bool has_any(const char *name, const char *const *parts)
{
	char lower[64];
	size_t len = strnlen(name, sizeof(lower) - 1);

	for (size_t i = 0; i < len; i++)
		lower[i] = tolower((unsigned char)name[i]);
	lower[len] = '\0';
	for (; *parts; parts++)
		if (strstr(lower, *parts))
			return true;
	return false;
}

bool counter_is_loss(const char *source, const char *name)
{
	if (!strcmp(source, "softnet") || !strcmp(source, "tc -s") || !strcmp(source, "conntrack"))
		return true;
	return has_any(name, losses) && !has_any(name, others);
}

const char *counter_who(const char *source, const char *name)
{
	static const char *const by_card[] = {
		"missed", "crc", "fifo", "over_err", "overrun", "no_buf", "out_of_buf", "length",
		"frame", "align", "symbol", "jabber", "oversize", "undersize", "carrier",
		"allowance", "phy", "oob", "collision", NULL
	}, *const by_socket[] = { "rcvbuf", "sndbuf", "listen", "rcvq", "pruned", NULL };

	if (!strcmp(source, "tc -s"))
		return !strncmp(name, "clsact", 6) || !strncmp(name, "ingress", 7) ? "tc" : "qdisc";
	if (!strcmp(source, "conntrack"))
		return "netfilter";
	if (!strcmp(source, "nstat"))
		return has_any(name, by_socket) ? "socket" : "kernel";
	if (!strcmp(source, "softnet"))
		return "kernel";
	if (strcasestr(name, "xdp"))
		return "xdp";
	if (has_any(name, by_card))
		return "hardware";
	/* rx_dropped is the sum of driver and stack */
	return !strcmp(source, "ip -s link") && strstr(name, "_dropped") ? "any" : "driver";
}

/* Sums counters of the same name: not all drivers number those of their queues. */
static int put_any(struct table *t, const char *source, const char *name, uint64_t value)
{
	struct counters_key key = {};
	uint64_t *row = NULL;

	if (!counter_is_loss(source, name))
		return 0;
	snprintf(key.counter, sizeof(key.counter), "%s", name);
	snprintf(key.source, sizeof(key.source), "%s", source);
	snprintf(key.who, sizeof(key.who), "%s", counter_who(source, name));
	for (unsigned i = 0; i < t->rows && !row; i++)
		if (!memcmp(t->keys + i * sizeof(key), &key, sizeof(key)))
			row = t->cells + (size_t)i * t->words;
	row = row ?: table_add(t, &meter_counters, &key);
	if (!row)
		return -ENOMEM;
	*row += value;
	return 0;
}

/* Skips the many counters at 0: they have not grown and would not be shown. */
static int put(struct table *t, const char *source, const char *name, uint64_t value)
{
	return value ? put_any(t, source, name, value) : 0;
}

static int pair_put(const char *name, uint64_t value, void *t)
{
	return put(t, "nstat", name, value);
}

/* One line per CPU, in hex: packets, dropped, time_squeeze; 11th flow_limit, 13th the CPU. */
static int softnet_read(struct table *t)
{
	static char room[ROOM];
	FILE *f = lines_open("/proc/net/softnet_stat", room, sizeof(room));
	char line[256];
	int err = 0;

	for (unsigned nr = 0; f && !err && fgets(line, sizeof(line), f); nr++) {
		unsigned v[13] = {}, n = 0;

		for (char *at = line, *end; n < 13; at = end, n++) {
			v[n] = strtoul(at, &end, 16);
			if (end == at)
				break;
		}
		if (n > 12)
			nr = v[12];	/* since 5.10; offline CPUs have no line */
		err = put(t, "softnet", text("cpu%u dropped", nr), v[1]) ?:
		      put(t, "softnet", text("cpu%u time_squeeze", nr), v[2]) ?:
		      put(t, "softnet", text("cpu%u flow_limit", nr), v[10]);
	}
	if (f)
		fclose(f);
	return err;
}

/* A line of names, then one line per CPU, in hex. */
static int conntrack_read(struct table *t)
{
	static const char *const wanted[] = { "insert_failed", "drop", "early_drop", NULL };
	static char room[ROOM];
	FILE *f = lines_open("/proc/net/stat/nf_conntrack", room, sizeof(room));
	char names[512] = "", line[512];
	int err = 0;

	if (f && !fgets(names, sizeof(names), f))
		*names = '\0';
	while (f && !err && fgets(line, sizeof(line), f)) {
		char list[512], *save, *at = line;

		strcpy(list, names);
		for (char *name = strtok_r(list, " \n", &save); name && !err;
		     name = strtok_r(NULL, " \n", &save)) {
			uint64_t value = strtoull(at, &at, 16);

			for (int i = 0; wanted[i]; i++)
				if (!strcmp(name, wanted[i]))
					err = put(t, "conntrack", name, value);
		}
	}
	if (f)
		fclose(f);
	return err;
}

struct counters_reading {
	const struct meta *meta;
	struct table *t;
	int err;
};

static int link_read(struct counters_reading *a)
{
#define STAT(field) { #field, offsetof(struct rtnl_link_stats64, field) }
	static const struct { const char *name; size_t at; } list[] = {
		STAT(rx_dropped), STAT(tx_dropped), STAT(rx_errors), STAT(tx_errors),
		STAT(rx_length_errors), STAT(rx_over_errors), STAT(rx_crc_errors),
		STAT(rx_frame_errors), STAT(rx_fifo_errors), STAT(rx_missed_errors),
		STAT(tx_aborted_errors), STAT(tx_carrier_errors), STAT(tx_fifo_errors),
		STAT(tx_heartbeat_errors), STAT(tx_window_errors), STAT(collisions),
	};
#undef STAT
	struct rtnl_link_stats64 stats;
	int err = link_statistics(a->meta->ifindex, &stats);

	for (unsigned i = 0; i < sizeof(list) / sizeof(*list) && !err; i++)
		err = put(a->t, "ip -s link", list[i].name,
			  *(uint64_t *)((char *)&stats + list[i].at));
	return err;
}

/* "pfifo 8001:"; "fq_codel 8001:2" for a child without a handle. */
static void qdisc_name(const struct tcmsg *tcm, const char *kind, char *name, size_t size)
{
	if (tcm->tcm_handle || tcm->tcm_parent == TC_H_ROOT)
		snprintf(name, size, "%s %x:", kind, tcm->tcm_handle >> 16);
	else
		snprintf(name, size, "%s %x:%x", kind, tcm->tcm_parent >> 16,
			 tcm->tcm_parent & 0xffff);
}

static int qdisc_stats(const struct nlmsghdr *nlh, void *arg)
{
	const struct tcmsg *tcm = mnl_nlmsg_get_payload(nlh);
	const struct nlattr *stats = attr_of(nlh, sizeof(*tcm), TCA_STATS2);
	const struct nlattr *kind = attr_of(nlh, sizeof(*tcm), TCA_KIND);
	struct gnet_stats_queue queue = {};
	struct counters_reading *a = arg;
	char name[40];

	if (tcm->tcm_ifindex != (int)a->meta->ifindex)
		return MNL_CB_OK;
	attr_bytes(attr_in(stats, TCA_STATS_QUEUE), &queue, sizeof(queue));
	qdisc_name(tcm, kind ? mnl_attr_get_str(kind) : "?", name, sizeof(name));
	a->err = a->err ?: put(a->t, "tc -s", text("%s dropped", name), queue.drops);
	return MNL_CB_OK;
}

static int qdisc_ask(struct counters_reading *a)
{
	return tc_dump(a->meta->ifindex, RTM_GETQDISC, 0, qdisc_stats, a) ?: a->err;
}

struct own {
	struct table *t;
	char queue[16];
};

/* vmxnet3 has a heading per queue, "Tx Queue#" with its number, and the same names under each. */
static int own_put(const char *name, uint64_t value, void *arg)
{
	const char *at = name + strspn(name, " ");
	struct own *o = arg;

	if (strstr(at, " Queue#"))
		snprintf(o->queue, sizeof(o->queue), "%.2s%u ", at, (unsigned)value);
	/* zeros too, to tell statistics that appear later from those that were there */
	return put_any(o->t, "ethtool -S", text("%s%s", at == name ? "" : o->queue, at), value);
}

/* A driver without statistics is no error. */
static int ethtool_read(const char *iface, struct table *t)
{
	struct own o = { .t = t };
	int err = ethtool_stats_each(iface, own_put, &o);

	return err == -ENOMEM ? err : 0;
}

int counters_read(const struct meta *meta, struct table *t, struct error *e)
{
	struct counters_reading a = { .meta = meta, .t = t };
	char now[IF_NAMESIZE];
	int err = nstat_each(pair_put, t) ?:
		  nstat_list_each("/proc/net/xfrm_stat", pair_put, t) ?:
		  softnet_read(t) ?: conntrack_read(t);

	(void)e;	/* baseline_read() says what failed */
	/* The interface may be gone or renamed: the other counters are still valid. */
	if (!err && iface_name_of(meta->ifindex, now))
		err = link_read(&a) ?: qdisc_ask(&a) ?: ethtool_read(now, t);
	return err == -ENODEV ? 0 : err;
}

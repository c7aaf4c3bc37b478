/* SPDX-License-Identifier: GPL-2.0 */
/* How the driver's own statistics are shown, and which of them say that packets suffer. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "../lib/log.h"
#include "../lib/tap.h"
#include "hwstat.h"
#include "remedy.h"

static const struct metric metrics[] = {
	COUNTER(struct hwstat, value, .name = "value", .unit = "value",
		.help = "How much it has grown since attach, in its own unit."),
	{}
};

static const char *const labels[] = { "direction", "queue", "statistic", "source", NULL };

static const char *name_of(const struct hwstat_key *key)
{
	return key->rank == HWSTAT_OWN ? key->own : stat_names[key->rank].name;
}

static void key_text(const void *of, unsigned nr, char *out, size_t size)
{
	static const char *const ways[] = { "rx", "tx", "-" };
	static const char *const sources[] = { "qstats", "ethtool -S", "ip -s link" };
	const struct hwstat_key *key = of;
	unsigned queue = hwstat_queue(key);

	switch (nr) {
	case 0:
		snprintf(out, size, "%s", ways[key->way]);
		break;
	case 1:
		snprintf(out, size, queue == HWSTAT_ALL ? "all" : "%u", queue);
		break;
	case 2:
		snprintf(out, size, "%s", name_of(key));
		break;
	default:
		snprintf(out, size, "%s", sources[key->source]);
	}
}

static bool key_is_minor(const void *key)
{
	return ((const struct hwstat_key *)key)->rank == HWSTAT_OWN;
}

/* What a statistic says when it grows. The meter counters may see the same, by other names. */
static const struct trouble {
	const char *stats[4];
	enum about about;
	const char *what, *try;	/* as in struct remedy */
} troubles[] = {
	{ { "over_bw_in", "over_bw_out", "over_pps", "over_conntrack" }, ABOUT_ALLOWANCE,
	  "packets were beyond what this size of instance is allowed",
	  "ethtool -S {if} | grep allowance; a larger instance, or less traffic" },
	{ { "over_linklocal" }, ABOUT_ALLOWANCE,
	  "packets were too many for the provider's DNS, clock or metadata",
	  "a cache on this machine: systemd-resolved, nscd; no size of instance allows more" },
	{ { "rx_missed", "rx_no_buffer", "rx_ring_empty" }, ABOUT_RX_NO_ROOM,
	  "times a packet found no receive buffer of {if}",
	  "ethtool -g {if} tells the most; ethtool -G {if} rx N; spread them over more queues: "
	  "ethtool -L {if} combined N" },
	{ { "rx_alloc_fail" }, ABOUT_RX_NO_MEMORY,
	  "times the driver of {if} got no memory for a buffer",
	  "sysctl -w vm.min_free_kbytes={2*vm.min_free_kbytes}" },
	{ { "tx_timeouts", "tx_missed" }, ABOUT_ITSELF,
	  "times nothing was completed for so long that the driver of {if} gave up",
	  "dmesg | grep -i -e {if} -e watchdog; a newer driver or firmware: ethtool -i {if}" },
	{}
};

static bool troubles_it(const struct trouble *t, const struct hwstat_key *key)
{
	for (int i = 0; key->rank != HWSTAT_OWN && i < 4 && t->stats[i]; i++)
		if (!strcmp(t->stats[i], stat_names[key->rank].name))
			return true;
	return false;
}

/* "rx_missed", "rx_no_buffer of queue 3" */
static const char *most_of(const struct hwstat_key *key)
{
	unsigned queue = hwstat_queue(key);

	return queue == HWSTAT_ALL ? name_of(key) : text("%s of queue %u", name_of(key), queue);
}

static void judge(const struct snapshot *s, struct findings *f)
{
	const struct table *t = &s->tables[METER_hwstat];
	const struct hwstat_key *keys = (const void *)t->keys;

	for (const struct trouble *one = troubles; one->what; one++) {
		const struct hwstat_key *most = NULL;
		uint64_t n = 0, top = 0;
		char what[140];

		for (unsigned row = 0; row < t->rows; row++) {
			if (!t->cells[row] || !troubles_it(one, &keys[row]))
				continue;
			n += t->cells[row];
			if (t->cells[row] > top) {
				top = t->cells[row];
				most = &keys[row];
			}
		}
		if (!most || !worth_telling(s, n, 1) || !finding_about(f, one->about, "hwstat"))
			continue;
		snprintf(what, sizeof(what), "%s", remedy_text(one->what, s));
		finding(f, "hwstat", remedy_text(one->try, s), "%s (most: %s)",
			remedy_count(n, what), most_of(most));
	}
}

static const char *remark(const struct site *site)
{
	struct meta meta = { .ifindex = site->iface.ifindex };

	snprintf(meta.driver, sizeof(meta.driver), "%s", site->iface.driver);
	return hwstat_without(&meta);
}

const struct meter meter_hwstat = {
	.name = "hwstat",
	.help = "what the driver and the card count themselves, by queue",
	.by = BY_KEY,
	.point = RX_NIC,
	.row_size = sizeof(struct hwstat),
	.metrics = metrics,
	.key_size = sizeof(struct hwstat_key),
	.key_labels = labels,
	.key_text = key_text,
	.key_minor = "own",
	.key_is_minor = key_is_minor,
	.by_key = true,
	.across = true,
	.read = hwstat_read,
	.remark = remark,
	.judge = judge,
};

/* SPDX-License-Identifier: GPL-2.0 */
/* Losses that others count, beside those that we see; and what to do about what we cannot see. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "../lib/log.h"
#include "counters.h"
#include "remedy.h"

static const struct metric metrics[] = {
	COUNTER(struct counters, events, .name = "events", .unit = "events",
		.help = "How much a counter of losses has grown since nicprobe was attached."),
	{}
};

static const char *const labels[] = { "counter", "who", "source", NULL };

static void key_text(const void *of, unsigned nr, char *out, size_t size)
{
	const struct counters_key *key = of;

	snprintf(out, size, "%s", nr == 0 ? key->counter : nr == 1 ? key->who : key->source);
}

/* What the meter drop does not tell, or not here. `parts`: of names, in any case. */
static const struct cure {
	const char *source, *parts[6];
	bool drop_tells;	/* silent while the meter drop counts the same, packet by packet */
	uint64_t least;
	const char *what, *try;		/* as in struct remedy */
	enum about about;		/* what other meters tell, too, where they are attached */
} cures[] = {
	{ "ip -s link", { "rx_missed", "rx_fifo", "rx_over" }, false, 1,
	  "packets found no room in the receive ring of {if}",
	  "ethtool -g {if} tells the most; ethtool -G {if} rx N; spread them over more queues: "
	  "ethtool -L {if} combined N", ABOUT_RX_NO_ROOM },
	{ "ethtool -S", { "no_buf", "nobuf", "out_of_buf", "missed", "queue_drop" }, false, 1,
	  "packets found no receive buffer of {if}",
	  "ethtool -g {if} tells the most; ethtool -G {if} rx N; spread them over more queues: "
	  "ethtool -L {if} combined N", ABOUT_RX_NO_ROOM },
	{ "ethtool -S", { "bw_in_allowance_e", "bw_out_allowance_e", "pps_allowance_e",
			  "conntrack_allowance_e" }, false, 1,
	  "packets were beyond what this size of instance is allowed",
	  "ethtool -S {if} | grep allowance; a larger instance, or less traffic",
	  ABOUT_ALLOWANCE },
	{ "ethtool -S", { "linklocal_allowance_e" }, false, 1,
	  "packets were too many for the provider's DNS, clock or metadata",
	  "a cache on this machine: systemd-resolved, nscd; no size of instance allows more",
	  ABOUT_ALLOWANCE },
	{ "ethtool -S", { "alloc_fail", "alloc fail", "buff_fail", "page_fail", "alloc_err" },
	  false, 1,
	  "times the driver of {if} got no memory for a buffer",
	  "sysctl -w vm.min_free_kbytes={2*vm.min_free_kbytes}", ABOUT_RX_NO_MEMORY },
	{ "ip -s link", { "crc", "frame", "carrier" }, false, 10,
	  "frames arrived broken at {if}, or left broken",
	  "a cable or an optic: ethtool -m {if}; ethtool {if}; ip -s -s link show dev {if}",
	  ABOUT_ITSELF },
	{ "ethtool -S", { "xdp_drop", "xdp drop" }, false, 10,
	  "packets were dropped by an XDP program", "bpftool net show dev {if}", ABOUT_ITSELF },
	{ "conntrack", { "drop" }, false, 1, "packets found no room in the table of connections",
	  "sysctl -w net.netfilter.nf_conntrack_max={2*net.netfilter.nf_conntrack_max}",
	  ABOUT_ITSELF },
	{ "softnet", { " dropped" }, true, 1, "packets found the backlog of their CPU full",
	  "sysctl -w net.core.netdev_max_backlog={2*net.core.netdev_max_backlog}", ABOUT_ITSELF },
	{ "tc -s", { " dropped" }, true, 10, "packets did not fit in a queueing discipline",
	  "tc -s qdisc show dev {if}", ABOUT_QDISC_DROPS },
	{ "nstat", { "rcvbuferrors", "rcvqdrop", "backlogdrop" }, true, 10,
	  "packets found the buffer of their socket full",
	  "ss -uamp; sysctl -w net.core.rmem_max={2*net.core.rmem_max}", ABOUT_ITSELF },
	{ "nstat", { "listenoverflows" }, true, 1, "connections found the accept queue full",
	  "ss -lnt; sysctl -w net.core.somaxconn={2*net.core.somaxconn}", ABOUT_ITSELF },
	{}
};

static bool cures_it(const struct cure *c, const struct counters_key *key)
{
	for (int i = 0; i < 6 && c->parts[i]; i++)
		if (!strcmp(c->source, key->source) && strcasestr(key->counter, c->parts[i]))
			return strcmp(key->who, "tc");	/* tc's drops are meant */
	return false;
}

static void judge(const struct snapshot *s, struct findings *f)
{
	const struct table *t = &s->tables[METER_counters];
	const struct counters_key *keys = (const void *)t->keys;
	bool drop = s->meta.on >> METER_drop & 1;

	for (const struct cure *c = cures; c->source; c++) {
		const char *most = NULL;
		char what[140];
		uint64_t n = 0;

		for (unsigned row = 0; row < t->rows; row++) {
			uint64_t events = *cell(t, row, 0, &metrics[0]);

			if (!events || !cures_it(c, &keys[row]))
				continue;
			most = most ?: keys[row].counter;	/* sorted: the first */
			/* a qdisc counts what those beneath it drop, too */
			n += strcmp(c->source, "tc -s") ? events : n ? 0 : events;
		}
		if (!most || !worth_telling(s, n, c->least) || (c->drop_tells && drop) ||
		    !finding_about(f, c->about, "counters"))
			continue;
		snprintf(what, sizeof(what), "%s", remedy_text(c->what, s));
		finding(f, "counters", remedy_text(c->try, s), "%s (%s: %s)",
			remedy_count(n, what), c->source, most);
	}
}

const struct meter meter_counters = {
	.name = "counters",
	.help = "losses that the kernel, the driver and the card count themselves",
	.by = BY_KEY,
	.point = RX_STACK,
	.row_size = sizeof(struct counters),
	.metrics = metrics,
	.key_size = sizeof(struct counters_key),
	.key_labels = labels,
	.key_text = key_text,
	.read = counters_read,
	.judge = judge,
};

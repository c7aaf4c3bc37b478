/* SPDX-License-Identifier: GPL-2.0 */
/* The meter qdisc: how long packets wait in the qdisc, and what it drops. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "bpf/drop/drop.h"
#include "bpf/qdisc/qdisc.h"
#include "lib/attach/configure.h"
#include "lib/attach/pinned.h"
#include "lib/read/snapshot.h"
#include "lib/util/log.h"

static const char *const dropped[] = {
	[QDISC_DROPPED] = "by-qdisc",
	[QDISC_DROPPED_OTHER] = "otherwise",
};

static const char *const lost[] = {
	[QDISC_FULL] = "table-full",
	[QDISC_SEGMENTED] = "split-by-qdisc",
	[QDISC_VANISHED] = "vanished",
};

static const struct metric metrics[] = {
	HISTOGRAM(struct qdisc, wait, .name = "wait", .unit = "seconds", .scale = 1e-9,
		.help = "Time from entry to the qdisc until the driver's xmit."),
	LEVEL(struct qdisc, came, .name = "waiting", .unit = "packets",
		.help = "Buffers in the qdisc; with GSO, several packets each."),
	COUNTER(struct qdisc, dropped, .name = "dropped", .unit = "packets",
		.label = "by", .labels = LABELS(struct qdisc, dropped, dropped),
		.help = "Buffers dropped by the qdisc, or otherwise before the driver's xmit."),
	COUNTER(struct qdisc, segmented, .name = "segmented", .unit = "packets",
		.help = "Buffers split in software (GSO) on their way to the driver."),
	COUNTER(struct qdisc, refused, .name = "refused", .unit = "packets",
		.help = "Packets requeued because the driver was busy (NETDEV_TX_BUSY)."),
	COUNTER(struct qdisc, lost, .name = "lost", .unit = "packets",
		.label = "cause", .labels = LABELS(struct qdisc, lost, lost),
		.help = "Buffers whose time could not be measured, by cause."),
	{}
};

static void key_text(const void *key, unsigned nr, char *text, size_t size)
{
	const struct qdisc_key *at = key;

	if (nr)
		snprintf(text, size, "%.16s", at->kind[0] ? at->kind : "unknown");
	else
		snprintf(text, size, "%u", at->queue);
}

static struct qdisc *row_of(const struct table *t, const struct qdisc_key *key)
{
	for (unsigned row = 0; row < t->rows; row++)
		if (!memcmp(t->keys + row * sizeof(*key), key, sizeof(*key)))
			return (void *)(t->cells + (size_t)row * t->words);
	return NULL;
}

void qdisc_place_tell(struct qdisc *row, const struct qdisc_place *place, __u64 n)
{
	bool of_cut = place->followed && drop_of_cut(place->location);

	if (!of_cut && !drop_at_qdisc(place->location))
		return;
	if (place->followed) {
		/* without those dropped after the row was read */
		n = n < row->dropped[QDISC_DROPPED_OTHER] ? n : row->dropped[QDISC_DROPPED_OTHER];
		row->dropped[QDISC_DROPPED_OTHER] -= n;
	}
	if (of_cut)
		row->lost[QDISC_SEGMENTED] += n;
	else
		row->dropped[QDISC_DROPPED] += n;
}

/* Attributes drops to the qdisc by the name of the function in which they happened. */
static int fixup(const char *pins, struct table *t)
{
	struct qdisc_place place, *before = NULL;
	struct pinned_map places = pin_read(text("%s/qdisc_places", pins));

	for (unsigned i = 0; places.fd >= 0 && i < QDISC_PLACES; i++) {
		struct qdisc *row;
		uint64_t n;

		if (bpf_map_get_next_key(places.fd, before, &place))
			break;
		before = &place;
		row = row_of(t, &place.at);
		if (row && !bpf_map_lookup_elem(places.fd, &place, &n))
			qdisc_place_tell(row, &place, n);
	}
	pin_close(&places);
	return 0;
}

/*
 * Buckets of three packets: a qdisc holds 1000 packets by default, the largest (fq_codel, fq)
 * 10240. With one of these, and 1000 in each of the others, the table is half full.
 */
static void configure(const struct iface *i, const struct request *req, struct config *c)
{
	unsigned long long packets = 10240ull + 1000ull * i->tx_queues;

	c->waiting_shift = 32 - table_bits(packets * 2 / 3 / (req->sample ?: 1), 18);
}

static unsigned buckets(const struct config *c)
{
	return 1u << (32 - c->waiting_shift);
}

static const struct map_plan maps[] = {
	{ "qdisc_waiting", .entries = buckets }, { "qdisc_places", .pinned = true }, {}
};

const struct meter meter_qdisc = {
	.name = "qdisc",
	.help = "how long packets wait in the qdisc, by TX queue and kind of qdisc",
	.type = EVENT_METER,
	.by = BY_KEY,
	.point = TX_STACK,
	.row_size = sizeof(struct qdisc),
	.metrics = metrics,
	.key = {
		.size = sizeof(struct qdisc_key),
		.per_queue = QDISC_KINDS,
		.labels = (const char *const []){ "queue", "qdisc", NULL },
		.text = key_text,
	},
	.events = { .maps = maps, .global = true },
	.fixup = fixup,
	.configure = configure,
	.thins = { .take = 230, .pass = 72 },
	.on_request = "it costs about 0.25 us per sent packet: a clock read and a table lookup",
};

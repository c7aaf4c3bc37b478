/* SPDX-License-Identifier: GPL-2.0 */
/* How the ledger is shown, and what may have come of what is missing in it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/derived.h"
#include "../lib/driver.h"
#include "../lib/log.h"
#include "../lib/tap.h"
#include "hwstat.h"
#include "ledger.h"

#define PACKETS(field, ...) \
	COUNTER(struct ledger, field, .unit = "packets", .group = "packets", __VA_ARGS__)
#define BYTES(field, ...) \
	COUNTER(struct ledger, field, .unit = "bytes", .group = "bytes", __VA_ARGS__)
#define RESIDUE(field, ...) { .kind = KIND_RESIDUE, .scale = 1, \
	.at = WORD(struct ledger, field), .words = WORDS(struct ledger, field), __VA_ARGS__ }

enum { RESIDUE_PACKETS = 8, RESIDUE_BYTES = 12 };
static const struct metric metrics[] = {
	PACKETS(hardware, .name = "hardware", .rare = true, .untold = true,
		.help = "Packets that the card says it received or sent."),
	PACKETS(driver, .name = "driver",
		.help = "Packets that the driver says it received or sent."),
	PACKETS(ours, .name = "ours",
		.help = "Packets that we saw at the nic point, as this driver counts them."),
	PACKETS(xdp, .name = "xdp", .rare = true,
		.help = "Packets that XDP programs took, as the driver says."),
	PACKETS(dropped, .name = "dropped", .rare = true,
		.help = "Packets that the driver says it threw away."),
	RESIDUE(between, .name = "between", .unit = "packets", .rare = true, .group = "packets",
		.help = "Wire packets that came to the first of the nic and stack points alone."),
	PACKETS(stack, .name = "stack",
		.help = "Wire packets that we saw at the stack point."),
	PACKETS(tc, .name = "tc", .rare = true,
		.help = "Packets that filters of tc dropped, as the meter drop says."),
	RESIDUE(residue, .name = "residue", .unit = "packets", .group = "packets",
		.help = "Packets that the driver counted and we did not; below 0: we alone."),
	BYTES(hardware_bytes, .name = "hardware", .rare = true, .untold = true,
	      .help = "Bytes that the card says it received or sent."),
	BYTES(driver_bytes, .name = "driver",
	      .help = "Bytes that the driver says it received or sent."),
	BYTES(our_bytes, .name = "ours",
	      .help = "Bytes that we saw at the nic point, as this driver counts them."),
	RESIDUE(residue_bytes, .name = "residue", .unit = "bytes", .group = "bytes",
		.help = "Bytes that the driver counted and we did not; below 0: we alone."),
	{}
};

static const char *const labels[] = { "direction", "queue", NULL };

static void key_text(const void *of, unsigned nr, char *out, size_t size)
{
	const struct ledger_key *key = of;
	unsigned queue = ledger_queue(key);

	if (!nr)
		snprintf(out, size, "%s", key->way ? "tx" : "rx");
	else
		snprintf(out, size, queue == LEDGER_ALL ? "all" : "%u", queue);
}

static const char *const *ways(bool more, bool tx)
{
	static const char *const list[2][2][2] = {
		{ { "saw", "its counters lag, or leave some out: ethtool -S {}, twice" },
		  { "handed it",
		    "lost in the driver or the card, or not completed: nicprobe show {} txlat" } },
		{ { "did not see",
		    "AF_XDP or an XDP program before ours may have them: ss --xdp; bpftool net" },
		  { "did not see",
		    "who sends past the kernel's events? AF_XDP (ss --xdp), pktgen, netconsole, "
		    "sockets with PACKET_QDISC_BYPASS" } },
	};

	return list[more][tx];
}

/* "queue 3 of eth0", "eth0" */
static const char *whose(const struct snapshot *s, const struct ledger_key *key)
{
	unsigned queue = ledger_queue(key);

	return queue == LEDGER_ALL ? text("%s", s->meta.iface) :
				     text("queue %u of %s", queue, s->meta.iface);
}

/* What was not completed when we looked is known to txlat alone. */
static bool may_lag(const struct snapshot *s, const struct ledger_key *key, int64_t n)
{
	const char *when = driver_find(s->meta.driver)->bytes.when;
	bool late = key->way && when && !strcmp(when, "completion");

	return late && n < 0 && n >= -LEDGER_RING && !(s->meta.on >> METER_txlat & 1);
}

static void tell_packets(const struct snapshot *s, struct findings *f,
			 const struct ledger_key *key, int64_t n)
{
	const char *const *way = ways(n > 0, key->way), *try = way[1], *name = strstr(try, "{}");

	if (name)
		try = text("%.*s%s%s", (int)(name - try), try, strchr(name, ',') ? s->meta.iface :
			   s->name, name + 2);
	if (n > 0)
		finding(f, "ledger", try, "the driver counted %" PRId64 " packets %s (%s) that we "
			"%s", n, key->way ? "sent" : "received", whose(s, key), way[0]);
	else
		finding(f, "ledger", try, "we %s %" PRId64 " packets (%s) that the driver did not "
			"count as %s", way[0], -n, whose(s, key), key->way ? "sent" : "received");
}

static void tell_bytes(const struct snapshot *s, struct findings *f,
		       const struct ledger_key *key, const uint64_t *words, int64_t n)
{
	uint64_t packets = words[metrics[2].at];

	finding(f, "ledger", text("is it another version of the driver? ethtool -i %s; what is "
				  "known of it: nicprobe drivers %s", s->meta.iface,
				  s->meta.driver),
		"of the same packets (%s, %s) the driver counted %" PRId64 " bytes %s than we, "
		"%.3g a packet", key->way ? "sent" : "received", whose(s, key), n < 0 ? -n : n,
		n < 0 ? "fewer" : "more", packets ? (double)(n < 0 ? -n : n) / packets : 0);
}

static bool tell(const struct snapshot *s, struct findings *f, unsigned row)
{
	const struct table *t = &s->tables[METER_ledger];
	const struct ledger_key *key = (const void *)(t->keys + row * sizeof(*key));
	const uint64_t *words = t->cells + (size_t)row * t->words;
	uint64_t within;
	int64_t packets = residue_of(&metrics[RESIDUE_PACKETS], words +
				     metrics[RESIDUE_PACKETS].at, &within);
	int64_t bytes = residue_of(&metrics[RESIDUE_BYTES], words +
				   metrics[RESIDUE_BYTES].at, &within);

	if (packets && !may_lag(s, key, packets))
		tell_packets(s, f, key, packets);
	else if (!packets && bytes)
		tell_bytes(s, f, key, words, bytes);
	else
		return false;
	return true;
}

/* How often the driver began at 0 again, where it says so. */
static uint64_t restarts(const struct snapshot *s)
{
	const struct table *t = &s->tables[METER_hwstat];
	const struct hwstat_key *keys = (const void *)t->keys;
	uint64_t n = 0;

	for (unsigned row = 0; row < t->rows; row++)
		if (keys[row].rank != HWSTAT_OWN &&
		    !strcmp(stat_names[keys[row].rank].name, "restarts"))
			n += t->cells[row];
	return n;
}

/* Of each direction what is left of all of it; where that is nothing, of a queue. */
static void judge(const struct snapshot *s, struct findings *f)
{
	const struct table *t = &s->tables[METER_ledger];
	const struct ledger_key *keys = (const void *)t->keys;

	if (restarts(s)) {
		finding(f, "ledger", text("nicprobe detach %s; nicprobe attach %s -m ledger",
					  s->meta.iface, s->meta.iface),
			"the driver of %s began to count from 0 again, as its queues were made "
			"anew: what it had counted before that is missing", s->meta.iface);
		return;
	}
	for (int way = 0; way < 2; way++) {
		bool told = false;

		for (unsigned row = t->rows; row-- && !told; )	/* all comes after its queues */
			if (keys[row].way == way)
				told = tell(s, f, row);
	}
}

static const char *remark(const struct site *site)
{
	if (site->driver->bytes.tx == TX_NOT_KNOWN)
		return text("nobody here knows how %s counts bytes: of the usual ways that which "
			    "leaves the least is taken", site->iface.driver);
	if (site->driver->bytes.tx == TX_CARD)
		return "the card counts what is sent, an emulated one as it pleases: of both ways "
		       "that which leaves less is taken";
	return NULL;
}

const struct meter meter_ledger = {
	.name = "ledger",
	.help = "the same packets, as card, driver and nicprobe count them; what is left",
	.by = BY_KEY,
	.points = 1 << RX_NIC | 1 << TX_NIC,
	.row_size = sizeof(struct ledger),
	.metrics = metrics,
	.key_size = sizeof(struct ledger_key),
	.key_labels = labels,
	.key_text = key_text,
	.by_key = true,
	.bare = true,
	.derive = ledger_derive,
	.needs = 1ull << METER_pktsize | 1ull << METER_hwstat,
	.uses = 1ull << METER_txlat | 1ull << METER_drop,
	.around = 1ull << METER_pktsize,
	.remark = remark,
	.judge = judge,
};

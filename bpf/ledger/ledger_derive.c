/* SPDX-License-Identifier: GPL-2.0 */
/* Derives the ledger from other meters: a row per queue whose packets the driver reports. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/drop/drop.h"
#include "lib/kernel/reasons.h"
#include "bpf/hwstat/hwstat.h"
#include "bpf/ledger/ledger_ways.h"
#include "bpf/txlat/txlat.h"
#include "bpf/xsk/xsk.h"
#include "lib/read/thinned.h"
#include "lib/util/list.h"

extern const struct meter meter_ledger;

/* Statistics used of the meter hwstat. */
enum want {
	PACKETS, BYTES, CARD_PACKETS, CARD_BYTES, DROPS, ERRORS, SENT_BY_XDP,
	XDP_DROP, XDP_TX, XDP_REDIRECT, XDP_ABORTED, NR_WANTS
};
static const char *const wants[2][NR_WANTS] = {
	[STAT_RX] = { "rx_packets", "rx_bytes", "rx_card_packets", "rx_card_bytes", "rx_drops",
		      NULL, NULL, "xdp_drop", "xdp_tx", "xdp_redirect", "xdp_aborted" },
	[STAT_TX] = { "tx_packets", "tx_bytes", "tx_card_packets", "tx_card_bytes", "tx_drops",
		      "tx_errors", "tx_xdp" },
};

struct held {
	bool there, link;		/* link: from `ip -s link`, including what the stack adds */
	uint64_t value;
};

/* One direction. */
struct side {
	const struct snapshot *s, *late;
	const struct driver *driver;
	bool tx;
	unsigned rows;			/* of per-queue meters; the last: unknown, here all */
	struct held *held;		/* [NR_WANTS][rows] */
	unsigned queues;		/* whose packets the driver reports */
	bool changed;			/* the queues have changed since attach */
};

static struct held *held(const struct side *d, enum want want, unsigned queue)
{
	return &d->held[want * d->rows + queue];
}

static void stats_take(struct side *d)
{
	const struct table *t = &d->s->tables[METER_hwstat];
	const struct hwstat_key *keys = (const void *)t->keys;

	for (unsigned row = 0; row < t->rows; row++) {
		unsigned queue = hwstat_queue(&keys[row]);

		if (keys[row].rank == HWSTAT_OWN || (queue >= d->rows - 1 && queue != HWSTAT_ALL))
			continue;
		for (int want = 0; want < NR_WANTS; want++) {
			const char *name = wants[d->tx][want];
			struct held *h;

			if (!name || strcmp(name, stat_names[keys[row].rank].name))
				continue;
			h = held(d, want, queue == HWSTAT_ALL ? d->rows - 1 : queue);
			h->there = true;
			h->link = keys[row].source == HWSTAT_LINK;
			h->value += t->cells[row];
		}
	}
	d->changed = t->changed;
	for (unsigned q = 0; q < d->rows - 1 && !d->driver->bytes.link; q++)
		d->queues += held(d, PACKETS, q)->there;
}

static uint64_t stat_sum(const struct side *d, enum want want)
{
	uint64_t sum = 0;

	for (unsigned q = 0; q < d->rows - 1; q++)
		sum += held(d, want, q)->value;
	return sum;
}

/* Of a queue; for all (the last), the driver's total, else the sum of the queues. */
static uint64_t stat(const struct side *d, enum want want, unsigned queue)
{
	const struct held *h = held(d, want, queue);
	bool all = queue == d->rows - 1;

	/* the driver's total includes queues that came or went meanwhile */
	if (all && (want <= BYTES ? d->queues && !(d->changed && h->there) : !h->there))
		return stat_sum(d, want);
	return h->value;
}

/* The counts of a queue at a point; for all queues (the last), the sum. */
static struct pktsize seen(const struct side *d, const struct snapshot *s, enum point point,
			   unsigned queue)
{
	const struct table *t = &s->tables[METER_pktsize];
	bool all = queue == d->rows - 1;
	union { struct pktsize row; uint64_t words[sizeof(struct pktsize) / 8]; } sum = {};

	for (unsigned q = all ? 0 : queue; q <= queue; q++) {
		const uint64_t *row = row_words(t, point * d->rows + q, 0);

		for (unsigned i = 0; i < NR_OF(sum.words); i++)
			sum.words[i] += row[i];
	}
	return sum.row;
}

/* Packets at a point whose queue is not known. */
static uint64_t unknown(const struct side *d, enum point point)
{
	const struct table *t = &d->late->tables[METER_pktsize];
	const void *row = row_words(t, (point + 1) * d->rows - 1, 0);

	return ledger_packets(row, point == RX_NIC || point == TX_NIC);
}

/* Packets that the driver has not completed yet. */
static uint64_t in_flight(const struct side *d, unsigned queue)
{
	const struct table *t = &d->s->tables[METER_txlat];
	unsigned one_in = meter_sample(&meter_txlat, &d->s->meta);
	uint64_t n = 0;

	/* it passed packets by, and not 1 in a fixed number: how many are in flight is not known */
	if (meter_adapts(&meter_txlat, &d->s->meta) && !meter_has_all(d->s, METER_txlat))
		return LEDGER_RING * (queue == d->rows - 1 && d->queues ? d->queues : 1);
	for (unsigned row = 0; t->cells && row < t->rows; row++) {
		const struct txlat *w = (const void *)row_words(t, row, 0);

		if ((row == queue || queue == d->rows - 1) && w->came > w->went)
			n += (w->came - w->went) * one_in;
	}
	return n;
}

/*
 * Packets sent before attach that the driver counts after it. Their number is not known, but if
 * nothing was sent meanwhile there are none.
 */
static uint64_t before(const struct side *d, unsigned queue, const struct ledger_seen *seen)
{
	if (d->s->meta.since || (!seen->driver.packets && !seen->last->packets))
		return 0;
	return LEDGER_RING * (queue == d->rows - 1 && d->queues ? d->queues : 1);
}

/* Drops of a queue in the meter drop that `whose` selects. */
static struct tally dropped_by(const struct side *d, unsigned queue,
			       bool (*whose)(const struct side *, const struct drop_key *))
{
	const struct table *t = &d->s->tables[METER_drop];
	const struct drop_key *keys = (const void *)t->keys;
	struct tally n = {};

	for (unsigned row = 0; t->cells && row < t->rows; row++) {
		const struct drop *drop = (const void *)row_words(t, row, 0);

		if ((keys[row].queue != queue && queue != d->rows - 1) || !whose(d, &keys[row]))
			continue;
		n.packets += drop->packets;
		n.bytes += drop->bytes;
	}
	return n;
}

/* Packets of a queue that its AF_XDP sockets did not get or could not send. */
static uint64_t sockets_lost(const struct side *d, unsigned queue)
{
	const struct table *t = &d->s->tables[METER_xsk];
	const struct xsk_key *keys = (const void *)t->keys;
	uint64_t n = 0;

	for (unsigned row = 0; t->cells && row < t->rows; row++) {
		const struct xsk_row *x = (const void *)row_words(t, row, 0);

		if (xsk_queue(&keys[row]) == queue || queue == d->rows - 1)
			n += d->tx ? x->tx_invalid : xsk_lost(x);
	}
	return n;
}

static bool by_tc(const struct side *d, const struct drop_key *key)
{
	return !strcmp(drop_reason_name(key->reason), d->tx ? "TC_EGRESS" : "TC_INGRESS");
}

static bool by_driver(const struct side *d, const struct drop_key *key)
{
	return d->tx && key->direction == DROP_TX && !strcmp(drop_who(key), "driver");
}

/* No protocol takes it: the stack counts a drop of the interface, which did receive it. */
static bool by_nobody(const struct side *d, const struct drop_key *key)
{
	return !d->tx && key->direction == DROP_RX &&
	       !strcmp(drop_reason_name(key->reason), "UNHANDLED_PROTO");
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Packets that the driver freed in its xmit; false: not all are known. */
static bool freed(const struct side *d, unsigned queue, uint64_t *n)
{
	const struct table *t = &d->s->tables[METER_txlat];

	*n = 0;
	for (unsigned row = 0; t->cells && row < t->rows; row++) {
		const struct txlat *w = (const void *)row_words(t, row, 0);

		if (row == queue || queue == d->rows - 1)
			*n += w->lost[TXLAT_FREED_IN_XMIT];
	}
	return t->cells && meter_has_all(d->s, METER_txlat);
}

/*
 * Packets dropped by the driver on transmit that we had counted: it freed them in its xmit, or the
 * meter drop has the same number. Some drivers also free copied packets in their xmit, but they
 * report no drops then.
 */
static struct tally known(const struct side *d, unsigned queue, uint64_t drops)
{
	struct tally by = dropped_by(d, queue, by_driver);
	bool see = d->s->tables[METER_drop].cells;
	uint64_t freed_by;

	if (!d->tx)
		return (struct tally){};
	if (!freed(d, queue, &freed_by))
		freed_by = see && by.packets == drops ? drops : 0;
	drops = least(drops, freed_by);
	/* if the driver counts segments, the numbers differ and the bytes are not known */
	return (struct tally){ drops, by.packets == drops ? by.bytes : 0 };
}

/* Upper bound of the largest buffer that we have seen. */
static uint64_t largest(const struct side *d, const struct pktsize *p)
{
#define B(nr, bound) bound,
	static const unsigned bounds[] = { PKTSIZE_BOUNDS(B) };
#undef B
	int slot = PKTSIZE_SLOTS - 1;

	while (slot > 0 && !p->size.slot[slot])
		slot--;
	return slot == PKTSIZE_SLOTS - 1 || p->more_packets || !d->s->meta.since ? LEDGER_MOST :
	       bounds[slot];
}

static void budget(const struct side *d, unsigned queue, struct ledger_seen *seen,
		   const struct ledger *row)
{
	bool all = queue == d->rows - 1;
	uint64_t drops = row->dropped;

	/* the driver may report drops only for the interface */
	if (!held(d, DROPS, queue)->there)
		drops += held(d, DROPS, d->rows - 1)->value;
	seen->known = known(d, queue, drops);
	drops -= seen->known.packets;
	if (!d->tx && held(d, DROPS, d->rows - 1)->link)
		drops -= least(drops, dropped_by(d, queue, by_nobody).packets);
	seen->ever_less = drops + row->xdp;
	seen->ever_more = row->xdp;
	if (d->tx) {
		seen->ever_less += stat(d, ERRORS, queue);
		seen->ever_more += stat(d, SENT_BY_XDP, queue);
		if (d->driver->bytes.when && !strcmp(d->driver->bytes.when, "completion"))
			seen->less += in_flight(d, queue) + before(d, queue, seen);
		seen->some = d->driver->bytes.tx_some;
	} else {
		seen->some = d->driver->bytes.rx_some;
		/* XDP packets of later queues are not known, but at most those that we lack */
		if (d->changed && all && !d->queues &&
		    row->driver > seen->first->packets + row->xdp)
			seen->more += row->driver - seen->first->packets - row->xdp;
		seen->ever_more += all ? 0 : unknown(d, RX_NIC);
		/* a poll delivers packets before it counts them at its end */
		if (seen->last->packets != seen->first->packets)
			seen->less += LEDGER_POLL * (all && d->queues ? d->queues : 1);
	}
	seen->less += seen->ever_less;
	seen->more += seen->ever_more;
}

static void between(const struct side *d, unsigned queue, struct ledger *row)
{
	enum point nic = d->tx ? TX_NIC : RX_NIC, stack = d->tx ? TX_STACK : RX_STACK;
	struct pktsize of[4] = {
		seen(d, d->s, nic, queue), seen(d, d->late, nic, queue),
		seen(d, d->s, stack, queue), seen(d, d->late, stack, queue),
	};
	uint64_t n[4];

	for (int i = 0; i < 4; i++)
		n[i] = ledger_packets(&of[i], i < 2);
	if (!*d->s->meta.hook[stack])
		return;
	row->stack = n[2];
	row->between[0] = d->tx ? n[2] - n[1] : n[0] - n[3];
	row->between[1] = d->tx ? n[3] - n[0] : n[1] - n[2];
	if (queue != d->rows - 1) {
		row->between[0] -= unknown(d, d->tx ? nic : stack);
		row->between[1] += unknown(d, d->tx ? stack : nic);
		row->between[2] = unknown(d, nic) + unknown(d, stack);
	}
	if (!d->tx && n[1] != n[0])	/* GRO holds some */
		row->between[1] += LEDGER_POLL * (d->queues ?: 1);
}

static int row_put(const struct side *d, unsigned queue, unsigned label, struct table *t)
{
	enum point nic = d->tx ? TX_NIC : RX_NIC;
	struct ledger_key key = { .way = d->tx, .queue = { label >> 8, label } };
	struct ledger_seen s = { .driver = { stat(d, PACKETS, queue), stat(d, BYTES, queue) } };
	struct pktsize first = seen(d, d->s, nic, queue), last = seen(d, d->late, nic, queue);
	struct ledger row = {
		.driver = s.driver.packets, .driver_bytes = s.driver.bytes,
		.hardware = stat(d, CARD_PACKETS, queue),
		.hardware_bytes = stat(d, CARD_BYTES, queue),
		.dropped = stat(d, DROPS, queue), .tc = dropped_by(d, queue, by_tc).packets,
		.af_xdp = sockets_lost(d, queue),
	};
	uint64_t *to;

	for (int i = XDP_DROP; i < NR_WANTS; i++)
		row.xdp += stat(d, i, queue);
	ledger_ways(d->driver, d->tx, &first, s.first);
	ledger_ways(d->driver, d->tx, &last, s.last);
	row.ours = s.first->packets;
	row.our_bytes = s.first->bytes;
	s.most = largest(d, &last);
	budget(d, queue, &s, &row);
	ledger_residue(&s, &row);
	between(d, queue, &row);
	to = table_add(t, &meter_ledger, &key);
	if (to)
		memcpy(to, &row, sizeof(row));
	return to ? 0 : -ENOMEM;
}

static int side_put(struct side *d, struct table *t)
{
	unsigned all = d->rows - 1, label = LEDGER_ALL;
	int err = 0;

	d->held = calloc((size_t)NR_WANTS * d->rows, sizeof(*d->held));
	if (!d->held)
		return -ENOMEM;
	stats_take(d);
	for (unsigned q = 0; q < all && d->queues && !err; q++) {
		if (!held(d, PACKETS, q)->there)
			continue;
		if (d->queues == 1)	/* the interface's row is that of this queue */
			label = q;
		else
			err = row_put(d, q, q, t);
	}
	if (!err && (d->queues || held(d, PACKETS, all)->there))
		err = row_put(d, all, label, t);
	free(d->held);
	return err;
}

int ledger_derive(const struct snapshot *s, const struct snapshot *late, struct table *t)
{
	int err = 0;

	for (int tx = 0; tx < 2 && !err; tx++) {
		struct side d = {
			.s = s, .late = late, .tx = tx, .rows = s->meta.rows,
			.driver = driver_find(s->meta.driver),
		};

		if (*s->meta.hook[tx ? TX_NIC : RX_NIC])
			err = side_put(&d, t);
	}
	return err;
}

/* SPDX-License-Identifier: GPL-2.0 */
/* From what we count at a nic point to what a driver or a card counts of the same packets. */
#include "ledger_ways.h"

#define FCS	4
#define ETHER	14

static uint64_t counted(const struct pktsize *p)
{
	uint64_t n = 0;

	for (int i = 0; i < PKTSIZE_SLOTS; i++)
		n += p->size.slot[i];
	return n;
}

uint64_t ledger_packets(const struct pktsize *p, bool nic)
{
	return counted(p) + (nic ? 0 : p->more_packets);
}

/* Buffers as they are handed over, and the same as packets on the wire. */
static struct tally buffers(const struct pktsize *p)
{
	return (struct tally){ counted(p) - p->more_packets, p->size.sum - p->more_bytes };
}

static struct tally wire(const struct pktsize *p)
{
	return (struct tally){ counted(p), p->size.sum };
}

static struct tally each(struct tally t, int more)
{
	t.bytes += (int64_t)more * (int64_t)t.packets;
	return t;
}

static struct tally plus(struct tally t, uint64_t bytes)
{
	t.bytes += bytes;
	return t;
}

static void rx_ways(const struct driver *d, const struct pktsize *p, struct tally *way)
{
	for (int i = 0; i < LEDGER_WAYS; i++)
		way[i] = each(buffers(p), d->bytes.rx_more - ETHER);
	if (d->bytes.rx_wire)
		for (int i = 0; i < LEDGER_WAYS; i++)
			way[i].packets = counted(p);
	if (d->bytes.tx)
		return;
	way[0] = buffers(p);
	way[1] = each(buffers(p), -ETHER);
	way[2] = wire(p);
	way[3] = each(buffers(p), FCS);
}

/* Of a driver nobody knows: of the ways there are, one. */
static void any_way(const struct pktsize *p, struct tally *way)
{
	way[0] = buffers(p);
	way[1] = wire(p);
	way[2] = each(buffers(p), -ETHER);
	way[3] = each(wire(p), FCS);
}

/*
 * A card counts what is on the wire, filled up and with FCS. Emulated ones hand a buffer on as it
 * is, and do not fill up (QEMU's e1000e).
 */
static void card_ways(const struct pktsize *p, struct tally *way)
{
	way[0] = plus(each(wire(p), FCS), p->padding);
	way[1] = each(wire(p), FCS);
	way[2] = plus(each(buffers(p), FCS), p->padding);
	way[3] = each(buffers(p), FCS);
}

static void tx_ways(const struct driver *d, const struct pktsize *p, struct tally *way)
{
	uint64_t padding = d->bytes.tx_least ? p->padding : 0;
	struct tally one = buffers(p);

	if (d->bytes.tx == TX_NOT_KNOWN || d->bytes.tx == TX_CARD) {
		(d->bytes.tx == TX_CARD ? card_ways : any_way)(p, way);
		return;
	}
	if (d->bytes.tx == TX_WIRE)
		one = wire(p);
	if (d->bytes.tx == TX_LINEAR)
		one = (struct tally){ counted(p), one.bytes + p->linear };
	for (int i = 0; i < LEDGER_WAYS; i++)
		way[i] = plus(one, padding);
}

void ledger_ways(const struct driver *d, bool tx, const struct pktsize *p, struct tally *way)
{
	(tx ? tx_ways : rx_ways)(d, p, way);
}

/* Those of which some count with other bytes: in the first way none do, in the second all. */
static int64_t shift(const struct ledger_seen *s, int way, uint64_t packets)
{
	return way == 1 ? s->some * (int64_t)packets : 0;
}

/* In the others nobody knows how many. */
static int64_t room(const struct ledger_seen *s, int way, uint64_t packets)
{
	return way > 1 ? s->some * (int64_t)packets : 0;
}

void ledger_residue(const struct ledger_seen *s, struct ledger *row)
{
	for (int i = 0; i < LEDGER_WAYS; i++) {
		uint64_t *packets = row->residue + 2 * i, *bytes = row->residue_bytes + 2 * i;
		const struct tally *first = &s->first[i], *last = &s->last[i];
		int64_t some = room(s, i, last->packets);

		packets[0] = s->driver.packets - last->packets - s->more;
		packets[1] = s->driver.packets - first->packets + s->less;
		bytes[0] = s->driver.bytes - last->bytes - shift(s, i, last->packets) -
			   s->more * LEDGER_MOST - (some > 0 ? some : 0);
		bytes[1] = s->driver.bytes - first->bytes - shift(s, i, first->packets) +
			   s->less * LEDGER_MOST - (some < 0 ? some : 0);
	}
}

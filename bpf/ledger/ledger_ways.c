/* SPDX-License-Identifier: GPL-2.0 */
/* Converts our counts at a nic point to what a driver or card counts for the same packets. */
#include "bpf/ledger/ledger_ways.h"

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

/* Buffers as given to the driver; wire(): the same as packets on the wire. */
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

/* An unknown driver counts in one of these ways. */
static void any_way(const struct pktsize *p, struct tally *way)
{
	way[0] = buffers(p);
	way[1] = wire(p);
	way[2] = each(buffers(p), -ETHER);
	way[3] = each(wire(p), FCS);
}

/*
 * A card counts frames on the wire, with padding and FCS. Emulated cards may forward a whole buffer
 * and not pad (QEMU's e1000e).
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

/* If some packets count with other bytes: in the first way none do, in the second all… */
static int64_t shift(const struct ledger_seen *s, int way, uint64_t packets)
{
	return way == 1 ? s->some * (int64_t)packets : 0;
}

/* …in the other ways an unknown number. */
static int64_t room(const struct ledger_seen *s, int way, uint64_t packets)
{
	return way > 1 ? s->some * (int64_t)packets : 0;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t *residue_put(uint64_t *to, uint64_t least, uint64_t most, uint64_t ever)
{
	*to++ = least;
	*to++ = most;
	*to++ = ever;
	return to;
}

/* Bytes of so many packets, at most all that were counted. */
static uint64_t bytes_of(uint64_t packets, uint64_t each, uint64_t all)
{
	return least(packets * each, all);
}

void ledger_residue(const struct ledger_seen *s, struct ledger *row)
{
	uint64_t *packets = row->residue, *bytes = row->residue_bytes;
	struct tally driver = s->driver;
	uint64_t unsized = s->known.bytes ? 0 : s->known.packets;

	driver.packets += s->known.packets;
	driver.bytes += s->known.bytes;
	for (int i = 0; i < LEDGER_WAYS; i++) {
		const struct tally *first = &s->first[i], *last = &s->last[i];
		int64_t some = room(s, i, last->packets);
		uint64_t more = bytes_of(s->more, LEDGER_MOST, s->driver.bytes);
		uint64_t less = bytes_of(s->less + unsized, s->most, last->bytes);
		uint64_t ever = bytes_of(s->ever_more, LEDGER_MOST, s->driver.bytes) +
				bytes_of(s->ever_less + unsized, s->most, last->bytes);

		packets = residue_put(packets, driver.packets - last->packets - s->more,
				      driver.packets - first->packets + s->less,
				      s->ever_more + s->ever_less);
		bytes = residue_put(bytes, driver.bytes - last->bytes - more -
				    shift(s, i, last->packets) - (some > 0 ? some : 0),
				    driver.bytes - first->bytes + less -
				    shift(s, i, first->packets) - (some < 0 ? some : 0),
				    ever + (some < 0 ? -some : some));
	}
}

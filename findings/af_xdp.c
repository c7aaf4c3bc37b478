/* SPDX-License-Identifier: GPL-2.0 */
/* Findings about AF_XDP sockets whose program does not keep up. */
#include "bpf/xsk/xsk.h"
#include "findings/subjects.h"

enum { FILL_EMPTY, RX_FULL };

static const struct limit few = { 10, "10 packets" };

static const struct finding_kind kinds[] = {
	[FILL_EMPTY] = {
		.id = "xsk-fill-empty", RATED(CRITICAL, LOSS),
		RESTS(ALWAYS, ON(xsk), 0),
		.title = "The fill ring of an AF_XDP socket ran empty",
		.means = "The kernel writes each packet into a frame that the program supplied "
			 "through the fill ring. No frame was left: the program returns frames "
			 "more slowly than packets arrive, leaks some, or has too few.",
		.when = "at least {1} were dropped in the window because no frame was available "
			"(meter xsk); with zero copy the card drops them, so the card must have "
			"counted {1} that found no buffer",
		.silent = "Packets dropped because they are longer than a frame; with zero copy, "
			  "an empty fill ring while the card still has frames.",
		.remedy = "Refill as soon as a batch is read, before processing it; use more "
			  "frames and a longer fill ring (XDP_UMEM_REG, XDP_UMEM_FILL_RING); give "
			  "the program a CPU of its own.",
		.symptom = "An AF_XDP program loses packets",
		.limits = { &few },
	},
	[RX_FULL] = {
		.id = "xsk-rx-full", RATED(CRITICAL, LOSS),
		RESTS(ALWAYS, ON(xsk), 0),
		.title = "The RX ring of an AF_XDP socket is full",
		.means = "The kernel queues each packet on the RX ring of the socket. The ring was "
			 "full of packets that the program had not read: it is slower than the "
			 "incoming rate, or blocked elsewhere.",
		.when = "at least {1} found the RX ring full in the window (meter xsk)",
		.remedy = "Give the program more CPU time, or a CPU of its own: taskset -cp CPU "
			  "PID; for bursts, a longer ring (XDP_RX_RING) and as many more frames; "
			  "or more queues, each with its own socket and thread.",
		.symptom = "An AF_XDP program loses packets",
		.limits = { &few },
	},
};

static const struct xsk_key *key_of(const struct evidence *e, unsigned row)
{
	return (const struct xsk_key *)(const void *)e->s->tables[METER_xsk].keys + row;
}

/*
 * Packets that a socket lost. In copy mode rx_dropped includes every empty fill ring, and each
 * socket that shares a fill ring reports the count of all; with zero copy the card loses them.
 */
static uint64_t lost(const struct evidence *e, unsigned row, unsigned kind)
{
	const struct xsk_row *x = (const void *)row_words(&e->s->tables[METER_xsk], row, 0);
	uint64_t missed;
	int queue;

	if (kind == RX_FULL)
		return x->rx_ring_full;
	if (!key_of(e, row)->zero_copy)
		return x->rx_dropped < x->fill_ring_empty ? x->rx_dropped : x->fill_ring_empty;
	missed = card_counted(e, "rx_missed", &queue) ?: card_counted(e, "rx_no_buffer", &queue);
	return x->fill_ring_empty ? missed : 0;
}

/* One socket is reported per queue: the one that lost most, or the first of equals. */
static bool is_worst(const struct evidence *e, unsigned row, unsigned kind)
{
	unsigned queue = xsk_queue(key_of(e, row));
	uint64_t n = lost(e, row, kind);

	for (unsigned i = 0; i < e->s->tables[METER_xsk].rows; i++)
		if (xsk_queue(key_of(e, i)) == queue &&
		    (lost(e, i, kind) > n || (lost(e, i, kind) == n && i < row)))
			return false;
	return true;
}

static struct finding *tell_fill(struct evidence *e, const struct xsk_key *key, uint64_t n)
{
	const char *whose = xsk_whose(key);
	unsigned queue = xsk_queue(key);
	struct finding *f;

	if (key->zero_copy)
		f = finding_add(e->f, &kinds[FILL_EMPTY], queue,
				"%s: the fill ring of the zero-copy AF_XDP socket of %s on queue "
				"%u (%u frames) was empty",
				packets(n, "found no room in the card"), whose, queue,
				key->fill_ring);
	else
		f = finding_add(e->f, &kinds[FILL_EMPTY], queue,
				"%s for the AF_XDP socket of %s on queue %u: its fill ring of %u "
				"frames was empty",
				packets(n, "were dropped"), whose, queue, key->fill_ring);
	finding_advise(f, "it returns frames too late, or not at all: refill right after reading; "
		       "use more frames and a longer fill ring; is it short of CPU time? "
		       "pidstat -u -w 1");
	finding_fact(f, "ring", key->fill_ring, "frames");
	return f;
}

static struct finding *tell_full(struct evidence *e, const struct xsk_key *key, uint64_t n)
{
	struct finding *f = finding_add(e->f, &kinds[RX_FULL], xsk_queue(key),
					"%s for the AF_XDP socket of %s on queue %u: its RX ring "
					"of %u descriptors was full",
					packets(n, "were dropped"), xsk_whose(key),
					xsk_queue(key), key->rx_ring);

	finding_advise(f, "it reads too slowly: give it more CPU time, or a CPU of its own "
		       "(taskset -cp CPU PID); for bursts, a longer RX ring and as many more "
		       "frames");
	finding_fact(f, "ring", key->rx_ring, "descriptors");
	return f;
}

static void judge(struct evidence *e)
{
	for (unsigned kind = FILL_EMPTY; has(e, METER_xsk) && kind <= RX_FULL; kind++) {
		for (unsigned row = 0; row < e->s->tables[METER_xsk].rows; row++) {
			uint64_t n = lost(e, row, kind);
			struct finding *f;

			if (!worth(e, n, few.value) || !is_worst(e, row, kind))
				continue;
			f = kind == FILL_EMPTY ? tell_fill(e, key_of(e, row), n) :
						 tell_full(e, key_of(e, row), n);
			finding_packets(e, f, n);
		}
	}
}

DEFINE_SUBJECT(af_xdp, "AF_XDP: sockets whose program does not keep up")

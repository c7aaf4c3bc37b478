/* SPDX-License-Identifier: GPL-2.0 */
/* Made-up counts for the ledger: ours, and the driver's. */
#ifndef MADE_H
#define MADE_H

#include <stdlib.h>
#include <string.h>

#include "bpf/hwstat/hwstat.h"
#include "bpf/ledger/ledger_ways.h"
#include "lib/read/derived.h"

#define QUEUES	4
#define NOBODY	(QUEUES + 1)	/* rows of a point */

/* A snapshot of an interface with 4 queues: our counts, read twice, and the driver's. */
struct made {
	struct snapshot s, late;
	struct table out;
};

static void table_on(struct snapshot *s, enum meter_id id)
{
	struct table *t = &s->tables[id];

	t->words = meters[id]->row_size / 8;
	t->cpus = 1;
	t->rows = meters[id]->by & BY_KEY ? 0 : meter_rows(meters[id], s->meta.rows);
	t->cells = t->rows ? calloc(t->rows, meters[id]->row_size) : NULL;
	s->meta.on |= 1ull << id;
}

static struct made *made(const char *driver)
{
	struct made *m = calloc(1, sizeof(*m));

	m->s.meta = (struct meta){ .rows = NOBODY, .rx_queues = QUEUES, .tx_queues = QUEUES,
				   .since = 1 };
	strcpy(m->s.meta.iface, "eth0");
	strcpy(m->s.meta.driver, driver);
	for (int p = 0; p < NR_POINTS; p++)
		strcpy(m->s.meta.hook[p], "somehow");
	m->late.meta = m->s.meta;
	table_on(&m->s, METER_pktsize);
	table_on(&m->late, METER_pktsize);
	table_on(&m->s, METER_hwstat);
	m->out = (struct table){ .cpus = 1, .words = sizeof(struct ledger) / 8 };
	return m;
}

static struct pktsize *row(struct snapshot *s, enum point point, unsigned queue)
{
	const struct table *t = &s->tables[METER_pktsize];

	return (struct pktsize *)(t->cells + (size_t)(point * NOBODY + queue) * t->words);
}

/* Buffers of `segs` packets of `len` bytes each on the wire, `head` of them headers. */
static void buffers(struct snapshot *s, enum point point, unsigned queue, unsigned nr,
		    unsigned segs, unsigned len, unsigned head)
{
	struct pktsize *p = row(s, point, queue);
	bool nic = point == RX_NIC || point == TX_NIC;

	p->size.slot[5] += (uint64_t)nr * (nic ? segs : 1);
	p->more_packets += (uint64_t)nr * (segs - 1);
	p->size.sum += (uint64_t)nr * (nic ? segs * len : segs * len - (segs - 1) * head);
	if (nic)
		p->more_bytes += (uint64_t)nr * (segs - 1) * head;
}

/* The same at both readings. */
static void seen(struct made *m, enum point point, unsigned queue, unsigned nr, unsigned segs)
{
	buffers(&m->s, point, queue, nr, segs, 1000, 66);
	buffers(&m->late, point, queue, nr, segs, 1000, 66);
}

static void said(struct made *m, const char *name, int queue, uint64_t value)
{
	unsigned q = queue < 0 ? HWSTAT_ALL : queue;
	struct hwstat_key key = {
		.way = *name == 't' ? STAT_TX : STAT_RX, .queue = { q >> 8, q },
		.rank = stat_find(name) - stat_names,
	};

	*table_add(&m->s.tables[METER_hwstat], &meter_hwstat, &key) = value;
}

static void done(struct made *m)
{
	snapshot_free(&m->s);
	snapshot_free(&m->late);
	free(m->out.cells);
	free(m->out.keys);
	free(m);
}

static const struct ledger *find(struct made *m, bool tx, unsigned queue)
{
	static const struct ledger none;

	if (!m->out.rows && ledger_derive(&m->s, &m->late, &m->out))
		return &none;
	for (unsigned i = 0; i < m->out.rows; i++) {
		const struct ledger_key *key = (void *)(m->out.keys + i * sizeof(*key));

		if (key->way == tx && ledger_queue(key) == queue)
			return (const void *)(m->out.cells + (size_t)i * m->out.words);
	}
	return &none;
}

static inline const struct metric *metric(const char *key_wanted)
{
	for_each_metric(k, &meter_ledger) {
		char key[64];

		metric_key(k, key, sizeof(key));
		if (!strcmp(key, key_wanted))
			return k;
	}
	exit(2);
}

static inline int64_t left(const struct ledger *l, const char *key, uint64_t *within)
{
	const struct metric *k = metric(key);

	return residue_of(k, (const uint64_t *)l + k->at, within);
}

#endif

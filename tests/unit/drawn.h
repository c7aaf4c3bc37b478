/* SPDX-License-Identifier: GPL-2.0 */
/* Snapshots to be drawn: an interface with its meters, and figures in them. */
#ifndef DRAWN_H
#define DRAWN_H

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "lib/core/meter.h"
#include "lib/read/snapshot.h"
#include "xdp/ecn_source.h"

enum { NOT_ECT, ECT1, ECT0, CE, NOT_IP };
enum { TABLE_FULL, FREED_IN_XMIT };

static void table_on(struct snapshot *s, enum meter_id id, unsigned rows)
{
	const struct meter *m = meters[id];
	struct table *t = &s->tables[id];

	t->rows = m->by & BY_KEY ? rows : meter_rows(m, s->meta.rows);
	t->cpus = m->by & BY_CPU ? s->meta.cpus : 1;
	t->words = m->row_size / 8;
	t->cells = calloc((size_t)(t->rows ? t->rows : 1) * t->cpus * t->words, 8);
	if (m->by & BY_KEY)
		t->keys = calloc(rows ? rows : 1, m->key.size);
	s->meta.on |= 1ull << id;
	s->wanted |= 1ull << id;
}

static struct snapshot *snapshot(const char *name, const char *driver, unsigned queues,
				 unsigned sources)
{
	static const char *const hooks[] = {
		"xdp", "tcx", "tp_btf/net_dev_queue", "tp_btf/net_dev_start_xmit"
	};
	struct snapshot *s = calloc(1, sizeof(*s));

	s->meta = (struct meta){
		.ifindex = 2, .netns = 4026531840, .rx_queues = queues, .tx_queues = queues,
		.rows = queues + 1, .cpus = 4, .sample = 1, .since = 1000000000,
	};
	snprintf(s->name, sizeof(s->name), "%s", name);
	snprintf(s->meta.iface, sizeof(s->meta.iface), "%s", name);
	snprintf(s->meta.driver, sizeof(s->meta.driver), "%s", driver);
	for (int p = 0; p < NR_POINTS; p++)
		snprintf(s->meta.hook[p], sizeof(s->meta.hook[p]), "%s", hooks[p]);
	s->when.tv_sec = 1795168800;
	s->seconds = 12.003;
	s->boot_ns = 13003000000;
	table_on(s, METER_pktsize, 0);
	table_on(s, METER_ecn, 0);
	table_on(s, METER_ecn_source, sources);
	table_on(s, METER_rxcpu, 0);
	table_on(s, METER_txlat, 0);
	return s;
}

/* The words of one metric; `point` is ignored by meters of a single point. */
static uint64_t *at(struct snapshot *s, enum meter_id id, const char *name, enum point point,
		    int queue, unsigned cpu)
{
	const struct meter *m = meters[id];
	const struct table *t = &s->tables[id];

	for (unsigned row = 0; row < t->rows; row++) {
		struct place p = place_of(s, m, row);

		if ((m->by & BY_POINT && p.point != point) || p.queue != queue)
			continue;
		for_each_metric(k, m)
			if (!strcmp(k->name, name))
				return (uint64_t *)cell(t, row, cpu, k);
	}
	fprintf(stderr, "no %s of %s, queue %d\n", name, m->name, queue);
	exit(2);
}

static inline void sizes(struct snapshot *s, enum point point, int queue, uint64_t bytes,
		  const uint64_t slots[13])
{
	uint64_t *w = at(s, METER_pktsize, "packet_size", point, queue, 0);

	w[0] = bytes;
	memcpy(w + 1, slots, 13 * sizeof(*w));
}
#define SLOTS(...) (const uint64_t[13]){ __VA_ARGS__ }

static inline void ecn(struct snapshot *s, enum point point, int queue, uint64_t ect0, uint64_t ce,
		uint64_t not_ip)
{
	uint64_t *w = at(s, METER_ecn, "packets", point, queue, 0);

	w[NOT_ECT] = 9 * ect0;
	w[ECT0] = ect0;
	w[CE] = ce;
	w[NOT_IP] = not_ip;
}

static inline void rxcpu(struct snapshot *s, int queue, unsigned cpu, uint64_t packets,
			 uint64_t bytes)
{
	*at(s, METER_rxcpu, "packets", RX_NIC, queue, cpu) = packets;
	*at(s, METER_rxcpu, "bytes", RX_NIC, queue, cpu) = bytes;
}

/* A hump of completions around `slot`. */
static inline void txlat(struct snapshot *s, int queue, unsigned slot, uint64_t most,
			 uint64_t flying)
{
	uint64_t *w = at(s, METER_txlat, "completion", TX_NIC, queue, 0);
	uint64_t *level = at(s, METER_txlat, "in_flight", TX_NIC, queue, 0);

	for (unsigned i = 0; i < 8; i++) {
		w[1 + slot + i] += most >> 2 * i;
		w[0] += (most >> 2 * i) * 20000;
		level[1] += most >> 2 * i;
	}
	level[0] = level[1] + flying;
}

static inline void source(struct snapshot *s, unsigned row, const char *address, uint64_t packets)
{
	const struct table *t = &s->tables[METER_ecn_source];
	struct ecn_source_key *key = (void *)(t->keys + row * sizeof(*key));

	key->ipv6 = strchr(address, ':') != NULL;
	inet_pton(key->ipv6 ? AF_INET6 : AF_INET, address, key->address);
	t->cells[row * t->words] = packets;
}

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* Which parts of a snapshot are shown, common to all formats. */
#ifndef NICPROBE_RENDER_SHOWN_H
#define NICPROBE_RENDER_SHOWN_H

#include <math.h>

#include "lib/read/snapshot.h"

/* Does it have counts? If not, it only has the section hw. */
static inline bool measured(const struct snapshot *s)
{
	return s->meta.since;
}

static inline bool meter_shown(const struct snapshot *s, unsigned id)
{
	return s->wanted >> id & 1 && s->tables[id].cells;
}

/* Why a meter is absent; NULL: it is attached, or it was not requested. */
static inline const char *meter_absent(const struct snapshot *s, unsigned id)
{
	bool all = !(s->meta.on & ~s->wanted);	/* no selection was made */

	if (s->meta.on >> id & 1)
		return NULL;
	return s->meta.absent[id][0] && (all || s->wanted >> id & 1) ? s->meta.absent[id] : NULL;
}

/* The remark on how a meter that is shown measures here; or NULL. */
static inline const char *meter_remark(const struct snapshot *s, unsigned id)
{
	return meter_shown(s, id) && s->meta.absent[id][0] ? s->meta.absent[id] : NULL;
}

/* Why a point has no hook; NULL: it has one, or no reason is known. */
static inline const char *point_absent(const struct snapshot *s, unsigned point)
{
	return s->meta.note[point][0] && !s->meta.hook[point][0] ? s->meta.note[point] : NULL;
}

/* Can this meter lose counts, or has it? */
static inline bool meter_loses(const struct snapshot *s, unsigned id)
{
	return meter_shown(s, id) && (meters[id]->by & BY_KEY || s->lost[id]);
}

/* "veth, 8 rx and 8 tx queues": those in use, if known; or that it is the host. As text(). */
const char *target_text(const struct meta *);

/* Are counts shown as rates per second? */
static inline bool rates(const struct snapshot *s)
{
	return s->interval && !s->counts;
}

static inline double attached_seconds(const struct snapshot *s)
{
	return s->interval ? (s->boot_ns - s->meta.since) * 1e-9 : s->seconds;
}

/* "blue" of "blue/eth0"; "": our own namespace, or one without a name. Storage as in text(). */
const char *netns_in(const char *label);

static inline const char *netns_of(const struct snapshot *s)
{
	return netns_in(s->name);
}

struct json;
/* Keys that identify an interface in every document: name, index, namespace and driver. */
void json_interface(struct json *, const struct meta *, const char *label);
/* All keys of the document of a snapshot. */
void json_snapshot(struct json *, const struct snapshot *);

static inline const void *key_of(const struct meter *m, const struct table *t, unsigned row)
{
	return t->keys + (size_t)row * m->key.size;
}

/* The main count of a row, by which queues are compared. */
static inline uint64_t row_weight(const struct meter *m, const uint64_t *words)
{
	const struct metric *k = m->metrics;

	return k->kind == KIND_HISTOGRAM ? hist_count(k, words + k->at) : words[k->at];
}

static inline void words_add(uint64_t *sum, const uint64_t *words, unsigned nr)
{
	for (unsigned i = 0; i < nr; i++)
		sum[i] += words[i];
}

/* A gauge is words[0] - words[1]; CPUs are read in turn, so it can seem negative: then 0. */
static inline uint64_t level_of(const uint64_t *words)
{
	return words[0] > words[1] && words[0] - words[1] < 1ull << 63 ? words[0] - words[1] : 0;
}

/* Packets that pktsize counted at a point. */
static inline uint64_t point_packets(const struct snapshot *s, enum point point)
{
	const struct table *t = &s->tables[METER_pktsize];
	uint64_t n = 0;

	for (unsigned row = 0; t->cells && row < t->rows; row++)
		if (place_of(s, &meter_pktsize, row).point == point)
			n += row_weight(&meter_pktsize, row_words(t, row, 0));
	return n;
}

/* Packets in one direction, counted at the point nearest to the wire; false: not counted. */
static inline bool packets_of(const struct snapshot *s, enum point nic, enum point stack,
			      uint64_t *n)
{
	enum point point = *s->meta.hook[nic] ? nic : stack;

	*n = point_packets(s, point);
	return s->tables[METER_pktsize].cells && *s->meta.hook[point];
}

/* In both directions. False: one of them is not counted. */
static inline bool packets_both(const struct snapshot *s, uint64_t *n)
{
	uint64_t sent;
	bool counted = packets_of(s, RX_NIC, RX_STACK, n) &&
		       packets_of(s, TX_NIC, TX_STACK, &sent);

	*n += counted ? sent : 0;
	return counted;
}

/* What measuring takes of a CPU at the present rate, in per cent; NAN: it is not known. */
static inline double cost_share(const struct snapshot *s)
{
	uint64_t packets;

	if (!s->meta.cost_ns || s->seconds <= 0 || !packets_both(s, &packets))
		return NAN;
	return packets * (double)s->meta.cost_ns / s->seconds / 1e7;
}

/* Packets the kernel dropped, without the benign reasons; false: drop is not attached. */
static inline bool packets_dropped(const struct snapshot *s, uint64_t *n)
{
	const struct meter *m = meters[METER_drop];
	const struct table *t = &s->tables[METER_drop];

	*n = 0;
	for (unsigned row = 0; t->cells && row < t->rows; row++)
		if (!m->key.is_minor(key_of(m, t, row)))
			*n += row_weight(m, row_words(t, row, 0));
	return t->cells;
}

/* Intervals keep both words of a gauge, so a row whose gauges and counts are all 0 is idle, too. */
static inline bool row_idle(const struct meter *m, const struct table *t,
			    unsigned row, unsigned cpu)
{
	if (cell_idle(t, row, cpu))
		return true;
	for_each_metric(k, m) {
		const uint64_t *w = cell(t, row, cpu, k);

		if (k->kind == KIND_LEVEL && level_of(w))
			return false;
		for (unsigned i = 0; k->kind < KIND_LEVEL && i < k->words; i++)
			if (w[i])
				return false;
	}
	return true;
}

#endif

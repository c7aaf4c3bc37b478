/* SPDX-License-Identifier: GPL-2.0 */
/* A made-up source for top: an attached interface of 4 queues, and one that is not attached. */
#ifndef TOP_H
#define TOP_H

#include "bpf/drop/drop.h"
#include "bpf/napi/napi.h"
#include "lib/core/meter.h"
#include "lib/kernel/reasons.h"
#include "top/ui.h"
#include "drawn.h"

#define SECOND	1000000000ull
#define BEGAN	(1000 * SECOND)		/* CLOCK_BOOTTIME of the attach */

/* What this source says next. */
struct made_up {
	unsigned moment;		/* seconds since attach */
	unsigned queues;
	bool gone;			/* there is only the other interface any more */
	bool anew;			/* detached, and attached again */
	bool denied;
};

static inline void dropped(struct snapshot *s, unsigned packets)
{
	struct table *t = &s->tables[METER_drop];
	struct drop_key *key = (void *)t->keys;
	struct drop *d = (void *)t->cells;

	drop_reason_know(200, "NOT_WANTED");
	*key = (struct drop_key){ .reason = 200, .queue = 1, .direction = DROP_RX, .stack = -1 };
	d->packets = d->buffers = packets;
	d->bytes = packets * 100;
}

static inline void source_of(struct snapshot *s, unsigned packets)
{
	source(s, 0, "192.0.2.1", packets);
}

/*
 * Totals after so many seconds. A second has, of queue q: 1000 * (q + 1) packets of 1000 bytes
 * received in half as many buffers, 100 sent, which take 20 us, and 32 us in the first minute.
 */
static inline void totals(struct snapshot *s, unsigned queues, unsigned seconds)
{
	unsigned first = seconds < 60 ? seconds : 60;

	for (unsigned q = 0; q < queues; q++) {
		uint64_t n = 1000 * (q + 1) * (uint64_t)seconds;
		uint64_t *polls = at(s, METER_napi, "polls", RX_NIC, q, 0);

		sizes(s, RX_NIC, q, n * 1000, SLOTS(0, 0, 0, 0, n));
		sizes(s, RX_STACK, q, n * 1000, SLOTS(0, 0, 0, 0, 0, 0, n / 2));
		sizes(s, TX_NIC, q, 100ull * seconds * 100, SLOTS(0, 100ull * seconds));
		ecn(s, RX_NIC, q, 9 * seconds, seconds, 0);
		rxcpu(s, q, q % 4, n, n * 1000);
		txlat(s, q, 72, 64 * (uint64_t)first, 0);
		txlat(s, q, 66, 64 * (uint64_t)(seconds - first), 0);
		polls[0] = 50ull * seconds;
	}
	dropped(s, 7 * seconds);
}

static inline struct top_item *item(struct top_moment *m, const char *name, const char *driver,
				    bool attached, uint64_t boot_ns)
{
	struct top_item *i = top_item_add(m, attached);

	snprintf(i->name, sizeof(i->name), "%s", name);
	snprintf(i->driver, sizeof(i->driver), "%s", driver);
	i->up = true;
	i->boot_ns = boot_ns;
	return i;
}

static inline int made_up_read(struct top_source *source, struct top_moment *m, struct error *e)
{
	struct made_up *made = source->of;
	uint64_t now = BEGAN + made->moment * SECOND;
	struct top_item *i;
	struct snapshot *s;

	(void)e;
	m->when.tv_sec = 1795168800 + made->moment;
	i = item(m, "lo", "loopback", false, now);
	i->rx_queues = i->tx_queues = 1;
	i->link.rx_packets = i->link.tx_packets = 20 * made->moment;
	i->link.rx_bytes = i->link.tx_bytes = 2000 * made->moment;
	if (made->denied)
		snprintf(m->remark, sizeof(m->remark), "what is attached cannot be seen: no");
	if (made->gone || made->denied)
		return 0;
	i = item(m, "eth0", "ena", true, now);
	i->rx_queues = i->tx_queues = made->queues;
	s = snapshot("eth0", "ena", made->queues, 1);
	source_of(s, made->moment);
	table_on(s, METER_napi, 0);
	table_on(s, METER_drop, 1);
	s->meta.netns = 1;		/* there is none: the setup is not read */
	s->meta.since = BEGAN + (made->anew ? 1 : 0);
	s->boot_ns = s->mono_ns = now;
	s->seconds = made->moment;
	s->link.known = s->link.up = true;
	for (unsigned id = 0; id < NR_METERS; id++)
		if (s->tables[id].cells)
			s->tables[id].when = now;
	totals(s, made->queues, made->moment);
	free(i->s);
	i->s = s;
	return 0;
}

#endif

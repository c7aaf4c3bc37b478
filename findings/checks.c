/* SPDX-License-Identifier: GPL-2.0 */
/* What a window says of every finding there may be: it is so, it is not so, or nobody can tell. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "findings/checks.h"
#include "lib/util/grow.h"
#include "lib/util/list.h"
#include "lib/util/log.h"
#include "xdp/pktsize.h"

const char *const checked_names[] = {
	[CHECK_WELL] = "well",
	[CHECK_FOUND] = "found",
	[CHECK_UNASKED] = "not checked",
};
ONE_EACH(checked_names, NR_CHECKED);

/* The larger count of two points. */
static uint64_t packets_at(const struct snapshot *s, enum point nic, enum point stack)
{
	const struct evidence e = { .s = s };
	uint64_t n[NR_POINTS] = {};

	for_each_row(r, &e, METER_pktsize)
		n[row_place(&e, &r).point] += hist_count(meter_pktsize.metrics,
							 r.words + meter_pktsize.metrics->at);
	return n[nic] > n[stack] ? n[nic] : n[stack];
}

uint64_t packets_received(const struct snapshot *s)
{
	return packets_at(s, RX_NIC, RX_STACK);
}

uint64_t packets_sent(const struct snapshot *s)
{
	return packets_at(s, TX_NIC, TX_STACK);
}

/* Why figures that a finding rests on are not there; NULL: they are. */
static const char *figures_lack(const struct evidence *e, uint64_t bits)
{
	if (bits & SETUP && !e->hw)
		return "the settings of the interface cannot be read";
	for (int id = 0; id < NR_METERS; id++)
		if (bits >> id & 1 && !has(e, id))
			return text("%s: %s", meters[id]->name, *e->s->meta.absent[id] ?
				    e->s->meta.absent[id] : "it is not attached");
	return NULL;
}

/* As figures_lack(), but one of them will do. */
static const char *figures_lack_all(const struct evidence *e, uint64_t bits)
{
	const char *why = NULL;

	for (int id = 0; id < NR_METERS; id++) {
		if (!(bits >> id & 1))
			continue;
		if (has(e, id))
			return NULL;
		why = why ?: figures_lack(e, 1ull << id);
	}
	return why;
}

static const char *packets_lack(const struct snapshot *s, const struct rests *r)
{
	bool in = packets_received(s), out = packets_sent(s);
	const char *time = finding_time(s->seconds);

	switch (r->packets) {
	case REST_RECEIVED:
		return in ? NULL : text("nothing was received in %s", time);
	case REST_SENT:
		return out ? NULL : text("nothing was sent in %s", time);
	case REST_EITHER:
		return in || out ? NULL : text("no packet went by in %s", time);
	default:
		return NULL;
	}
}

static void check_one(const struct evidence *e, struct check *c)
{
	const struct rests *r = &c->kind->rests;
	const char *why = NULL;

	c->is = finding_find(&e->s->findings, c->kind->id) ? CHECK_FOUND : CHECK_WELL;
	if (c->is == CHECK_WELL)
		why = figures_lack(e, r->all) ?: (r->all ? NULL : figures_lack_all(e, r->any)) ?:
		      packets_lack(e->s, r);
	if (!why)
		return;
	c->is = CHECK_UNASKED;
	snprintf(c->why, sizeof(c->why), "%s", why);
}

int checks_of(const struct snapshot *s, struct checks *all)
{
	const struct evidence e = { .s = s, .hw = s->hw };

	*all = (struct checks){};
	for (const struct subject *const *one = subjects; *one; one++)
		for (unsigned i = 0; subject_fits(*one, s) && (*one)->kind(i); i++) {
			struct check *more = grow(all->list, all->nr, sizeof(*more));

			if (!more)
				return -ENOMEM;
			all->list = more;
			more += all->nr++;
			*more = (struct check){ .kind = (*one)->kind(i), .subject = *one };
			check_one(&e, more);
			all->count[more->is]++;
		}
	return 0;
}

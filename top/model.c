/* SPDX-License-Identifier: GPL-2.0 */
/* What top knows: of each interface the present window, and the last minutes. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "findings/subjects.h"
#include "lib/util/error.h"
#include "lib/util/grow.h"
#include "top/model.h"
#include "top/values.h"

#define CLOSE	12	/* seconds: all younger moments are kept… */
#define STEP	10	/* …of the older ones one in so many seconds… */
#define OLDEST	75	/* …up to here */

struct top_item *top_item_add(struct top_moment *m, bool attached)
{
	struct top_item **list = grow(m->list, m->nr, sizeof(*list));
	struct top_item *item = calloc(1, sizeof(*item));

	if (list)
		m->list = list;
	if (item && attached)
		item->s = calloc(1, sizeof(*item->s));
	if (!list || !item || (attached && !item->s)) {
		top_item_free(item);
		return NULL;
	}
	m->list[m->nr++] = item;
	return item;
}

void top_item_free(struct top_item *item)
{
	if (item && item->s)
		snapshot_free(item->s);
	if (item)
		free(item->s);
	free(item);
}

void top_moment_free(struct top_moment *m)
{
	for (unsigned i = 0; i < m->nr; i++)
		top_item_free(m->list[i]);
	free(m->list);
	*m = (struct top_moment){};
}

struct top_iface *model_find(const struct model *m, unsigned id)
{
	for (unsigned i = 0; i < m->nr; i++)
		if (m->list[i]->id == id)
			return m->list[i];
	return NULL;
}

/* The id of a name; -1: out of memory. */
static int id_of(struct model *m, const char *name)
{
	char (*ids)[96];
	unsigned i = 0;

	while (i < m->nr_ids && strcmp(m->ids[i], name))
		i++;
	if (i < m->nr_ids)
		return i;
	ids = grow(m->ids, m->nr_ids, sizeof(*ids));
	if (!ids)
		return -1;
	m->ids = ids;
	snprintf(ids[i], sizeof(ids[i]), "%s", name);
	return m->nr_ids++;
}

static struct top_iface *named(struct model *m, const char *name)
{
	struct top_iface **list, *w;
	int id;

	for (unsigned i = 0; i < m->nr; i++)
		if (!strcmp(m->list[i]->name, name))
			return m->list[i];
	list = grow(m->list, m->nr, sizeof(*list));
	w = calloc(1, sizeof(*w));
	id = id_of(m, name);
	if (list)
		m->list = list;
	if (!list || !w || id < 0) {
		free(w);
		return NULL;
	}
	w->id = id;
	snprintf(w->name, sizeof(w->name), "%s", name);
	return list[m->nr++] = w;
}

static void kept_forget(struct top_iface *w)
{
	for (unsigned i = 0; i < w->nr_kept; i++)
		top_item_free(w->kept[i]);
	w->nr_kept = 0;
	top_item_free(w->zero);
	w->zero = NULL;
	snapshot_free(&w->window);
	w->window = (struct snapshot){};
	w->link = (struct link_rates){};
}

static double age(const struct top_iface *w, unsigned i)
{
	return (w->kept[w->nr_kept - 1]->boot_ns - w->kept[i]->boot_ns) * 1e-9;
}

static void kept_drop(struct top_iface *w, unsigned i)
{
	top_item_free(w->kept[i]);
	memmove(&w->kept[i], &w->kept[i + 1], (--w->nr_kept - i) * sizeof(w->kept[i]));
}

/* The last two always stay, whatever the time between them. */
static void kept_prune(struct top_iface *w)
{
	while (w->nr_kept > 2 && age(w, 1) > OLDEST)
		kept_drop(w, 0);
	for (unsigned i = 1; i + 2 < w->nr_kept;)
		if (age(w, i) > CLOSE && age(w, i - 1) - age(w, i + 1) <= STEP + .5)
			kept_drop(w, i);
		else
			i++;
	while (w->nr_kept >= KEPT_MOST)
		kept_drop(w, w->nr_kept / 2);
}

/* Is there a difference of these two? Only if both are of one attachment and run, or of none. */
static bool same_kind(const struct top_item *a, const struct top_item *b)
{
	if (a->joined != b->joined)
		return false;
	if (!a->s || !b->s)
		return a->s == b->s;
	return a->s->meta.since == b->s->meta.since && a->s->meta.on == b->s->meta.on &&
	       a->s->meta.rows == b->s->meta.rows;
}

static uint64_t grown(uint64_t now, uint64_t then)
{
	return now > then ? now - then : 0;
}

static struct link_rates link_since(const struct top_item *now, const struct top_item *then)
{
	const struct rtnl_link_stats64 *a = &now->link, *b = &then->link;

	return (struct link_rates){
		.known = now->boot_ns > then->boot_ns,
		.seconds = (now->boot_ns - then->boot_ns) * 1e-9,
		.rx_packets = grown(a->rx_packets, b->rx_packets),
		.rx_bytes = grown(a->rx_bytes, b->rx_bytes),
		.tx_packets = grown(a->tx_packets, b->tx_packets),
		.tx_bytes = grown(a->tx_bytes, b->tx_bytes),
		.dropped = grown(a->rx_dropped + a->tx_dropped, b->rx_dropped + b->tx_dropped),
	};
}

/* The difference of two totals, into a snapshot of its own. */
static int difference(const struct top_item *now, struct top_item *then, struct snapshot *window)
{
	return snapshot_since(window, now->s, then->s);
}

/* The latest moment that is a window ago, or `z`; NULL: there is only one moment. */
static struct top_item *base_of(const struct model *m, struct top_iface *w)
{
	unsigned i = w->nr_kept - 1;

	if (w->nr_kept < 2)
		return NULL;
	if (!m->span && w->zero && w->zero->boot_ns < w->kept[i]->boot_ns)
		return w->zero;
	while (--i && age(w, i) < m->span - .5 * (age(w, i - 1) - age(w, i)))
		;
	return w->kept[i];
}

static int find(struct model *m, const struct top_item *base, const struct top_item *now,
		struct snapshot *window)
{
	if (m->source->found)
		return m->source->found(m->source, base, now, &window->findings);
	findings_judge(window, NULL);
	findings_earlier(window, now->s);
	return 0;
}

static void window_make(struct model *m, struct top_iface *w)
{
	struct top_item *base = base_of(m, w), *now = w->kept[w->nr_kept - 1];

	snapshot_free(&w->window);
	w->window = (struct snapshot){};
	w->link = (struct link_rates){};
	if (!base)
		return;
	m->seconds = (now->boot_ns - base->boot_ns) * 1e-9;
	if (!w->attached) {
		w->link = link_since(now, base);
	} else if (difference(now, base, &w->window) || find(m, base, now, &w->window)) {
		snapshot_free(&w->window);
		w->window = (struct snapshot){};
	}
}

void model_again(struct model *m)
{
	for (unsigned i = 0; i < m->nr; i++)
		if (m->list[i]->nr_kept)
			window_make(m, m->list[i]);
}

/*
 * One value of each line of the past, from the last two moments. Mostly that is the window, too,
 * which is there already.
 */
static void past_write(const struct model *m, struct top_iface *w)
{
	struct top_item *now = w->kept[w->nr_kept - 1], *then;
	struct snapshot step = {};

	past_moment(&w->past);
	if (w->nr_kept < 2)
		return;
	then = w->kept[w->nr_kept - 2];
	if (!w->attached) {
		struct link_rates r = link_since(now, then);

		past_put(&w->past, PAST_RECEIVED, 0, 0, r.rx_packets / r.seconds);
		past_put(&w->past, PAST_SENT, 0, 0, r.tx_packets / r.seconds);
		past_put(&w->past, PAST_DROPS, 0, 0, r.dropped / r.seconds);
	} else if (w->window.interval && base_of(m, w) == then) {
		values_past(&w->past, &w->window);
	} else if (!difference(now, then, &step)) {
		values_past(&w->past, &step);
	}
	snapshot_free(&step);
}

/* Takes what is known of an interface now: the item is ours from here on. */
static void take(struct top_iface *w, struct top_item *item)
{
	const struct top_item *last = w->nr_kept ? w->kept[w->nr_kept - 1] : NULL;

	w->gone = false;
	if (last && !same_kind(last, item)) {
		kept_forget(w);
	} else if (last && last->boot_ns >= item->boot_ns) {
		top_item_free(item);
		return;
	}
	if (w->nr_kept)
		kept_prune(w);
	w->kept[w->nr_kept++] = item;
	snprintf(w->driver, sizeof(w->driver), "%s", item->driver);
	snprintf(w->state, sizeof(w->state), "%s", item->state);
	w->rx_queues = item->rx_queues;
	w->tx_queues = item->tx_queues;
	w->up = item->up;
	w->attached = item->s;
	w->ours = item->ours;
	w->fresh = true;
}

/* Interfaces that are no more there leave the list. */
static void leave(struct model *m)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < m->nr; i++) {
		if (m->list[i]->gone) {
			kept_forget(m->list[i]);
			past_free(&m->list[i]->past);
			free(m->list[i]);
		} else {
			m->list[kept++] = m->list[i];
		}
	}
	m->nr = kept;
}

int model_read(struct model *m, struct error *e)
{
	struct top_moment now = {};
	int err = m->source->read(m->source, &now, e);

	if (err) {
		top_moment_free(&now);
		return err;
	}
	m->when = now.when;
	snprintf(m->remark, sizeof(m->remark), "%s", now.remark);
	for (unsigned i = 0; i < m->nr; i++)
		m->list[i]->gone = true;
	for (unsigned i = 0; i < now.nr; i++) {
		struct top_iface *w = named(m, now.list[i]->name);

		if (w)
			take(w, now.list[i]);
		else
			top_item_free(now.list[i]);
	}
	free(now.list);
	leave(m);
	model_again(m);
	for (unsigned i = 0; i < m->nr; i++) {
		if (m->list[i]->fresh)
			past_write(m, m->list[i]);
		m->list[i]->fresh = false;
	}
	return 0;
}

/* A copy of the totals of an attached interface, or of what the kernel counts; NULL: no memory. */
static struct top_item *copy_of(const struct top_item *item)
{
	struct top_item *copy = malloc(sizeof(*copy));

	if (!copy)
		return NULL;
	*copy = *item;
	copy->s = item->s ? calloc(1, sizeof(*copy->s)) : NULL;
	if (item->s && (!copy->s || snapshot_copy(copy->s, item->s))) {
		top_item_free(copy);
		return NULL;
	}
	return copy;
}

void model_zero(struct model *m)
{
	m->span = 0;
	for (unsigned i = 0; i < m->nr; i++) {
		struct top_iface *w = m->list[i];

		top_item_free(w->zero);
		w->zero = w->nr_kept ? copy_of(w->kept[w->nr_kept - 1]) : NULL;
	}
}

bool model_ago(struct top_iface *w, struct snapshot *then, double *from, double *to)
{
	unsigned i = w->nr_kept;

	*then = (struct snapshot){};
	while (i && age(w, i - 1) < AGO - .5)
		i--;
	/* the latest moment that is a minute ago, and the one before it */
	if (i < 2 || !w->attached || difference(w->kept[i - 1], w->kept[i - 2], then))
		return false;
	*from = age(w, i - 2);
	*to = age(w, i - 1);
	return true;
}

void model_forget(struct model *m)
{
	for (unsigned i = 0; i < m->nr; i++)
		m->list[i]->gone = true;
	leave(m);
	m->seconds = 0;
}

void model_free(struct model *m)
{
	model_forget(m);
	free(m->list);
	free(m->ids);
	m->list = NULL;
	m->ids = NULL;
	m->nr_ids = 0;
}

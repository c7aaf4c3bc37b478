/* SPDX-License-Identifier: GPL-2.0 */
/* A recording as the source of top: its moments, one after the other, or any of them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/show_when.h"
#include "cmd/top.h"
#include "lib/util/error.h"
#include "lib/util/grow.h"
#include "lib/util/log.h"

#define LEAD	120		/* moments that are read before one: for windows and curves */
#define TOGETHER 250000000	/* ns: frames of interfaces that were read one after the other */

/* A frame of an interface. */
struct one_frame {
	uint64_t when;
	unsigned iface, frame, place;
};

struct replay {
	struct recording *r;
	char **ifaces;			/* as typed; none: all */
	struct one_frame *frames;	/* as they were written */
	unsigned nr_frames;
	unsigned *moments, nr;		/* the first frame of each; moments[nr] is nr_frames */
	unsigned next;			/* the moment that is read next */
};

/* Of an interface that was named, if any was. */
static bool is_wanted(char **ifaces, const char *name)
{
	char **one = ifaces;

	while (*one && strcmp(*one, name))
		one++;
	return *one || !*ifaces;
}

static uint64_t when_of(const struct replay *p, unsigned moment)
{
	return p->frames[p->moments[moment]].when;
}

static int later(const void *a, const void *b)
{
	const struct one_frame *x = a, *y = b;

	return x->place < y->place ? -1 : x->place > y->place;
}

/* A moment ends where an interface comes for the second time, or after a pause. */
static int moments_find(struct replay *p)
{
	unsigned *last = calloc(recording_ifaces(p->r) + 1, sizeof(*last)), first = 0;

	p->moments = calloc(p->nr_frames + 1, sizeof(*p->moments));
	for (unsigned i = 0; last && p->moments && i < p->nr_frames; i++) {
		const struct one_frame *f = &p->frames[i];

		if (!p->nr || last[f->iface] == p->nr || f->when > p->frames[first].when + TOGETHER)
			p->moments[p->nr++] = first = i;
		last[f->iface] = p->nr;
	}
	if (p->moments)
		p->moments[p->nr] = p->nr_frames;
	free(last);
	return last && p->moments ? 0 : -ENOMEM;
}

static int frames_gather(struct replay *p)
{
	for (unsigned i = 0; i < recording_ifaces(p->r); i++) {
		for (unsigned f = 0; f < recording_frames(p->r, i); f++) {
			struct one_frame *list = grow(p->frames, p->nr_frames, sizeof(*list));

			if (!list)
				return -ENOMEM;
			p->frames = list;
			if (!is_wanted(p->ifaces, recording_iface(p->r, i)))
				break;
			list[p->nr_frames++] = (struct one_frame){
				recording_when(p->r, i, f), i, f, recording_place(p->r, i, f) };
		}
	}
	if (p->nr_frames)
		qsort(p->frames, p->nr_frames, sizeof(*p->frames), later);
	return moments_find(p);
}

/* The clock was set back before this moment. */
static bool set_back(const struct replay *p, unsigned moment)
{
	return moment && moment < p->nr && when_of(p, moment) < when_of(p, moment - 1);
}

/* The first moment that is no earlier; of a time that came twice, the last. p->nr: none. */
static unsigned moment_at(const struct replay *p, uint64_t when)
{
	unsigned from, best = p->nr;

	for (unsigned to = p->nr; to; to = from) {
		for (from = to - 1; from && !set_back(p, from); from--)
			;
		if (when_of(p, to - 1) < when)
			continue;
		if (when_of(p, from) <= when) {
			while (when_of(p, from) < when)
				from++;
			return from;
		}
		if (best == p->nr || when_of(p, from) < when_of(p, best))
			best = from;
	}
	return best;
}

/* Forward from a moment to the first that is no earlier, or before which the clock was set back. */
static unsigned moment_after(const struct replay *p, unsigned moment, uint64_t when)
{
	do
		moment++;
	while (moment < p->nr && when_of(p, moment) < when && !set_back(p, moment));
	return moment;
}

/* Likewise back. */
static unsigned moment_before(const struct replay *p, unsigned moment, uint64_t when)
{
	do
		moment -= !!moment;
	while (moment && when_of(p, moment - 1) >= when && !set_back(p, moment));
	return moment;
}

/*
 * The moment that tells of an event: the one that was being read, also if this was its end, or the
 * last one. -1: it is about an interface that is not shown.
 */
static int moment_of(const struct replay *p, const struct recorded_event *e)
{
	unsigned moment = 0, to = p->nr;

	while (moment < to) {
		unsigned mid = (moment + to) / 2;

		if (p->frames[p->moments[mid + 1] - 1].place < e->place)
			moment = mid + 1;
		else
			to = mid;
	}
	if (moment && moment < p->nr) {
		int64_t since = e->when - when_of(p, moment - 1);

		moment -= since > 0 && since < (int64_t)(when_of(p, moment) - e->when);
	}
	if (*e->iface && !is_wanted(p->ifaces, e->iface))
		return -1;
	return moment < 1 ? 1 : moment < p->nr ? moment : p->nr - 1;
}

/* What happened since the moment before. */
static void events_of(const struct replay *p, int moment, char *what, size_t size)
{
	size_t len = 0;

	for (unsigned i = 0; i < recording_events(p->r) && len < size; i++) {
		const struct recorded_event *e = recording_event(p->r, i);

		if (moment_of(p, e) == moment)
			len += snprintf(what + len, size - len, "%s%s%s%s: %s", len ? "; " : "",
					e->iface, *e->iface ? " " : "", e->kind, e->what);
	}
}

static int item_fill(struct replay *p, const struct one_frame *f, struct top_item *item,
		     struct error *e)
{
	int err = recording_snapshot(p->r, f->iface, f->frame, item->s, e);
	const struct snapshot *s = item->s;

	if (err)
		return err;
	snprintf(item->name, sizeof(item->name), "%s", recording_iface(p->r, f->iface));
	snprintf(item->driver, sizeof(item->driver), "%s", s->meta.driver);
	snprintf(item->state, sizeof(item->state), "%s", s->state);
	item->rx_queues = s->meta.rx_queues;
	item->tx_queues = s->meta.tx_queues;
	item->up = !s->link.known || s->link.up;
	item->boot_ns = s->boot_ns;
	item->number = f->iface;
	item->frame = f->frame;
	item->joined = recording_joined(p->r, f->iface, f->frame);
	return 0;
}

static int replay_read(struct top_source *source, struct top_moment *now, struct error *e)
{
	struct replay *p = source->of;
	int err = 0;

	if (p->next >= p->nr)
		return error_set(e, -ENODATA, NULL, "the recording ends here");
	for (unsigned i = p->moments[p->next]; i < p->moments[p->next + 1] && !err; i++) {
		struct top_item *item = top_item_add(now, true);

		err = item ? item_fill(p, &p->frames[i], item, e) :
		      error_set(e, -ENOMEM, NULL, "out of memory");
		now->when.tv_sec = p->frames[i].when / 1000000000;
		now->when.tv_nsec = p->frames[i].when % 1000000000;
	}
	events_of(p, p->next++, now->remark, sizeof(now->remark));
	return err;
}

static int replay_found(struct top_source *source, const struct top_item *from,
			const struct top_item *to, struct findings *all)
{
	struct replay *p = source->of;

	return recording_found(p->r, to->number, from->frame, to->frame, all);
}

static int names_check(const struct replay *p, struct error *e)
{
	for (char **one = p->ifaces; *one; one++) {
		const char *names = "";
		bool there = false;

		for (unsigned i = 0; i < recording_ifaces(p->r); i++) {
			const char *name = recording_iface(p->r, i);

			there |= !strcmp(*one, name);
			names = text("%s%s%s", names, *names ? ", " : "", name);
		}
		if (!there)
			return error_set(e, -ENOENT, NULL,
					 "%s is not in the recording: it has %s", *one, names);
	}
	return 0;
}

int replay_begin(struct top_source *source, const struct top_request *wanted, struct error *e)
{
	struct replay *p = calloc(1, sizeof(*p));
	int err = p ? recording_open(&p->r, wanted->from, e) :
		  error_set(e, -ENOMEM, NULL, "out of memory");

	*source = (struct top_source){ .read = replay_read, .found = replay_found, .of = p };
	if (p)
		p->ifaces = wanted->ifaces;
	err = err ?: names_check(p, e);
	if (!err && frames_gather(p))
		err = error_set(e, -ENOMEM, NULL, "out of memory");
	if (!err && p->nr < 2)
		err = error_set(e, -ENODATA, NULL, "%s has %s: a window needs two", wanted->from,
				p->nr ? "only one moment" : "no moment");
	if (err)
		replay_end(source);
	return err;
}

void replay_end(struct top_source *source)
{
	struct replay *p = source->of;

	if (p && p->r)
		recording_close(p->r);
	if (p) {
		free(p->frames);
		free(p->moments);
	}
	free(p);
	source->of = NULL;
}

const char *replay_damage(const struct top_source *source)
{
	const struct replay *p = source->of;

	return recording_damage(p->r);
}

uint64_t replay_step(const struct top_source *source)
{
	const struct replay *p = source->of;

	if (!p->next || p->next >= p->nr)
		return 0;
	return set_back(p, p->next) ? 1 : when_of(p, p->next) - when_of(p, p->next - 1);
}

/* Frames come a little sooner or later than they are due. */
double replay_further(struct top_source *source, double seconds)
{
	struct replay *p = source->of;
	uint64_t last = when_of(p, p->next - 1);
	unsigned to = moment_after(p, p->next - 1, last + (uint64_t)(seconds * .95e9));

	if (p->next >= p->nr)
		return 0;
	p->next = to < p->nr ? to : p->nr - 1;
	return set_back(p, p->next) ? seconds : (when_of(p, p->next) - last) * 1e-9;
}

static int by_time(const struct replay *p, const char *word, int *to, struct error *e)
{
	uint64_t when, first = UINT64_MAX, last = 0;
	int err = show_when(word, p->r, &when, e);

	if (err)
		return err;
	for (unsigned i = 0; i < p->nr; i++) {
		first = when_of(p, i) < first ? when_of(p, i) : first;
		last = when_of(p, i) > last ? when_of(p, i) : last;
	}
	if (when + 1000000000 < first || when > last + 1000000000)
		return error_set(e, -ENODATA, NULL,
				 "%s is not in the recording: it lasts from %s to %s",
				 show_when_text(when), show_when_text(first),
				 show_when_text(last));
	*to = moment_at(p, when);
	return 0;
}

/* The next moment that tells of an event, or the one before; -1: there is none. */
static int by_event(const struct replay *p, int now, int step)
{
	int found = -1;

	for (unsigned i = 0; i < recording_events(p->r); i++) {
		int at = moment_of(p, recording_event(p->r, i));

		if (at >= 0 && (at - now) * step > 0 && (found < 0 || (found - at) * step > 0))
			found = at;
	}
	return found;
}

/* Where to go from `now`: 0, or -errno and why there is nothing. */
static int target(const struct replay *p, int now, const struct ui_go *go, int *to, struct error *e)
{
	int64_t when = when_of(p, now) + go->seconds * INT64_C(1000000000);

	*to = now + go->moments;
	if (go->time)
		return by_time(p, go->time, to, e);
	if (go->first || go->last)
		*to = go->first ? 1 : p->nr - 1;
	if (go->seconds)
		*to = go->seconds > 0 ? moment_after(p, now, when) :
		      moment_before(p, now, when > 0 ? when : 0);
	if (go->events)
		*to = by_event(p, now, go->events);
	if (go->events && *to < 0)
		return error_set(e, -ENODATA, NULL, "no event is %s this moment",
				 go->events > 0 ? "after" : "before");
	if (*to == now || (*to < 1 && now == 1) || (*to >= (int)p->nr && now == (int)p->nr - 1))
		return error_set(e, -ENODATA, NULL, "the recording %s here",
				 now <= 1 ? "begins" : "ends");
	return 0;
}

int replay_go(struct model *m, const struct ui_go *go, struct error *e)
{
	struct replay *p = m->source->of;
	int now = p->next ? p->next - 1 : 0, to, err = target(p, now, go, &to, e);

	if (err)
		return err;
	to = to < 1 ? 1 : to >= (int)p->nr ? (int)p->nr - 1 : to;
	if (to != now + 1) {
		model_forget(m);
		p->next = to > LEAD ? to - LEAD : 0;
	}
	while (!err && p->next <= (unsigned)to)
		err = model_read(m, e);
	return err;
}

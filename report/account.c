/* SPDX-License-Identifier: GPL-2.0 */
/* Reads a recording: of each interface its last run, as a whole and slice by slice. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/util/error.h"
#include "lib/util/log.h"
#include "render/shown.h"
#include "report/account.h"
#include "trial/stats/exact.h"

#define CELLS_MOST	40000	/* of all charts, so that a page has a few MB */

/*
 * With many lines the slices are wider, so that the page stays small. Of two files each has half
 * of it, and no more slices than there can be rounds.
 */
static unsigned slices_worth(const struct course *c, const struct account_how *how)
{
	unsigned lines = 0, most = how->files > 1 ? ROUNDS_MAX : SLICES_MOST, nr;

	for (unsigned i = 0; i < c->nr_charts; i++)
		lines += c->charts[i].nr;
	nr = CELLS_MOST / how->files / (lines ?: 1);
	nr = nr < SLICES_LEAST ? SLICES_LEAST : nr;
	return nr < most ? nr : most;
}

/*
 * Cuts the window into slices of equal length, at frames: each ends at the frame that is nearest
 * to where it should end.
 */
static int slices_cut(struct course *c, const struct recording *r, unsigned most)
{
	uint64_t begin = recording_when(r, c->iface, c->from);
	double span = recording_when(r, c->iface, c->to) - begin, half;
	unsigned steps = c->to - c->from, nr = steps < most ? steps : most, from = c->from;

	c->slices = calloc(nr + 1, sizeof(*c->slices));
	if (!c->slices)
		return -ENOMEM;
	half = span / steps / 2;
	for (unsigned to = from + 1; to <= c->to; to++) {
		double end = recording_when(r, c->iface, to) - begin;

		if (to < c->to && (c->nr_slices + 1 >= nr ||
				   end < span * (c->nr_slices + 1) / nr - half))
			continue;
		c->slices[c->nr_slices++] = (struct slice){ from, to, recording_when(r, c->iface,
							    from), begin + (uint64_t)end };
		c->steps = to - from > c->steps ? to - from : c->steps;
		from = to;
	}
	return 0;
}

/* The findings of the whole, each with the slices in which it was. */
static int spells_make(struct course *c)
{
	const struct findings *f = &c->window.findings;

	c->spells = calloc(f->nr + 1, sizeof(*c->spells));
	if (!c->spells)
		return -ENOMEM;
	for (unsigned i = 0; i < f->nr; i++) {
		struct spell *s = &c->spells[c->nr_spells++];

		s->kind = f->list[i].kind;
		for (unsigned k = 0; k < SLICES_MOST; k++)
			s->harm[k] = NAN;
	}
	return 0;
}

static void spells_fill(struct course *c, const struct snapshot *s, unsigned slice)
{
	for (unsigned i = 0; i < c->nr_spells; i++) {
		const struct finding *f = finding_find(&s->findings, c->spells[i].kind->id);

		if (!f)
			continue;
		c->spells[i].harm[slice] = f->harm;
		c->spells[i].frames++;
	}
}

/* Of the frames in a slice of several. */
static int steps_fill(struct course *c, struct recording *r, unsigned slice, struct error *e)
{
	const struct slice *of = &c->slices[slice];
	struct snapshot s;
	int err = 0;

	for (unsigned k = of->from; k < of->to && of->to - of->from > 1 && !err; k++) {
		err = recording_window(r, c->iface, k, k + 1, &s, NULL, e);
		if (!err) {
			course_step(c, &s, slice);
			snapshot_free(&s);
		}
	}
	return err;
}

/* First all slices, then all steps: both go through the recording once. */
static int slices_fill(struct course *c, struct recording *r, const struct account_how *how,
		       struct error *e)
{
	struct snapshot s;
	int err = 0;

	for (unsigned i = 0; i < c->nr_slices && !err; i++) {
		err = recording_window(r, c->iface, c->slices[i].from, c->slices[i].to, &s, NULL,
				       e);
		if (!err) {
			course_sample(c, &s, i);
			spells_fill(c, &s, i);
			snapshot_free(&s);
		}
		how->progress(.5 * i / c->nr_slices);
	}
	for (unsigned i = 0; i < c->nr_slices && !err; i++) {
		err = steps_fill(c, r, i, e);
		how->progress(.5 + .5 * i / c->nr_slices);
	}
	return err;
}

/* Its figures at a glance. */
static void summed(struct course *c, const struct snapshot *s)
{
	uint64_t n;

	c->received = packets_of(s, RX_NIC, RX_STACK, &n) ? n / table_seconds(s,
		      meters[METER_pktsize]) : NAN;
	c->sent = packets_of(s, TX_NIC, TX_STACK, &n) ? n / table_seconds(s,
		  meters[METER_pktsize]) : NAN;
	c->dropped = packets_dropped(s, &n) ? n / table_seconds(s, meters[METER_drop]) : NAN;
	c->cost = cost_share(s);
	c->seconds = s->seconds;
}

static int course_read(struct course *c, struct recording *r, const struct account_how *how,
		       struct error *e)
{
	unsigned nr = recording_frames(r, c->iface);
	struct snapshot s;
	int err;

	c->to = nr - 1;
	c->from = recording_joined(r, c->iface, c->to);
	c->earlier = c->from;
	if (c->from == c->to)
		return error_set(e, -ENODATA, NULL, "its last run has one frame only: no window "
				 "can be shown");
	err = recording_window(r, c->iface, c->from, c->to, &s, NULL, e);
	if (err)
		return err;
	summed(c, &s);
	account_tables(c, &s);
	course_sample(c, &s, -1);
	snapshot_free(&s);	/* names, times and findings stay */
	c->window = s;
	course_cut(c);
	err = slices_cut(c, r, slices_worth(c, how));
	if (err)
		return err;
	course_slices(c);
	return spells_make(c);
}

static int course_fill(struct course *c, struct recording *r, const struct account_how *how,
		       struct error *e)
{
	int err = slices_fill(c, r, how, e);

	return err ?: c->short_of_memory ? -ENOMEM : 0;
}

static int events_take(struct file_account *a, const struct recording *r)
{
	a->nr_events = recording_events(r);
	a->events = calloc(a->nr_events + 1, sizeof(*a->events));
	for (unsigned i = 0; a->events && i < a->nr_events; i++)
		a->events[i] = *recording_event(r, i);
	return a->events ? 0 : -ENOMEM;
}

static void left_out(struct file_account *a, const struct recording *r, unsigned iface,
		     const struct error *why)
{
	snprintf(a->left[a->nr_left].name, sizeof(a->left->name), "%s", recording_iface(r, iface));
	snprintf(a->left[a->nr_left++].why, sizeof(a->left->why), "%.299s", why->what);
}

static int all_read(struct file_account *a, struct recording *r, const struct account_how *how,
		    struct error *e)
{
	unsigned nr = recording_ifaces(r);
	int err = events_take(a, r);

	a->list = calloc(nr + 1, sizeof(*a->list));
	a->left = calloc(nr + 1, sizeof(*a->left));
	if (err || !a->list || !a->left)
		return -ENOMEM;
	for (unsigned i = 0; i < nr && !err; i++) {
		struct course *c = &a->list[a->nr];
		struct error why = {};

		c->iface = i;
		snprintf(c->name, sizeof(c->name), "%s", recording_iface(r, i));
		err = course_read(c, r, how, &why);
		err = err ?: course_fill(c, r, how, &why);
		if (!err) {
			a->nr++;
			continue;
		}
		course_free(c);
		*c = (struct course){};
		if (err != -ENOMEM) {
			left_out(a, r, i, &why);
			err = 0;
		}
	}
	if (!err && !a->nr)
		return error_set(e, -ENODATA, NULL, "%s has nothing to report: %s: %s", a->path,
				 a->nr_left ? a->left[0].name : "it", a->nr_left ? a->left[0].why :
				 "it has no frames");
	return err;
}

int account_read(struct file_account *a, const char *path, const struct account_how *how,
		 struct error *e)
{
	struct recording *r;
	int err;

	*a = (struct file_account){ .path = path };
	err = recording_open(&r, path, e);
	if (err)
		return err;
	a->about = *recording_about(r);
	snprintf(a->damage, sizeof(a->damage), "%s", recording_damage(r));
	err = all_read(a, r, how, e);
	recording_close(r);
	return err ? error_set(e, err, NULL, "cannot report %s: %s", path, strerror(-err)) : 0;
}

void account_free(struct file_account *a)
{
	for (unsigned i = 0; i < a->nr; i++)
		course_free(&a->list[i]);
	free(a->list);
	free(a->left);
	free(a->events);
}

/* SPDX-License-Identifier: GPL-2.0 */
/* Where in a recording is what: found by one pass over the heads of its blocks. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/util/grow.h"
#include "record/about.h"
#include "record/index.h"

#define MOST_IFACES	65536	/* in a run: a block has a number of 16 bits */

/* What is known at some place of the pass. */
struct pass {
	struct index *x;
	unsigned names;		/* block; NO_BLOCK: none yet */
	unsigned *about;	/* by number of an interface: block */
	unsigned *place;	/* by number: its place in the index, and 1; 0: unknown */
	unsigned *full;		/* by number: its last full frame, among its frames, and 1 */
};

static unsigned iface_place(struct index *x, const char *name)
{
	struct index_iface *more;

	for (unsigned i = 0; i < x->nr; i++)
		if (!strcmp(x->ifaces[i].name, name))
			return i + 1;
	more = grow(x->ifaces, x->nr, sizeof(*x->ifaces));
	if (!more)
		return 0;
	x->ifaces = more;
	more[x->nr] = (struct index_iface){ .at = -1, .names_at = NO_BLOCK };
	snprintf(more[x->nr].name, sizeof(more->name), "%s", name);
	return ++x->nr;
}

static void iface_found(struct pass *p, const struct file_block *b, unsigned nr, struct bytes *room)
{
	static struct snapshot s;
	struct reading_of r;

	p->about[b->iface] = NO_BLOCK;
	p->full[b->iface] = 0;
	if (!block_body(b, room, NULL, &r) || !about_take(&s, &r))
		return;
	p->about[b->iface] = nr;
	p->place[b->iface] = iface_place(p->x, s.name);
}

static void frame_found(struct pass *p, const struct file_block *b, unsigned nr)
{
	unsigned place = p->place[b->iface], *full = &p->full[b->iface];
	struct index_iface *one = place ? &p->x->ifaces[place - 1] : NULL;
	struct index_frame *more;

	if (!one || p->names == NO_BLOCK || p->about[b->iface] == NO_BLOCK ||
	    (b->type == BLOCK_DIFF && !*full)) {
		p->x->lost_frames++;
		return;
	}
	more = grow(one->frames, one->nr, sizeof(*more));
	if (!more)
		return;
	one->frames = more;
	if (one->nr && more[one->nr - 1].run == p->x->runs &&
	    b->when < p->x->blocks[more[one->nr - 1].block].when)
		p->x->runs++;		/* the clock was set back: no window spans that */
	if (b->type == BLOCK_FULL)
		*full = one->nr + 1;
	more[one->nr++] = (struct index_frame){ nr, *full - 1, p->x->runs };
	p->x->names_of[nr] = p->names;
	p->x->about_of[nr] = p->about[b->iface];
}

static void event_found(struct index *x, const struct file_block *b, unsigned nr,
			struct bytes *room)
{
	struct recorded_event *more = grow(x->events, x->nr_events, sizeof(*more)), *e;
	struct reading_of r;

	if (!more || !block_body(b, room, NULL, &r))
		return;
	x->events = more;
	e = &more[x->nr_events++];
	*e = (struct recorded_event){ .when = b->when, .place = nr };
	take_text(&r, e->kind, sizeof(e->kind));
	take_text(&r, e->iface, sizeof(e->iface));
	take_text(&r, e->what, sizeof(e->what));
}

/* A run has numbers of its own, and names. */
static void run_found(struct pass *p, const struct file_block *b, struct bytes *room)
{
	struct run_about about;
	struct reading_of r;

	memset(p->place, 0, MOST_IFACES * sizeof(*p->place));
	memset(p->full, 0, MOST_IFACES * sizeof(*p->full));
	p->names = NO_BLOCK;
	if (!block_body(b, room, NULL, &r) || !run_take(&about, &r))
		about = (struct run_about){};
	if (!about.id || about.id != p->x->about.id)	/* else it is the next file of a ring */
		p->x->runs++;
	p->x->about = about;
}

static bool block_keep(struct index *x, const struct file_block *b)
{
	struct file_block *blocks = grow(x->blocks, x->nr_blocks, sizeof(*blocks));
	unsigned *names, *about;

	x->blocks = blocks ?: x->blocks;
	names = grow(x->names_of, x->nr_blocks, sizeof(*names));
	x->names_of = names ?: x->names_of;
	about = grow(x->about_of, x->nr_blocks, sizeof(*about));
	x->about_of = about ?: x->about_of;
	if (!blocks || !names || !about)
		return false;
	blocks[x->nr_blocks] = *b;
	names[x->nr_blocks] = about[x->nr_blocks] = NO_BLOCK;
	x->nr_blocks++;
	return true;
}

/* After a gap frames rest on what may be missing, until the next full one of each interface. */
static size_t skip(struct pass *p, const uint8_t *file, size_t size, size_t at)
{
	size_t next = block_find(file, size, at);

	*(next < size ? &p->x->damaged : &p->x->cut) += next - at;
	memset(p->full, 0, MOST_IFACES * sizeof(*p->full));
	return next;
}

static int pass(struct pass *p, const uint8_t *file, size_t size)
{
	struct bytes room = {};
	struct file_block b;
	int err = 0;

	for (size_t at = 0; !err && at < size;) {
		unsigned nr = p->x->nr_blocks;

		if (!block_at(file, size, at, &b)) {
			at = skip(p, file, size, at);
			continue;
		}
		at += b.size;
		err = block_keep(p->x, &b) ? 0 : -ENOMEM;
		if (err)
			break;
		if (b.type == BLOCK_RUN)
			run_found(p, &b, &room);
		else if (b.type == BLOCK_NAMES)
			p->names = nr;
		else if (b.type == BLOCK_IFACE)
			iface_found(p, &b, nr, &room);
		else if (b.type == BLOCK_FULL || b.type == BLOCK_DIFF)
			frame_found(p, &b, nr);
		else if (b.type == BLOCK_EVENT)
			event_found(p->x, &b, nr, &room);
	}
	bytes_free(&room);
	return err;
}

int index_file(struct index *x, const uint8_t *file, size_t size)
{
	struct pass p = { .x = x, .names = NO_BLOCK };
	int err = -ENOMEM;

	p.about = calloc(MOST_IFACES, sizeof(*p.about));
	p.place = calloc(MOST_IFACES, sizeof(*p.place));
	p.full = calloc(MOST_IFACES, sizeof(*p.full));
	if (p.about && p.place && p.full)
		err = pass(&p, file, size);
	free(p.about);
	free(p.place);
	free(p.full);
	return err;
}

void index_free(struct index *x)
{
	for (unsigned i = 0; i < x->nr; i++) {
		free(x->ifaces[i].frames);
		frame_forget(&x->ifaces[i].state);
		bytes_free(&x->ifaces[i].frame);
		names_free(&x->ifaces[i].names);
	}
	free(x->ifaces);
	free(x->blocks);
	free(x->names_of);
	free(x->about_of);
	free(x->events);
	*x = (struct index){};
}

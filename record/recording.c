/* SPDX-License-Identifier: GPL-2.0 */
/* Reads a recording: its interfaces, the times of their frames, a snapshot of any of these. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/core/key.h"
#include "lib/util/error.h"
#include "lib/util/log.h"
#include "record/about.h"
#include "record/index.h"
#include "record/mapped.h"
#include "record/recorder.h"

struct recording {
	struct index x;
	struct mapped files[2];		/* the earlier first */
	char damage[256];
	struct bytes room;
};

/* Its keys are called as it says. */
static struct recording *open_now;

static const struct key_words *words_recorded(const struct meter *m, const void *key)
{
	for (unsigned i = 0; open_now && i < open_now->x.nr; i++) {
		const struct index_iface *one = &open_now->x.ifaces[i];
		const struct key_words *w = one->at < 0 ? NULL :
			frame_words_of(&one->state, &one->names, m, key);

		if (w)
			return w;
	}
	return NULL;
}

static void damage_tell(struct recording *r, const char *path)
{
	const struct index *x = &r->x;

	if (x->damaged)
		snprintf(r->damage, sizeof(r->damage), "%.80s is damaged: %" PRIu64 " bytes cannot "
			 "be read, and with them %u frames that rest on them", path, x->damaged,
			 x->lost_frames);
	else if (x->cut)
		snprintf(r->damage, sizeof(r->damage), "the end of %.80s is missing: %" PRIu64
			 " bytes of a frame that was being written", path, x->cut);
}

static int files_index(struct recording *r, const char *path, struct error *e)
{
	struct run_about about;
	int err = 0;

	for (unsigned i = 0; !err && i < 2; i++)
		if (r->files[i].bytes)
			err = run_read(path, r->files[i].bytes, r->files[i].size, &about, e) ?:
			      index_file(&r->x, r->files[i].bytes, r->files[i].size);
	if (err == -ENOMEM)
		error_set(e, err, NULL, "out of memory for %s", path);
	if (!err && !r->x.nr)
		err = error_set(e, -ENODATA, NULL, "%s has no frames yet", path);
	return err;
}

int recording_open(struct recording **to, const char *path, struct error *e)
{
	struct recording *r = *to = calloc(1, sizeof(*r));
	struct error quiet = {};
	int err, older;

	if (!r)
		return error_set(e, -ENOMEM, NULL, "out of memory for %s", path);
	older = mapped_open(text("%s" OLDER_SUFFIX, path), &r->files[0], &quiet);
	err = mapped_open(path, &r->files[1], e);
	if (err == -ENOENT && !older) {		/* it was being replaced when recording ended */
		error_forget(e);
		err = 0;
	}
	if (!err && !r->files[0].bytes && !r->files[1].bytes)
		err = error_set(e, -ENODATA, NULL, "%s is empty", path);
	err = err ?: files_index(r, path, e);
	if (err) {
		recording_close(r);
		*to = NULL;
		return err;
	}
	damage_tell(r, path);
	open_now = r;
	key_recorded = words_recorded;
	return 0;
}

void recording_close(struct recording *r)
{
	if (open_now == r) {
		open_now = NULL;
		key_recorded = NULL;
	}
	index_free(&r->x);
	for (unsigned i = 0; i < 2; i++)
		mapped_close(&r->files[i]);
	bytes_free(&r->room);
	free(r);
}

const struct run_about *recording_about(const struct recording *r)
{
	return &r->x.about;
}

const char *recording_damage(const struct recording *r)
{
	return r->damage;
}

unsigned recording_ifaces(const struct recording *r)
{
	return r->x.nr;
}

const char *recording_iface(const struct recording *r, unsigned iface)
{
	return r->x.ifaces[iface].name;
}

unsigned recording_frames(const struct recording *r, unsigned iface)
{
	return r->x.ifaces[iface].nr;
}

static const struct file_block *block_of(const struct recording *r, unsigned iface, unsigned frame)
{
	return &r->x.blocks[r->x.ifaces[iface].frames[frame].block];
}

uint64_t recording_when(const struct recording *r, unsigned iface, unsigned frame)
{
	return block_of(r, iface, frame)->when;
}

unsigned recording_place(const struct recording *r, unsigned iface, unsigned frame)
{
	return r->x.ifaces[iface].frames[frame].block;
}

/* The clock was set back before this frame. */
static bool set_back(const struct recording *r, unsigned iface, unsigned frame)
{
	return frame && recording_when(r, iface, frame) < recording_when(r, iface, frame - 1);
}

int recording_at(const struct recording *r, unsigned iface, uint64_t when)
{
	unsigned nr = recording_frames(r, iface);
	int best = -1;

	for (unsigned i = nr; i--;) {
		uint64_t one = recording_when(r, iface, i);

		if (one > when)
			continue;
		if (one == when || (i + 1 < nr && recording_when(r, iface, i + 1) > when))
			return i;
		if (best < 0 || one > recording_when(r, iface, best))	/* the end of a stretch */
			best = i;
		while (i && !set_back(r, iface, i))
			i--;
	}
	return best;
}

/* When the interface was attached; 0: it cannot be read. */
static uint64_t since_of(const struct recording *r, unsigned about)
{
	static struct snapshot s;
	struct bytes room = {};
	struct reading_of body;
	bool good = block_body(&r->x.blocks[about], &room, NULL, &body) && about_take(&s, &body);

	bytes_free(&room);
	return good ? s.meta.since : 0;
}

unsigned recording_joined(const struct recording *r, unsigned iface, unsigned frame)
{
	const struct index_frame *frames = r->x.ifaces[iface].frames;
	unsigned about = r->x.about_of[frames[frame].block], one = about;
	uint64_t since = since_of(r, about);

	for (; frame && frames[frame - 1].run == frames[frame].run; frame--) {
		unsigned before = r->x.about_of[frames[frame - 1].block];

		if (before != one && since_of(r, before) != since)
			break;
		one = before;
	}
	return frame;
}

unsigned recording_events(const struct recording *r)
{
	return r->x.nr_events;
}

const struct recorded_event *recording_event(const struct recording *r, unsigned nr)
{
	return &r->x.events[nr];
}

static bool names_ready(struct recording *r, struct index_iface *one, unsigned block)
{
	struct reading_of body;

	if (one->names_at == block)
		return true;
	names_free(&one->names);
	frame_forget(&one->state);
	one->at = -1;
	one->names_at = NO_BLOCK;
	if (!block_body(&r->x.blocks[block], &r->room, NULL, &body) ||
	    !names_take(&one->names, &body))
		return false;
	one->names_at = block;
	return true;
}

/* Reads on from where it is, or from the full frame that this one rests on. */
static bool state_at(struct recording *r, unsigned iface, unsigned frame)
{
	struct index_iface *one = &r->x.ifaces[iface];
	const struct index_frame *f = &one->frames[frame];
	unsigned from = f->full;

	if (one->at >= (int)from && one->at <= (int)frame)
		from = one->at + 1;
	for (unsigned i = from; i <= frame; i++) {
		const struct file_block *b = block_of(r, iface, i);
		unsigned names = r->x.names_of[one->frames[i].block];
		struct reading_of body, all;
		bool full = b->type == BLOCK_FULL;

		one->at = -1;
		if ((full && !names_ready(r, one, names)) ||
		    !block_body(b, &r->room, &one->frame, &body))
			return false;
		all = body;
		if (!frame_take(&one->state, &one->names, &body, full))
			return false;
		one->frame.nr = 0;
		bytes_add(&one->frame, all.at, all.end - all.at);
		one->at = i;
	}
	return true;
}

int recording_snapshot(struct recording *r, unsigned iface, unsigned frame, struct snapshot *s,
		       struct error *e)
{
	struct index_iface *one = &r->x.ifaces[iface];
	unsigned about = r->x.about_of[one->frames[frame].block];
	struct reading_of body;
	int err = -EBADMSG;

	*s = (struct snapshot){};
	if (state_at(r, iface, frame) && block_body(&r->x.blocks[about], &r->room, NULL, &body) &&
	    about_take(s, &body))
		err = frame_snapshot(&one->state, &one->names, s);
	if (err)
		error_set(e, err, NULL, "frame %u of %s cannot be read: %s", frame, one->name,
			  err == -ENOMEM ? "out of memory" : "it does not fit to what is before "
			  "it");
	return err;
}

/* What cost most of a kind in the window, and what was found of others. */
static void findings_join(struct findings *all, const struct findings *more)
{
	for (unsigned i = 0; i < more->nr; i++) {
		const struct finding_kind *kind = more->list[i].kind;
		struct finding *had = kind ? (void *)finding_find(all, kind->id) : NULL;

		if (!kind)	/* this version has none of this name */
			continue;
		if (had && finding_worse(&more->list[i], had) < 0)
			*had = more->list[i];
		else if (!had && all->nr < MAX_FINDINGS)
			all->list[all->nr++] = more->list[i];
	}
}

int recording_found(struct recording *r, unsigned iface, unsigned from, unsigned to,
		    struct findings *all)
{
	*all = (struct findings){};
	for (unsigned i = from + 1; i <= to; i++) {
		if (!state_at(r, iface, i))
			return -EBADMSG;
		if (r->x.ifaces[iface].state.judged)
			findings_join(all, &r->x.ifaces[iface].state.told);
	}
	findings_order(all);
	return 0;
}

/* Why no window spans these frames. */
static const char *between_text(const struct recording *r, unsigned iface, unsigned from,
				unsigned to)
{
	const struct index_frame *frames = r->x.ifaces[iface].frames;

	for (unsigned i = from + 1; i <= to; i++)
		if (set_back(r, iface, i))
			return "has times that come twice: the clock was set back";
	return frames[from].run != frames[to].run ? "was not recorded for a while" :
	       "was attached anew";
}

int recording_window(struct recording *r, unsigned iface, unsigned from, unsigned to,
		     struct snapshot *window, struct snapshot *total, struct error *e)
{
	const struct index_frame *frames = r->x.ifaces[iface].frames;
	static struct findings found;
	struct snapshot before;
	int err;

	*window = (struct snapshot){};
	if (total)
		*total = (struct snapshot){};
	err = recording_snapshot(r, iface, from, &before, e);
	err = err ?: recording_found(r, iface, from, to - 1, &found);
	err = err ?: recording_snapshot(r, iface, to, window, e);
	if (!err && (frames[from].run != frames[to].run || before.meta.since != window->meta.since))
		err = error_set(e, -EXDEV, NULL, "%s %s in between", window->name,
				between_text(r, iface, from, to));
	if (!err && total)
		err = snapshot_copy(total, window);
	if (!err && found.nr) {
		findings_join(&window->findings, &found);
		findings_order(&window->findings);
	}
	if (!err)
		snapshot_diff(window, &before);
	if (err)
		snapshot_free(window);
	if (err && total)
		snapshot_free(total);
	snapshot_free(&before);
	return err;
}

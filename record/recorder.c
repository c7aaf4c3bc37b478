/* SPDX-License-Identifier: GPL-2.0 */
/* Writes a recording: frames and events are gathered, and a write() adds them to the file. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "lib/util/clock.h"
#include "lib/util/error.h"
#include "lib/util/grow.h"
#include "lib/util/log.h"
#include "record/about.h"
#include "record/block.h"
#include "record/frame.h"
#include "record/recorder.h"
#include "record/run.h"

#define FULL_EVERY	60	/* frames: so many are lost at most to a damaged one */
#define NAMES_EVERY	10	/* full frames */

struct recorded {		/* an interface */
	char name[96];
	struct bytes about, frame;	/* as written last */
	struct frame_state state;
	unsigned since_full;
};

struct recorder {
	struct recorder_how how;
	int fd;
	uint64_t id;		/* of the run */
	uint64_t size, begun;	/* of the file; and when, in ns of CLOCK_BOOTTIME */
	struct bytes out;	/* not written yet */
	struct recorded **ifaces;
	unsigned nr, frames, since_names;
};

static uint64_t wall_ns(void)
{
	return clock_ns(CLOCK_REALTIME);
}

/* By a clock that is not set: where the other is set back, a ring keeps its length. */
static uint64_t boot_ns(void)
{
	return clock_ns(CLOCK_BOOTTIME);
}

static void run_begin(struct recorder *r)
{
	struct bytes body = {};

	run_put(&body, r->how.interval, r->id);
	block_add(&r->out, BLOCK_RUN, 0, wall_ns(), &body, NULL);
	bytes_free(&body);
	names_put(&body);
	block_add(&r->out, BLOCK_NAMES, 0, wall_ns(), &body, NULL);
	bytes_free(&body);
	r->since_names = 0;
}

static int file_fails(const struct recorder_how *how, int err, struct error *e)
{
	return error_set(e, err, NULL, "cannot write %s: %s", how->path, strerror(-err));
}

/* The file of a run that is to go on: its whole blocks stay, what follows them is cut off. */
static int file_continue(struct recorder *r, uint64_t *cut, struct error *e)
{
	uint64_t whole;
	uint64_t began, now = wall_ns();
	int err = run_check(r->how.path, r->fd, &whole, &began, e);

	if (err)
		return err;
	r->begun -= began && began < now ? now - began : 0;
	*cut = r->size - whole;
	if (*cut && ftruncate(r->fd, whole))
		return file_fails(&r->how, -errno, e);
	r->size = whole;
	return 0;
}

/* Two that write to one file would make it useless. */
static int file_lock(struct recorder *r, struct error *e)
{
	if (!flock(r->fd, LOCK_EX | LOCK_NB))
		return 0;
	return error_set(e, -EBUSY, NULL, "another nicprobe records to %s", r->how.path);
}

static int file_open(struct recorder *r, uint64_t *cut, struct error *e)
{
	struct stat st;
	int err;

	r->fd = open(r->how.path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	if (r->fd < 0 || fstat(r->fd, &st))
		return file_fails(&r->how, -errno, e);
	if (!S_ISREG(st.st_mode))
		return error_set(e, -EINVAL, NULL, "%s is not a file: it cannot be read again "
				 "from its beginning", r->how.path);
	err = file_lock(r, e);
	r->size = st.st_size;
	return err ?: r->size ? file_continue(r, cut, e) : 0;
}

struct recorder *recorder_open(const struct recorder_how *how, uint64_t *had, uint64_t *cut,
			       struct error *e)
{
	struct recorder *r = calloc(1, sizeof(*r));

	*had = *cut = 0;
	if (!r) {
		error_set(e, -ENOMEM, NULL, "out of memory");
		return NULL;
	}
	r->how = *how;
	r->id = wall_ns();
	r->begun = boot_ns();
	if (file_open(r, cut, e)) {
		if (r->fd >= 0)
			close(r->fd);
		free(r);
		return NULL;
	}
	*had = r->size;
	run_begin(r);
	return r;
}

static struct recorded *recorded_of(struct recorder *r, const char *name, unsigned *nr)
{
	struct recorded **more, *one;

	for (*nr = 0; *nr < r->nr; (*nr)++)
		if (!strcmp(r->ifaces[*nr]->name, name))
			return r->ifaces[*nr];
	more = grow(r->ifaces, r->nr, sizeof(*r->ifaces));
	one = more ? calloc(1, sizeof(*one)) : NULL;
	r->ifaces = more ?: r->ifaces;
	if (!one || r->nr > UINT16_MAX - 1) {
		free(one);
		return NULL;
	}
	snprintf(one->name, sizeof(one->name), "%s", name);
	return r->ifaces[r->nr++] = one;
}

/* Is what is known of it other than what was written last? */
static bool about_changed(struct recorded *one, const struct snapshot *s)
{
	struct bytes now = {};
	bool same;

	about_put(&now, s);
	same = now.nr == one->about.nr && !memcmp(now.bytes, one->about.bytes, now.nr);
	if (same) {
		bytes_free(&now);
		return false;
	}
	bytes_free(&one->about);
	one->about = now;
	return true;
}

int recorder_frame(struct recorder *r, const struct snapshot *s, const struct findings *told)
{
	uint64_t when = s->when.tv_sec * 1000000000ull + s->when.tv_nsec;
	struct bytes body = {};
	unsigned nr;
	struct recorded *one = recorded_of(r, s->name, &nr);
	bool full, good;

	if (!one)
		return -ENOMEM;
	full = about_changed(one, s) || !one->since_full || one->since_full >= FULL_EVERY;
	if (full && r->since_names >= NAMES_EVERY) {
		names_put(&body);
		block_add(&r->out, BLOCK_NAMES, 0, when, &body, NULL);
		bytes_free(&body);
		r->since_names = 0;
	}
	if (full) {
		block_add(&r->out, BLOCK_IFACE, nr, when, &one->about, NULL);
		one->since_full = 0;
		r->since_names++;
	}
	good = frame_put(&body, &one->state, s, told, full);
	if (full)
		block_add(&r->out, BLOCK_FULL, nr, when, &body, NULL);
	else
		block_add(&r->out, BLOCK_DIFF, nr, when, &body, &one->frame);
	bytes_free(&one->frame);
	one->frame = body;
	one->since_full++;
	r->frames++;
	return good && !r->out.failed ? 0 : -ENOMEM;
}

void recorder_event(struct recorder *r, const char *iface, const char *kind, const char *what)
{
	struct bytes body = {};

	bytes_text(&body, kind);
	bytes_text(&body, iface ?: "");
	bytes_text(&body, what);
	block_add(&r->out, BLOCK_EVENT, 0, wall_ns(), &body, NULL);
	bytes_free(&body);
}

/* After this each interface begins anew, in the new file. */
static int file_next(struct recorder *r, struct error *e)
{
	const char *next = text("%s.new", r->how.path), *older;
	int fd = open(next, O_RDWR | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644);

	older = text("%s" OLDER_SUFFIX, r->how.path);
	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) || rename(r->how.path, older) ||
	    rename(next, r->how.path)) {
		int err = -errno;

		if (fd >= 0)
			close(fd);
		return file_fails(&r->how, err, e);
	}
	close(r->fd);
	r->fd = fd;
	r->size = 0;
	r->begun = boot_ns();
	for (unsigned i = 0; i < r->nr; i++)
		r->ifaces[i]->since_full = 0;
	run_begin(r);
	return 0;
}

int recorder_write(struct recorder *r, struct error *e)
{
	size_t done = 0;

	if (r->out.failed)
		return error_set(e, -ENOMEM, NULL, "out of memory for a frame of %s", r->how.path);
	while (done < r->out.nr) {
		ssize_t nr = write(r->fd, r->out.bytes + done, r->out.nr - done);
		int err = -errno;

		if (nr < 0 && err == -EINTR)
			continue;
		/* if it cannot be cut: readers skip an end that is not whole */
		if (nr < 0 && ftruncate(r->fd, r->size))
			return file_fails(&r->how, err, e);
		if (nr < 0)
			return file_fails(&r->how, err, e);
		done += nr;
	}
	r->size += done;
	r->out.nr = 0;
	if (r->how.ring && (int64_t)(boot_ns() - r->begun) >= r->how.ring * 1e9)
		return file_next(r, e);
	return 0;
}

uint64_t recorder_size(const struct recorder *r)
{
	return r->size;
}

unsigned recorder_frames(const struct recorder *r)
{
	return r->frames;
}

void recorder_close(struct recorder *r)
{
	for (unsigned i = 0; i < r->nr; i++) {
		bytes_free(&r->ifaces[i]->about);
		bytes_free(&r->ifaces[i]->frame);
		frame_forget(&r->ifaces[i]->state);
		free(r->ifaces[i]);
	}
	free(r->ifaces);
	bytes_free(&r->out);
	close(r->fd);
	free(r);
}

/* SPDX-License-Identifier: GPL-2.0 */
/* What stays open or mapped from one round of readings to the next. */
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "lib/attach/held.h"
#include "lib/attach/pinned.h"
#include "lib/attach/pins.h"
#include "lib/util/clock.h"
#include "lib/util/dir_time.h"
#include "lib/util/hash.h"
#include "lib/util/list.h"

#define LONGEST	2		/* seconds */
#define MOST	(64 << 20)	/* bytes: they count as memory of this process */

static struct held_map {
	void *at;		/* NULL: nothing is held here */
	size_t size;
	__u32 id;		/* of the map */
	bool asked;		/* in this round */
} held[1024];			/* two maps may meet in one place: the second is not held */

static struct held_program {
	int fd;
	__u32 id;		/* 0: nothing is held here */
	bool asked;
} programs[256];

static struct held_pin {
	char path[160];		/* "": nothing is held here */
	struct pinned_map is;
	bool asked;
} pins[320];

/* A pin is what it was as long as the directory it is in is as it was. */
static struct held_dir {
	char path[128];
	struct stat st;
	int watched;			/* its number */
	enum { UNKNOWN, CHANGED, AS_BEFORE } seen;	/* in this round */
} dirs[128];

static size_t all;		/* bytes of maps that are held */
static bool holding;
static int watch = -1;		/* inotify, of `dirs` */
static bool unwatched;		/* …of which one cannot be watched */

/* Half of the descriptors that a process may have are for what is opened meanwhile. */
static bool can_spare(int fd)
{
	struct rlimit files;

	return !getrlimit(RLIMIT_NOFILE, &files) && (rlim_t)fd < files.rlim_cur / 2;
}

static void map_let_go(struct held_map *h)
{
	munmap(h->at, h->size);
	all -= h->size;
	*h = (struct held_map){};
}

static void program_let_go(struct held_program *h)
{
	close(h->fd);
	*h = (struct held_program){};
}

static void pin_let_go(struct held_pin *p)
{
	close(p->is.fd);
	*p = (struct held_pin){};
}

void held_until(double seconds)
{
	holding = seconds > 0 && (seconds <= LONGEST || (watch >= 0 && !unwatched));
	for (unsigned i = 0; i < NR_OF(held); i++) {
		if (held[i].at && !(holding && held[i].asked))
			map_let_go(&held[i]);
		held[i].asked = false;
	}
	for (unsigned i = 0; i < NR_OF(programs); i++) {
		if (programs[i].id && !(holding && programs[i].asked))
			program_let_go(&programs[i]);
		programs[i].asked = false;
	}
	for (unsigned i = 0; i < NR_OF(pins); i++) {
		if (*pins[i].path && !(holding && pins[i].asked))
			pin_let_go(&pins[i]);
		pins[i].asked = false;
	}
	for (unsigned i = 0; i < NR_OF(dirs); i++)
		dirs[i].seen = UNKNOWN;
}

const void *held_map(int fd, __u32 map_id, size_t size)
{
	struct held_map *h = &held[map_id % NR_OF(held)];

	if (!holding || (h->at && h->id != map_id))
		return NULL;
	if (!h->at) {
		void *at = all + size > MOST ? MAP_FAILED :
			   mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);

		if (at == MAP_FAILED)
			return NULL;
		*h = (struct held_map){ .at = at, .size = size, .id = map_id };
		all += size;
	}
	h->asked = true;
	return h->at;
}

int held_program(__u32 id)
{
	struct held_program *h = &programs[id % NR_OF(programs)];

	if (!holding || !id || (h->id && h->id != id))
		return -1;
	if (!h->id) {
		int fd = bpf_prog_get_fd_by_id(id);

		if (fd < 0)
			return -1;
		if (!can_spare(fd)) {
			close(fd);
			return -1;
		}
		*h = (struct held_program){ .fd = fd, .id = id };
	}
	h->asked = true;
	return h->fd;
}

/* Those of a directory; "": of none. */
static void pins_let_go(const char *dir)
{
	size_t len = strlen(dir);

	for (unsigned i = 0; len && i < NR_OF(pins); i++)
		if (!strncmp(pins[i].path, dir, len) && pins[i].path[len] == '/')
			pin_let_go(&pins[i]);
}

/* In the place of another one, or of one that had its name. */
static void dir_watch(struct held_dir *d)
{
	int before = d->watched;

	if (watch < 0)
		return;
	d->watched = inotify_add_watch(watch, d->path, IN_CREATE | IN_DELETE | IN_MOVE |
				       IN_DELETE_SELF | IN_ONLYDIR);
	/* who may not list a directory opens no pin there */
	if (d->watched < 0 && errno != EACCES && errno != ENOENT)
		unwatched = true;
	if (before > 0 && before != d->watched)
		inotify_rm_watch(watch, before);
}

/* Is the directory of this pin as it was when the pins were opened that are held? */
static bool dir_as_before(const char *pin)
{
	const char *slash = strrchr(pin, '/');
	char dir[sizeof(dirs->path)];
	struct held_dir *d;
	struct stat st;

	if (!slash || slash - pin >= (ptrdiff_t)sizeof(dir))
		return false;
	snprintf(dir, sizeof(dir), "%.*s", (int)(slash - pin), pin);
	d = &dirs[text_hash(dir) % NR_OF(dirs)];
	if (d->seen != UNKNOWN && !strcmp(d->path, dir))
		return d->seen == AS_BEFORE;
	if (stat(dir, &st))
		st = (struct stat){};
	d->seen = !strcmp(d->path, dir) && dir_same(&d->st, &st) &&
		  dir_settled(&st, clock_ns(CLOCK_REALTIME)) ? AS_BEFORE : CHANGED;
	if (d->seen == CHANGED) {
		pins_let_go(d->path);
		strcpy(d->path, dir);
		d->st = st;
		dir_watch(d);
	}
	return d->seen == AS_BEFORE && (watch < 0 || d->watched >= 0);
}

const struct pinned_map *held_pin(const char *path)
{
	struct held_pin *p = &pins[text_hash(path) % NR_OF(pins)];

	if (!holding || !dir_as_before(path) || strcmp(p->path, path))
		return NULL;
	p->asked = true;
	return &p->is;
}

void held_pin_keep(const char *path, struct pinned_map *m)
{
	struct held_pin *p = &pins[text_hash(path) % NR_OF(pins)];

	if (!holding || *p->path || strlen(path) >= sizeof(p->path) || !can_spare(m->fd) ||
	    !dir_as_before(path))
		return;
	m->held = true;
	*p = (struct held_pin){ .is = *m, .asked = true };
	strcpy(p->path, path);
}

int held_watch(void)
{
	if (watch < 0)
		watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	return watch;
}

void held_changed(void)
{
	char events[4096];

	while (read(watch, events, sizeof(events)) > 0)
		;
	held_until(0);
}

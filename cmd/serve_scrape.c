/* SPDX-License-Identifier: GPL-2.0 */
/* A scrape: reads all attached interfaces, and judges what grew since an earlier scrape. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/serve.h"
#include "cmd/show.h"
#include "findings/subjects.h"
#include "lib/attach/held.h"
#include "lib/attach/pins.h"
#include "lib/util/error.h"
#include "lib/util/grow.h"

#define LEAST	10000000000ull	/* ns that a window lasts at least, where there were scrapes */

struct served {
	char dir[DIR_SIZE];
	bool there;			/* it is attached now, and was read */
	struct snapshot now, window;
	/* Windows begin at the first, until the second is old enough to take its place. */
	struct snapshot begin, next;
};

static bool taken(const struct snapshot *s)
{
	return s->meta.magic;
}

static void forget(struct snapshot *s)
{
	snapshot_free(s);
	*s = (struct snapshot){};
}

static void served_forget(struct served *i)
{
	forget(&i->now);
	forget(&i->window);
	forget(&i->begin);
	forget(&i->next);
}

void scraper_tell(struct scraper *s, const struct error *e)
{
	if (strcmp(s->said, e->what))
		failed(e);
	snprintf(s->said, sizeof(s->said), "%s", e->what);
}

static int collect(const char *dir, __u32 netns, const char *iface, void *arg)
{
	struct scraper *s = arg;
	void *more;

	(void)netns, (void)iface;
	for (unsigned i = 0; i < s->nr; i++)
		if (!strcmp(s->all[i].dir, dir)) {
			s->all[i].there = true;
			return 0;
		}
	more = grow(s->all, s->nr, sizeof(*s->all));
	if (!more)
		return -ENOMEM;
	s->all = more;
	s->all[s->nr] = (struct served){ .there = true };
	snprintf(s->all[s->nr++].dir, DIR_SIZE, "%s", dir);
	return 0;
}

/* What grew since the beginning of its window; of a new attachment, all. 0 or -errno. */
static int window_take(struct served *i)
{
	if (i->begin.meta.since != i->now.meta.since) {
		forget(&i->begin);
		forget(&i->next);
	}
	if (taken(&i->next) && i->now.boot_ns - i->next.boot_ns >= LEAST)
		snapshot_move(&i->begin, &i->next);
	return taken(&i->begin) ? snapshot_since(&i->window, &i->now, &i->begin) :
				  snapshot_copy(&i->window, &i->now);
}

/* An attachment that goes meanwhile is none; one that cannot be read is counted. */
static int served_read(struct scraper *s, struct served *i)
{
	struct error e = {};
	int err = snapshot_take(&i->now, i->dir, &e) ?: window_take(i);

	if (!err) {
		findings_judge(&i->window, NULL);
		findings_copy(&i->now.findings, &i->window.findings);
		if (s->wanted)
			i->now.wanted &= s->wanted;
		return 0;
	}
	i->there = false;
	if (err == -ENOENT || err == -ENODATA)
		return 0;
	error_set(&e, err, NULL, "cannot read %s: %s", i->dir, strerror(-err));
	scraper_tell(s, &e);
	s->unread++;
	return err == -ENOMEM ? err : 0;
}

static int read_all(struct scraper *s, struct error *e)
{
	int lock = pins_lock(false, e), err = 0;

	s->unread = 0;
	for (unsigned i = 0; i < s->nr; i++)
		s->all[i].there = false;
	if (lock < 0 && lock != -ENOENT)
		return lock;
	if (lock >= 0)
		err = pins_each(collect, s);
	for (unsigned i = 0; i < s->nr && !err; i++)
		if (s->all[i].there)
			err = served_read(s, &s->all[i]);
	pins_unlock(lock);
	return err;
}

int scrape_begin(struct scraper *s, struct scrape *now, struct error *e)
{
	int err = read_all(s, e);

	*now = (struct scrape){
		.totals = calloc(s->nr + 1, sizeof(*now->totals)),
		.windows = calloc(s->nr + 1, sizeof(*now->windows)),
	};
	if (!now->totals || !now->windows || err == -ENOMEM)
		return error_set(e, -ENOMEM, NULL, "out of memory for %u interfaces", s->nr);
	if (err)
		return error_set(e, err, NULL, "cannot read what is attached: %s", strerror(-err));
	for (unsigned i = 0; i < s->nr; i++)
		if (s->all[i].there) {
			now->totals[now->nr] = &s->all[i].now;
			now->windows[now->nr++] = &s->all[i].window;
		}
	if (!s->unread)
		*s->said = '\0';
	return 0;
}

void scrape_end(struct scraper *s, struct scrape *now)
{
	unsigned kept = 0;

	for (unsigned at = 0; at < s->nr; at++) {
		struct served *i = &s->all[at];

		forget(&i->window);
		if (!i->there) {
			served_forget(i);
			continue;
		}
		if (!taken(&i->begin))
			snapshot_move(&i->begin, &i->now);
		else if (!taken(&i->next))
			snapshot_move(&i->next, &i->now);
		else
			forget(&i->now);
		if (kept != at)
			s->all[kept] = *i;
		kept++;
	}
	s->nr = kept;
	held_until(HELD);
	free(now->totals);
	free(now->windows);
}

void scraper_free(struct scraper *s)
{
	for (unsigned i = 0; i < s->nr; i++)
		served_forget(&s->all[i]);
	free(s->all);
}

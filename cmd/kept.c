/* SPDX-License-Identifier: GPL-2.0 */
/* What a `nicprobe record` keeps: its interfaces, from frame to frame. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/kept.h"
#include "findings/subjects.h"
#include "lib/attach/pins.h"
#include "lib/util/clock.h"
#include "lib/util/error.h"
#include "lib/util/grow.h"
#include "lib/util/log.h"
#include "record/changes.h"
#include "render/units.h"

#define SETUP_NS	10000000000ull	/* between two readings of the setup, which take long */
#define CLOCK_STEP_NS	1000000000	/* of less nothing is said */

struct kept_iface {
	char dir[DIR_SIZE];
	char name[96];		/* "": it was not read yet */
	bool gone;		/* that was told */
	struct snapshot last;	/* .meta.magic 0: there is none */
	struct hw *setup;	/* NULL: it was not read */
	uint64_t setup_at;	/* CLOCK_BOOTTIME ns */
};

static struct kept_iface *iface_of(struct kept *k, const char *dir)
{
	struct kept_iface *more;

	for (unsigned i = 0; i < k->nr; i++)
		if (!strcmp(k->ifaces[i].dir, dir))
			return &k->ifaces[i];
	more = grow(k->ifaces, k->nr, sizeof(*more));
	if (!more)
		return NULL;
	k->ifaces = more;
	more[k->nr] = (struct kept_iface){};
	snprintf(more[k->nr].dir, sizeof(more->dir), "%s", dir);
	return &more[k->nr++];
}

static int found(const char *dir, __u32 netns, const char *iface, void *arg)
{
	(void)netns, (void)iface;
	return iface_of(arg, dir) ? 0 : -ENOMEM;
}

static int names_find(struct kept *k, char **names, struct error *e)
{
	int err = 0;

	k->view = (struct view){ .error = e };
	for (; !err && *names; names++)
		err = show_interfaces(&k->view, *names);
	for (unsigned i = 0; !err && i < k->view.nr; i++)
		err = iface_of(k, k->view.dirs[i]) ? 0 : -ENOMEM;
	return err;
}

static void appended_tell(const struct kept *k, uint64_t had, uint64_t cut)
{
	char size[UNITS_SIZE];

	if (!had)
		return;
	units_count(size, had);
	tell(text("%s is a recording of this host, of %s bytes: adding to it%s", k->how.path, size,
		  cut ? text("; its last frame was not whole, and is removed (%" PRIu64 " bytes)",
			     cut) : ""));
}

int kept_open(struct kept *k, char **names, bool later, struct error *e)
{
	uint64_t had, cut;
	int lock, err;

	k->all = !*names;
	netns_go_home();
	lock = pins_lock(false, e);
	if (lock < 0 && lock != -ENOENT)
		return lock;
	err = k->all ? pins_each(found, k) : names_find(k, names, e);
	pins_unlock(lock);
	if (!err && !k->nr && !later)
		err = error_set(e, -ENOENT, "nicprobe attach IFACE", "nothing is attached: there "
				"is nothing to record");
	if (err)
		return err;
	k->to = recorder_open(&k->how, &had, &cut, e);
	if (!k->to)
		return e->err ?: -EIO;
	appended_tell(k, had, cut);
	k->begun = clock_ns(CLOCK_BOOTTIME);
	recorder_event(k->to, NULL, "begins", "recording begins");
	return 0;
}

static void setup_forget(struct kept_iface *one)
{
	if (one->setup)
		hw_free(one->setup);
	free(one->setup);
	one->setup = NULL;
	one->setup_at = 0;
}

static void findings_tell(struct kept *k, const struct kept_iface *one,
			  const struct findings *now)
{
	const struct findings *before = &one->last.findings;

	for (unsigned i = 0; i < now->nr; i++)
		if (!finding_find(before, now->list[i].kind->id))
			recorder_event(k->to, one->name, "finding",
				       text("%s: %s", now->list[i].kind->id, now->list[i].what));
	for (unsigned i = 0; i < before->nr; i++)
		if (!finding_find(now, before->list[i].kind->id))
			recorder_event(k->to, one->name, "finding ends",
				       text("%s", before->list[i].kind->id));
}

/* Says once that an interface is no more there. */
static void gone(struct kept *k, struct kept_iface *one, const char *why)
{
	static const struct findings none;

	if (*one->name && !one->gone) {
		findings_tell(k, one, &none);
		recorder_event(k->to, one->name, "gone", why);
	}
	one->gone = true;
	setup_forget(one);
	snapshot_free(&one->last);
	one->last.meta.magic = 0;
}

static void link_tell(struct kept *k, const struct kept_iface *one, const struct link *now)
{
	const struct link *before = &one->last.link;

	if (!one->last.meta.magic || !now->known || !before->known)
		return;
	if (now->up != before->up)
		recorder_event(k->to, one->name, "link", now->up ? "the link is up" :
			       "the link is down");
	if (now->mbit != before->mbit)
		recorder_event(k->to, one->name, "link", text("%lu Mbit/s, now %lu", before->mbit,
							       now->mbit));
}

struct changed {
	struct kept *k;
	const char *name;
};

static void change_tell(const char *what, void *arg)
{
	const struct changed *c = arg;

	recorder_event(c->k->to, c->name, "setting", what);
}

/* Channels, coalescing, affinity, MTU, qdisc and others, if they were not read lately. */
static void setup_tell(struct kept *k, struct kept_iface *one, struct snapshot *s)
{
	struct hw *now;

	if (one->setup_at && s->boot_ns - one->setup_at < SETUP_NS && !k->last)
		return;
	one->setup_at = s->boot_ns;
	now = calloc(1, sizeof(*now));
	if (!now || show_hw_add(s, now, NULL)) {
		if (now)
			hw_free(now);
		free(now);
		return;
	}
	s->hw = NULL;
	if (one->setup) {
		changes_tell(one->setup, now, change_tell, &(struct changed){ k, one->name });
		hw_free(one->setup);
		free(one->setup);
	}
	one->setup = now;
}

/* The window since the frame before, as show would diagnose it: with the setup as read last. */
static int window_judge(struct kept *k, struct kept_iface *one, struct snapshot *now)
{
	struct snapshot window;
	int err = snapshot_since(&window, now, &one->last);

	if (!err) {
		findings_judge(&window, one->setup);
		findings_earlier(&window, now);
		findings_copy(&now->findings, &window.findings);
		findings_tell(k, one, &now->findings);
	}
	snapshot_free(&window);
	return err;
}

/* What is kept are the totals, with the findings of the window: they become those of `one`. */
static int frame_keep(struct kept *k, struct kept_iface *one, struct snapshot *now)
{
	bool window = one->last.meta.magic && one->last.meta.since == now->meta.since;
	int err = window ? window_judge(k, one, now) : 0;

	err = err ?: recorder_frame(k->to, now, window ? &now->findings : NULL);
	snapshot_move(&one->last, now);
	return err;
}

static int iface_frame(struct kept *k, struct kept_iface *one)
{
	struct error e = {};
	struct snapshot now = {};
	int err = snapshot_take(&now, one->dir, &e);
	bool is_gone = now.gone;

	if (err) {
		gone(k, one, err == -ENOENT || err == -ENODATA ? "it was detached" : e.what);
		snapshot_free(&now);
		return err == -ENOMEM ? err : 0;
	}
	if (one->last.meta.magic && one->last.meta.since != now.meta.since)
		gone(k, one, "it was detached");	/* …and attached again meanwhile */
	if (!now.gone && (one->gone || !*one->name))
		recorder_event(k->to, now.name, "attached", "it is attached, and recorded from "
			       "here on");
	snprintf(one->name, sizeof(one->name), "%s", now.name);
	link_tell(k, one, &now.link);
	if (!now.gone)
		setup_tell(k, one, &now);
	if (!is_gone || !one->gone) {		/* once more, with its last figures */
		err = frame_keep(k, one, &now);
		k->frames += !err;
	}
	if (is_gone)
		gone(k, one, one->last.state);
	one->gone = is_gone;
	snapshot_free(&now);
	return err;
}

/* The times of frames are not those that they seem to be: whoever reads them has to know. */
static void clock_tell(struct kept *k)
{
	int64_t ahead = clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_BOOTTIME), by = ahead - k->ahead;
	char time[UNITS_SIZE];

	units_duration(time, llabs(by) * 1e-9);
	if (k->frames && llabs(by) >= CLOCK_STEP_NS)
		recorder_event(k->to, NULL, "clock", text("it was set %s by %s",
			       by < 0 ? "back" : "forward", time));
	k->ahead = ahead;
}

int kept_frame(struct kept *k, struct error *e)
{
	int lock, err;

	netns_go_home();
	lock = pins_lock(false, e);
	if (lock < 0 && lock != -ENOENT)
		return lock;
	clock_tell(k);
	err = k->all ? pins_each(found, k) : 0;
	for (unsigned i = 0; !err && i < k->nr; i++)
		err = iface_frame(k, &k->ifaces[i]);
	pins_unlock(lock);
	if (err)
		return error_set(e, err, NULL, "cannot record a frame: %s", strerror(-err));
	k->broken = recorder_write(k->to, e);
	return k->broken;
}

bool kept_any(const struct kept *k)
{
	return k->frames;
}

static const char *amount_text(const struct kept *k)
{
	char time[UNITS_SIZE], size[UNITS_SIZE];

	units_duration(time, (clock_ns(CLOCK_BOOTTIME) - k->begun) * 1e-9);
	units_count(size, recorder_size(k->to));
	return text("%" PRIu64 " frames in %s, %s bytes", k->frames, time, size);
}

void kept_progress(struct kept *k)
{
	k->shown = isatty(STDERR_FILENO) && !json_wanted;
	if (k->shown)
		fprintf(stderr, "\rrecording: %s ", amount_text(k));
}

void kept_progress_end(struct kept *k)
{
	if (k->shown)
		fprintf(stderr, "\r%*s\r", 60, "");
}

void kept_tell(const struct kept *k)
{
	tell(text("%s: %s; show it: nicprobe show --from %s", k->how.path, amount_text(k),
		  k->how.path));
}

void kept_close(struct kept *k)
{
	struct error e = {};

	recorder_event(k->to, NULL, "ends", "recording ends");
	if (!k->broken && recorder_write(k->to, &e))
		failed(&e);
	for (unsigned i = 0; i < k->nr; i++) {
		snapshot_free(&k->ifaces[i].last);
		setup_forget(&k->ifaces[i]);
	}
	free(k->ifaces);
	free(k->view.dirs);
	recorder_close(k->to);
}

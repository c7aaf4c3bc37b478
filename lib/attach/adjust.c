/* SPDX-License-Identifier: GPL-2.0 */
/* Changes which meters are attached, except packet meters: those added are loaded as a set. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include "lib/attach/adjust.h"
#include "lib/attach/begin.h"
#include "lib/attach/configure.h"
#include "lib/attach/group.h"
#include "lib/attach/pacing.h"
#include "lib/attach/pins.h"
#include "lib/attach/set.h"
#include "lib/core/meter.h"
#include "lib/util/error.h"
#include "lib/util/log.h"

static bool is_on(__u64 bits, int id)
{
	return bits >> id & 1;
}

/* Removes the pins of the programs of a meter that has an object of its own. */
static int programs_unpin(const struct site *site, const struct meter *m)
{
	size_t size = 0;
	const void *elf = m->events.elf(&size);
	struct bpf_object *obj;
	struct bpf_program *prog;

	log_forget();
	obj = bpf_object__open_mem(elf, size, NULL);
	if (!obj)
		return error_set(site->error, -errno, NULL, "cannot open our own BPF object: %s",
				 log_last());
	bpf_object__for_each_program(prog, obj)
		pin_remove(pin_path(site, bpf_program__name(prog)));
	bpf_object__close(obj);
	return 0;
}

/* Removes the pins that only this meter uses; pins that others use stay. */
static int meter_unpin(const struct site *site, const struct meter *m, struct meta *meta)
{
	unsigned numbered = 0;
	int err = 0;

	if (meter_shares(m))
		err = set_leave(site, meta, 1ull << meter_id(m));
	else if (m->type == EVENT_METER)
		err = programs_unpin(site, m);
	for (const struct map_plan *p = m->type == EVENT_METER ? m->events.maps : NULL;
	     p && p->name; p++)
		pin_remove(pin_path(site, p->name));
	pin_remove(pin_path(site, m->name));
	while (!access(pin_path(site, text("%s-%u", m->name, numbered)), F_OK))
		numbered++;
	while (numbered)	/* from the last one down: what an interruption leaves has no gap */
		pin_remove(pin_path(site, text("%s-%u", m->name, --numbered)));
	return err;
}

/* Meters that count in the programs of the hooks cannot be added or removed alone. */
static int refuse_riders(const struct request *req, __u64 changed, struct error *e)
{
	for (int id = 0; id < NR_METERS; id++)
		if (is_on(changed, id) && meters[id]->type == PACKET_METER)
			return error_set(e, -EOPNOTSUPP,
					 text("nicprobe detach %s, and attach it anew", req->label),
					 "%s cannot be added or removed alone: it counts in the "
					 "programs that see each packet, with other meters",
					 meters[id]->name);
	return 0;
}

/* A meter that another one is derived from cannot be removed. */
static int refuse_needed(const struct request *req, __u64 left, __u64 gone,
			 struct error *e)
{
	for (int id = 0; id < NR_METERS; id++)
		for (int of = 0; of < NR_METERS && is_on(left, id); of++)
			if (is_on(meter_needs(meters[id]) & gone, of))
				return error_set(e, -EOPNOTSUPP,
						 text("nicprobe attach -m -%s,-%s %s",
						      meters[of]->name, meters[id]->name,
						      req->label),
						 "%s is made of %s", meters[id]->name,
						 meters[of]->name);
	return 0;
}

/* Notes when the meter began: the others have counted for longer. */
static void note_begin(struct meta *meta, int id)
{
	char *note = meta->absent[id], at[40];
	size_t len = strlen(note), room = sizeof(meta->absent[id]);
	time_t now = time(NULL);
	struct tm tm;

	strftime(at, sizeof(at), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &tm));
	snprintf(note + len, room - len, "%scounts since %s, later than the others",
		 len ? "; " : "", at);
}

static int meter_begin(const struct site *site, const struct request *req, const struct meter *m,
		       struct meta *meta)
{
	int id = meter_id(m);
	const char *why = meter_misfit(site, m);
	int err;

	if (why)
		return error_set(site->error, -EOPNOTSUPP, NULL, "%s cannot be had on %s: %s",
				 m->name, site->iface.name, why);
	*meta->absent[id] = '\0';
	meta->on |= 1ull << id;
	err = meter_unpin(site, m, meta) ?: attach_one(site, req, m, meta);
	if (!err && is_on(meta->on, id))
		note_begin(meta, id);
	return err;
}

/* Derived meters that use a meter that is added or removed: they begin anew. */
static __u64 disturbed(const struct meta *meta, __u64 changed)
{
	__u64 bits = 0;

	for (int id = 0; id < NR_METERS; id++)
		if (is_on(meta->on & ~changed, id) && meter_uses(meters[id]) & changed)
			bits |= 1ull << id;
	return bits;
}

/* Begins the meters of `bits`, all at once. On failure none of them is left. */
static int meters_begin(const struct site *site, const struct request *req, struct meta *meta,
			__u64 bits)
{
	int set = set_free(site, meta, req->label), err;
	struct site own = *site;

	if (set < 0)
		return set;
	own.set = set;
	err = begin_all(&own, req, meta, bits, meter_begin, NULL);
	for (int id = 0; id < NR_METERS && err; id++)
		if (is_on(bits, id))
			meter_unpin(site, meters[id], meta);
	if (err)
		meta->on &= ~bits;
	return err;
}

static int adjust(struct site *site, const struct request *req, struct meta *meta)
{
	__u64 gone = req->removed & meta->on;
	__u64 fresh = meters_needed(req->added) & ~meta->on, again;
	struct request of_these = *req;
	struct meta now = *meta;
	int err = refuse_riders(req, gone | fresh, site->error) ?:
		  refuse_needed(req, meta->on & ~gone, gone, site->error), update;

	if (err)
		return err;
	again = disturbed(meta, gone | fresh) & ~gone;
	of_these.meters = fresh;
	of_these.by_name = true;
	now.on &= ~gone;
	site->config.on = now.on | fresh;
	err = meters_begin(site, &of_these, &now, fresh);
	if (err)
		return err;
	for (int id = 0; id < NR_METERS; id++)
		if (is_on(gone, id))
			*now.absent[id] = '\0';
	if (event_at_tc(gone))		/* if it comes back, its map is another */
		now.buffers_at_tc = false;
	/* first: meta must never list a meter whose pins are gone */
	err = meta_update(site->pins, &now, site->error);
	for (int id = 0; id < NR_METERS && !err; id++)
		if (is_on(gone, id))
			err = meter_unpin(site, meters[id], &now);
	update = meta_update(site->pins, &now, site->error);	/* the sets that are left */
	err = err ?: update;
	if (!err && again) {
		err = meters_begin(site, &of_these, &now, again);
		update = meta_update(site->pins, &now, site->error);
		err = err ?: update;
	}
	*meta = now;
	return err ?: pacing_write(site, meta);	/* a budget is for all of them together */
}

/* Were these pins made for this device, and not for an earlier one of its name or index? */
static int same_device(const struct site *site, const struct request *req, const struct meta *meta)
{
	if (meta->ifindex == site->iface.ifindex &&
	    !pins_of_other(site->pins, meta, site->iface.inode))
		return 0;
	return error_set(site->error, -ENODEV, text("nicprobe attach %s", req->label),
			 "what was attached as %s is gone", req->label);
}

/* A group that may read the other meters may also read those added. */
static int share(int lock, const struct site *site)
{
	struct stat st;

	if (stat(site->pins, &st) || !(st.st_mode & S_IRGRP))
		return 0;
	return group_share(lock, site->pins, st.st_gid, site->error);
}

static int adjust_locked(struct site *site, const struct request *req, struct meta *done, int lock)
{
	const char *whole;
	int err, next;

	if (!pins_find(site->iface.netns, site->iface.ifindex, site->pins, sizeof(site->pins)))
		return -ENOENT;
	err = meta_read(site->pins, done, site->error) ?: same_device(site, req, done);
	if (err)
		return err;
	whole = req->rx ? "--rx" : req->budget && req->budget != done->budget ? "--budget" :
		(req->sample && req->sample != done->sample) ||
		(req->adapts && !done->adapts) ? "--sample" : NULL;
	if (whole)
		return error_set(site->error, -EINVAL,
				 text("nicprobe detach %s, and attach it anew", req->label),
				 "%s is for all that is attached to %s", whole, req->label);
	site->config.near = done->near;
	site->config.rows = done->rows;	/* like the attached meters: show reads all alike */
	done->polls |= site->config.polls;
	site->config.polls = done->polls;
	site->config.buffers_at_tc = done->buffers_at_tc;
	site->config.frees_in_tasks = done->frees_in_tasks;
	site->config.takes_all = done->takes_all;
	next = begin_next(site);
	if (next < 0)
		return next;
	site->config.from = next;
	return set_sweep(site, done) ?: adjust(site, req, done) ?: share(lock, site);
}

int adjust_iface(const char *name, const struct request *req, struct meta *done, struct error *e)
{
	struct request whole = *req;
	struct error own = {};	/* the notes about meters need it, even if the caller passes none */
	struct site site = { .error = e ?: &own };
	int lock, err = host_or_iface_read(name, &site.iface, site.error);

	if (err)
		return err;
	whole.meters = meters_needed(req->added);
	whole.label = req->label ?: name;
	site_configure(&site, &whole);
	err = site_queues(&site);
	if (err)
		return err;
	lock = pins_lock(true, site.error);
	err = lock < 0 ? lock : adjust_locked(&site, &whole, done, lock);
	pins_tidy();
	pins_unlock(lock);
	queues_free(&site.queues);
	return err;
}

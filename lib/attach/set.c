/* SPDX-License-Identifier: GPL-2.0 */
/* Loads and attaches the shared object for the meters and points that were chosen. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "lib/attach/slots.h"
#include "lib/attach/object.h"
#include "lib/attach/pins.h"
#include "lib/attach/pacing.h"
#include "lib/attach/points.h"
#include "lib/attach/set.h"
#include "lib/core/meter.h"
#include "lib/kernel/choose.h"
#include "lib/util/error.h"
#include "lib/util/log.h"

#define OFF_MAP	".data.off"	/* bpf/events/events.bpf.c */
#define OFF_PIN	"off"

static bool serves(const struct users *u)
{
	return u->meters || u->points;
}

int set_free(const struct site *site, const struct meta *meta, const char *label)
{
	for (int set = 0; set < MAX_SETS; set++)
		if (!serves(&meta->set[set]))
			return set;
	return error_set(site->error, -ENOSPC,
			 text("nicprobe detach %s, and attach it anew", label),
			 "%s has no room for further programs", label);
}

/* Calls `size` or `fill` of each meter of a set. */
static int each(const struct site *site, struct bpf_object *obj, __u64 bits, bool fill)
{
	int err = 0;

	for (int id = 0; id < NR_METERS && !err; id++) {
		const struct meter_events *e = &meters[id]->events;

		if (!(bits >> id & 1))
			continue;
		if (fill ? !!e->fill : !!e->size)
			err = (fill ? e->fill : e->size)(site, obj);
		if (err)
			error_set(site->error, err, NULL, "cannot prepare the maps of %s: %s",
				  meters[id]->name, strerror(-err));
	}
	return err;
}

static int off_pin(const struct site *site, struct bpf_object *obj)
{
	struct bpf_map *map = bpf_object__find_map_by_name(obj, OFF_MAP);
	int err = map ? bpf_map__pin(map, pin_path(site, set_pin(OFF_PIN, site->set))) : -ENOENT;

	return err ? error_set(site->error, err, NULL, "cannot pin %s: %s", OFF_PIN,
			       strerror(-err)) : 0;
}

/* Notes the events that a meter does without, because this kernel lacks them. */
static void note_left_out(struct meta *meta, __u64 bits, const struct left_out *left)
{
	for (int id = 0; id < NR_METERS; id++) {
		char list[128] = "";

		for (unsigned i = 0; i < left->nr && bits >> id & 1; i++)
			if (event_users(left->program[i]).meters >> id & 1)
				snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%s",
					 *list ? ", " : "", left->event[i]);
		if (*list) {
			char *note = meta->absent[id];
			size_t at = strlen(note);

			snprintf(note + at, sizeof(meta->absent[id]) - at, "%sdoes without %s, "
				 "which cannot be had here", at ? "; " : "", list);
		}
	}
}

/* Ends the programs of a set that no user in `left` needs. */
static int programs_end(const struct site *site, const struct bpf_object *obj, unsigned set,
			const struct users *left)
{
	const struct wanting w = { left, &site->config };
	struct bpf_program *prog;
	__u64 shared = 0;
	int err = 0;

	bpf_object__for_each_program(prog, (struct bpf_object *)obj) {
		int p = shared_program(bpf_program__name(prog));

		if (p >= 0 && !users_want(bpf_program__name(prog), &w))
			shared |= 1ull << p;
	}
	if (!set)
		err = serves(left) ? host_end(site, shared) : host_leave(site);
	if (err)
		return err;
	bpf_object__for_each_program(prog, (struct bpf_object *)obj)
		if (!users_want(bpf_program__name(prog), &w))
			pin_remove(pin_path(site, set_pin(bpf_program__name(prog), set)));
	if (!serves(left))
		pin_remove(pin_path(site, set_pin(OFF_PIN, set)));
	return 0;
}

/* Takes part in what the interfaces share, if the programs of the set can: the first one only. */
static int join(struct site *site, const struct users *set)
{
	bool wanders = false;

	site->config.slot = 0;
	if (site->set)
		return 0;
	for (int id = 0; id < NR_METERS; id++)
		wanders |= set->meters >> id & 1 && meters[id]->events.wanders &&
			   meters[id]->events.wanders(&site->config);
	return host_join(site, wanders, users_want,
			 &(struct wanting){ set, &site->config });
}

/* Loads and attaches one object for all users of meta->set[site->set]. */
static int load(const struct site *site, struct meta *meta, bool share)
{
	const struct users *set = &meta->set[site->set];
	struct site own = *site;
	struct bpf_object *obj;
	struct left_out left;
	int err = share && !site->iface.host ? join(&own, set) : 0;

	if (err)
		return err;

	own.config.points = set->points;
	own.config.on = set->meters;
	for (int id = 0; id < NR_METERS; id++) {
		own.config.one_in[id] = meter_sample(meters[id], meta);
		own.config.adapts |= (__u64)meter_adapts(meters[id], meta) << id;
		if (set->points && meters[id]->type == PACKET_METER)
			own.config.on |= meta->on & 1ull << id;
	}
	obj = object_open_shared(&own, set, &left);
	if (!obj)
		goto leave;
	err = each(&own, obj, set->meters, false) ?: object_load(&own, obj) ?:
	      (site->iface.host ? 0 : pacing_begin(&own, meta, set->meters)) ?:
	      each(&own, obj, set->meters, true) ?:
	      off_pin(&own, obj) ?: object_attach_set(&own, obj, site->set);
	if (!err && own.config.slot) {
		err = host_begin(&own);
		if (err)
			object_unpin_set(&own, obj, site->set);
	}
	if (err)
		unlink(pin_path(site, set_pin(OFF_PIN, site->set)));
	else
		note_left_out(meta, set->meters, &left);
	object_close(obj);
leave:
	if ((!obj || err) && own.config.slot)
		host_leave(&own);
	return obj ? err : -EOPNOTSUPP;
}

/* Notes a point whose program the kernel does not load: there is no other hook for it. */
static int point_fails(const struct site *site, const struct request *req, struct meta *meta,
		       enum point point)
{
	const char *name = "tracepoint";

	for (const struct hook *const *t = hooks; *t; t++)
		if ((*t)->how[point] && !strcmp((*t)->how[point], meta->hook[point]))
			name = (*t)->name;
	*meta->hook[point] = '\0';
	note_hook(meta->note[point], sizeof(meta->note[point]), name, error_what(site->error));
	if (point == RX_NIC && req->rx)
		return -EOPNOTSUPP;
	error_forget(site->error);
	return 0;
}

/* Ends the packet meters that are left without a point: their points were taken for granted. */
static int riders_fail(const struct site *site, const struct request *req, struct meta *meta)
{
	int err = 0;

	for (int id = 0; id < NR_METERS && !err; id++) {
		const struct meter *m = meters[id];
		bool rides = meta->on >> id & 1 && m->type == PACKET_METER;
		const char *why = rides ? meter_unseen(m, meta) : NULL;

		if (why)
			err = meter_fails(site, req, m, meta, why);
	}
	return err;
}

/* Loads one user in a set of its own. */
static int alone(const struct site *site, const struct request *req, struct meta *meta,
		 struct users user, enum point point, const struct meter *m)
{
	int set = set_free(site, meta, site->iface.name), err;
	struct site own = *site;

	if (set < 0)
		return set;
	own.set = set;
	meta->set[set] = user;
	err = load(&own, meta, true);
	if (!err)
		return 0;
	meta->set[set] = (struct users){};
	if (attach_stopped(site))
		return attach_stopped(site);
	return m ? meter_fails(site, req, m, meta, error_what(site->error)) :
		   point_fails(site, req, meta, point);
}

int set_attach(const struct site *site, const struct request *req, struct meta *meta)
{
	const struct users all = meta->set[site->set];
	int err = host_sweep(site->error);

	if (err)	/* what others share cannot be used: no reason to go without */
		return err;
	err = serves(&all) ? load(site, meta, true) : 0;
	/* a compiler of the kernel may know no tail calls in programs that have functions */
	if (err == -EINVAL && !site->set && !attach_stopped(site)) {
		error_forget(site->error);
		err = load(site, meta, false);
	}
	if (!err || attach_stopped(site))
		return attach_stopped(site);
	if (err == -HOST_UNUSABLE)	/* as above: each user would meet the same */
		return site->error->err;
	error_forget(site->error);
	meta->set[site->set] = (struct users){};
	err = 0;
	for (int p = 0; p < NR_POINTS && !err; p++)
		if (all.points >> p & 1)
			err = alone(site, req, meta, (struct users){ .points = 1u << p }, p, NULL);
	err = err ?: riders_fail(site, req, meta);
	for (int id = 0; id < NR_METERS && !err; id++)
		if (all.meters >> id & 1)
			err = alone(site, req, meta, (struct users){ .meters = 1ull << id }, 0,
				    meters[id]);
	return err;
}

/* Tells the programs that go on for other users not to call these meters any more. */
static int meters_off(const struct site *site, unsigned set, __u64 bits)
{
	int fd = bpf_obj_get(pin_path(site, set_pin(OFF_PIN, set))), err;
	__u64 off = 0;
	__u32 key = 0;

	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	err = bpf_map_lookup_elem(fd, &key, &off);
	off |= bits;
	err = err || bpf_map_update_elem(fd, &key, &off, BPF_ANY) ? -errno : 0;
	close(fd);
	return err;
}

/* Opened to read the names of its programs. NULL: an error says why. */
static struct bpf_object *names_open(const struct site *site)
{
	size_t size;
	const void *elf = (site->iface.host ? host_elf : events_elf)(&size);
	struct bpf_object *obj = bpf_object__open_mem(elf, size, NULL);

	if (!obj)
		error_set(site->error, -errno, NULL, "cannot open our own BPF object: %s",
			  strerror(errno));
	return obj;
}

int set_sweep(const struct site *site, const struct meta *meta)
{
	struct bpf_object *obj = names_open(site);
	int err = host_sweep(site->error);

	if (!obj)
		return -EIO;
	for (unsigned set = 0; set < MAX_SETS && !err; set++)
		if (!serves(&meta->set[set]))
			err = programs_end(site, obj, set, &meta->set[set]);
	object_close(obj);
	return err;
}

int set_leave(const struct site *site, struct meta *meta, __u64 bits)
{
	struct bpf_object *obj = NULL;
	int err = 0;

	for (unsigned set = 0; set < MAX_SETS && !err; set++) {
		struct users *u = &meta->set[set];

		if (!(u->meters & bits))
			continue;
		obj = obj ?: names_open(site);
		err = obj ? meters_off(site, set, bits) : -EIO;
		if (err)
			break;
		u->meters &= ~bits;
		err = programs_end(site, obj, set, u);
	}
	object_close(obj);
	return err ? error_set(site->error, err, NULL, "cannot end programs: %s",
			       strerror(-err)) : 0;
}

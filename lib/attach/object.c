/* SPDX-License-Identifier: GPL-2.0 */
/* One BPF object: opened, sized to the interface, loaded, attached and pinned. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "lib/attach/begin.h"
#include "lib/attach/sizes.h"
#include "lib/attach/slots.h"
#include "lib/attach/object.h"
#include "lib/attach/pins.h"
#include "lib/attach/row_maps.h"
#include "lib/attach/tell.h"
#include "lib/core/meter.h"
#include "lib/core/pace.h"
#include "lib/kernel/abreast.h"
#include "lib/kernel/btf.h"
#include "lib/kernel/cgroup.h"
#include "lib/kernel/choose.h"
#include "lib/kernel/lean.h"
#include "lib/kernel/pending.h"
#include "lib/kernel/release.h"
#include "lib/util/error.h"
#include "lib/util/log.h"

const char *pin_path(const struct site *site, const char *name)
{
	return text("%s/%s", site->pins, name);
}

static int map_prepare(const struct site *site, const struct row_maps *rows, struct bpf_map *map)
{
	const char *name = bpf_map__name(map);
	unsigned entries = map_entries(site, map);
	bool own = site->config.slot != HOST_SLOT;	/* pins of an interface */
	int err = 0;

	if (!strcmp(name, ".rodata.config"))
		err = bpf_map__set_initial_value(map, &site->config, sizeof(site->config));
	if (row_map_is(map) && rows->pinned >> meter_id(meter_find(name)) & 1)
		own = false;				/* another object has pinned it */
	if (!err && own && map_is_pinned(name))
		err = bpf_map__set_pin_path(map, pin_path(site, strcmp(name, BEGUN_MAP) ? name :
								BEGUN_PIN));
	if (!err && row_map_is(map))
		err = row_map_give(rows, &site->config, map);	/* frees its name */
	else if (!err && entries)
		err = bpf_map__set_max_entries(map, entries);
	return err;
}

bool users_want(const char *program, const void *arg)
{
	const struct wanting *w = arg;

	return event_wanted(program, w->users, w->config);
}

/* The meter that owns a map of the shared object; NULL: it belongs to none alone. */
static const struct meter *map_owner(const char *name)
{
	const struct meter *m = meter_find(name);

	if (map_is_common(name) || (m && m->type == PACKET_METER))
		return m;
	for (int id = 0; id < NR_METERS; id++)
		if (meter_shares(meters[id]) && meter_owns(meters[id], name))
			return meters[id];
	return NULL;
}

static bool map_wanted(const struct meter *owner, const struct users *users)
{
	if (!owner)
		return true;
	return owner->type == PACKET_METER ? users->points : users->meters >> meter_id(owner) & 1;
}

static bool is_global(const struct meter *m)
{
	return m->type == EVENT_METER && m->events.global;
}

/* Leaves out a map that no meter uses; it gets 1 entry where the verifier insists on it. */
static int map_leave_out(const struct site *site, const struct row_maps *rows, struct bpf_map *map,
			 const struct meter *owner)
{
	if (!is_global(owner))
		return bpf_map__set_autocreate(map, false);
	return row_map_is(map) ? row_map_give(rows, &site->config, map) :
	       bpf_map__set_max_entries(map, 1);
}

/* The program whose map of next programs this is; NULL: it is no such map. */
static const char *next_of(const char *map)
{
	size_t len = strlen(NEXT_PREFIX);

	return !strncmp(map, NEXT_PREFIX, len) && shared_program(map + len) >= 0 ? map + len : NULL;
}

/* Which programs and maps of an object are wanted; NULL: all. */
struct wanted_parts {
	const struct users *users;			/* of maps */
	bool (*wants)(const char *, const void *);	/* a program, of `arg` */
	const void *arg;
	struct left_out *left;
};

static int maps_prepare(const struct site *site, const struct wanted_parts *c,
			const struct row_maps *rows, struct bpf_object *obj)
{
	struct bpf_map *map;
	int err = 0;

	bpf_object__for_each_map(map, obj) {
		const char *name = bpf_map__name(map), *shared = host_pin(name);
		const struct meter *owner = map_owner(name);

		if (next_of(name) && !(site->config.slot && c->wants &&
				       c->wants(next_of(name), c->arg)))
			err = err ?: bpf_map__set_autocreate(map, false);
		else if (c->users && !map_wanted(owner, c->users))
			err = err ?: map_leave_out(site, rows, map, owner);
		else
			err = err ?: map_prepare(site, rows, map);
		if (!err && site->config.slot && shared && bpf_map__autocreate(map))
			err = bpf_map__set_pin_path(map, shared);
	}
	return err;
}

static int maps_fail(const struct site *site, int err)
{
	if (err == -ENOMEM || err == -E2BIG)
		return error_set(site->error, err, "fewer meters: -m METER",
				 "the kernel has no memory for the "
				 "maps of %u queues on %d CPUs", site->config.rows - 1,
				 libbpf_num_possible_cpus());
	return error_set(site->error, err, NULL, "cannot prepare our own BPF object: %s",
			 strerror(-err));
}

/* The object, with what its programs are to know among their instructions. */
static struct bpf_object *told_open(const struct site *site, const struct row_maps *rows,
				    const void *elf, size_t size)
{
	void *told = tell_object(elf, size, &site->config, rows->fd);
	struct bpf_object *obj = told ? lean_open(told, size) : NULL;

	if (!obj)
		error_set(site->error, -errno, NULL, "cannot open our own BPF object: %s",
			  told ? log_last() : strerror(errno));
	else
		abreast_spare(obj);
	free(told);
	return obj;
}

/*
 * The rows that the programs of an object use, and somebody wants. The verifier looks at a global
 * function even where nothing calls it: its meter has one row, then.
 */
static __u64 rows_wanted(const struct wanted_parts *c, struct config *config, const void *elf,
			 size_t size)
{
	__u64 used = tell_rows_used(elf, size);

	for (int id = 0; id < NR_METERS; id++) {
		const struct meter *m = meters[id];

		if (c->users ? map_wanted(map_owner(m->name), c->users) :
			       m->type == PACKET_METER || config->on >> id & 1)
			continue;
		if (is_global(m))
			config->end[id] = 1;
		else
			used &= ~(1ull << id);
	}
	return used;
}

void object_close(struct bpf_object *obj)
{
	pending_close(obj);
	bpf_object__close(obj);
}

static struct bpf_object *open(const struct site *of, const void *(*elf)(size_t *),
			       const struct wanted_parts *c)
{
	struct site site = *of;
	const char *pins = site.config.slot == HOST_SLOT ? NULL : site.pins;
	size_t size;
	const void *bytes = elf(&size);
	struct bpf_object *obj;
	struct row_maps rows;
	__u64 used;
	int err;

	log_forget();
	abreast_init();
	config_complete(&site.config);
	site.config.cast = kernel_function("bpf_rdonly_cast");
	used = rows_wanted(c, &site.config, bytes, size);
	err = row_maps_open(&rows, &site.config, used, pins);
	if (err) {
		maps_fail(&site, err);
		return NULL;
	}
	obj = told_open(&site, &rows, bytes, size);
	err = obj ? maps_prepare(&site, c, &rows, obj) : 0;
	row_maps_leave(&rows, obj);
	if (err)
		maps_fail(&site, err);
	if (!obj || err || kernel_choose(obj, c->wants, c->arg, c->left, site.error)) {
		object_close(obj);
		return NULL;
	}
	return obj;
}

struct bpf_object *object_open(const struct site *site, const void *(*elf)(size_t *))
{
	return open(site, elf, &(struct wanted_parts){});
}

struct bpf_object *object_open_shared(const struct site *site, const struct users *users,
				      struct left_out *left)
{
	return open(site, site->iface.host ? host_elf : events_elf,
		    &(struct wanted_parts){ users, users_want,
					    &(struct wanting){ users, &site->config }, left });
}

static bool is_of(const char *program, const void *arg)
{
	const __u64 *which = arg;
	int p = shared_program(program);

	return p >= 0 && *which >> p & 1;
}

struct bpf_object *object_open_host(__u64 which, struct error *e)
{
	static const struct users nobody;
	struct site site = {
		.error = e,
		.config = {
			.slot = HOST_SLOT,
			.entered = ~0ull,
			.rows = 1,
			.dev = 1,	/* no device has this address: every event is passed on */
			.scratch = release_realtime() ? SCRATCH_TASKS : 1,
			.preempts = release_preempts(),
		},
	};

	site.config.percpu = kernel_percpu("softnet_data", &site.config.softnet_data);
	return open(&site, events_elf, &(struct wanted_parts){ &nobody, is_of, &which, NULL });
}

const char *set_pin(const char *program, unsigned set)
{
	return set ? text("%s-%u", program, set) : text("%s", program);
}

struct bpf_link *program_link(const struct bpf_program *prog)
{
	struct bpf_link *link;
	int dir, err;

	if (bpf_program__type(prog) != BPF_PROG_TYPE_CGROUP_SOCK)
		return bpf_program__attach(prog);
	dir = cgroup_open();
	if (dir < 0)
		return NULL;
	link = bpf_program__attach_cgroup(prog, dir);
	err = errno;
	close(dir);
	errno = err;
	return link;
}

int program_hold(const struct bpf_program *prog, const char *path)
{
	struct bpf_link *link = program_link(prog);
	int err = link ? bpf_link__pin(link, path) : -errno, fd;

	if (err) {
		bpf_link__destroy(link);
		return err;
	}
	/* Only the pin holds the link now: if this process removes the pin, the link must end. */
	fd = bpf_link__fd(link);
	bpf_link__disconnect(link);
	bpf_link__destroy(link);
	close(fd);
	return 0;
}

static int link_pin(const struct site *site, struct bpf_program *prog, unsigned set)
{
	int err = program_hold(prog, pin_path(site, set_pin(bpf_program__name(prog), set)));

	if (err == -EPERM && bpf_program__type(prog) == BPF_PROG_TYPE_CGROUP_SOCK)
		return error_set(site->error, err, NULL, "cannot attach to %s: the root cgroup has "
				 "a program that allows no other", bpf_program__section_name(prog));
	return err ? error_set(site->error, err, NULL, "cannot attach to %s: %s",
			       bpf_program__section_name(prog), strerror(-err)) : 0;
}

/* Enters the queues of NAPIs that the driver told the kernel: programs need not learn them. */
static void napis_tell(const struct site *site, const struct bpf_object *obj)
{
	const struct queues *q = &site->queues;
	const struct bpf_map *map = bpf_object__find_map_by_name(obj, NAPI_QUEUES);

	for (__u32 queue = 0; map && queue < q->nr_rx; queue++)
		if (q->rx_napi[queue])
			bpf_map_update_elem(bpf_map__fd(map), &q->rx_napi[queue], &queue,
					    BPF_NOEXIST);
	/* BPF_NOEXIST: NAPIs that also receive are entered already */
	for (__u32 queue = 0; map && queue < q->nr_tx; queue++)
		if (q->tx_napi[queue])
			bpf_map_update_elem(bpf_map__fd(map), &q->tx_napi[queue],
					    &(__u32){ queue | NAPI_TX }, BPF_NOEXIST);
}

int object_load(const struct site *site, struct bpf_object *obj)
{
	int err = kernel_load(obj);

	if (err == -ENOMEM || err == -E2BIG)
		return maps_fail(site, err);
	if (err)
		return error_set(site->error, err, NULL, "the kernel does not load our program: %s",
				 log_last());
	napis_tell(site, obj);
	return 0;
}

/* A shared program of set 0: with the others, or alone. */
static int program_attach(const struct site *site, struct bpf_object *obj,
			  struct bpf_program *prog, unsigned set)
{
	const char *name = bpf_program__name(prog);

	if (!site->config.slot || shared_program(name) < 0)
		return link_pin(site, prog, set);
	return host_attach(site, prog,
			   bpf_object__find_map_fd_by_name(obj, text(NEXT_PREFIX "%s", name)));
}

void object_unpin_set(const struct site *site, struct bpf_object *obj, unsigned set)
{
	struct bpf_program *prog;

	bpf_object__for_each_program(prog, obj)
		if (bpf_program__autoload(prog))
			pin_remove(pin_path(site, set_pin(bpf_program__name(prog), set)));
}

int object_attach_set(const struct site *site, struct bpf_object *obj, unsigned set)
{
	struct bpf_program *prog;
	int err = 0;

	bpf_object__for_each_program(prog, obj)
		if (!err && bpf_program__autoload(prog))
			err = program_attach(site, obj, prog, set);
	if (err)
		object_unpin_set(site, obj, set);
	return err;
}

int object_attach(const struct site *site, struct bpf_object *obj)
{
	return object_attach_set(site, obj, 0);
}

int attach_links(const struct site *site, struct bpf_object *obj)
{
	return object_load(site, obj) ?: object_attach(site, obj);
}

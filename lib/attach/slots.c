/* SPDX-License-Identifier: GPL-2.0 */
/* Who shares programs: slots, devices, and which interface's programs are attached. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "lib/attach/handover.h"
#include "lib/attach/linked.h"
#include "lib/attach/object.h"
#include "lib/attach/pins.h"
#include "lib/attach/slot_set.h"
#include "lib/attach/slots.h"
#include "lib/util/error.h"
#include "lib/util/log.h"

#define MULTIPLIERS	100000	/* tried; with 254 devices one of 7 will do */

const char *const shared_names[NR_SHARED] = {
#define P(name) #name,
	SHARED_PROGRAMS(P)
#undef P
};

int shared_program(const char *name)
{
	for (int i = 0; i < NR_SHARED; i++)
		if (!strcmp(shared_names[i], name))
			return i;
	return -1;
}

const char *host_path(const char *name)
{
	const __u32 agreed = (meta_version() ^ HOST_VERSION * 2654435769u) + sizeof(struct host);

	return text(PINS_ROOT "/" SHARED_DIR "%08x%s%s", agreed, *name ? "/" : "", name);
}

const char *host_pin(const char *map)
{
	if (!strcmp(map, HOST_MAP))
		return host_path("host");
	if (!strcmp(map, HANDED_MAP) || !strcmp(map, CUT_MAP) || !strcmp(map, HOST_CPU_MAP) ||
	    !strcmp(map, POOLS_MAP) || !strcmp(map, IRQS_MAP) ||
	    (!strncmp(map, NEXT_PREFIX, strlen(NEXT_PREFIX)) &&
	     shared_program(map + strlen(NEXT_PREFIX)) >= 0))
		return host_path(map);
	return NULL;
}

struct host *host_map(void)
{
	int fd = bpf_obj_get(host_path("host")), err;
	struct host *h;

	if (fd < 0)
		return NULL;
	h = mmap(NULL, sizeof(*h), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	err = errno;
	close(fd);
	errno = h == MAP_FAILED ? err : h->magic == HOST_MAGIC ? 0 : EPROTO;
	if (h != MAP_FAILED && errno) {
		munmap(h, sizeof(*h));
		errno = EPROTO;
		return NULL;
	}
	return h == MAP_FAILED ? NULL : h;
}

void host_unmap(struct host *h)
{
	if (h)
		munmap(h, sizeof(*h));
}

static int host_make(void)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);
	struct host *first = calloc(1, sizeof(*first));
	int fd = -1, err = 0;

	if (!first)
		return -ENOMEM;
	first->magic = HOST_MAGIC;
	if (mkdir(host_path(""), 0700) && errno != EEXIST)
		err = -errno;
	if (!err)
		fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "nicprobe_host", 4, sizeof(*first), 1,
				    &opts);
	if (!err && (fd < 0 || bpf_map_update_elem(fd, &(__u32){ 0 }, first, BPF_ANY) ||
		     bpf_obj_pin(fd, host_path("host"))))
		err = -errno;
	if (fd >= 0)
		close(fd);
	free(first);
	return err;
}

static int failed(struct error *e, int err)
{
	return error_set(e, err, text("rm -r %s, when nothing is attached", host_path("")),
			 "cannot use what the attached interfaces share: %s", strerror(-err));
}

static int unusable(struct error *e, int err)
{
	failed(e, err);
	return -HOST_UNUSABLE;
}

__u32 slot_find(const struct host *h, const char *pins)
{
	for (__u32 slot = 1; slot < HOST_SLOT; slot++)
		if (*h->tenant[slot].pins && !strcmp(h->tenant[slot].pins,
						     pins + strlen(PINS_ROOT "/")))
			return slot;
	return 0;
}

/* Fills the idle table with the devices of all tenants. False: they collide. */
static bool devices_fill(struct host *h)
{
	struct devices *idle = &h->devices[~h->current & 1];
	__u32 mul = 2654435769u;

	for (int try = 0; try < MULTIPLIERS; try++, mul = mul * 1664525 + 2 * 1013904223u) {
		bool collide = false;

		memset(idle, 0, sizeof(*idle));
		idle->mul = mul;
		for (__u32 slot = 1; slot < HOST_SLOT && !collide; slot++) {
			__u64 dev = h->tenant[slot].dev;
			__u32 at = device_place(mul, dev);

			if (!dev)
				continue;
			collide = idle->dev[at];
			idle->slot[at] = slot;
			idle->dev[at] = dev;
		}
		if (!collide)
			return true;
	}
	return false;
}

/* From now on programs use the other table, and forget what they looked up in this one. */
static void devices_change(struct host *h)
{
	if (devices_fill(h))
		__atomic_store_n(&h->current, (h->current + 2) ^ 1, __ATOMIC_RELEASE);
}

/* Does the interface of a slot still exist, as far as its pins go? */
static bool lives(const struct tenant *t)
{
	return !access(text(PINS_ROOT "/%s", t->pins), F_OK);
}

/*
 * Ends programs of one slot, and those without an interface that nobody needs any more. Those that
 * are attached for others too are replaced first.
 */
static int programs_end(struct host *h, __u32 slot, __u64 which, struct error *e)
{
	__u64 attached = 0, called = 0;
	__u32 entered;
	int err;

	for (int p = 0; p < NR_SHARED; p++) {
		if (!(which >> p & 1))
			continue;
		entered = PASSER_ENTERED(h->passer[p]);
		called |= (__u64)slot_in(&h->called[p], slot) << p;
		slot_clear(&h->called[p], slot);
		if (!slots_any(&h->called[p]))
			__atomic_and_fetch(&h->calls, ~(1ull << p), __ATOMIC_SEQ_CST);
		attached |= (__u64)(entered == slot ||
				    (entered == HOST_SLOT && !slots_any(&h->called[p]))) << p;
	}
	if (called)
		kernel_pause();
	for (int p = 0; p < NR_SHARED; p++) {
		int next = called >> p & 1 ? bpf_obj_get(host_pin(text(NEXT_PREFIX "%s",
								       shared_names[p]))) : -1;

		if (next >= 0) {
			bpf_map_delete_elem(next, &slot);
			close(next);
		}
	}
	err = handover(h, attached, e);
	for (int p = NR_SHARED - 1; p >= 0 && !err; p--)	/* second copies first: phase() */
		if (attached >> p & 1 && !slots_any(&h->called[p])) {
			h->passer[p] = 0;	/* first, or others would wait for its events */
			pin_remove(host_path(shared_names[p]));
		}
	return err;
}

static struct slots *index_of(struct host *h, __u32 slot)
{
	return &h->index[h->tenant[slot].ifindex % INDEX_PLACES];
}

/*
 * If its programs cannot be replaced they stay, with their slot: they still serve the others, and
 * host_sweep() tries again.
 */
static int slot_end(struct host *h, __u32 slot, struct error *e)
{
	struct tenant *t = &h->tenant[slot];
	int err;

	t->dev = 0;
	devices_change(h);
	slot_clear(index_of(h, slot), slot);
	err = programs_end(h, slot, ~0ull, e);
	for (int i = 0; i < CPUMAP_PLACES; i++)
		slot_clear(&h->cpumap[i], slot);
	if (!err)
		memset(t, 0, sizeof(*t));
	return err;
}

/* Maps the shared struct: NULL if there is none. -errno and an error if it cannot be looked at. */
static int host_find(struct host **h, struct error *e)
{
	*h = host_map();
	return *h || errno == ENOENT ? 0 : failed(e, -errno);
}

static int sweep(struct host *h, struct error *e)
{
	int err = handover_finish(h, e);

	for (__u32 slot = 1; slot < HOST_SLOT && !err; slot++)
		if (*h->tenant[slot].pins && !lives(&h->tenant[slot]))
			err = slot_end(h, slot, e);
	return err;
}

int host_sweep(struct error *e)
{
	struct host *h;
	int err = host_find(&h, e);

	if (h)
		err = sweep(h, e);
	host_unmap(h);
	return err;
}

int host_leave(const struct site *site)
{
	struct host *h;
	int err = host_find(&h, site->error), end;
	__u32 slot = h ? slot_find(h, site->pins) : 0;

	if (h)
		err = sweep(h, site->error);
	end = slot ? slot_end(h, slot, site->error) : 0;
	host_unmap(h);
	return end ?: err;
}

int host_end(const struct site *site, __u64 which)
{
	struct host *h;
	int err = host_find(&h, site->error);
	__u32 slot = h ? slot_find(h, site->pins) : 0;

	if (slot)
		err = programs_end(h, slot, which, site->error);
	host_unmap(h);
	return err;
}

/*
 * Takes a slot; 0: there is none, or the devices cannot be told apart. Not one that was given back
 * just now: a CPU may still have an event of its last interface in hand.
 */
static __u32 slot_take(struct host *h, const struct site *site)
{
	__u32 slot = h->last;

	for (__u32 i = 1; i < SLOTS; i++) {
		slot = slot % (HOST_SLOT - 1) + 1;	/* 1 to HOST_SLOT - 1 */
		if (!*h->tenant[slot].pins)
			break;
	}
	if (*h->tenant[slot].pins)
		return 0;
	h->last = slot;
	h->words = SLOT_WORD(slot) < h->words ? h->words : SLOT_WORD(slot) + 1;
	h->tenant[slot].dev = site->config.dev;
	h->tenant[slot].ifindex = site->config.ifindex;
	if (!devices_fill(h)) {
		h->tenant[slot].dev = 0;
		return 0;
	}
	snprintf(h->tenant[slot].pins, sizeof(h->tenant[slot].pins), "%s",
		 site->pins + strlen(PINS_ROOT "/"));
	return slot;
}

int host_join(struct site *site, bool wanders, bool (*wants)(const char *program, const void *),
	      const void *arg)
{
	struct config *c = &site->config;
	struct host *h;
	int err;

	c->slot = 0;
	c->entered = 0;
	if (!c->dev)
		return 0;
	if (host_leave(site) || host_find(&h, site->error))
		return -HOST_UNUSABLE;
	if (!h) {
		err = host_make();
		h = err ? NULL : host_map();
		if (!h)
			return unusable(site->error, err ?: -errno);
	}
	for (int p = 0; p < NR_SHARED; p++) {
		if (!PASSER_ENTERED(h->passer[p]))
			c->entered |= 1ull << p;
		else if (wanders && wants(shared_names[p], arg))
			goto out;
	}
	c->slot = slot_take(h, site);
out:
	host_unmap(h);
	return 0;
}

int host_attach(const struct site *site, const struct bpf_program *prog, int next)
{
	const char *name = bpf_program__name(prog);
	int p = shared_program(name), fd = bpf_program__fd(prog), err = 0;
	struct host *h = host_map();

	if (!h)
		return unusable(site->error, -errno);
	if (site->config.entered >> p & 1) {
		err = program_hold(prog, host_path(name));
		if (err == -EEXIST) {		/* of a change that was cut short */
			pin_remove(host_path(name));
			err = program_hold(prog, host_path(name));
		}
		h->passer[p] = err ? 0 : site->config.slot;
		h->program[p] = err ? 0 : link_program(host_path(name));
	} else if (bpf_map_update_elem(next, &site->config.slot, &fd, BPF_ANY)) {
		err = -errno;
	}
	if (!err && bpf_obj_pin(fd, pin_path(site, name)))
		err = -errno;
	host_unmap(h);
	return err ? error_set(site->error, err, NULL, "cannot attach to %s: %s",
			       bpf_program__section_name(prog), strerror(-err)) : 0;
}

int host_begin(const struct site *site)
{
	__u32 slot = site->config.slot;
	struct host *h = host_map();

	if (!h)
		return unusable(site->error, -errno);
	missed_ever(h, h->tenant[slot].missed);
	for (int p = 0; p < NR_SHARED; p++) {
		if (access(pin_path(site, shared_names[p]), F_OK))
			continue;
		if (PASSER_ENTERED(h->passer[p]) == slot)
			continue;
		slot_set(&h->called[p], slot);
		__atomic_or_fetch(&h->calls, 1ull << p, __ATOMIC_SEQ_CST);
	}
	slot_set(index_of(h, slot), slot);
	devices_change(h);	/* slot_take() has seen that they do not collide */
	host_unmap(h);
	return 0;
}

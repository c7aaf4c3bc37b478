/* SPDX-License-Identifier: GPL-2.0 */
/* What was not counted, by meter; and what our programs did not see at all. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "lib/attach/begin.h"
#include "lib/attach/linked.h"
#include "lib/attach/pinned.h"
#include "lib/attach/sizes.h"
#include "lib/attach/slots.h"
#include "lib/core/hook.h"
#include "lib/core/pace.h"
#include "lib/kernel/release.h"
#include "lib/proc/cpus.h"
#include "lib/read/losses.h"
#include "lib/util/log.h"

#define MOST_SEEN 1024		/* programs of one interface */

void losses_lost(struct snapshot *s, const char *pins)
{
	uint64_t *percpu = calloc(NR_METERS * s->meta.cpus + 1, sizeof(*percpu));
	__u32 keys[NR_METERS], next, nr = NR_METERS;
	struct pinned_map lost = pin_read(text("%s/lost", pins));

	if (lost.fd >= 0 && percpu)
		bpf_map_lookup_batch(lost.fd, NULL, &next, keys, percpu, &nr, NULL);
	for (unsigned i = 0; percpu && i < NR_METERS * s->meta.cpus; i++)
		s->lost[i / s->meta.cpus] += percpu[i];
	pin_close(&lost);
	free(percpu);
}

/*
 * Events that found our program running already on their CPU, and did not count. Many links may
 * have one program: those in `seen` are counted.
 */
static uint64_t misses_of(__u32 program, __u32 *seen, unsigned *nr_seen)
{
	for (unsigned i = 0; i < *nr_seen; i++)
		if (seen[i] == program)
			return 0;
	if (*nr_seen < MOST_SEEN)
		seen[(*nr_seen)++] = program;
	return program_misses(program);
}

/* Of the configuration, what decides who wants which program. */
static struct config wants_of(const struct meta *meta)
{
	return (struct config){
		.polls = meta->polls,
		.buffers_at_tc = meta->buffers_at_tc,
		.frees_in_tasks = meta->frees_in_tasks,
		.takes_all = meta->takes_all,
	};
}

static bool nobody(struct users by)
{
	return !by.meters && !by.points;
}

static struct users both(struct users a, struct users b)
{
	return (struct users){ a.meters & b.meters, a.points & b.points };
}

static struct users wanted_by(const struct meta *meta, const struct config *config,
			      const char *pin)
{
	struct users by = event_users(pin);
	const char *nr = strchr(pin, '-');

	if (!nobody(by))
		return both(event_users_of(pin, config),
			    meta->set[nr ? atoi(nr + 1) % MAX_SETS : 0]);
	for (int id = 0; id < NR_METERS; id++)
		if (meters[id]->type == EVENT_METER && meter_owns(meters[id], pin))
			by.meters |= 1ull << id;
	return by;
}

struct users missed_by(const struct meta *meta, const char *pin)
{
	struct config config = wants_of(meta);

	return wanted_by(meta, &config, pin);
}

/* The name of a link's pin is its program's, and no map is called so. */
static bool may_be_link(const char *name)
{
	return *name != '.' && strcmp(name, "meta") && strcmp(name, BEGUN_PIN) &&
	       !map_is_pinned(name);
}

/* Opened here; what interfaces share is asked where it is attached. */
static bool is_own_link(const char *name)
{
	return shared_program(name) < 0;
}

static const char *copy_name(const char *name)
{
	int len = strcspn(name, "-");

	return text("%.*s_again%s", len, name, name + len);
}

/* The link of its copy; NULL: it has none. */
static const struct linked *copy_of(const struct linked_all *links, const char *name)
{
	const char *copy = copy_name(name);

	for (unsigned i = 0; i < links->nr; i++)
		if (!strcmp(links->list[i].name, copy))
			return &links->list[i];
	return NULL;
}

/*
 * What of two copies one missed the other counts: an interrupt comes in the first, or in the
 * second, and only one that interrupts this one in turn could miss both. But where tasks are put
 * aside in either, others may find both taken: as often as the one that missed fewer, at most.
 */
static uint64_t missed_both(uint64_t n, const struct linked *copy, __u32 *seen, unsigned *nr_seen)
{
	uint64_t also = release_preempts() && copy->program ?
			misses_of(copy->program, seen, nr_seen) : 0;

	return also < n ? also : n;
}

/* The same for a program that interfaces share. */
static uint64_t missed_shared(const struct linked_all *links, const char *name, const __u64 *missed)
{
	int copy = shared_program(copy_name(name));
	uint64_t n = missed[shared_program(name)], also;

	if (copy < 0 || !copy_of(links, name))
		return n;
	also = release_preempts() ? missed[copy] : 0;
	return also < n ? also : n;
}

/* Who misses what a program missed that has no copy: not those that need none. */
static struct users without_copy(const struct meta *meta, const struct config *config,
				 const char *name, struct users by)
{
	const char *copy = copy_name(name);

	return nobody(event_users(copy)) ? by : both(by, wanted_by(meta, config, copy));
}

static void missed_add(struct snapshot *s, struct users by, uint64_t n)
{
	s->missed += n;
	if (nobody(by))
		s->missed_nobodys += n;
	for (int id = 0; id < NR_METERS; id++)
		s->missed_meter[id] += by.meters >> id & 1 ? n : 0;
	for (int p = 0; p < NR_POINTS; p++)
		s->missed_point[p] += by.points >> p & 1 ? n : 0;
}

void losses_missed(struct snapshot *s, const char *pins)
{
	__u64 missed[NR_SHARED];
	bool shares = host_missed(pins, missed);
	const struct linked_all *links = linked_in(pins, may_be_link,
						   shares ? is_own_link : may_be_link);
	struct config config = wants_of(&s->meta);
	__u32 seen[MOST_SEEN];
	unsigned nr = 0;

	s->missed_hidden |= links->hidden;
	for (unsigned i = 0; i < links->nr; i++) {
		const struct linked *l = &links->list[i], *copy;
		struct users by = wanted_by(&s->meta, &config, l->name);
		bool theirs = !nobody(by);
		uint64_t n;

		if (strstr(l->name, "_again"))
			continue;
		copy = copy_of(links, l->name);
		if (!copy)
			by = without_copy(&s->meta, &config, l->name, by);
		if (theirs && nobody(by))
			continue;
		if (shares && shared_program(l->name) >= 0) {
			missed_add(s, by, missed_shared(links, l->name, missed));
			continue;
		}
		if (!l->program)
			continue;
		n = misses_of(l->program, seen, &nr);
		if (copy)
			n = missed_both(n, copy, seen, &nr);
		missed_add(s, by, n);
	}
}

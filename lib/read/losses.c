/* SPDX-License-Identifier: GPL-2.0 */
/* What was not counted, by meter; and what our programs did not see at all. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "lib/attach/slots.h"
#include "lib/attach/pins.h"
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
	int fd = pin_read(text("%s/lost", pins));

	if (fd >= 0 && percpu)
		bpf_map_lookup_batch(fd, NULL, &next, keys, percpu, &nr, NULL);
	for (unsigned i = 0; percpu && i < NR_METERS * s->meta.cpus; i++)
		s->lost[i / s->meta.cpus] += percpu[i];
	if (fd >= 0)
		close(fd);
	free(percpu);
}

/*
 * Events that found our program running already on their CPU, and did not count (Linux 5.12).
 * Many links may have one program: those in `seen` are counted.
 */
static uint64_t misses_of(int link, __u32 *seen, unsigned *nr_seen)
{
	struct bpf_link_info info = {};
	struct bpf_prog_info prog = {};
	__u32 len = sizeof(info);
	int fd;

	if (bpf_obj_get_info_by_fd(link, &info, &len))
		return 0;
	for (unsigned i = 0; i < *nr_seen; i++)
		if (seen[i] == info.prog_id)
			return 0;
	if (*nr_seen < MOST_SEEN)
		seen[(*nr_seen)++] = info.prog_id;
	fd = bpf_prog_get_fd_by_id(info.prog_id);
	len = sizeof(prog);
	if (fd >= 0) {
		bpf_obj_get_info_by_fd(fd, &prog, &len);
		close(fd);
	}
	return prog.recursion_misses;
}

struct users missed_by(const struct meta *meta, const char *pin)
{
	struct users by = event_users(pin);
	const char *nr = strchr(pin, '-');
	const struct users *set = &meta->set[nr ? atoi(nr + 1) % MAX_SETS : 0];

	if (by.meters || by.points)
		return (struct users){ by.meters & set->meters, by.points & set->points };
	for (int id = 0; id < NR_METERS; id++)
		if (meters[id]->type == EVENT_METER && meter_owns(meters[id], pin))
			by.meters |= 1ull << id;
	return by;
}

/* The name of a link's pin is its program's, and no map is called so. */
static bool may_be_link(const char *name)
{
	return *name != '.' && !meter_find(name) && strcmp(name, "meta") && strcmp(name, "lost") &&
	       strcmp(name, PACE_MAP) && strcmp(name, PACE_PLAN_MAP);
}

/* The pin of its copy; NULL: it has none. */
static const char *copy_of(const char *pins, const char *name)
{
	int len = strcspn(name, "-");
	const char *copy = text("%s/%.*s_again%s", pins, len, name, name + len);

	return access(copy, F_OK) ? NULL : copy;
}

/*
 * What of two copies one missed the other counts: an interrupt comes in the first, or in the
 * second, and only one that interrupts this one in turn could miss both. But where tasks are put
 * aside in either, others may find both taken: as often as the one that missed fewer, at most.
 */
static uint64_t missed_both(uint64_t n, const char *copy, __u32 *seen, unsigned *nr_seen)
{
	int fd = release_preempts() ? bpf_obj_get(copy) : -1;
	uint64_t also = fd < 0 ? 0 : misses_of(fd, seen, nr_seen);

	if (fd >= 0)
		close(fd);
	return also < n ? also : n;
}

/* The same for a program that interfaces share. */
static uint64_t missed_shared(const char *pins, const char *name, const __u64 *missed)
{
	int copy = shared_program(text("%s_again", name));
	uint64_t n = missed[shared_program(name)], also;

	if (copy < 0 || !copy_of(pins, name))
		return n;
	also = release_preempts() ? missed[copy] : 0;
	return also < n ? also : n;
}

static void missed_add(struct snapshot *s, struct users by, uint64_t n)
{
	s->missed += n;
	if (!by.meters && !by.points)
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
	__u32 seen[MOST_SEEN];
	struct dirent *entry;
	DIR *d = opendir(pins);
	unsigned nr = 0;

	while (d && (entry = readdir(d))) {
		const char *name = entry->d_name;
		int fd;

		errno = 0;
		if (!may_be_link(name) || strstr(name, "_again"))
			continue;
		if (shares && shared_program(name) >= 0) {
			missed_add(s, missed_by(&s->meta, name), missed_shared(pins, name, missed));
			continue;
		}
		fd = bpf_obj_get(text("%s/%s", pins, name));
		/* links can be opened to write alone: only who may take them away can ask them */
		if (fd < 0) {
			s->missed_hidden |= errno == EACCES;
			continue;
		}
		if (bpf_fd_type(fd) == 'l') {
			uint64_t n = misses_of(fd, seen, &nr);
			const char *copy = copy_of(pins, name);

			if (copy)
				n = missed_both(n, copy, seen, &nr);
			missed_add(s, missed_by(&s->meta, name), n);
		}
		close(fd);
	}
	if (d)
		closedir(d);
}

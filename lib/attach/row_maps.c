/* SPDX-License-Identifier: GPL-2.0 */
/* Maps of one entry, which has the rows of all CPUs: a program can have the address of no other. */
#include <errno.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "lib/attach/row_maps.h"
#include "lib/core/meter.h"
#include "lib/kernel/pending.h"
#include "lib/util/log.h"

#define MOST	(1ull << 29)	/* bytes: the verifier follows no larger offset (BPF_MAX_VAR_OFF) */

static __u64 size_of(const struct config *config, const struct meter *m)
{
	return (__u64)config->end[meter_id(m)] * m->row_size;
}

/* Another version's map of this name may have another shape. */
static int shape_check(int fd, __u32 size)
{
	struct bpf_map_info info = {};
	__u32 len = sizeof(info);

	if (bpf_obj_get_info_by_fd(fd, &info, &len))
		return -errno;
	return info.type == BPF_MAP_TYPE_ARRAY && info.value_size == size &&
	       info.max_entries == 1 ? 0 : -EINVAL;
}

static int map_open(struct row_maps *r, const struct config *config, enum meter_id id,
		    const char *pins)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);
	const struct meter *m = meters[id];
	__u64 size = size_of(config, m);

	if (size >= MOST)
		return -E2BIG;
	if (config->end[id] == 1)		/* nobody wants them */
		pins = NULL;
	if (pins)
		r->fd[id] = bpf_obj_get(text("%s/%s", pins, m->name));
	if (r->fd[id] >= 0) {
		r->pinned |= 1ull << id;
		return shape_check(r->fd[id], size);
	}
	if (pins && errno != ENOENT)
		return -errno;
	r->fd[id] = bpf_map_create(BPF_MAP_TYPE_ARRAY, m->name, sizeof(__u32), size, 1, &opts);
	return r->fd[id] < 0 ? -errno : 0;
}

int row_maps_open(struct row_maps *r, const struct config *config, __u64 which, const char *pins)
{
	int err = 0;

	r->pinned = 0;
	for (int id = 0; id < NR_METERS; id++)
		r->fd[id] = -1;
	for (int id = 0; id < NR_METERS && !err; id++)
		if (which >> id & 1)
			err = map_open(r, config, id, pins);
	if (err)
		row_maps_leave(r, NULL);
	return err;
}

void row_maps_leave(const struct row_maps *r, const struct bpf_object *obj)
{
	for (int id = 0; id < NR_METERS; id++)
		if (r->fd[id] >= 0 && !(obj && pending_add(obj, r->fd[id])))
			close(r->fd[id]);
}

bool row_map_is(const struct bpf_map *map)
{
	const struct meter *m = meter_find(bpf_map__name(map));

	return m && !m->key.table && bpf_map__map_flags(map) & BPF_F_MMAPABLE;
}

int row_map_give(const struct row_maps *r, const struct config *config, struct bpf_map *map)
{
	const struct meter *m = meter_find(bpf_map__name(map));
	int fd = r->fd[meter_id(m)];

	if (fd < 0)
		return bpf_map__set_autocreate(map, false);
	return bpf_map__set_value_size(map, size_of(config, m)) ?: bpf_map__reuse_fd(map, fd);
}

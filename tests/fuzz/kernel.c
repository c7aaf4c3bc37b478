/* SPDX-License-Identifier: GPL-2.0 */
/* A fake kernel for the fuzzer: maps are arrays, reads outside of mapped memory fail. */
#include <stdlib.h>
#include <string.h>

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "kernel.h"

#define MAPS	13
#define ENTRIES	4	/* of a hash map */
#define REGIONS	4

static struct map {
	const void *map;
	unsigned int max, used;
	size_t size;			/* bytes of an array's rows */
	void *rows;			/* array */
	void *key[ENTRIES], *value[ENTRIES];	/* hash: each allocated separately, for ASan */
} maps[MAPS];

static struct { const uint8_t *at; size_t size; } mapped[REGIONS], packet;
static size_t packet_len;
static bool strayed;

static struct map *map_of(const void *map)
{
	struct map *m = maps;

	while (m->map && m->map != map)
		if (++m == maps + MAPS)
			abort();
	m->map = map;
	return m;
}

void kernel_map_size(const void *map, unsigned int entries)
{
	map_of(map)->max = entries;
}

void kernel_reset(void)
{
	for (struct map *m = maps; m < maps + MAPS; m++) {
		if (m->rows)
			memset(m->rows, 0, m->size);
		for (; m->used; m->used--) {
			free(m->key[m->used - 1]);
			free(m->value[m->used - 1]);
		}
	}
	memset(mapped, 0, sizeof(mapped));
	strayed = false;
}

void kernel_mapped(const void *at, size_t size)
{
	int i = 0;

	while (mapped[i].at)
		if (++i == REGIONS)
			abort();
	mapped[i].at = at;
	mapped[i].size = size;
}

bool kernel_strayed(void)
{
	return strayed;
}

void kernel_packet(const void *at, size_t size, size_t len)
{
	packet.at = at;
	packet.size = size;
	packet_len = len;
}

static bool is_array(const struct stub_map *map)
{
	return map->type == BPF_MAP_TYPE_ARRAY || map->type == BPF_MAP_TYPE_PERCPU_ARRAY;
}

static void *hash_find(const struct map *m, const struct stub_map *map, const void *key)
{
	for (unsigned int i = 0; i < m->used; i++)
		if (!memcmp(m->key[i], key, map->key))
			return m->value[i];
	return NULL;
}

void *stub_lookup(const struct stub_map *map, const void *key)
{
	struct map *m = map_of(map->map);
	unsigned int max = map->max > 1 ? map->max : m->max ?: 1;

	if (!is_array(map))
		return hash_find(m, map, key);
	if (!m->rows) {
		m->size = max * map->value;
		m->rows = calloc(max, map->value);
	}
	return *(const __u32 *)key < max ? m->rows + *(const __u32 *)key * map->value : NULL;
}

long stub_update(const struct stub_map *map, const void *key, const void *value, __u64 flags)
{
	struct map *m = map_of(map->map);
	void *old;

	if (is_array(map))
		abort();	/* none of our programs does this */
	old = hash_find(m, map, key);
	if (old && flags == BPF_NOEXIST)
		return -17;
	if (!old && m->used >= (m->max < ENTRIES ? m->max : ENTRIES))
		return -7;
	if (!old) {
		m->key[m->used] = memcpy(malloc(map->key), key, map->key);
		old = m->value[m->used++] = malloc(map->value);
	}
	memcpy(old, value, map->value);
	return 0;
}

/* As in the kernel: an unreadable buffer is zeroed entirely. */
long bpf_probe_read_kernel(void *to, __u32 size, const void *from)
{
	const uint8_t *at = from;

	for (int i = 0; i < REGIONS; i++)
		if (mapped[i].at && at >= mapped[i].at && at <= mapped[i].at + mapped[i].size &&
		    size <= (size_t)(mapped[i].at + mapped[i].size - at)) {
			memcpy(to, from, size);
			return 0;
		}
	memset(to, 0, size);
	strayed = true;
	return -14;
}

long bpf_skb_load_bytes(const struct __sk_buff *skb, __u32 offset, void *to, __u32 len)
{
	(void)skb;
	if (offset > packet.size || len > packet.size - offset) {
		memset(to, 0, len);
		return -14;
	}
	memcpy(to, packet.at + offset, len);
	return 0;
}

/* Fragments read as zeros. */
long bpf_xdp_load_bytes(struct xdp_md *xdp, __u32 offset, void *to, __u32 len)
{
	size_t n = offset < packet.size ? packet.size - offset : 0;

	(void)xdp;
	memset(to, 0, len);
	if (offset > packet_len || len > packet_len - offset)
		return -22;
	memcpy(to, packet.at + packet.size - n, n < len ? n : len);
	return 0;
}

int bpf_dynptr_from_skb(struct __sk_buff *skb, __u64 flags, struct bpf_dynptr *ptr)
{
	(void)flags;
	ptr->skb = skb;
	return 0;
}

long bpf_dynptr_read(void *to, __u32 len, const struct bpf_dynptr *ptr, __u32 offset, __u64 flags)
{
	(void)flags;
	return bpf_skb_load_bytes(ptr->skb, offset, to, len);
}

__u64 bpf_xdp_get_buff_len(struct xdp_md *xdp)
{
	(void)xdp;
	return packet_len;
}

const void *kernel_rows(const void *map)
{
	return map_of(map)->rows;
}

const void *kernel_entry(const void *map, const void **key)
{
	const struct map *m = map_of(map);

	*key = m->used == 1 ? m->key[0] : NULL;
	return m->used == 1 ? m->value[0] : NULL;
}

unsigned int kernel_entries(const void *map)
{
	return map_of(map)->used;
}

/* SPDX-License-Identifier: GPL-2.0 */
/* Follows made-up packets, to measure what that takes on this machine. */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#define PLACES	(1 << 16)
#define PACKETS	256		/* of a run */
#define SLOTS	64

struct yard_place {
	__u64 key, stamp;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, PLACES);
	__type(key, __u32);
	__type(value, struct yard_place);
} yard_places SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, SLOTS);
	__type(key, __u32);
	__type(value, __u64);
} yard_slots SEC(".maps");

__u64 yard_ns;			/* of the last run */
__u32 yard_seed;

static long follow(__u32 i, void *unused)
{
	__u32 at = (yard_seed + i) * 2654435769u >> 16, slot;
	struct yard_place *p = bpf_map_lookup_elem(&yard_places, &at);
	__u64 *n;

	if (!p || __sync_val_compare_and_swap(&p->key, 0, at + 1))
		return 1;
	p->stamp = bpf_ktime_get_ns();
	p = bpf_map_lookup_elem(&yard_places, &at);
	if (!p || p->key != at + 1)
		return 1;
	p->key = 0;
	slot = (bpf_ktime_get_ns() - p->stamp) % SLOTS;
	n = bpf_map_lookup_elem(&yard_slots, &slot);
	if (n)
		++*n;
	return 0;
}

SEC("raw_tp")
int yard(void *ctx)
{
	__u64 begin = bpf_ktime_get_ns();

	yard_seed += PACKETS;
	bpf_loop(PACKETS, follow, NULL, 0);
	yard_ns = (bpf_ktime_get_ns() - begin) / PACKETS;
	return 0;
}

char _license[] SEC("license") = "GPL";

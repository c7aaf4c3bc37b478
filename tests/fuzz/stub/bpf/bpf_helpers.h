/* SPDX-License-Identifier: GPL-2.0 */
/* Stub of <bpf/bpf_helpers.h>: maps are arrays of ../../kernel.c, helpers are its functions. */
#ifndef __BPF_HELPERS__
#define __BPF_HELPERS__

#include <stddef.h>
#include <linux/types.h>

#define SEC(name)
#define __uint(name, val)	int (*name)[val]
#define __type(name, val)	typeof(val) *name
#define __ksym
#undef __weak
#define __weak			__attribute__((weak))
#undef __always_inline
#define __always_inline		inline __attribute__((always_inline))
#define __noinline		__attribute__((noinline, unused))
#define barrier()		asm volatile("" ::: "memory")
#define CONSTANT(word, mark)	((word) = (mark))	/* not patched by a loader */
#define barrier_var(var)	asm volatile("" : "+r"(var))

/* The attributes of a map's declaration. */
struct stub_map {
	const void *map;
	unsigned int type, max;
	size_t key, value;
};
#define STUB_MAP(m) (&(struct stub_map){				\
	.map = (m),							\
	.type = sizeof(*(m)->type) / sizeof(int),			\
	.max = sizeof(*(m)->max_entries) / sizeof(int),			\
	.key = sizeof(*(m)->key),					\
	.value = sizeof(*(m)->value) })

void *stub_lookup(const struct stub_map *map, const void *key);
long stub_update(const struct stub_map *map, const void *key, const void *value, __u64 flags);

#define bpf_map_lookup_elem(map, key)	((typeof((map)->value))stub_lookup(STUB_MAP(map), key))
#define bpf_map_update_elem(map, key, value, flags) stub_update(STUB_MAP(map), key, value, flags)

struct xdp_md;
struct __sk_buff;
struct bpf_dynptr;

__u64 bpf_xdp_get_buff_len(struct xdp_md *xdp);
long bpf_xdp_load_bytes(struct xdp_md *xdp, __u32 offset, void *to, __u32 len);
long bpf_skb_load_bytes(const struct __sk_buff *skb, __u32 offset, void *to, __u32 len);
long bpf_probe_read_kernel(void *to, __u32 size, const void *from);

int bpf_dynptr_from_skb(struct __sk_buff *skb, __u64 flags, struct bpf_dynptr *ptr);
long bpf_dynptr_read(void *to, __u32 len, const struct bpf_dynptr *ptr, __u32 offset, __u64 flags);

static inline __u32 bpf_get_prandom_u32(void)
{
	return 4;	/* every packet is sampled anyway: any number will do */
}

static inline __u32 bpf_get_smp_processor_id(void)
{
	return 0;	/* its rows are the first */
}

static inline __u64 bpf_get_current_pid_tgid(void)
{
	return 1;
}

static inline long stub_loop(__u32 nr, long (*step)(__u32, void *), void *ctx)
{
	__u32 i = 0;

	while (i < nr && !step(i++, ctx))
		;
	return i;
}
#define bpf_loop(nr, step, ctx, flags) stub_loop(nr, (long (*)(__u32, void *))(step), ctx)

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* Makes a line of a socket, and tells it to user space. */
#ifndef NICPROBE_LINE_BPF_H
#define NICPROBE_LINE_BPF_H

#include "bpf/host/lines.h"
#include "bpf/host/socket.bpf.h"

const volatile struct line_filter wanted SEC(".rodata.wanted");
__u64 unread SEC(".data.unread");			/* lines that found no room */

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 23);
} line_ring SEC(".maps");

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct sock_common___queues {
	__u16 skc_tx_queue_mapping, skc_rx_queue_mapping;
};

struct sock___way {
	struct sock_common___queues __sk_common;
	struct dst_entry *sk_dst_cache;
};

struct rtnl_link_ops {
	const char *kind;
};

struct net_device___kind {
	const struct rtnl_link_ops *rtnl_link_ops;
};

#pragma clang attribute pop

#define NO_QUEUE	0xffff		/* NO_QUEUE_MAPPING of include/net/sock.h, 6.1 to 6.18 */

/* Also of a connection request: it begins with the same members, but has a port elsewhere. */
static __always_inline void ends_put(struct host_line *l, const struct sock *sk, __u32 local_port)
{
	if (PLAIN(sk, __sk_common.skc_family) == AF_INET)
		remote_v4(&l->local, PLAIN(sk, __sk_common.skc_rcv_saddr));
	else
		bpf_core_read(&l->local, sizeof(l->local), &sk->__sk_common.skc_v6_rcv_saddr);
	remote_of(&l->remote, sk);
	l->local_port = local_port;
	l->remote_port = port_remote(sk);
}

/* Through which interface it sends, and from which queue it last received. */
static __always_inline void way_put(struct host_line *l, const struct sock *sk)
{
	const struct sock___way *way = (const void *)sk;
	const struct dst_entry *dst = PLAIN(way, sk_dst_cache);
	const struct net_device *dev = dst ? PLAIN(dst, dev) : NULL;
	__u16 queue = PLAIN(way, __sk_common.skc_tx_queue_mapping);

	if (dev) {
		const struct net_device___kind *of_kind = (const void *)dev;
		const struct rtnl_link_ops *ops = PLAIN(of_kind, rtnl_link_ops);

		bpf_core_read_str(l->iface, sizeof(l->iface), &dev->name);
		if (ops)
			bpf_probe_read_kernel_str(l->kind, sizeof(l->kind), PLAIN(ops, kind));
	}
	if (queue != NO_QUEUE)
		l->tx_queue = queue;
	if (!bpf_core_field_exists(way->__sk_common.skc_rx_queue_mapping))
		return;
	queue = PLAIN(way, __sk_common.skc_rx_queue_mapping);
	if (queue != NO_QUEUE)
		l->rx_queue = queue;
}

static __always_inline void line_begin(struct host_line *l, const struct socket_life *life)
{
	__builtin_memset(l, 0, sizeof(*l));
	l->time = bpf_ktime_get_ns();
	l->rx_queue = l->tx_queue = -1;
	if (life) {
		l->pid = life->pid;
		__builtin_memcpy(l->comm, life->comm, sizeof(l->comm));
	}
}

static __always_inline void line_of(struct host_line *l, const struct sock *plain,
				    const struct socket_life *life)
{
	line_begin(l, life);
	ends_put(l, plain, port_local(plain));
	way_put(l, plain);
}

/* Of the pages of constants memcmp() is no builtin. */
static __always_inline bool same_remote(const struct remote *r)
{
	for (unsigned i = 0; i < sizeof(*r); i++)
		if (r->bytes[i] != wanted.remote.bytes[i])
			return false;
	return true;
}

static __always_inline bool ends_are_wanted(const struct remote *remote, __u32 local_port,
					    __u32 remote_port)
{
	return (!wanted.port || local_port == wanted.port || remote_port == wanted.port) &&
	       (!wanted.only_remote || same_remote(remote));
}

/* Copied, not made in place: 6.1 loses sight of a place that it has given. */
static __always_inline void line_tell(const struct host_line *l)
{
	if (ends_are_wanted(&l->remote, l->local_port, l->remote_port) &&
	    bpf_ringbuf_output(&line_ring, (void *)l, sizeof(*l), 0))
		__sync_fetch_and_add(&unread, 1);
}

#endif

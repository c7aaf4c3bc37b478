/* SPDX-License-Identifier: GPL-2.0 */
/* Counts sockets as they end. */
#ifndef NICPROBE_SOCKLIFE_BPF_H
#define NICPROBE_SOCKLIFE_BPF_H

#include "bpf/socklife/socklife_follow.bpf.h"

REMOTE_MAP(socklife);
static const struct socklife socklife_none;
MAP(ARRAY, socklife_taken, __u32, __u64, 1);	/* rows with an address or a port */

static __always_inline void socklife_key_fill(struct socklife_key *key, const struct sock *sk)
{
	key->family = PLAIN(sk, __sk_common.skc_family);
	key->type = PLAIN(sk, sk_type);
	if (is_internet(sk) || key->family == AF_NETLINK)
		key->protocol = PLAIN(sk, sk_protocol);
	if (key->family == AF_NETLINK)		/* its types make no difference */
		key->type = SOCK_RAW;
	remote_connected(&key->remote, sk);
	if (!has_ports(sk))
		return;
	if (remote_is_there(&key->remote))
		key->port = port_remote(sk);
	else if (port_is_bound(sk))
		key->port = port_local(sk);
}

/* The row of a key with an address or a port, if it is there or may be made. */
static __always_inline struct socklife *socklife_find(const struct socklife_key *key)
{
	struct socklife *row = bpf_map_lookup_elem(&socklife, key);
	__u64 *taken = row ? NULL : row_at(&socklife_taken, 0);

	if (!taken || *taken >= SOCKLIFE_ENDS)
		return row;
	if (!bpf_map_update_elem(&socklife, key, &socklife_none, BPF_NOEXIST))
		__sync_fetch_and_add(taken, 1);
	return bpf_map_lookup_elem(&socklife, key);
}

static __always_inline struct socklife *socklife_row(struct socklife_key *key)
{
	static const struct socklife_key others;
	struct socklife *row = NULL;

	if (key->port || remote_is_there(&key->remote))
		row = socklife_find(key);
	if (row)
		return row;
	key->port = 0;
	__builtin_memset(&key->remote, 0, sizeof(key->remote));
	return REMOTE_ROW(&socklife, key, &others, &socklife_none, METER_socklife);
}

static __always_inline void socket_ended(const struct sock *plain,
					 const struct socklife_state *life)
{
	struct socklife_key key = {};
	struct socklife *row;

	socklife_key_fill(&key, plain);
	if (life)
		__builtin_memcpy(key.comm, life->comm, sizeof(key.comm));
	else
		bpf_get_current_comm(key.comm, sizeof(key.comm));
	row = socklife_row(&key);
	if (!row)
		return;
	if (!life) {
		COUNT(row, older, 1);
		return;
	}
	COUNT(row, received, life->received);
	COUNT(row, sent, life->sent);
	COUNT(row, receives, life->receives);
	COUNT(row, sends, life->sends);
	SPAN_ADD(row, duration, (bpf_ktime_get_ns() - life->since) / 1000);
}

#endif

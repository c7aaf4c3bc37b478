/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Follows sockets from socket() to the last close(), and what they send and receive in between.
 * Programs of the root cgroup see both ends of all of IPv4 and IPv6, but those of the kernel; they
 * return 1, which lets everything pass. Those of other families are followed at functions.
 */
#ifndef NICPROBE_SOCKLIFE_FOLLOW_BPF_H
#define NICPROBE_SOCKLIFE_FOLLOW_BPF_H

#include "bpf/host/socket.bpf.h"
#include "bpf/socklife/socklife.h"

#define AF_NETLINK	16
#define SOCK_STREAM	1
#define SOCK_DGRAM	2
#define SOCK_RAW	3
#define IPPROTO_UDP	17
#define IPPROTO_UDPLITE	136
#define MSG_PEEK	2
#define MSG_ERRQUEUE	0x2000
#define BINDPORT_LOCK	8	/* SOCK_BINDPORT_LOCK of include/net/sock.h, 6.1 to 6.18 */

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct sock___locks {
	__u8 sk_userlocks : 4;		/* 8 since 6.16 */
};

struct tcp_sock___acked {
	__u64 bytes_acked;
};

struct socket___of {
	struct sock *sk;
};

struct msghdr;

#pragma clang attribute pop

struct socklife_state {
	__u64 since;		/* CLOCK_MONOTONIC ns of socket(); 0: before us */
	__u64 received, sent, receives, sends;
	__u32 pid;		/* who made it */
	char comm[COMM_SIZE];
	__u32 unused;
};

/* The kernel frees it with its socket. */
struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct socklife_state);
} socklife_states SEC(".maps");

/* What an object makes of it. NULL: it was there before us. */
static __always_inline void socket_ended(const struct sock *plain, const struct socklife_state *);

static __always_inline bool is_internet(const struct sock *sk)
{
	__u16 family = PLAIN(sk, __sk_common.skc_family);

	return family == AF_INET || family == AF_INET6;
}

static __always_inline bool has_ports(const struct sock *sk)
{
	__u16 protocol = PLAIN(sk, sk_protocol);

	return is_internet(sk) && PLAIN(sk, sk_type) != SOCK_RAW &&
	       (protocol == IPPROTO_UDP || protocol == IPPROTO_UDPLITE || protocol == IPPROTO_TCP);
}

/* bind() chose its port, and not the kernel. */
static __always_inline bool port_is_bound(const struct sock *sk)
{
	const struct sock___locks *more = (const void *)sk;

	return BPF_CORE_READ_BITFIELD_PROBED(more, sk_userlocks) & BINDPORT_LOCK;
}

/* All zeros where it is not connected: of a connect() that failed TCP keeps the address alone. */
static __always_inline void remote_connected(struct remote *to, const struct sock *sk)
{
	bool v4 = PLAIN(sk, __sk_common.skc_family) == AF_INET;

	__builtin_memset(to, 0, sizeof(*to));
	if (!is_internet(sk))
		return;
	if (has_ports(sk) ? port_remote(sk) : !v4 || PLAIN(sk, __sk_common.skc_daddr))
		remote_of(to, sk);
}

static __always_inline bool remote_is_there(const struct remote *r)
{
	const __u64 *words = (const void *)r->bytes;

	return words[0] | words[1];
}

/* The other end has acknowledged at least the SYN: such a socket is one of the meter session. */
static __always_inline bool was_connection(const struct sock *sk)
{
	const struct tcp_sock___acked *tcp = (const void *)sk;

	return PLAIN(tcp, bytes_acked);
}

/* Not of netlink, whose numbers are others. */
static __always_inline bool is_tcp(const struct sock *sk)
{
	return PLAIN(sk, sk_protocol) == IPPROTO_TCP && is_internet(sk) &&
	       PLAIN(sk, sk_type) != SOCK_RAW;
}

/*
 * nicprobe asks for names and settings by sockets of its own: they are none of what the host does.
 * Of a socket that nobody saw begin, whoever ends it is asked. A name is soon taken: only those of
 * root are left out, so that no other user hides behind it.
 */
static __always_inline bool is_nicprobes(const struct socklife_state *life)
{
	__u64 comm[COMM_SIZE / 8], nicprobe;

	if (life && *life->comm)
		__builtin_memcpy(comm, life->comm, sizeof(comm));
	else
		bpf_get_current_comm(comm, sizeof(comm));
	__builtin_memcpy(&nicprobe, "nicprobe", sizeof(nicprobe));
	return comm[0] == nicprobe && !comm[1] && !(__u32)bpf_get_current_uid_gid();
}

/*
 * Sockets that accept() makes pass no sock_create, so that those without a state may be younger
 * than we are: TCP's are of the meter session, and of other protocols that connect none is counted.
 */
static __always_inline bool is_counted(const struct sock *sk, const struct socklife_state *life)
{
	__u16 type = PLAIN(sk, sk_type);

	if (!life)
		return type == SOCK_DGRAM || type == SOCK_RAW || !is_internet(sk);
	return !is_tcp(sk) || !was_connection(sk);
}

static __always_inline void socklife_begun(struct socklife_state *life)
{
	if (!life) {
		lost_add(METER_socklife, 1);
		return;
	}
	life->pid = bpf_get_current_pid_tgid() >> 32;
	bpf_get_current_comm(life->comm, sizeof(life->comm));
	life->since = bpf_ktime_get_ns();
}

/* The ends of the socket are still in place: inet_release(), 6.1 to 6.18. */
SEC("cgroup/sock_release")
int socklife_ends(struct bpf_sock *ctx)
{
	const struct sock *plain = ARGUMENT((const struct sock *)ctx);
	struct socklife_state *life;

	if (!net_is_ours(PLAIN(plain, __sk_common.skc_net.net)))
		return 1;
	life = bpf_sk_storage_get(&socklife_states, ctx, NULL, 0);
	if (is_counted(plain, life) && !is_nicprobes(life))
		socket_ended(plain, life);
	return 1;
}

/*
 * TCP leaves first: it is most of what passes here. Nothing of a stream is its end, and no message.
 * `sk`: to ask for its state.
 */
static __always_inline struct socklife_state *socklife_passes(const struct sock *sk,
							      const struct sock *plain, int ret)
{
	struct socklife_state *life;

	if (ret < 0 || is_tcp(plain) || (!ret && PLAIN(plain, sk_type) == SOCK_STREAM))
		return NULL;
	life = bpf_sk_storage_get(&socklife_states, (void *)sk, NULL, 0);
	return life && life->since ? life : NULL;
}

static __always_inline void socklife_sent(const struct sock *sk, const struct sock *plain, int ret)
{
	struct socklife_state *life = socklife_passes(sk, plain, ret);

	if (!life)
		return;
	COUNT(life, sent, ret);
	COUNT(life, sends, 1);
}

/* What is only looked at, or is an error with what was sent, is not received. */
static __always_inline void socklife_received(const struct sock *sk, const struct sock *plain,
					      int ret, int flags)
{
	struct socklife_state *life;

	if (flags & (MSG_PEEK | MSG_ERRQUEUE))
		return;
	life = socklife_passes(sk, plain, ret);
	if (!life)
		return;
	COUNT(life, received, ret);
	COUNT(life, receives, 1);
}

/* Since 6.3; told of each message, whichever call it is of, but for splice() of unix streams. */
SEC("?tp_btf/sock_send_length")
int BPF_PROG(socklife_sends__btf, const struct sock *sk, int ret, int flags)
{
	socklife_sent(sk, ARGUMENT(sk), ret);
	return 0;
}

SEC("?tp_btf/sock_recv_length")
int BPF_PROG(socklife_receives__btf, const struct sock *sk, int ret, int flags)
{
	socklife_received(sk, ARGUMENT(sk), ret, flags);
	return 0;
}

/*
 * Before, the functions of each family. What splice() sends by sendpage() is missing (6.1 to 6.4).
 * sock_common_recvmsg() is that of raw sockets of IPv6.
 */
#define SENDS_AT(function)								\
SEC("?fexit/" #function)								\
int BPF_PROG(socklife_sends__##function, struct socket___of *sock, struct msghdr *msg,	\
	     unsigned long size, int ret)						\
{											\
	if (sock->sk)									\
		socklife_sent(sock->sk, sock->sk, ret);					\
	return 0;									\
}
SENDS_AT(inet_sendmsg)
SENDS_AT(inet6_sendmsg)
SENDS_AT(unix_stream_sendmsg)
SENDS_AT(unix_dgram_sendmsg)
SENDS_AT(netlink_sendmsg)
SENDS_AT(packet_sendmsg)

#define RECEIVES_AT(function)								\
SEC("?fexit/" #function)								\
int BPF_PROG(socklife_receives__##function, struct socket___of *sock,			\
	     struct msghdr *msg, unsigned long size, int flags, int ret)		\
{											\
	if (sock->sk)									\
		socklife_received(sock->sk, sock->sk, ret, flags);			\
	return 0;									\
}
RECEIVES_AT(inet_recvmsg)
RECEIVES_AT(inet6_recvmsg)
RECEIVES_AT(sock_common_recvmsg)
RECEIVES_AT(unix_stream_recvmsg)
RECEIVES_AT(unix_dgram_recvmsg)
RECEIVES_AT(netlink_recvmsg)
RECEIVES_AT(packet_recvmsg)

/*
 * Other families have no programs of cgroups: their sockets are seen where functions can be
 * followed. Here the last descriptor is closed.
 */
SEC("?fentry/sock_close")
int BPF_PROG(socklife_closes, struct inode *inode, struct file *file)
{
	struct socket___of *socket = (void *)bpf_sock_from_file(file);
	struct sock *sk = socket ? socket->sk : NULL;
	struct socklife_state *life;

	if (!sk || is_internet(sk) || !net_is_ours(PLAIN(sk, __sk_common.skc_net.net)))
		return 0;
	life = bpf_sk_storage_get(&socklife_states, sk, NULL, 0);
	if (!is_nicprobes(life))
		socket_ended(sk, life);
	return 0;
}

static __always_inline int socklife_other(struct sock *sk)
{
	if (sk && !is_internet(sk) && net_is_ours(PLAIN(sk, __sk_common.skc_net.net)))
		socklife_begun(bpf_sk_storage_get(&socklife_states, sk, NULL,
						  BPF_SK_STORAGE_GET_F_CREATE));
	return 0;
}

/* accept() gives its socket to the file: unix_accept(), vsock_accept(), 6.1 to 6.18. */
SEC("?fentry/security_sock_graft")
int BPF_PROG(socklife_grafted, struct sock *sk)
{
	return socklife_other(sk);
}

/* socket() and socketpair(); for accept() it has no socket yet. */
SEC("?fentry/sock_alloc_file")
int BPF_PROG(socklife_opens, struct socket___of *sock)
{
	return socklife_other(sock->sk);
}

/* Attached last, as it is last here: of a socket that it sees begin nothing is missed. */
SEC("cgroup/sock_create")
int socklife_begins(struct bpf_sock *ctx)
{
	const struct sock *plain = ARGUMENT((const struct sock *)ctx);

	if (net_is_ours(PLAIN(plain, __sk_common.skc_net.net)))
		socklife_begun(bpf_sk_storage_get(&socklife_states, ctx, NULL,
						  BPF_SK_STORAGE_GET_F_CREATE));
	return 1;
}

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* Follows packets into a socket's queue, and out of it if only the socket is traced. */
#ifndef NICPROBE_SKBLIFE_SOCKET_BPF_H
#define NICPROBE_SKBLIFE_SOCKET_BPF_H

#include "bpf/skblife/skblife_maps.bpf.h"
#include <linux/in.h>
#include <linux/tcp.h>

/*
 * udp_recvmsg() copies a linear datagram without skb_copy_datagram_iovec, and skb_consume_udp()
 * frees it without consume_skb (6.18; with it up to 6.12). That leaves sock_recv_length, which has
 * only the socket. So we keep followed datagrams per socket, in the order in which they arrive and
 * are read: those no longer in a queue when a read returns have been read.
 */
struct life_socket {
	__u64 next, end;	/* numbers of the oldest waiting datagram and of the next to come */
};
MAP(LRU_HASH, life_sockets, __u64, struct life_socket, 2048);

struct life_nr {
	__u64 sk, nr;
};
struct life_waiting {
	__u64 skb, began;
	__u64 place;
};
MAP(LRU_HASH, life_waiting, struct life_nr, struct life_waiting, LIFE_WAYS << LIFE_BITS);

/* In a queue the next element points back; in a list of skbs to free none does. */
static __always_inline bool in_queue(__u64 skb)
{
	return (__u64)BPF_CORE_READ((const struct sk_buff *)skb, next, prev) == skb;
}

static __noinline int udp_waits(__u64 sk, __u64 skb, __u32 place)
{
	struct life_socket none = {}, *s = lookup_or_init(&life_sockets, &sk, &none);
	struct life *life = life_at(place);
	struct life_waiting waiting;
	struct life_nr nr = { .sk = sk };

	if (!s || !life)
		return 0;
	waiting = (struct life_waiting){ .skb = skb, .began = life->at[0], .place = place };
	nr.nr = __sync_fetch_and_add(&s->end, 1);
	bpf_map_update_elem(&life_waiting, &nr, &waiting, BPF_ANY);
	/* A reader on another CPU may already have read it and not found it here. */
	return in_queue(skb) ? 0 : life_end(place, LIFE_READ);
}

#define MOST_READ 64	/* checked per read, which reads one; the others are long gone */

/* Removes the oldest one if it was read or is gone. 1: it still waits, or there is none. */
static long udp_oldest(__u32 i, const __u64 *sk)
{
	struct life_socket *s = bpf_map_lookup_elem(&life_sockets, sk);
	struct life_nr nr = { .sk = *sk };
	struct life_waiting *at, waiting;
	struct life *life;
	__u64 *key;

	if (!s || s->next == s->end)
		return 1;
	nr.nr = s->next;
	at = bpf_map_lookup_elem(&life_waiting, &nr);
	if (at) {
		waiting = *at;
		key = life_key_at(waiting.place);
		life = life_at(waiting.place);
		if (key && life && *key == waiting.skb && life->at[0] == waiting.began) {
			if (in_queue(waiting.skb))
				return 1;
			life_end(waiting.place, LIFE_READ);
		}
		bpf_map_delete_elem(&life_waiting, &nr);
	}
	__sync_val_compare_and_swap(&s->next, nr.nr, nr.nr + 1);
	return 0;
}

static __always_inline int udp_read(__u64 sk)
{
	struct life_socket *s;

	if (!life_watched)
		return 0;
	s = bpf_map_lookup_elem(&life_sockets, &sk);
	if (s && s->next != s->end)
		bpf_loop(MOST_READ, udp_oldest, &sk, 0);
	return 0;
}

/*
 * TCP processes a packet of a connection. It frees one without data untraced, and adds others to
 * the queue or merges them into the last one there: ready() will tell.
 */
static __always_inline int in_tcp(const struct sock *sk, const struct sk_buff *skb)
{
	struct tcphdr tcp = {};
	struct life_busy *busy;
	struct life *life;
	__u32 place;

	if (!life_watched)
		return 0;
	life = life_of_skb(skb, &place);
	busy = busy_now();
	if (!busy)
		return 0;
	if (busy->tcp)
		busy_clear(&busy->tcp);	/* queued out of order: ready() was not called */
	if (!life || life->stage != LIFE_STACK || !same(life, skb))
		return 0;
	bpf_probe_read_kernel(&tcp, sizeof(tcp), skb->data);
	if (skb->len <= tcp.doff * 4u)
		return life_end(place, LIFE_USED);
	busy_set(&busy->tcp, (__u64)skb);
	busy->tcp_sk = (__u64)sk;
	return 0;
}

/*
 * TCP merged the packet into the last one in the queue of the socket; or it is the last one; or it
 * is in the queue before others that had arrived out of order.
 */
static __always_inline int tcp_ready(const struct sock *sk, const struct sk_buff *last)
{
	struct life_busy *busy = busy_now();
	struct life *life;
	__u32 place;
	__u64 skb;

	if (!busy || !busy->tcp || busy->tcp_sk != (__u64)sk)
		return 0;
	skb = busy->tcp;
	busy_clear(&busy->tcp);
	if (skb == (__u64)last)
		return 0;
	life = life_of_skb((void *)skb, &place);
	if (!life || life->stage != LIFE_STACK)
		return 0;
	return in_queue(skb) ? life_step(place, LIFE_STACK) :
				life_end(place, NR_LIFE_ENDS + LIFE_COALESCED);
}

/* The packet is in the queue of a socket. */
static __always_inline void in_socket(const struct sock *sk, const struct sk_buff *skb,
				      bool udp)
{
	__u32 place;
	struct life *life = life_of_skb(skb, &place);

	if (life && life->stage == LIFE_STACK && same(life, skb) &&
	    life_step(place, LIFE_STACK) && udp)
		udp_waits((__u64)sk, (__u64)skb, place);
}

/*
 * A socket has data: the new packet is the last in its queue. UDP may have added packets of other
 * CPUs before it (6.18).
 */
static __always_inline int ready(const struct sock *sk)
{
	const struct sk_buff *end = (void *)&sk->sk_receive_queue;
	const struct sk_buff *last, *a, *b, *c;

	if (!life_watched)
		return 0;
	last = ARGUMENT(sk)->sk_receive_queue.prev;
	if (sk->sk_protocol != IPPROTO_UDP) {
		tcp_ready(sk, last);
		in_socket(sk, last, false);
		return 0;
	}
	a = last->prev;
	b = a != end ? a->prev : end;
	c = b != end ? b->prev : end;
	if (c != end && in_queue((__u64)c))
		in_socket(sk, c, true);
	if (b != end && in_queue((__u64)b))
		in_socket(sk, b, true);
	if (a != end && in_queue((__u64)a))
		in_socket(sk, a, true);
	in_socket(sk, last, true);
	return 0;
}

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* Which meters and points need each shared program: the same ones that the program calls. */
#include "lib/core/event.h"
#include "lib/core/host.h"
#include "events.skel.h"

#define M(name)	(1ull << METER_##name)
#define P(name)	(1u << (name))

const struct event event_list[] = {
	{ "consume_skb", { .meters = M(txlat) | M(qdisc) | M(skblife) } },
	{ "consume_skb_again", { .meters = M(txlat) | M(qdisc) | M(skblife) } },
	{ "kfree_skb", { .meters = M(txlat) | M(qdisc) | M(skblife) | M(drop) } },
	{ "kfree_skb_again", { .meters = M(txlat) | M(qdisc) | M(skblife) | M(drop) } },
	{ "skb_attempt_defer_free", { .meters = M(txlat) | M(skblife) } },
	{ "net_dev_xmit", { M(txlat) | M(qdisc) | M(bql) | M(skblife), P(TX_NIC) } },
	{ "net_dev_start_xmit", { M(txlat) | M(qdisc) | M(bql) | M(skblife), P(TX_NIC) } },
	{ "net_dev_queue", { M(qdisc) | M(bql) | M(skblife), P(TX_STACK) } },
	{ "napi_poll", { .meters = M(napi) | M(irq) | M(gro) } },
	{ "napi_poll_begins", { .meters = M(napi) } },
	{ "softirq_entry", { .meters = M(napi) } },
	{ "softirq_raise", { .meters = M(napi) } },
	{ "napi_gro_receive_exit", { .meters = M(gro) | M(skblife) } },
	{ "napi_gro_frags_exit", { .meters = M(gro) | M(skblife) } },
	{ "netif_receive_skb", { M(gro) | M(skblife), P(RX_STACK) } },
	{ "napi_gro_receive_entry", { M(gro) | M(skblife), P(RX_NIC) } },
	{ "napi_gro_frags_entry", { M(gro) | M(skblife), P(RX_NIC) } },
	{ "netif_receive_skb_entry", { M(gro) | M(skblife), P(RX_NIC) } },
	{ "netif_receive_skb_list_entry", { M(gro) | M(skblife), P(RX_NIC) } },
	{ "netif_rx_entry", { M(gro) | M(skblife), P(RX_NIC) } },
	/* of the host: bpf/host/host_events.bpf.c */
	{ "inet_sock_set_state",
	  { .meters = M(connect) | M(session) | M(tcp) | M(accept) | M(tcpwait) |
		      M(firstbyte) } },
	{ "inet_sock_set_state_again",
	  { .meters = M(connect) | M(session) | M(tcp) | M(accept) | M(tcpwait) |
		      M(firstbyte) } },
	{ "tcp_retransmit_skb", { .meters = M(connect) | M(tcp) } },
	{ "tcp_retransmit_skb_again", { .meters = M(connect) | M(tcp) } },
	{ "sys_exit", { .meters = M(sock) | M(fdpass) } },
	{ "packet_sent", { .meters = M(dns) | M(dnsname) | M(icmp) } },
	{ "packet_received", { .meters = M(dns) | M(dnsname) | M(icmp) } },
	{}
};

#define WORD(name) offsetof(struct config, name)
const struct event_condition event_conditions[] = {
	/* which frames came in one poll; without NAPI, none did */
	{ "napi_poll", { .meters = M(gro) }, WORD(polls), true },
	/* the buffers that the stack receives */
	{ "netif_receive_skb", { .meters = M(gro) }, WORD(buffers_at_tc), false },
	/* in a task no other event can be under way on its CPU: the first copy misses none */
	{ "consume_skb_again", { .meters = M(txlat) }, WORD(frees_in_tasks), false },
	/* whether the driver took the packet, and whether it stopped the queue with it */
	{ "net_dev_xmit", { M(txlat) | M(bql), P(TX_NIC) }, WORD(takes_all), false },
	{}
};

const void *(*const events_elf)(size_t *) = events_bpf__elf_bytes;

/* SPDX-License-Identifier: GPL-2.0 */
/* Counts one packet in N by its flow and receive queue: the other packets cost a countdown. */
#include "xdp/flow.h"

METER_RECENT_MAP(flow, FLOWS);

/* Random gaps between samples, so that periodic traffic cannot stay in step. */
static __noinline __u32 flow_gap(void)
{
	return bpf_get_prandom_u32() % (2 * TOLD(flow_sample) - 1) + 1;
}

/*
 * Selects this packet for sampling and returns the count at which to sample next. Called by
 * `rxcpu`, which counts the packets anyway: a second counter would be the expensive part. The first
 * packet only starts a gap, or short runs would be overestimated.
 */
static __always_inline __u64 flow_due(struct packet *p, __u64 packets, bool first)
{
	p->look = !first || TOLD(flow_sample) == 1;
	return packets + flow_gap();
}

static __always_inline bool flow_has_ports(__u8 proto)
{
	return proto == 6 || proto == 17 || proto == 132 || proto == 33 || proto == 136;
}

/* `ip`: the IP header, found in word `at` of the head: 1 after one tag, 2 after two. */
static __always_inline void flow_parse_ip(struct flow_key *key, const __u32 *ip, __be16 type)
{
	const __u8 *b = (void *)ip;

	if (type == bpf_htons(ETH_P_IP) && b[0] >> 4 == 4) {
		key->family = 4;
		key->proto = b[9];
		key->src[0] = ip[3];
		key->dst[0] = ip[4];
			/* only the first fragment has ports: key all fragments without them */
		if (!(b[6] & 0x3f) && !b[7] && flow_has_ports(key->proto))
			__builtin_memcpy(key->port, &ip[b[0] & 15], sizeof(key->port));
	} else if (type == bpf_htons(ETH_P_IPV6) && b[0] >> 4 == 6) {
		key->family = 6;
		key->proto = b[6];
		__builtin_memcpy(key->src, ip + 2, sizeof(key->src));
		__builtin_memcpy(key->dst, ip + 6, sizeof(key->dst));
		if (flow_has_ports(key->proto))
			__builtin_memcpy(key->port, ip + 10, sizeof(key->port));
	} else {
		key->port[0] = type;
	}
}

static __always_inline void flow_parse(struct flow_key *key, const struct flow_head *head)
{
	const __u16 *tag = (void *)head->l3;

	if (!is_vlan(head->type))
		flow_parse_ip(key, head->l3, head->type);
	else if (!is_vlan(tag[1]))
		flow_parse_ip(key, head->l3 + 1, tag[1]);
	else
		flow_parse_ip(key, head->l3 + 2, tag[3]);
}

/* IPv4 addresses and ports, even if IHL claims a header too short for addresses. */
static __always_inline int flow_ipv4_size(const __u32 *ip)
{
	int size = (*(const __u8 *)ip & 15) * 4 + 4;

	return size < 20 ? 20 : size;
}

/* For other protocols only the EtherType is used. */
static __always_inline bool flow_ip_there(const __u32 *ip, __be16 type, int size)
{
	return size >= (type == bpf_htons(ETH_P_IP) ? flow_ipv4_size(ip) :
			type == bpf_htons(ETH_P_IPV6) ? 44 : 0);
}

/* Are all bytes that flow_parse() reads within the first `size` bytes of l3? */
static __always_inline bool flow_there(const struct flow_head *head, int size)
{
	const __u16 *tag = (void *)head->l3;

	if (!is_vlan(head->type))
		return flow_ip_there(head->l3, head->type, size);
	if (!is_vlan(tag[1]))
		return flow_ip_there(head->l3 + 1, tag[1], size - 4);
	return flow_ip_there(head->l3 + 2, tag[3], size - 8);
}

/* The number of packets that a sampled buffer stands for. */
static __always_inline __u64 flow_weight(__u32 segs)
{
	return segs > TOLD(flow_sample) ? segs : TOLD(flow_sample);
}

static __always_inline void flow_lost(__u32 segs)
{
	lost_add(METER_flow, flow_weight(segs));
}

/* Unused by some hooks. */
static __noinline __attribute__((unused))
int flow_take(const struct flow_head *head, __u32 queue, __u32 segs, __u64 bytes)
{
	struct flow_key key = { .queue = queue < TOLD(rows) - 1 ? queue : FLOW_UNKNOWN };
	struct flow *row, zero = {};

	if (!head || !segs)
		return 0;
	flow_parse(&key, head);
	row = lookup_or_init(&flow, &key, &zero);
	flow_lost(segs);	/* show subtracts what the rows hold */
	if (row) {
		row->packets += flow_weight(segs);
		row->bytes += bytes * flow_weight(segs) / segs;
		row->samples++;
	}
	return 0;
}

static __always_inline void rxcpu_count(struct packet *p, __u64 at);

/*
 * Decides before meter_packet() whether to sample this packet. XDP decides afterwards, by p->look,
 * which is cheaper; after the branches for an skb the verifier would explore the sampling code
 * about 1000 times.
 */
static __always_inline bool flow_look(struct packet *p)
{
	__u64 at;

	if (!meter_on(METER_flow) || !packet_place(p->row, &at))
		return false;
	rxcpu_count(p, at);
	p->counted = true;
	return p->look;
}

/* Needs the count of `rxcpu`, even if that meter is off. */
static __always_inline void flow_packet(struct packet *p, __u64 at)
{
	if (!meter_on(METER_rxcpu) && !p->counted)
		rxcpu_count(p, at);
}

/* SPDX-License-Identifier: GPL-2.0 */
/* Counts one packet in so many by its flow and receive queue: most packets cost a countdown. */
#include "xdp/flow.h"

METER_RECENT_MAP(flow, FLOWS);

/* From one look to the next, at random: traffic that repeats itself cannot keep in step. */
static __noinline __u32 flow_gap(void)
{
	return bpf_get_prandom_u32() % (2 * config.flow_sample - 1) + 1;
}

/*
 * Lets the hook look at this packet, and returns when to do it again. It is
 * asked by `rxcpu`, which has counted it: to count once more is what would
 * cost. The first packet only begins a gap, or few packets would seem many.
 */
static __always_inline __u64 flow_due(struct packet *p, __u64 packets, bool first)
{
	p->look = !first || config.flow_sample == 1;
	return packets + flow_gap();
}

static __always_inline bool flow_has_ports(__u8 proto)
{
	return proto == 6 || proto == 17 || proto == 132 || proto == 33 || proto == 136;
}

/* `ip` is word `at` of the packet's head: 1 behind one tag, 2 behind two. */
static __always_inline void flow_parse_ip(struct flow_key *key, const __u32 *ip, __be16 type)
{
	const __u8 *b = (void *)ip;

	if (type == bpf_htons(ETH_P_IP) && b[0] >> 4 == 4) {
		key->family = 4;
		key->proto = b[9];
		key->src[0] = ip[3];
		key->dst[0] = ip[4];
		/* only the first fragment has ports: for all of a flow to be one, none has */
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

static __always_inline bool flow_tagged(__be16 type)
{
	return type == bpf_htons(ETH_P_8021Q) || type == bpf_htons(ETH_P_8021AD);
}

static __always_inline void flow_parse(struct flow_key *key, const struct flow_head *head)
{
	const __u16 *tag = (void *)head->l3;

	if (!flow_tagged(head->type))
		flow_parse_ip(key, head->l3, head->type);
	else if (!flow_tagged(tag[1]))
		flow_parse_ip(key, head->l3 + 1, tag[1]);
	else
		flow_parse_ip(key, head->l3 + 2, tag[3]);
}

/* Addresses and ports of IPv4: a header may say that it is shorter than its addresses. */
static __always_inline int flow_ipv4_size(const __u32 *ip)
{
	int size = (*(const __u8 *)ip & 15) * 4 + 4;

	return size < 20 ? 20 : size;
}

/* Of what is not IP it looks at the type alone. */
static __always_inline bool flow_ip_there(const __u32 *ip, __be16 type, int size)
{
	return size >= (type == bpf_htons(ETH_P_IP) ? flow_ipv4_size(ip) :
			type == bpf_htons(ETH_P_IPV6) ? 44 : 0);
}

/* Is all that flow_parse() looks at in the first `size` bytes of l3? */
static __always_inline bool flow_there(const struct flow_head *head, int size)
{
	const __u16 *tag = (void *)head->l3;

	if (!flow_tagged(head->type))
		return flow_ip_there(head->l3, head->type, size);
	if (!flow_tagged(tag[1]))
		return flow_ip_there(head->l3 + 1, tag[1], size - 4);
	return flow_ip_there(head->l3 + 2, tag[3], size - 8);
}

/* How many packets a buffer that was looked at stands for. */
static __always_inline __u64 flow_weight(__u32 segs)
{
	return segs > config.flow_sample ? segs : config.flow_sample;
}

static __always_inline void flow_lost(__u32 segs)
{
	lost_add(METER_flow, flow_weight(segs));
}

/* Not every hook looks. */
static __noinline __attribute__((unused))
int flow_take(const struct flow_head *head, __u32 queue, __u32 segs, __u64 bytes)
{
	struct flow_key key = { .queue = queue < config.rows - 1 ? queue : FLOW_UNKNOWN };
	struct flow *row, zero = {};

	if (!head || !segs)
		return 0;
	flow_parse(&key, head);
	row = bpf_map_lookup_elem(&flow, &key);
	if (!row) {
		bpf_map_update_elem(&flow, &key, &zero, BPF_NOEXIST);
		row = bpf_map_lookup_elem(&flow, &key);
	}
	flow_lost(segs);	/* what is in a row is taken off again by show */
	if (row) {
		row->packets += flow_weight(segs);
		row->bytes += bytes * flow_weight(segs) / segs;
		row->samples++;
	}
	return 0;
}

static __always_inline void rxcpu_count(struct packet *p);

/*
 * Asks before meter_packet() whether this packet's flow counts. XDP asks afterwards, by p->look,
 * as that costs less; but behind all the branches for an skb the verifier has it 1000 times.
 */
static __always_inline bool flow_look(struct packet *p)
{
	p->on = config.on;
	if (!packet_for(p, METER_flow))
		return false;
	rxcpu_count(p);
	p->counted = true;
	return p->look;
}

/* `rxcpu` counts for it, also where nobody wants to see that. */
static __always_inline void flow_packet(struct packet *p)
{
	if (!packet_for(p, METER_rxcpu) && !p->counted)
		rxcpu_count(p);
}

/* SPDX-License-Identifier: GPL-2.0 */
/* Builds and parses the Ethernet frames of the test NIC. */
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "nic_frame.h"

#define TYPE_RAW	0x88b5		/* IEEE local experimental */
#define NUMBER_LEN	8
#define NUMBER_MAGIC	0x6e63ULL	/* its upper 16 bits; then 8 of stream, 40 of sequence */
#define IP_DF		0x4000

struct layout {
	uint32_t l3;
	uint32_t l4;
	uint32_t payload;
};

static uint8_t *put16(uint8_t *p, uint16_t value)
{
	value = htons(value);
	memcpy(p, &value, sizeof(value));
	return p + sizeof(value);
}

static uint8_t *put32(uint8_t *p, uint32_t value)
{
	value = htonl(value);
	memcpy(p, &value, sizeof(value));
	return p + sizeof(value);
}

static uint16_t get16(const uint8_t *p)
{
	return p[0] << 8 | p[1];
}

/* Sums 16-bit big-endian words; everything added later starts at an even offset. */
static uint64_t sum_bytes(const uint8_t *p, uint32_t len)
{
	uint64_t sum = 0;

	for (; len > 1; p += 2, len -= 2)
		sum += get16(p);
	if (len)
		sum += p[0] << 8;
	return sum;
}

static uint64_t sum_number(uint64_t value)
{
	return (value >> 48) + (value >> 32 & 0xffff) + (value >> 16 & 0xffff) + (value & 0xffff);
}

static uint16_t sum_fold(uint64_t sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

static bool is_ip(const struct frame_spec *spec)
{
	return spec->l3 == FRAME_V4 || spec->l3 == FRAME_V6;
}

static uint8_t ip_protocol(const struct frame_spec *spec)
{
	switch (spec->l4) {
	case FRAME_UDP:
		return IPPROTO_UDP;
	case FRAME_TCP:
		return IPPROTO_TCP;
	default:
		return spec->l3 == FRAME_V4 ? IPPROTO_ICMP : IPPROTO_ICMPV6;
	}
}

static uint32_t checksum_offset(const struct frame_spec *spec)
{
	switch (spec->l4) {
	case FRAME_UDP:
		return 6;
	case FRAME_TCP:
		return 16;
	default:
		return 2;
	}
}

static void layout_find(const struct frame_spec *spec, struct layout *at)
{
	static const uint32_t l3_len[] = {
		[FRAME_V4] = 20, [FRAME_V6] = 40, [FRAME_ARP] = 28, [FRAME_RAW] = 0,
	};
	static const uint32_t l4_len[] = {
		[FRAME_UDP] = 8, [FRAME_TCP] = 20, [FRAME_ICMP] = 8,
	};

	at->l3 = ETH_HLEN + 4 * spec->nr_tags;
	at->l4 = at->l3 + l3_len[spec->l3];
	at->payload = at->l4 + (is_ip(spec) ? l4_len[spec->l4] : 0);
}

static const char *spec_check(const struct frame_spec *spec, const struct layout *at)
{
	uint32_t payload, limit, last;

	if (spec->size < at->payload)
		return "SIZE is less than the headers";
	payload = spec->size - at->payload;
	/* The length fields of IP headers: total for IPv4, payload for IPv6. */
	limit = 65535 + (spec->l3 == FRAME_V6 ? at->l4 : at->l3);
	if (spec->size > limit)
		return "SIZE is more than an IP packet can be";
	if (spec->numbered && spec->l3 == FRAME_ARP)
		return "arp has no payload for seq";
	if (spec->numbered && payload < NUMBER_LEN)
		return "SIZE leaves no 8 bytes of payload for seq";
	if (!spec->mss)
		return NULL;
	if (!is_ip(spec) || spec->l4 == FRAME_ICMP)
		return "gso is for tcp and udp only";
	if (payload <= spec->mss)
		return "gso needs more payload than one MSS";
	last = payload % spec->mss;
	if (spec->numbered && (spec->mss < NUMBER_LEN || (last && last < NUMBER_LEN)))
		return "gso with seq needs 8 bytes in each segment";
	return NULL;
}

static void put_ethernet(uint8_t *p, const struct frame_spec *spec)
{
	static const uint16_t type[] = {
		[FRAME_V4] = ETH_P_IP,
		[FRAME_V6] = ETH_P_IPV6,
		[FRAME_ARP] = ETH_P_ARP,
		[FRAME_RAW] = TYPE_RAW,
	};
	unsigned int i;

	memcpy(p, spec->dmac, 6);
	memcpy(p + 6, spec->smac, 6);
	p += 12;
	for (i = 0; i < spec->nr_tags; i++) {
		p = put16(p, spec->nr_tags - i == 2 ? ETH_P_8021AD : ETH_P_8021Q);
		p = put16(p, spec->tag[i]);
	}
	put16(p, type[spec->l3]);
}

/* DF and a fixed ID, so that GRO takes the frames of a flow as consecutive. */
static void put_ipv4(uint8_t *p, const struct frame_spec *spec, uint32_t len)
{
	p[0] = 0x45;
	p[1] = spec->ecn;
	put16(p + 2, len);
	put16(p + 6, IP_DF);
	p[8] = 64;
	p[9] = ip_protocol(spec);
	memcpy(p + 12, &spec->src.v4, 4);
	memcpy(p + 16, &spec->dst.v4, 4);
	put16(p + 10, ~sum_fold(sum_bytes(p, 20)));
}

static void put_ipv6(uint8_t *p, const struct frame_spec *spec, uint32_t len)
{
	put32(p, 6U << 28 | (uint32_t)spec->ecn << 20);
	put16(p + 4, len - 40);
	p[6] = ip_protocol(spec);
	p[7] = 64;
	memcpy(p + 8, &spec->src.v6, 16);
	memcpy(p + 24, &spec->dst.v6, 16);
}

static void put_arp(uint8_t *p, const struct frame_spec *spec)
{
	put16(p, 1);
	put16(p + 2, ETH_P_IP);
	p[4] = 6;
	p[5] = 4;
	put16(p + 6, 1);
	memcpy(p + 8, spec->smac, 6);
	memcpy(p + 14, &spec->src.v4, 4);
	memcpy(p + 24, &spec->dst.v4, 4);
}

static void put_l4(uint8_t *p, const struct frame_spec *spec, uint32_t len)
{
	switch (spec->l4) {
	case FRAME_UDP:
		put16(p + 2, spec->dport);
		put16(p + 4, len);
		break;
	case FRAME_TCP:
		put16(p + 2, spec->dport);
		put32(p + 8, 1);
		p[12] = 5 << 4;
		p[13] = 0x10;		/* ACK alone: PSH would end a GRO packet */
		put16(p + 14, 0xffff);
		break;
	case FRAME_ICMP:
		p[0] = spec->l3 == FRAME_V4 ? 8 : 128;
		break;
	}
}

static uint64_t sum_pseudo(const struct frame_spec *spec, const uint8_t *l3, uint32_t len)
{
	if (spec->l3 == FRAME_V6)
		return sum_bytes(l3 + 8, 32) + len + ip_protocol(spec);
	if (spec->l4 == FRAME_ICMP)
		return 0;
	return sum_bytes(l3 + 12, 8) + len + ip_protocol(spec);
}

static void put_gso(struct frame *frame)
{
	const struct frame_spec *spec = &frame->spec;

	frame->vnet.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM;
	frame->vnet.csum_start = frame->l4;
	frame->vnet.csum_offset = checksum_offset(spec);
	frame->vnet.hdr_len = frame->payload;
	frame->vnet.gso_size = spec->mss;
	if (spec->l4 == FRAME_UDP)
		frame->vnet.gso_type = 5;	/* VIRTIO_NET_HDR_GSO_UDP_L4, since 6.2 */
	else if (spec->l3 == FRAME_V4)
		frame->vnet.gso_type = VIRTIO_NET_HDR_GSO_TCPV4;
	else
		frame->vnet.gso_type = VIRTIO_NET_HDR_GSO_TCPV6;
}

const char *frame_build(struct frame *frame, const struct frame_spec *spec)
{
	uint32_t len, payload;
	struct layout at;
	const char *why;
	uint8_t *data;

	layout_find(spec, &at);
	why = spec_check(spec, &at);
	if (why)
		return why;
	data = calloc(1, spec->size);
	if (!data)
		return strerror(ENOMEM);

	payload = spec->size - at.payload;
	*frame = (struct frame){
		.spec = *spec,
		.data = data,
		.l4 = at.l4,
		.payload = at.payload,
		.segments = spec->mss ? (payload + spec->mss - 1) / spec->mss : 1,
	};
	put_ethernet(data, spec);
	if (spec->l3 == FRAME_V4)
		put_ipv4(data + at.l3, spec, spec->size - at.l3);
	else if (spec->l3 == FRAME_V6)
		put_ipv6(data + at.l3, spec, spec->size - at.l3);
	else if (spec->l3 == FRAME_ARP)
		put_arp(data + at.l3, spec);
	if (!is_ip(spec))
		return NULL;

	len = spec->size - at.l4;
	put_l4(data + at.l4, spec, len);
	frame->sum = sum_pseudo(spec, data + at.l3, len);
	if (spec->mss) {
		put_gso(frame);
		put16(data + at.l4 + checksum_offset(spec), sum_fold(frame->sum));
	} else {
		frame->sum += sum_bytes(data + at.l4, len);
	}
	return NULL;
}

static uint64_t put_numbers(struct frame *frame, uint64_t seq)
{
	uint64_t value, wire, sum = 0;
	uint32_t i, at = frame->payload;

	for (i = 0; i < frame->segments; i++, at += frame->spec.mss) {
		value = NUMBER_MAGIC << 48 | (uint64_t)frame->spec.stream << 40 | (seq + i);
		sum += sum_number(value);
		wire = htobe64(value);
		memcpy(frame->data + at, &wire, sizeof(wire));
	}
	return sum;
}

void frame_set(struct frame *frame, uint64_t n, uint64_t seq)
{
	const struct frame_spec *spec = &frame->spec;
	uint8_t *l4 = frame->data + frame->l4;
	uint64_t sum = frame->sum;
	uint32_t tcp_seq;
	uint16_t port;

	if (spec->numbered)
		sum += put_numbers(frame, seq);
	if (!is_ip(spec))
		return;

	port = spec->sport + n % spec->flows;
	put16(spec->l4 == FRAME_ICMP ? l4 + 4 : l4, port);
	sum += port;
	if (spec->l4 == FRAME_TCP) {
		tcp_seq = 1 + n / spec->flows * (spec->size - frame->payload);
		put32(l4 + 4, tcp_seq);
		sum += sum_number(tcp_seq);
	}
	if (spec->mss)
		return;
	port = ~sum_fold(sum);
	if (!port && spec->l4 == FRAME_UDP)
		port = 0xffff;		/* 0 would mean: no checksum */
	put16(l4 + checksum_offset(spec), port);
}

static void parse_l4(const uint8_t *data, uint32_t len, uint8_t protocol, uint32_t at,
		     struct frame_view *view)
{
	switch (protocol) {
	case IPPROTO_TCP:
		if (at + 20 <= len)
			at += (data[at + 12] >> 4) * 4;
		break;
	case IPPROTO_UDP:
	case IPPROTO_ICMP:
	case IPPROTO_ICMPV6:
		at += 8;
		break;
	default:
		return;
	}
	if (at <= len)
		view->payload = at;
}

void frame_parse(const uint8_t *data, uint32_t len, struct frame_view *view)
{
	uint32_t at = ETH_HLEN, tags = 0;
	uint16_t type;

	*view = (struct frame_view){};
	if (len < ETH_HLEN)
		return;
	type = get16(data + 12);
	while ((type == ETH_P_8021Q || type == ETH_P_8021AD) && tags++ < 2 && at + 4 <= len) {
		type = get16(data + at + 2);
		at += 4;
	}
	if (type == ETH_P_IP && at + 20 <= len) {
		view->ip = true;
		view->ecn = data[at + 1] & 3;
		parse_l4(data, len, data[at + 9], at + (data[at] & 15) * 4, view);
	} else if (type == ETH_P_IPV6 && at + 40 <= len) {
		view->ip = true;
		view->ecn = data[at + 1] >> 4 & 3;
		parse_l4(data, len, data[at + 6], at + 40, view);
	} else if (type == TYPE_RAW) {
		view->payload = at;
	}
}

bool frame_number(const uint8_t *payload, uint32_t len, uint8_t *stream, uint64_t *seq)
{
	uint64_t value;

	if (len < NUMBER_LEN)
		return false;
	memcpy(&value, payload, sizeof(value));
	value = be64toh(value);
	if (value >> 48 != NUMBER_MAGIC)
		return false;
	*stream = value >> 40;
	*seq = value & ((1ULL << 40) - 1);
	return *seq < FRAME_MAX_SEQ;
}

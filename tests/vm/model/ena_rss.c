/* SPDX-License-Identifier: GPL-2.0 */
/* ENA's choice of a receive queue: what of a packet is hashed, and how. */
#include <string.h>

#include "ena.h"
#include "flow.h"

/* Kinds of packets, each with fields of its own that are hashed. */
enum kind { TCP4, UDP4, TCP6, UDP6, IP4, IP6, IP4_FRAGMENT, NOT_IP };
enum field { MAC_TO = 1, MAC_FROM = 2, IP_TO = 4, IP_FROM = 8, PORT_TO = 16, PORT_FROM = 32 };

#define MACS		(MAC_TO | MAC_FROM)
#define ADDRESSES	(IP_TO | IP_FROM)
#define ALL		(ADDRESSES | PORT_TO | PORT_FROM)

const uint16_t ena_rss_fields[16] = {
	[TCP4] = ALL, [UDP4] = ALL, [TCP6] = ALL, [UDP6] = ALL, [IP4] = ADDRESSES,
	[IP6] = ADDRESSES, [IP4_FRAGMENT] = ADDRESSES, [NOT_IP] = MACS,
};

void ena_rss_reset(struct ena *ena)
{
	uint32_t seed = 0x9e3779b9;

	memcpy(ena->fields, ena_rss_fields, sizeof(ena->fields));
	for (int i = 0; i < ENA_RSS_KEY; i++) {
		seed = seed * 1664525 + 1013904223;
		ena->key[i] = seed >> 24;
	}
}

static enum kind kind(const struct flow *f)
{
	if (f->fragment)
		return IP4_FRAGMENT;
	if (f->protocol)
		return (f->version == 6 ? TCP6 : TCP4) + (f->protocol == FLOW_UDP);
	return f->version == 4 ? IP4 : f->version == 6 ? IP6 : NOT_IP;
}

/* Two fields of the input, those that are asked for; sorted, both directions have one hash. */
static size_t pair(uint8_t *input, const uint8_t *from, const uint8_t *to, size_t size,
		   bool with_from, bool with_to, bool sort)
{
	bool swap = sort && memcmp(to, from, size) < 0;
	size_t at = 0;

	if (with_from) {
		memcpy(input, swap ? to : from, size);
		at += size;
	}
	if (with_to) {
		memcpy(input + at, swap ? from : to, size);
		at += size;
	}
	return at;
}

uint32_t ena_rss_hash(const struct ena *ena, const uint8_t *frame, const struct flow *f)
{
	uint16_t fields = ena->fields[kind(f)];
	size_t each = f->address_size / 2, size;
	uint8_t input[2 * 16 + 4];

	if (!f->version)
		size = pair(input, frame + 6, frame, 6, fields & MAC_FROM, fields & MAC_TO, false);
	else
		size = pair(input, f->addresses, f->addresses + each, each, fields & IP_FROM,
			    fields & IP_TO, ena->sort & ENA_SORT_L3);
	if (f->protocol)
		size += pair(input + size, f->ports, f->ports + 2, 2, fields & PORT_FROM,
			     fields & PORT_TO, ena->sort & ENA_SORT_L4);
	return toeplitz(ena->key, input, size);
}

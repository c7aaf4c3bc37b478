/* SPDX-License-Identifier: GPL-2.0 */
/* The oracle: independent, straightforward code for what the packet meters must count. */
#include <string.h>

#include "oracle.h"

enum { NOT_ECT, ECT1, ECT0, CE, NOT_IP };

static uint16_t word_at(const uint8_t *l3, size_t n, size_t at)
{
	return at + 2 <= n ? l3[at] << 8 | l3[at + 1] : 0;
}

static uint8_t byte_at(const uint8_t *l3, size_t n, size_t at)
{
	return at < n ? l3[at] : 0;
}

static bool is_tag(uint16_t type)
{
	return type == 0x8100 || type == 0x88a8;
}

/* The codepoint and, for CE, the source. */
static int codepoint(const struct seen *s, uint32_t source[5])
{
	uint16_t type = s->type;
	size_t at = 0;
	int ecn;

	for (int tags = 0; tags < 2 && is_tag(type); tags++) {
		if (s->n < at + 4)
			return NOT_IP;
		type = word_at(s->l3, s->n, at + 2);
		at += 4;
	}
	if (type == 0x0800 && s->n >= at + 20 && s->l3[at] >= 0x45 && s->l3[at] <= 0x4f) {
		ecn = s->l3[at + 1] % 4;
		if (ecn == CE)
			memcpy(source, s->l3 + at + 12, 4);
		return ecn;
	}
	if (type == 0x86dd && s->n >= at + 40 && s->l3[at] / 16 == 6) {
		/*
		 * version 4 bits, traffic class 8, flow label 20; ECN is the last two bits of the
		 * class
		 */
		ecn = word_at(s->l3, s->n, at) / 16 % 256 % 4;
		if (ecn == CE) {
			memcpy(source, s->l3 + at + 8, 16);
			source[4] = 1;
		}
		return ecn;
	}
	return NOT_IP;
}

uint64_t oracle_jumbo(const uint8_t *ip, size_t n, uint64_t len)
{
	bool hop_by_hop = byte_at(ip, n, 0) / 16 == 6 && byte_at(ip, n, 6) == 0;

	return len > 65535 && hop_by_hop && byte_at(ip, n, 41) == 0 && byte_at(ip, n, 42) == 0xc2 ?
	       8 : 0;
}

/*
 * RFC 8200 and related: the offset of IPv6's payload at `at`, past at most six extension headers.
 */
static size_t past_ipv6(const uint8_t *l3, size_t n, size_t at, uint8_t *type)
{
	static const uint8_t extensions[] = { 0, 43, 44, 51, 60, 135, 139, 140 };

	*type = byte_at(l3, n, at + 6);
	at += 40;
	for (int i = 0; i < 6 && memchr(extensions, *type, sizeof(extensions)); i++) {
		if (at + 1 >= n)
			break;
		uint8_t next = l3[at], words = l3[at + 1];

		at += *type == 44 ? 8 : *type == 51 ? (words + 2) * 4 : (words + 1) * 8;
		*type = next;
	}
	return at;
}

uint64_t oracle_headers(const uint8_t *l3, size_t n, uint16_t type, bool tcp, uint64_t len,
			uint64_t *jumbo)
{
	size_t at = 0;
	uint8_t carried;

	for (int tags = 0; tags < 2 && is_tag(type); tags++) {
		type = word_at(l3, n, at + 2);
		at += 4;
	}
	*jumbo = at < n ? oracle_jumbo(l3 + at, n - at, len) : 0;
	if (byte_at(l3, n, at) / 16 == 6)
		at = past_ipv6(l3, n, at, &carried);
	else
		at += byte_at(l3, n, at) % 16 * 4;
	return at + (tcp ? byte_at(l3, n, at + 12) / 16 * 4 : 8);
}

bool oracle_is_tcp(const uint8_t *l3, size_t n, uint16_t type)
{
	size_t at = 0;
	uint8_t carried;

	for (int tags = 0; tags < 2 && is_tag(type); tags++) {
		type = at + 3 < n ? l3[at + 2] << 8 | l3[at + 3] : 0;
		at += 4;
	}
	if (at < n && l3[at] >> 4 == 6) {
		past_ipv6(l3, n, at, &carried);
		return carried == 6;
	}
	return at + 9 < n && l3[at + 9] == 6;
}

static unsigned int slot(uint64_t len)
{
	static const uint64_t most[] = { 64, 127, 255, 511, 1023, 1518, 2047, 4095, 9216, 16383,
					 32767, 65535 };
	unsigned int i = 0;

	while (i < SLOTS - 1 && len > most[i])
		i++;
	return i;
}

static void count_size(uint64_t row[1 + SLOTS], uint64_t len)
{
	row[0] += len;
	row[1 + slot(len)]++;
}

/* Cuts the buffer into wire packets. Returns their number; if size is NULL, only that. */
static uint64_t segment(const struct seen *s, uint64_t size[1 + SLOTS])
{
	uint64_t payload = s->len - s->headers, segs = s->gso_segs, i;

	if (!s->gso_size || s->headers >= s->len)
		return 1;
	if (!segs)
		segs = payload / s->gso_size + !!(payload % s->gso_size);
	if (segs < 2 || s->gso_size * (segs - 1) >= payload)
		return 1;
	for (i = 1; size && i < segs; i++, payload -= s->gso_size)
		count_size(size, s->headers - s->jumbo + s->gso_size);
	if (size)
		count_size(size, s->headers - s->jumbo + payload);
	return segs;
}

static void copy(uint8_t *to, const struct seen *s, size_t from, size_t size)
{
	for (size_t i = 0; i < size; i++)
		to[i] = byte_at(s->l3, s->n, from + i);
}

/* Truncated headers read as 0. */
static uint16_t cut_word_at(const uint8_t *l3, size_t n, size_t at)
{
	return byte_at(l3, n, at) << 8 | byte_at(l3, n, at + 1);
}

/* Length of the headers present, up to the ports, for any protocol. */
size_t oracle_flow_wants(const struct seen *s)
{
	uint16_t type = s->type;
	size_t ip = 0, ports;

	for (int tags = 0; tags < 2 && is_tag(type); tags++) {
		type = cut_word_at(s->l3, s->n, ip + 2);
		ip += 4;
	}
	if (type == 0x86dd)
		return ip + 44;
	if (type != 0x0800)
		return ip;
	/* end of the options, at least past the addresses, whatever IHL claims */
	ports = byte_at(s->l3, s->n, ip) % 16 * 4 + 4;
	return ip + (ports > 20 ? ports : 20);
}

/* The flow key, as on the wire; missing parts are 0. */
static void flow_key(const struct seen *s, uint8_t key[40])
{
	uint16_t type = s->flow_type, queue = s->queue < ROWS - 1 ? s->queue : 65535;
	bool fragment = false;
	size_t ip = 0, ports;
	uint8_t proto;

	for (int tags = 0; tags < 2 && is_tag(type); tags++) {
		type = cut_word_at(s->l3, s->n, ip + 2);
		ip += 4;
	}
	memcpy(key + 36, &queue, 2);
	if (type == 0x0800 && byte_at(s->l3, s->n, ip) / 16 == 4) {
		key[38] = 4;
		proto = byte_at(s->l3, s->n, ip + 9);
		copy(key, s, ip + 12, 4);
		copy(key + 16, s, ip + 16, 4);
		/* more fragments, or not the first */
		fragment = cut_word_at(s->l3, s->n, ip + 6) % 0x4000;
		ports = ip + byte_at(s->l3, s->n, ip) % 16 * 4;
	} else if (type == 0x86dd && byte_at(s->l3, s->n, ip) / 16 == 6) {
		key[38] = 6;
		proto = byte_at(s->l3, s->n, ip + 6);
		copy(key, s, ip + 8, 32);
		ports = ip + 40;
	} else {
		key[32] = type >> 8;
		key[33] = type;
		return;
	}
	key[39] = proto;
	if (!fragment && (proto == 6 || proto == 17 || proto == 33 || proto == 132 || proto == 136))
		copy(key + 32, s, ports, 4);
}

static void count_flow(const struct seen *s, struct counts *c, uint64_t segs, uint64_t bytes)
{
	if (s->point != RX_NIC || !(s->on >> METER_flow & 1))
		return;
	c->lost[METER_flow] = segs;
	if (s->no_room || s->hidden)
		return;
	c->flows = 1;
	c->flow[0] = segs;
	c->flow[1] = bytes;
	c->flow[2] = 1;
	flow_key(s, c->flow_key);
}

static void count_work(const struct seen *s, uint64_t segs, uint64_t row[1 + SEGS + 3])
{
	static const uint64_t most[] = { 1, 2, 3, 4, 8, 16, 32, 64, 128 };
	unsigned int i = 0;

	while (i < SEGS - 1 && segs > most[i])
		i++;
	row[0] = segs;
	row[1 + i] = 1;
	row[1 + SEGS] = s->gso_size ? segs : 0;
	row[1 + SEGS + 1] = s->partial ? segs : 0;
	row[1 + SEGS + 2] = s->pieces ? segs : 0;
}

/* 1: off, 2: cannot, 3: no scatter-gather, 4: no checksumming */
static int why_off(const struct seen *s, uint64_t bits)
{
	if (!(s->can & bits))
		return 2;
	if (!(s->asked & bits))
		return 1;
	if (!(s->features & 1) && s->can & 1 && !(s->asked & 1))
		return 3;
	if (!(s->features & 0x1a) && s->can & 0x1a && !(s->asked & 0x1a))
		return 4;
	return 2;
}

/* The lowest feature it takes that is not among these; -1: all are. */
static int lacking(const struct seen *s, uint64_t features)
{
	int bit;

	for (bit = 0; bit < 20; bit++) {
		bool taken = s->gso_type >> bit & 1 && bit != 1 && bit != 12;

		taken |= bit == 3 && s->gso_type >> 30;
		if (taken && !(features >> (16 + bit) & 1))
			return bit;
	}
	return -1;
}

/* What software does: the feature, and why; 0: nothing. */
static int software(const struct seen *s, uint64_t segs, uint16_t *feature)
{
	uint64_t checksums = s->type == 0x0800 ? 0xa : s->type == 0x86dd ? 0x18 : 0x1a;
	int bit = s->gso_size ? lacking(s, s->features) : -1;

	*feature = bit;
	if (bit >= 0)
		return why_off(s, 1ull << (16 + bit));
	*feature = bit = s->gso_size && s->tunnel ? lacking(s, s->in_tunnel) : -1;
	if (bit >= 0)
		return 5;
	*feature = bit = s->gso_size && s->tag ? lacking(s, s->with_tag) : -1;
	if (bit >= 0)
		return 6;
	*feature = 32;
	if (s->gso_size && (s->bytes >= s->most_bytes || segs > s->most_segs))
		return 2;
	*feature = 33;
	if (s->partial && !(s->features & checksums))
		return why_off(s, checksums);
	*feature = 34;
	return s->pieces && !(s->features & 1) ? why_off(s, 1) : 0;
}

static void count_software(const struct seen *s, uint64_t segs, uint32_t queue, struct counts *c)
{
	uint16_t feature;
	int why = software(s, segs, &feature);

	if (!why)
		return;
	if (s->no_room) {
		c->lost[METER_offload] = segs;
		return;
	}
	c->software = 1;
	c->software_packets = segs;
	c->software_buffers = 1;
	c->software_key[0] = queue;
	c->software_key[1] = (uint32_t)why << 16 | feature;
}

void oracle(const struct seen *s, struct counts *c)
{
	uint32_t queue = s->queue < ROWS - 1 ? s->queue : ROWS - 1, source[5] = {};
	uint32_t row = s->point * ROWS + queue;
	uint64_t size[1 + SLOTS] = {}, segs = segment(s, size);
	int ecn = codepoint(s, source);

	if (segs == 1)
		count_size(size, s->len);
	/* rxcpu counts for flow and stores when flow samples next: at the next packet */
	if (s->point == RX_NIC && s->on & (1 << METER_rxcpu | 1 << METER_flow)) {
		c->rxcpu[queue][0] = segs;
		c->rxcpu[queue][1] = size[0];
		c->rxcpu[queue][2] = s->on >> METER_flow & 1 ? segs + 1 : 0;
	}
	count_flow(s, c, segs, size[0]);
	if (s->on >> METER_pktsize & 1) {
		bool nic = s->point == RX_NIC || s->point == TX_NIC;
		uint64_t *more = c->size[row] + 1 + SLOTS;

		if (nic)
			memcpy(c->size[row], size, sizeof(size));
		else
			count_size(c->size[row], s->len);
		more[0] = segs - 1;
		more[1] = nic ? size[0] - s->len : 0;
		more[2] = s->point == TX_NIC && segs == 1 && s->len < s->least ?
			  s->least - s->len : 0;
		more[3] = s->point == TX_NIC ? (segs - 1) * s->linear : 0;
	}
	if (s->point >= TX_STACK && s->on >> METER_gso & 1)
		count_work(s, segs, c->gso[row]);
	if (s->point == TX_STACK && s->on >> METER_offload & 1)
		count_software(s, segs, queue, c);
	if (s->unread) {
		if (s->on >> METER_ecn & 1)
			c->lost[METER_ecn] = segs;
		if (s->on >> METER_ecn_source & 1 && s->point == RX_NIC)
			c->lost[METER_ecn_source] = segs;
		return;
	}
	if (s->on >> METER_ecn & 1)
		c->ecn[row][ecn] = segs;
	if (!(s->on >> METER_ecn_source & 1) || s->point != RX_NIC || ecn != CE)
		return;
	c->source_packets = segs;
	memcpy(c->source, source, sizeof(source));
}

bool oracle_loglin(uint64_t ns, uint32_t slot)
{
	uint64_t low, step;

	if (ns < 1ull << LOGLIN_MIN)
		return slot == 0;
	if (ns >= 1ull << LOGLIN_MAX)
		return slot == LOGLIN_SLOTS - 1;
	if (slot < 1 || slot > LOGLIN_SLOTS - 2)
		return false;
	low = 1ull << (LOGLIN_MIN + (slot - 1) / LOGLIN_STEPS);
	step = low / LOGLIN_STEPS;
	low += (slot - 1) % LOGLIN_STEPS * step;
	return ns >= low && ns < low + step;
}

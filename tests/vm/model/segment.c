/* SPDX-License-Identifier: GPL-2.0 */
/* Splits a frame for the wire as TSO and USO do, and fills in checksums of IPv4, TCP and UDP. */
#include <string.h>

#include "segment.h"

#define FRAME_MAX	(1 << 16)
#define IPV4_LEAST	20
#define IPV6_HEADER	40
#define TCP_LEAST	20
#define UDP_HEADER	8

enum protocol { TCP = 6, UDP = 17 };
enum tcp_flag { FIN = 1, PSH = 8, CWR = 0x80 };

/* A frame that leaves, and what to do to it. */
struct packet {
	uint8_t at[FRAME_MAX];
	size_t size;
	struct offload o;
	bool ipv6;
	uint8_t protocol;		/* of the header at l4 */
};

static unsigned word(const uint8_t *at)
{
	return at[0] << 8 | at[1];
}

static uint32_t long_word(const uint8_t *at)
{
	return (uint32_t)word(at) << 16 | word(at + 2);
}

static void word_put(uint8_t *at, unsigned value)
{
	at[0] = value >> 8;
	at[1] = value;
}

static void long_put(uint8_t *at, uint32_t value)
{
	word_put(at, value >> 16);
	word_put(at + 2, value);
}

uint16_t sum_words(uint32_t sum, const uint8_t *at, size_t size)
{
	for (; size > 1; at += 2, size -= 2)
		sum += word(at);
	if (size)
		sum += *at << 8;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

static void ip_fill(uint8_t *ip)
{
	word_put(ip + 10, 0);
	word_put(ip + 10, ~sum_words(0, ip, (*ip & 15) * 4));
}

/* Of the packet that IP says is there: what pads a small frame has no part in it. */
static bool l4_fill(struct packet *p)
{
	uint8_t *ip = p->at + p->o.l3, *l4 = p->at + p->o.l4;
	size_t end = p->o.l3 + (p->ipv6 ? IPV6_HEADER + word(ip + 4) : word(ip + 2));
	unsigned field = p->protocol == TCP ? 16 : 6;
	uint32_t sum;

	if (end > p->size || end < p->o.l4 + (size_t)field + 2)
		return false;
	word_put(l4 + field, 0);
	sum = p->protocol + end - p->o.l4;
	sum = p->ipv6 ? sum_words(sum, ip + 8, 32) : sum_words(sum, ip + 12, 8);
	sum = sum_words(sum, l4, end - p->o.l4) ^ 0xffff;
	word_put(l4 + field, !sum && p->protocol == UDP ? 0xffff : sum);
	return true;
}

static bool sums_fill(struct packet *p)
{
	if (p->o.ip_sum && !p->ipv6)
		ip_fill(p->at + p->o.l3);
	return !p->o.l4_sum || l4_fill(p);
}

/* What the header at l4 is: behind IPv6's extension headers each names the next. 0: unknown. */
static uint8_t protocol_of(const uint8_t *frame, const struct offload *o)
{
	unsigned at = o->l3 + IPV6_HEADER;
	uint8_t next = frame[o->l3 + 6];

	if (frame[o->l3] >> 4 == 4)
		return frame[o->l3 + 9];
	while (at < o->l4) {
		next = frame[at];
		at += 8 + frame[at + 1] * 8;
	}
	return at == o->l4 ? next : 0;
}

/* Is all there that is to be filled in? */
static bool headers_there(struct packet *p, const uint8_t *frame, size_t size)
{
	unsigned version, least;

	if (!p->o.l4 && (p->o.l4_sum || p->o.mss))
		return false;
	if (!p->o.l4 && !p->o.ip_sum)
		return true;
	if (p->o.l3 + (size_t)IPV4_LEAST > size)
		return false;
	version = frame[p->o.l3] >> 4;
	p->ipv6 = version == 6;
	least = p->ipv6 ? IPV6_HEADER : (frame[p->o.l3] & 15) * 4;
	if ((version != 4 && version != 6) || least < IPV4_LEAST || p->o.l3 + least > size)
		return false;
	if (!p->o.l4)
		return true;
	if (p->o.l4 < p->o.l3 + least || p->o.l4 + (size_t)UDP_HEADER > size)
		return false;
	p->protocol = protocol_of(frame, &p->o);
	return p->protocol == TCP || p->protocol == UDP;
}

static bool can_split(const struct packet *p, size_t size)
{
	unsigned least = p->protocol == TCP ? TCP_LEAST : UDP_HEADER;

	return p->o.payload >= p->o.l4 + least && p->o.payload < size &&
	       p->o.payload + (size_t)p->o.mss <= FRAME_MAX;
}

/* The headers of the nr-th segment, which begins `from` bytes into the payload. */
static void headers_set(struct packet *p, unsigned nr, size_t from, bool last)
{
	uint8_t *ip = p->at + p->o.l3, *l4 = p->at + p->o.l4;

	if (p->ipv6) {
		word_put(ip + 4, p->size - p->o.l3 - IPV6_HEADER);
	} else {
		word_put(ip + 2, p->size - p->o.l3);
		word_put(ip + 4, word(ip + 4) + nr);
	}
	if (p->protocol == UDP) {
		word_put(l4 + 4, p->size - p->o.l4);
		return;
	}
	long_put(l4 + 4, long_word(l4 + 4) + from);
	if (!last)
		l4[13] &= ~(FIN | PSH);
	if (nr)
		l4[13] &= ~CWR;		/* RFC 3168: it answers one mark */
}

unsigned segment(const uint8_t *frame, size_t size, const struct offload *asked,
		 void (*out)(void *arg, const uint8_t *frame, size_t size), void *arg)
{
	static struct packet p;
	size_t from = 0, left;
	unsigned nr = 0;

	p.o = *asked;
	if (!headers_there(&p, frame, size) || (p.o.mss ? !can_split(&p, size) : size > FRAME_MAX))
		return 0;
	if (!p.o.mss) {
		memcpy(p.at, frame, size);
		p.size = size;
		if (!sums_fill(&p))
			return 0;
		out(arg, p.at, size);
		return 1;
	}
	p.o.ip_sum = p.o.l4_sum = true;		/* the whole's are of no part */
	for (left = size - p.o.payload; left; nr++) {
		size_t part = left < p.o.mss ? left : p.o.mss;

		left -= part;
		p.size = p.o.payload + part;
		memcpy(p.at, frame, p.o.payload);
		memcpy(p.at + p.o.payload, frame + p.o.payload + from, part);
		headers_set(&p, nr, from, !left);
		sums_fill(&p);
		out(arg, p.at, p.size);
		from += part;
	}
	return nr;
}

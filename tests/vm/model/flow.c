/* SPDX-License-Identifier: GPL-2.0 */
/* Reads IPv4, IPv6, TCP and UDP as a card does, and hashes for RSS. */
#include "flow.h"
#include "segment.h"

enum { TYPE_AT = 12, TAG = 4, IPV4 = 20, IPV6 = 40, TCP = 20, UDP = 8 };

static unsigned word(const uint8_t *at)
{
	return at[0] << 8 | at[1];
}

static void l4_read(struct flow *f, unsigned protocol, const uint8_t *l4, size_t size)
{
	uint32_t pseudo = protocol + size;

	if (protocol == FLOW_TCP ? size < TCP : protocol != FLOW_UDP || size < UDP)
		return;
	f->protocol = protocol;
	f->ports = l4;
	if (protocol == FLOW_UDP && f->version == 4 && !word(l4 + 6))
		return;
	f->l4_checked = true;
	pseudo = sum_words(pseudo, f->addresses, f->address_size);
	f->l4_wrong = sum_words(pseudo, l4, size) != 0xffff;
}

static void ipv4_read(struct flow *f, const uint8_t *ip, size_t size)
{
	size_t head = size < IPV4 ? 0 : (*ip & 15) * 4;

	if (head < IPV4 || *ip >> 4 != 4 || word(ip + 2) < head || word(ip + 2) > size)
		return;
	f->version = 4;
	f->addresses = ip + 12;
	f->address_size = 8;
	f->ip_wrong = sum_words(0, ip, head) != 0xffff;
	f->fragment = word(ip + 6) & 0x3fff;
	if (!f->fragment)
		l4_read(f, ip[9], ip + head, word(ip + 2) - head);
}

static void ipv6_read(struct flow *f, const uint8_t *ip, size_t size)
{
	if (size < IPV6 || *ip >> 4 != 6 || (size_t)IPV6 + word(ip + 4) > size)
		return;
	f->version = 6;
	f->addresses = ip + 8;
	f->address_size = 32;
	l4_read(f, ip[6], ip + IPV6, word(ip + 4));
}

struct flow flow_read(const uint8_t *frame, size_t size)
{
	struct flow f = {};
	size_t at = TYPE_AT;

	while (at + TAG + 2 <= size && (word(frame + at) == 0x8100 || word(frame + at) == 0x88a8))
		at += TAG;
	if (at + 2 > size)
		return f;
	if (word(frame + at) == 0x0800)
		ipv4_read(&f, frame + at + 2, size - at - 2);
	else if (word(frame + at) == 0x86dd)
		ipv6_read(&f, frame + at + 2, size - at - 2);
	return f;
}

/* Each bit of the input that is set adds the 32 bits of the key that begin there. */
uint32_t toeplitz(const uint8_t *key, const uint8_t *input, size_t size)
{
	uint32_t window = (uint32_t)word(key) << 16 | word(key + 2), hash = 0;

	for (size_t i = 0; i < size; i++)
		for (int bit = 7; bit >= 0; bit--) {
			if (input[i] >> bit & 1)
				hash ^= window;
			window = window << 1 | (key[i + 4] >> bit & 1);
		}
	return hash;
}

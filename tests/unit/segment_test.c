/* SPDX-License-Identifier: GPL-2.0 */
/* Segments made by our model cards add up to the original, and each is a valid packet. */
#define SUBJECT "segment "

#include "tests/vm/model/segment.h"
#include "check.h"
#include "wire.h"

#define ID	0xfffe		/* wraps around after two segments */
#define SEQ	0xfffffc00u	/* and this one wraps around in the first */

static void equal(const char *name, int64_t got, int64_t want)
{
	must(got == want, name, text("%" PRId64 ", not %" PRId64, got, want));
}

struct kind {
	const char *name;
	bool ipv6, udp, vlan;
	bool extension;			/* after IPv6's own header */
	unsigned options;		/* bytes of TCP options */
};

/* A frame as a driver passes it, and everything that came out of it so far. */
struct split {
	struct kind kind;
	struct offload o;
	uint8_t frame[70000];
	size_t size, seen;
	unsigned frames;
};

static void word_put(uint8_t *at, unsigned value)
{
	at[0] = value >> 8;
	at[1] = value;
}

static void ip_build(struct split *s)
{
	uint8_t *ip = s->frame + s->o.l3, protocol = s->kind.udp ? 17 : 6;

	for (int i = 8; i < 40; i++)
		ip[i] = i * 7;
	if (s->kind.ipv6) {
		ip[0] = 0x60;
		word_put(ip + 4, s->size - s->o.l3 - 40);
		ip[6] = s->kind.extension ? 60 : protocol;
		if (s->kind.extension) {
			ip[40] = protocol;
			ip[41] = 0;
		}
		return;
	}
	ip[0] = 0x45;
	word_put(ip + 2, s->size - s->o.l3);
	word_put(ip + 4, ID);
	word_put(ip + 6, 0x4000);
	ip[9] = protocol;
}

/* Fields that the card must fill in hold garbage. */
static void build(struct split *s, struct kind kind, size_t payload, unsigned mss)
{
	uint8_t *l4;

	*s = (struct split){ .kind = kind };
	s->o.l3 = kind.vlan ? 18 : 14;
	s->o.l4 = s->o.l3 + (kind.ipv6 ? 40 : 20) + (kind.extension ? 8 : 0);
	s->o.payload = s->o.l4 + (kind.udp ? 8 : 20 + kind.options);
	s->o.mss = mss;
	s->o.ip_sum = s->o.l4_sum = true;
	s->size = s->o.payload + payload;
	for (size_t i = s->o.payload; i < s->size; i++)
		s->frame[i] = i ^ i >> 8;
	word_put(s->frame + s->o.l3 - 2, kind.ipv6 ? 0x86dd : 0x0800);
	ip_build(s);
	l4 = s->frame + s->o.l4;
	memset(l4, 0x11, s->o.payload - s->o.l4);
	if (kind.udp) {
		word_put(l4 + 4, s->size - s->o.l4);
		return;
	}
	word_put(l4 + 4, SEQ >> 16);
	word_put(l4 + 6, SEQ & 0xffff);
	l4[12] = (20 + kind.options) / 4 << 4;
	l4[13] = 0x80 | 0x10 | 0x08 | 0x01;	/* CWR ACK PSH FIN */
}

static void ip_check(const struct split *s, const uint8_t *ip, size_t len)
{
	if (s->kind.ipv6) {
		equal("IPv6's length", word(ip + 4), len - 40);
		return;
	}
	equal("IPv4's length", word(ip + 2), len);
	equal("IPv4's id", word(ip + 4), (ID + s->frames) & 0xffff);
	equal("IPv4's checksum", folded(0, ip, 20), 0xffff);
}

static void l4_check(const struct split *s, const uint8_t *ip, const uint8_t *l4, size_t len,
		     bool last)
{
	uint32_t pseudo = (s->kind.udp ? 17 : 6) + len;

	pseudo = s->kind.ipv6 ? folded(pseudo, ip + 8, 32) : folded(pseudo, ip + 12, 8);
	equal("checksum", folded(pseudo, l4, len), 0xffff);
	if (s->kind.udp) {
		equal("UDP's length", word(l4 + 4), len);
		return;
	}
	equal("sequence number", (uint32_t)word(l4 + 4) << 16 | word(l4 + 6),
	      (uint32_t)(SEQ + s->seen));
	equal("flags", l4[13], 0x10 | (s->frames ? 0 : 0x80) | (last ? 0x09 : 0));
}

static void one(void *arg, const uint8_t *frame, size_t size)
{
	struct split *s = arg;
	size_t part = size - s->o.payload, left = s->size - s->o.payload - s->seen;
	const uint8_t *ip = frame + s->o.l3;

	equal("size", part, s->o.mss && left > s->o.mss ? s->o.mss : left);
	ip_check(s, ip, size - s->o.l3);
	l4_check(s, ip, frame + s->o.l4, size - s->o.l4, part == left);
	must(!memcmp(frame, s->frame, s->o.l3), "Ethernet", "it is another");
	must(!memcmp(frame + s->o.payload, s->frame + s->o.payload + s->seen, part), "payload",
	     "it is another");
	s->seen += part;
	s->frames++;
}

static void splits(struct kind kind, size_t payload, unsigned mss)
{
	static struct split s;
	int before = failed;
	unsigned frames;

	build(&s, kind, payload, mss);
	frames = segment(s.frame, s.size, &s.o, one, &s);
	equal("frames", frames, mss ? (payload + mss - 1) / mss : 1);
	equal("frames that left", s.frames, frames);
	equal("bytes", s.seen, payload);
	if (failed && !before)
		printf("# %s, %zu bytes by %u\n", kind.name, payload, mss);
}

static void none(void *arg, const uint8_t *frame, size_t size)
{
	(void)frame;
	(void)size;
	++*(unsigned *)arg;
}

static void refuses(const char *name, const struct split *s, size_t size)
{
	unsigned out = 0;

	equal(name, segment(s->frame, size, &s->o, none, &out), 0);
	equal(name, out, 0);
}

/* Bytes that pad a frame to 60 are not part of its checksum. */
static void keep(void *arg, const uint8_t *frame, size_t size)
{
	memcpy(arg, frame, size);
}

static void padded(void)
{
	static struct split s;
	uint8_t bare[60] = {}, full[60] = {};

	build(&s, (struct kind){ .udp = true }, 3, 0);
	equal("a small frame", segment(s.frame, s.size, &s.o, keep, bare), 1);
	memset(s.frame + s.size, 0xff, sizeof(full) - s.size);
	equal("a padded frame", segment(s.frame, sizeof(full), &s.o, keep, full), 1);
	equal("the checksum of a padded frame", word(full + s.o.l4 + 6), word(bare + s.o.l4 + 6));
}

static void nonsense(void)
{
	static struct split s;

	build(&s, (struct kind){}, 3000, 1000);
	refuses("a frame without its payload", &s, s.o.payload);
	refuses("a frame without its headers", &s, s.o.l4);
	s.o.payload = s.o.l4;
	refuses("a payload within TCP's header", &s, s.size);
	build(&s, (struct kind){}, 3000, 1000);
	s.o.l4 = 0;
	refuses("a split without a header", &s, s.size);
	build(&s, (struct kind){}, 3000, 1000);
	s.frame[s.o.l3 + 9] = 1;
	refuses("a split of ICMP", &s, s.size);
	build(&s, (struct kind){}, 100, 0);
	word_put(s.frame + s.o.l3 + 2, 2000);
	refuses("a packet longer than its frame", &s, s.size);
	build(&s, (struct kind){ .ipv6 = true, .extension = true }, 100, 0);
	s.frame[s.o.l3 + 41] = 200;
	refuses("an extension header that passes TCP's", &s, s.size);
}

int main(void)
{
	static const struct kind kinds[] = {
		{ .name = "TCP" },
		{ .name = "TCP with options", .options = 12 },
		{ .name = "TCP in a VLAN", .vlan = true },
		{ .name = "TCP over IPv6", .ipv6 = true },
		{ .name = "TCP behind another header", .ipv6 = true, .options = 12,
		  .extension = true },
		{ .name = "UDP", .udp = true },
		{ .name = "UDP over IPv6", .ipv6 = true, .udp = true },
	};
	static const struct { size_t payload; unsigned mss; } cuts[] = {
		{ 1, 0 }, { 1448, 0 }, { 1, 1448 }, { 1448, 1448 }, { 1449, 1448 }, { 2896, 1448 },
		{ 9000, 1 << 10 }, { 333, 7 }, { 65000, 1448 }, { 65400, 8948 },
	};

	for (unsigned k = 0; k < sizeof(kinds) / sizeof(*kinds); k++)
		for (unsigned c = 0; c < sizeof(cuts) / sizeof(*cuts); c++)
			splits(kinds[k], cuts[c].payload, cuts[c].mss);
	padded();
	nonsense();
	if (!failed)
		puts("ok segment");
	return failed > 0;
}

/* SPDX-License-Identifier: GPL-2.0 */
/* Frames of every kind and flow are valid, and other flows differ. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "trial/load/frame.h"

#define SUBJECT "frame "
#include "check.h"
#include "wire.h"

static bool is(bool good, const char *name, const struct frame_spec *f, unsigned flow)
{
	return must(good, name, text("%u bytes, vlan %u, ecn %u, IPv%d, flow %u", f->size, f->vlan,
				     f->ecn, f->ipv6 ? 6 : 4, flow));
}

static bool l3_good(const struct frame_spec *f, const uint8_t *ip, unsigned len)
{
	if (f->ipv6)
		return ip[0] >> 4 == 6 && (ip[1] >> 4 & 3) == f->ecn && ip[6] == 17 &&
		       word(ip + 4) == len - 40 && ip[7] && word(ip) >> 8 == 0x60;
	return ip[0] == 0x45 && ip[1] == f->ecn && ip[9] == 17 && word(ip + 2) == len && ip[8] &&
	       folded(0, ip, 20) == 0xffff;
}

static bool frame_good(const struct frame_spec *f, unsigned flow, const uint8_t *frame)
{
	const uint8_t *type = frame + 12 + (f->vlan ? 4 : 0), *ip = type + 2;
	const uint8_t *udp = ip + (f->ipv6 ? 40 : 20);
	unsigned len = frame + f->size - udp, pseudo = f->ipv6 ? 32 : 8;

	return is(!memcmp(frame, f->dst, 6) && !memcmp(frame + 6, f->src, 6), "macs", f, flow) &&
	       is(!f->vlan || (word(frame + 12) == 0x8100 && word(frame + 14) == f->vlan), "tag",
		  f, flow) &&
	       is(word(type) == (f->ipv6 ? 0x86dd : 0x0800), "type", f, flow) &&
	       is(l3_good(f, ip, frame + f->size - ip), "IP", f, flow) &&
	       is(word(udp) == 1024 + flow && word(udp + 2) == 9 && word(udp + 4) == len, "UDP",
		  f, flow) &&
	       is(word(udp + 6) && folded(folded(17 + len, udp - pseudo, pseudo), udp, len) ==
		  0xffff, "checksum", f, flow);
}

/* The program in the kernel turns a frame of flow 0 into the same frame as here. */
static bool turned(const struct frame_spec *f, unsigned flow, const uint8_t *frame)
{
	static uint8_t other[FRAME_MAX];

	frame_build(f, 0, other);
	frame_flow(f, flow, other);
	return is(!memcmp(frame, other, f->size), "turned", f, flow);
}

static void test_kind(struct frame_spec f)
{
	static const unsigned flows[] = { 0, 1, 2, 63, 255, 256, 4095, FLOWS_MAX - 1 };
	static uint8_t frame[FRAME_MAX], last[FRAME_MAX];
	const unsigned sizes[] = { frame_least(&f), 65, 127, 128, 1514, 1515, FRAME_MAX };

	for (unsigned s = 0; s < sizeof(sizes) / sizeof(*sizes); s++) {
		f.size = sizes[s] < frame_least(&f) ? frame_least(&f) : sizes[s];
		for (unsigned i = 0; i < sizeof(flows) / sizeof(*flows); i++) {
			frame_build(&f, flows[i], frame);
			if (!frame_good(&f, flows[i], frame) || !turned(&f, flows[i], frame))
				return;
			if (i && !is(memcmp(frame, last, f.size), "another flow", &f, flows[i]))
				return;
			memcpy(last, frame, f.size);
		}
	}
}

int main(void)
{
	for (int kind = 0; kind < 16; kind++)
		test_kind((struct frame_spec){
			.dst = { 2, 0, 0, 0, 0, 1 }, .src = { 2, 0, 0, 0, 0, 2 },
			.ipv6 = kind & 1, .vlan = kind & 2 ? 4094 : 0, .ecn = kind >> 2,
		});
	if (!failed)
		puts("ok frame");
	return failed > 0;
}

/* SPDX-License-Identifier: GPL-2.0 */
/* Builds the generated frames. */
#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <string.h>

#include "trial/load/frame.h"

#define DISCARD	9	/* the port of RFC 863 */
#define UDP	17
#define UDP_LEN	8

static unsigned ip_at(const struct frame_spec *f)
{
	return ETH_HLEN + (f->vlan ? 4 : 0);
}

static unsigned ip_len(const struct frame_spec *f)
{
	return f->ipv6 ? 40 : 20;
}

struct frame_at frame_at(const struct frame_spec *f)
{
	unsigned ip = ip_at(f), udp = ip + ip_len(f);

	return (struct frame_at){
		.saddr = ip + (f->ipv6 ? 22 : 14),
		.daddr = ip + (f->ipv6 ? 38 : 18),
		.port = udp,
		.payload = udp + UDP_LEN,
		.end = udp + UDP_LEN + 2,
	};
}

unsigned frame_least(const struct frame_spec *f)
{
	unsigned end = frame_at(f).end;

	return end < ETH_ZLEN ? ETH_ZLEN : end;
}

static void put(__u8 *at, unsigned value)
{
	at[0] = value >> 8;
	at[1] = value;
}

static unsigned sum(unsigned long sum, const __u8 *at, unsigned len)
{
	for (; len > 1; at += 2, len -= 2)
		sum += at[0] << 8 | at[1];
	if (len)
		sum += *at << 8;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

void frame_flow(const struct frame_spec *f, unsigned flow, __u8 *frame)
{
	const struct frame_at at = frame_at(f);

	put(frame + at.saddr, flow + 1);
	put(frame + at.daddr, ~(flow + 1));
	put(frame + at.port, 1024 + flow);
	put(frame + at.payload, ~(1024 + flow));
}

static void ipv4_build(const struct frame_spec *f, __u8 *ip)
{
	ip[0] = 0x45;
	ip[1] = f->ecn;
	put(ip + 2, f->size - ip_at(f));
	ip[8] = 64;
	ip[9] = UDP;
	memcpy(ip + 12, (__u8[]){ 198, 18 }, 2);
	memcpy(ip + 16, (__u8[]){ 198, 19 }, 2);
}

static void ipv6_build(const struct frame_spec *f, __u8 *ip)
{
	ip[0] = 0x60;
	ip[1] = f->ecn << 4;
	put(ip + 4, f->size - ip_at(f) - 40);
	ip[6] = UDP;
	ip[7] = 64;
	memcpy(ip + 8, (__u8[]){ 0x20, 1, 0, 2, 0, 0, 0, 1 }, 8);
	memcpy(ip + 24, (__u8[]){ 0x20, 1, 0, 2, 0, 0, 0, 2 }, 8);
}

void frame_build(const struct frame_spec *f, unsigned flow, __u8 *frame)
{
	__u8 *ip = frame + ip_at(f), *udp = ip + ip_len(f);
	unsigned len = f->size - (udp - frame), addresses = f->ipv6 ? 32 : 8, check;

	memset(frame, 0, f->size);
	memcpy(frame, f->dst, 6);
	memcpy(frame + 6, f->src, 6);
	if (f->vlan) {
		put(frame + 12, ETH_P_8021Q);
		put(frame + 14, f->vlan);
	}
	put(ip - 2, f->ipv6 ? ETH_P_IPV6 : ETH_P_IP);
	if (f->ipv6)
		ipv6_build(f, ip);
	else
		ipv4_build(f, ip);
	put(udp + 2, DISCARD);
	put(udp + 4, len);
	frame_flow(f, flow, frame);
	if (!f->ipv6)
		put(ip + 10, ~sum(0, ip, 20));
	check = ~sum(sum(UDP + len, udp - addresses, addresses), udp, len) & 0xffff;
	put(udp + 6, check ?: 0xffff);
}

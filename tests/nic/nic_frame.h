/* SPDX-License-Identifier: GPL-2.0 */
/* Builds and parses the Ethernet frames of the test NIC. */
#ifndef NIC_FRAME_H
#define NIC_FRAME_H

#include <linux/virtio_net.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

#define FRAME_MAX		(65535 + 40 + 22)	/* the longest IPv6 packet, two tags */
#define FRAME_MAX_SEQ		(1U << 24)		/* sequence numbers of one stream */
#define FRAME_MAX_STREAMS	256

enum frame_l3 { FRAME_V4, FRAME_V6, FRAME_ARP, FRAME_RAW };
enum frame_l4 { FRAME_UDP, FRAME_TCP, FRAME_ICMP };

struct frame_spec {
	enum frame_l3	l3;
	enum frame_l4	l4;
	uint32_t	size;		/* the whole frame without FCS */
	uint8_t		ecn;
	unsigned int	nr_tags;
	uint16_t	tag[2];		/* VLAN ids, the outer one first */
	uint8_t		dmac[6];
	uint8_t		smac[6];
	union {
		struct in_addr	v4;
		struct in6_addr	v6;
	} src, dst;
	uint16_t	sport;
	uint16_t	dport;
	uint32_t	flows;
	uint32_t	mss;		/* 0: not a GSO frame */
	bool		numbered;
	uint8_t		stream;
};

/* A frame to be sent many times, and the parts that vary. */
struct frame {
	struct frame_spec	spec;
	struct virtio_net_hdr	vnet;
	uint8_t			*data;
	uint32_t		l4;		/* offsets */
	uint32_t		payload;
	uint32_t		segments;
	uint64_t		sum;		/* of the constant parts */
};

/* Returns NULL, or an error message. data is malloc()ed. */
const char *frame_build(struct frame *frame, const struct frame_spec *spec);

/* Makes it the nth of its batch; its segments are numbered from seq on. */
void frame_set(struct frame *frame, uint64_t n, uint64_t seq);

struct frame_view {
	bool		ip;
	uint8_t		ecn;
	uint32_t	payload;	/* offset, 0 if there is none that we can parse */
};

void frame_parse(const uint8_t *data, uint32_t len, struct frame_view *view);

/* Reads a number that frame_set wrote. */
bool frame_number(const uint8_t *payload, uint32_t len, uint8_t *stream, uint64_t *seq);

#endif

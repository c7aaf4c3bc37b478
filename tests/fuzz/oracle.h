/* SPDX-License-Identifier: GPL-2.0 */
/* The oracle: independent, straightforward code for what the packet meters must count. */
#ifndef FUZZ_ORACLE_H
#define FUZZ_ORACLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/core/abi.h"

#define ROWS	5	/* four queues, and one for unknown */
#define SLOTS	13
#define CODES	5
#define SEGS	10

struct seen {			/* one packet, at a hook */
	enum point point;
	uint32_t queue;		/* 4 or more: unknown */
	uint64_t len;		/* link header included */
	const uint8_t *l3;	/* the network header, of which… */
	size_t n;		/* …this many bytes are readable */
	uint16_t type;		/* EtherType of l3 */
	uint32_t gso_size, gso_segs;
	uint64_t headers;	/* with gso_size: bytes before the payload, link header included */
	uint64_t jumbo;		/* of these in the buffer only: BIG TCP's hop-by-hop header */
	unsigned int on;	/* meters */
	uint32_t gso_type;	/* of sent packets… */
	bool partial, pieces;	/* …without a checksum; in several pieces */
	bool tunnel, tag;	/* an inner packet; a VLAN tag in the skb */
	uint64_t features, can, asked, in_tunnel, with_tag;	/* of the device */
	uint64_t most_bytes, most_segs, bytes;	/* limits of a buffer; bytes in this one */
	uint64_t least;		/* the length that the driver counts for shorter packets */
	uint64_t linear;	/* skb_headlen, if the driver counts it per segment */
	bool no_room;		/* for keys: flows, features */
	bool unread;		/* its header is not readable */
	bool hidden;		/* part of its flow key is not readable */
	uint16_t flow_type;	/* EtherType, even of a frame that is truncated within it */
};

struct counts {			/* everything counted, in the layout of the maps */
	uint64_t size[NR_POINTS * ROWS][1 + SLOTS + 4];	/* …and the driver's corrections */
	uint64_t ecn[NR_POINTS * ROWS][CODES];
	uint64_t rxcpu[ROWS][3];
	uint64_t gso[NR_POINTS * ROWS][1 + SEGS + 3];
	uint64_t software, software_packets, software_buffers;
	uint32_t software_key[2];	/* queue; feature and why */
	uint64_t lost[NR_METERS];
	uint64_t source_packets;
	uint32_t source[5];	/* address, family */
	uint64_t flows, flow[3];
	uint8_t flow_key[40];	/* addresses, ports, queue, family, protocol */
};

void oracle(const struct seen *seen, struct counts *counts);

/* Bytes of the packet, from the network header on, that form its flow key. */
size_t oracle_flow_wants(const struct seen *);

/* RFC 2675: the 8 bytes that a buffer above 64 KiB has, but no wire packet; or 0. */
uint64_t oracle_jumbo(const uint8_t *ip, size_t n, uint64_t len);

/* From l3 to the payload, through two VLAN tags; unreadable bytes are 0. `len` counts from l3. */
uint64_t oracle_headers(const uint8_t *l3, size_t n, uint16_t type, bool tcp, uint64_t len,
			uint64_t *jumbo);

/* tc has no gso_type: it takes the protocol from the IP header, after the tags. */
bool oracle_is_tcp(const uint8_t *l3, size_t n, uint16_t type);

/* Is this the slot of a log-linear histogram for this value? */
bool oracle_loglin(uint64_t ns, uint32_t slot);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* What the packet meters must say of one packet: all of it written a second time, plainly. */
#ifndef FUZZ_ORACLE_H
#define FUZZ_ORACLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/core/abi.h"

#define ROWS	5	/* four queues, and: unknown */
#define SLOTS	13
#define CODES	5
#define SEGS	10

struct seen {			/* one packet, where it is seen */
	enum point point;
	uint32_t queue;		/* 4 or more: unknown */
	uint64_t len;		/* link header included */
	const uint8_t *l3;	/* the network header, of which… */
	size_t n;		/* …so many bytes can be read */
	uint16_t type;		/* EtherType of l3 */
	uint32_t gso_size, gso_segs;
	uint64_t headers;	/* if gso_size: bytes before the payload, link header included */
	uint64_t jumbo;		/* of these in the buffer only: the hop-by-hop header of BIG TCP */
	unsigned int on;	/* meters */
	uint32_t gso_type;	/* of what is sent… */
	bool partial, pieces;	/* …and: without its checksum; in several pieces */
	bool tunnel, tag;	/* an inner packet; a VLAN tag beside the data */
	uint64_t features, can, asked, in_tunnel, with_tag;	/* of the device */
	uint64_t most_bytes, most_segs, bytes;	/* it takes in a buffer; that are in this one */
	uint64_t least;		/* what the driver counts a shorter packet as */
	uint64_t linear;	/* bytes of it, of a driver that counts them for each segment */
	bool no_room;		/* for keys: CE sources, flows, features */
	bool unread;		/* its header is where it cannot be read */
	bool hidden;		/* some of what tells its flow is where it cannot be read */
	uint16_t flow_type;	/* EtherType, also of a frame that ends in the midst of it */
};

struct counts {			/* all that can be counted, as the maps have it */
	uint64_t size[NR_POINTS * ROWS][1 + SLOTS + 4];	/* …and what a driver counts else */
	uint64_t ecn[NR_POINTS * ROWS][CODES];
	uint64_t rxcpu[ROWS][3];
	uint64_t gso[NR_POINTS * ROWS][1 + SEGS + 3];
	uint64_t software, software_packets, software_buffers;
	uint32_t software_key[2];	/* queue; feature and why */
	uint64_t lost[NR_METERS];
	uint64_t sources, source_packets;
	uint32_t source[5];	/* address, family */
	uint64_t flows, flow[3];
	uint8_t flow_key[40];	/* addresses, ports, queue, family, protocol */
};

void oracle(const struct seen *seen, struct counts *counts);

/* Bytes of the packet, from the network header on, that tell its flow. */
size_t oracle_flow_wants(const struct seen *);

/* RFC 2675: the 8 bytes that a buffer above 64 KiB has, and no packet on the wire; or 0. */
uint64_t oracle_jumbo(const uint8_t *ip, size_t n, uint64_t len);

/* From l3 to the payload, through two VLAN tags; what cannot be read is 0. `len`: from l3 on. */
uint64_t oracle_headers(const uint8_t *l3, size_t n, uint16_t type, bool tcp, uint64_t len,
			uint64_t *jumbo);

/* tc has no gso_type: the protocol is asked of the IP header, behind the tags. */
bool oracle_is_tcp(const uint8_t *l3, size_t n, uint16_t type);

/* Is this the slot of a log-linear histogram that a value belongs in? */
bool oracle_loglin(uint64_t ns, uint32_t slot);

#endif

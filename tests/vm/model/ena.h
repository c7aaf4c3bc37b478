/* SPDX-License-Identifier: GPL-2.0 */
/* Amazon's ENA as its driver sees it: registers and queues of the model, and its parts. */
#ifndef NICPROBE_ENA_H
#define NICPROBE_ENA_H

#include "model.h"

#define ENA_QUEUES	16	/* TX queues, and as many for RX */
#define ENA_CQS		(2 * ENA_QUEUES)
#define ENA_VECTORS	(1 + ENA_QUEUES)	/* 0 is the management's */
#define ENA_DEPTH	1024
#define ENA_LINE	128	/* bytes of an entry in the card's memory: 8 descriptors… */
#define ENA_LINE_FIRST	2	/* …or these, and then the headers of a frame */
#define ENA_TX_PIECES	18	/* descriptors of a frame, one that describes it besides */
#define ENA_RX_PIECES	16
#define ENA_MTU		9216
#define ENA_FRAME	(1 << 17)	/* of TSO, with room to spare */
#define ENA_RSS_BITS	7	/* log2 of the indirection table's entries */
#define ENA_RSS_KEY	40	/* bytes */

enum ena_register {
	ENA_VERSION = 0x00, ENA_CONTROLLER_VERSION = 0x04, ENA_CAPS = 0x08,
	ENA_AQ_BASE = 0x10,		/* each base is two registers, the lower half first */
	ENA_AQ_CAPS = 0x18,
	ENA_ACQ_BASE = 0x20,
	ENA_ACQ_CAPS = 0x28,
	ENA_AQ_DOORBELL = 0x2c,
	ENA_AENQ_CAPS = 0x34,
	ENA_AENQ_BASE = 0x38,
	ENA_AENQ_DOORBELL = 0x40,
	ENA_INTERRUPT_MASK = 0x4c,
	ENA_CONTROL = 0x54,
	ENA_STATUS = 0x58,
	ENA_READ = 0x5c,		/* asks for a register's value in memory… */
	ENA_READ_BASE = 0x60,		/* …here */
	/* Where those of a queue are is up to the card; the driver is told when it creates one. */
	ENA_TX_DOORBELL = 0x1000, ENA_RX_DOORBELL = 0x1100,
	ENA_UNMASK = 0x1200, ENA_NUMA = 0x1300,
	ENA_BYTES = 0x4000,
};

/* A completion queue. `tail` counts on; a descriptor's phase says which round of the ring it is. */
struct ena_cq {
	bool there;
	uint64_t base;
	uint16_t depth, tail, vector;
	uint8_t entry;			/* bytes */
};

/* A submission queue. The driver's doorbell says where it has got to. */
struct ena_sq {
	bool there;
	uint64_t base;
	uint16_t depth, head, doorbell;
	struct ena_cq *cq;
	/* TX: the ring is in the card's memory; where in a line; past the first one of a frame */
	uint8_t *lines;
	unsigned slot;
	bool further;
	/* What a meta descriptor said holds until the next does */
	uint16_t mss, l3, l4, payload;
};

/* An interrupt of queues masks itself; after a poll the driver unmasks it, and says the delay. */
struct ena_vector {
	bool unmasked, waiting;
	bool rx, tx;			/* there are completions that it has not told of */
	uint16_t rx_delay, tx_delay;	/* µs */
	int64_t due;
};

/* As in GET_STATS; of frames on the wire. */
struct ena_counters {
	uint64_t tx_bytes, tx_packets, rx_bytes, rx_packets, rx_drops, tx_drops;
};

/* What of a packet is hashed in order, so that both directions of a flow have one queue. */
enum ena_sort { ENA_SORT_L3 = 1 << 1, ENA_SORT_L4 = 1 << 2 };

/* Of what a size of instance is allowed: how much went beyond it, as GET_STATS has them. */
enum ena_allowance { BW_IN, BW_OUT, PPS, CONNTRACK, LINK_LOCAL, ENA_ALLOWANCES };

#define ENA_CONNECTIONS	4096	/* that may be opened; and packets a second to Amazon's own… */
#define ENA_LINK_LOCAL	1024	/* …names, time and metadata */

/* What the wire brought within this second of the guest's time, and was let through. */
struct ena_passed {
	int64_t second;
	uint64_t packets, bytes_out, bytes_in;
};

struct ena {
	uint32_t registers[ENA_READ_BASE / 4 + 2];	/* as they were written */
	uint16_t aq_head, acq_tail, aenq_tail;
	uint32_t groups;		/* events that the driver wants */
	bool alive;			/* an event a second is on its way */
	unsigned link_local;		/* frames within this second */
	unsigned connections;		/* opened until now */
	struct ena_passed passed;
	struct ena_sq tx[ENA_QUEUES], rx[ENA_QUEUES];
	struct ena_cq cq[ENA_CQS];
	struct ena_vector vector[ENA_VECTORS];
	uint16_t table[1 << ENA_RSS_BITS];	/* RX queues */
	uint8_t key[ENA_RSS_KEY];
	uint16_t sort;				/* enum ena_sort */
	uint16_t fields[16];			/* that are hashed, by kind of packet */
	struct ena_counters counters;
	uint64_t exceeded[ENA_ALLOWANCES];
};

struct flow;

/* ena_rss.c */
void ena_rss_reset(struct ena *);
uint32_t ena_rss_hash(const struct ena *, const uint8_t *frame, const struct flow *);
extern const uint16_t ena_rss_fields[16];	/* that can be hashed */

/* ena_admin.c: the driver's commands, up to where its doorbell says. */
void ena_commands(struct model *);

/* ena_tx.c, ena_rx.c */
void ena_transmit(struct model *, struct ena_sq *);
void ena_tx_complete(struct model *, unsigned queue, const uint64_t what[2]);
void ena_tx_completed(struct model *, unsigned queue);
ssize_t ena_receive(struct model *, const uint8_t *frame, size_t size);

/* ena_rate.c: is this frame more than a test allows of a second? It is counted then. */
bool ena_above_rate(struct model *, size_t size, bool out);

/* ena_interrupt.c */
void ena_complete(struct model *, struct ena_cq *, void *entry, uint8_t *phase, uint8_t bit);
void ena_news(struct model *, const struct ena_cq *, bool rx);
void ena_unmask(struct model *, unsigned vector, uint32_t value);

/* Of the registers, by their numbers. */
uint64_t ena_base(const struct ena *, unsigned reg);

#endif

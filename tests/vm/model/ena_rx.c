/* SPDX-License-Identifier: GPL-2.0 */
/* ENA receives: a frame goes to the queue that its hash names, into as many buffers as it takes. */
#include "ena.h"
#include "flow.h"

struct rx_buffer {
	uint16_t length;		/* 0: 64 KiB */
	uint8_t reserved, control;
	uint16_t request, reserved2;
	uint32_t low;
	uint16_t high, reserved3;
};

struct rx_done {
	uint32_t status;
	uint16_t length, request;
	uint32_t hash;
	uint16_t queue;
	uint8_t offset, reserved;
};

enum rx_status {
	RX_L4 = 8,			/* a shift: the L4 protocol */
	RX_L3_BAD = 1 << 13, RX_L4_BAD = 1 << 14, RX_FRAGMENT = 1 << 15, RX_L4_CHECKED = 1 << 16,
	RX_PHASE = 1 << 24, RX_FIRST = 1 << 26, RX_LAST = 1 << 27, RX_BUFFER = 1 << 30,
};

enum { L3_IPV4 = 8, L3_IPV6 = 11 };
enum { L4_TCP = 12, L4_UDP = 13 };

static uint32_t flow_status(const struct flow *f)
{
	uint32_t status = f->version == 4 ? L3_IPV4 : f->version == 6 ? L3_IPV6 : 0;

	if (f->protocol)
		status |= (f->protocol == FLOW_TCP ? L4_TCP : L4_UDP) << RX_L4;
	return status | (f->ip_wrong ? RX_L3_BAD : 0) | (f->l4_wrong ? RX_L4_BAD : 0) |
	       (f->fragment ? RX_FRAGMENT : 0) | (f->l4_checked ? RX_L4_CHECKED : 0);
}

static struct rx_buffer buffer(struct model *m, const struct ena_sq *sq, uint16_t at)
{
	struct rx_buffer b = {};

	model_load(m, sq->base + at % sq->depth * sizeof(b), &b, sizeof(b));
	return b;
}

static size_t buffer_size(const struct rx_buffer *b)
{
	return b->length ? b->length : 1 << 16;
}

/* Has the driver given enough of them for the whole frame? */
static bool fits(struct model *m, const struct ena_sq *sq, size_t size)
{
	uint16_t at = sq->head;

	for (unsigned pieces = 0; pieces < ENA_RX_PIECES && at != sq->doorbell; pieces++, at++) {
		struct rx_buffer b = buffer(m, sq, at);

		if (size <= buffer_size(&b))
			return true;
		size -= buffer_size(&b);
	}
	return false;
}

static void deliver(struct model *m, struct ena_sq *sq, const uint8_t *frame, size_t size,
		    const struct flow *flow, uint32_t hash)
{
	struct ena *ena = model_state(m);
	uint32_t status = flow_status(flow) | RX_BUFFER | RX_FIRST;

	while (size) {
		struct rx_buffer b = buffer(m, sq, sq->head++);
		size_t part = size < buffer_size(&b) ? size : buffer_size(&b);
		struct rx_done d = {
			.status = status | (part == size ? RX_LAST : 0), .length = part,
			.request = b.request, .hash = hash, .queue = sq - ena->rx,
		};
		uint8_t *phase = (uint8_t *)&d.status + 3;

		model_store(m, b.low | (uint64_t)b.high << 32, frame, part);
		ena_complete(m, sq->cq, &d, phase, RX_PHASE >> 24);
		frame += part;
		size -= part;
		status &= ~RX_FIRST;
	}
	ena_news(m, sq->cq, true);
}

/*
 * A card that has no buffer drops, and says how many with the next event that it is alive. What is
 * beyond an allowance is shaped before the card, and is in the count of that allowance alone.
 */
ssize_t ena_receive(struct model *m, const uint8_t *frame, size_t size)
{
	struct ena *ena = model_state(m);
	struct flow flow = flow_read(frame, size);
	uint32_t hash = ena_rss_hash(ena, frame, &flow);
	struct ena_sq *sq = &ena->rx[ena->table[hash % (1 << ENA_RSS_BITS)]];

	if (!sq->there || ena_above_rate(m, size, false))
		return size;
	if (model_starved(m) || !fits(m, sq, size)) {
		ena->counters.rx_drops++;
		return size;
	}
	ena->counters.rx_packets++;
	ena->counters.rx_bytes += size;
	deliver(m, sq, frame, size, &flow, hash);
	return size;
}

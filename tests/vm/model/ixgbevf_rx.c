/* SPDX-License-Identifier: GPL-2.0 */
/* X550's virtual function receives: a queue by RSS, a frame into as many buffers as it takes. */
#include <string.h>

#include "flow.h"
#include "ixgbevf.h"

enum { MACS = 12, TAG = 4, FCS = 4 };

enum {					/* VFMRQC: what is hashed */
	RSS = 1, RSS_TCP4 = 1 << 16, RSS_IP4 = 1 << 17, RSS_IP6 = 1 << 20, RSS_TCP6 = 1 << 21,
};

enum { HASHED_TCP4 = 1, HASHED_IP4, HASHED_TCP6, HASHED_IP6 = 5 };

enum {					/* of what is written back */
	IS_IP4 = 0x10, IS_IP6 = 0x40, IS_TCP = 0x100, IS_UDP = 0x200,
	DONE = 1, END = 2, HAD_TAG = 8, L4_CHECKED = 0x20, IP_CHECKED = 0x40,
	L4_WRONG = 1 << 30, IP_WRONG = 1U << 31,
};

struct written {
	uint32_t kind, hash;
	uint32_t status;
	uint16_t size, tag;
};

static uint32_t kinds(const struct flow *f)
{
	return (f->version == 4 ? IS_IP4 : 0) | (f->version == 6 ? IS_IP6 : 0) |
	       (f->protocol == FLOW_TCP ? IS_TCP : 0) | (f->protocol == FLOW_UDP ? IS_UDP : 0);
}

static uint32_t checks(const struct flow *f)
{
	return (f->version == 4 ? IP_CHECKED : 0) | (f->ip_wrong ? IP_WRONG : 0) |
	       (f->l4_checked ? L4_CHECKED : 0) | (f->l4_wrong ? L4_WRONG : 0);
}

/* Which fields are hashed, as the driver chose; 0: none. */
static unsigned hashed(uint32_t chosen, const struct flow *f)
{
	bool tcp = f->protocol == FLOW_TCP;

	if (!(chosen & RSS) || !f->version)
		return 0;
	if (f->version == 4)
		return tcp && chosen & RSS_TCP4 ? HASHED_TCP4 : chosen & RSS_IP4 ? HASHED_IP4 : 0;
	return tcp && chosen & RSS_TCP6 ? HASHED_TCP6 : chosen & RSS_IP6 ? HASHED_IP6 : 0;
}

/* Sets the hash; which queue it is. */
static unsigned spread(struct ixgbevf *v, const struct flow *f, struct written *w)
{
	unsigned kind = hashed(v->registers[VFMRQC / 4], f);
	unsigned queues = 1 << (v->registers[VFPSRTYPE / 4] >> VFPSRTYPE_QUEUES & 3);
	uint8_t input[32 + 4];
	size_t size = f->address_size;

	if (!kind)
		return 0;
	memcpy(input, f->addresses, size);
	if (kind == HASHED_TCP4 || kind == HASHED_TCP6) {
		memcpy(input + size, f->ports, 4);
		size += 4;
	}
	w->kind |= kind;
	w->hash = toeplitz((const uint8_t *)&v->registers[VFRSSRK / 4], input, size);
	return ((const uint8_t *)&v->registers[VFRETA / 4])[w->hash % 64] % queues;
}

/* Linux has buffers of one kind: SRRCTL says how many KiB they have. */
static size_t buffer_size(struct ixgbevf *v, unsigned queue)
{
	return (*queue_register(v, RX_QUEUES, queue, SRRCTL) & 0x7f) * 1024;
}

static bool enough(struct ixgbevf *v, unsigned queue, size_t size)
{
	uint32_t ring = ring_size(v, RX_QUEUES, queue);
	uint32_t head = *queue_register(v, RX_QUEUES, queue, HEAD);
	uint32_t tail = *queue_register(v, RX_QUEUES, queue, TAIL);

	return ring && (tail + ring - head) % ring * buffer_size(v, queue) >= size;
}

/* The driver looks at a descriptor's size first: so that comes last, with all that is beside it. */
static void write_back(struct model *m, uint64_t at, const struct written *w)
{
	model_store(m, at, w, 8);
	model_store(m, at + 8, (const uint8_t *)w + 8, 8);
}

static bool fill(struct model *m, unsigned queue, const uint8_t *frame, size_t size,
		 const struct written *whole)
{
	struct ixgbevf *v = model_state(m);
	uint32_t *head = queue_register(v, RX_QUEUES, queue, HEAD);
	size_t most = buffer_size(v, queue);

	while (size) {
		uint64_t at = descriptor_at(v, RX_QUEUES, queue, *head), buffer = 0;
		struct written w = *whole;

		w.size = size < most ? size : most;
		w.status = w.size == size ? whole->status | DONE | END : DONE;
		if (!model_load(m, at, &buffer, sizeof(buffer)) ||
		    !model_store(m, buffer, frame, w.size))
			return false;
		write_back(m, at, &w);
		*head = (*head + 1) % ring_size(v, RX_QUEUES, queue);
		frame += w.size;
		size -= w.size;
	}
	return true;
}

static void count(struct ixgbevf *v, const uint8_t *frame, size_t size)
{
	v->counts.rx_packets++;
	v->counts.rx_bytes += size + FCS;
	v->counts.rx_multicast += frame[0] & 1 &&
				  memcmp(frame, "\xff\xff\xff\xff\xff\xff", MAC_SIZE);
}

/* A copy without the tag, which is told in the descriptor. */
static const uint8_t *untagged(const uint8_t *frame, size_t size, struct written *w)
{
	static uint8_t copy[LONGEST];

	w->tag = frame[MACS + 2] << 8 | frame[MACS + 3];
	w->status |= HAD_TAG;
	memcpy(copy, frame, MACS);
	memcpy(copy + MACS, frame + MACS + TAG, size - MACS - TAG);
	return copy;
}

/*
 * Linux tells the card to drop what it has no buffer for, and a virtual function has no register
 * that counts it: only the physical one knows. Here it drops so when it is told to lack buffers;
 * else the wire waits, as if the sender heeded pause frames: a slow guest would lose what a test
 * counts.
 */
ssize_t ixgbevf_receive(struct model *m, const uint8_t *frame, size_t size)
{
	struct ixgbevf *v = model_state(m);
	struct flow flow = flow_read(frame, size);
	struct written w = { .kind = kinds(&flow), .status = checks(&flow) };
	unsigned queue = spread(v, &flow, &w);
	uint32_t control = *queue_register(v, RX_QUEUES, queue, CONTROL);
	const uint8_t *data = frame;
	size_t length = size;

	if (size > LONGEST || !(control & QUEUE_ENABLE) || !ixgbevf_passes(v, frame, size))
		return size;
	if (control & RX_STRIPS_TAG && frame[MACS] == 0x81 && !frame[MACS + 1]) {
		data = untagged(frame, size, &w);
		length -= TAG;
	}
	if (control & RX_LIMITED && length > (control & RX_LIMIT))
		return size;
	if (model_starved(m))
		return size;
	if (!enough(v, queue, length))
		return 0;
	if (fill(m, queue, data, length, &w)) {
		count(v, frame, size);
		ixgbevf_queue_news(m, queue, false);
	}
	return size;
}

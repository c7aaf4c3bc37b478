/* SPDX-License-Identifier: GPL-2.0 */
/* X550's virtual function sends: gathers a frame from its descriptors, splits and tags it. */
#include <string.h>

#include "ixgbevf.h"
#include "segment.h"

enum { MACS = 12, TAG = 4, FCS = 4, LEAST = 60 };

struct descriptor {
	uint64_t buffer;
	uint32_t command, options;
};

enum {
	SIZE = 0xffff, END = 1 << 24, REPORT = 1 << 27, ADD_TAG = 1 << 30, SPLIT = 1U << 31,
	KIND = 0xf << 20, CONTEXT = 2 << 20, DATA = 3 << 20,
};

enum { DONE = 1, CONTEXT_NR = 1 << 4, IP_SUM = 1 << 8, L4_SUM = 1 << 9 };
enum { L4_KIND = 3 << 11, L4_SCTP = 2 << 11 };		/* of a context */

struct leaving {
	struct model *m;
	bool tagged;
	uint16_t tag;
};

static void leave(void *arg, const uint8_t *frame, size_t size)
{
	static uint8_t out[LONGEST + TAG];
	struct leaving *l = arg;
	struct ixgbevf *v = model_state(l->m);
	size_t tag = l->tagged ? TAG : 0, all = size + tag < LEAST ? LEAST : size + tag;

	memcpy(out, frame, MACS);
	memcpy(out + MACS, (uint8_t[]){ 0x81, 0, l->tag >> 8, l->tag }, tag);
	memcpy(out + MACS + tag, frame + MACS, size - MACS);
	memset(out + size + tag, 0, all - size - tag);
	v->counts.tx_packets++;
	v->counts.tx_bytes += all + FCS;
	model_send(l->m, out, all);
}

/* What Linux asks for: the context says where headers are, the first descriptor what to do. */
static struct offload offload(const struct sending *s, const struct context *c)
{
	struct offload o = { .l3 = c->lengths >> 9 & 0x7f };

	o.ip_sum = s->options & IP_SUM;
	o.l4_sum = s->options & L4_SUM;
	if (o.l4_sum || s->command & SPLIT) {
		o.l4 = o.l3 + (c->lengths & 0x1ff);
		o.payload = o.l4 + (c->mss >> 8 & 0xff);
	}
	if (s->command & SPLIT)
		o.mss = c->mss >> 16;
	return o;
}

/* SCTP's sum, which is none of those that segment() knows: CRC-32C, its lowest byte first. */
static void crc_fill(struct sending *s, size_t l4)
{
	uint32_t crc = ~0U;

	if (s->size < l4 + 12)
		return;
	memset(s->frame + l4 + 8, 0, 4);
	for (size_t i = l4; i < s->size; i++) {
		crc ^= s->frame[i];
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78 : 0);
	}
	crc = ~crc;
	memcpy(s->frame + l4 + 8, &crc, 4);
}

static void send_whole(struct model *m, unsigned queue)
{
	struct ixgbevf *v = model_state(m);
	struct sending *s = &v->sending[queue];
	const struct context *c = &v->contexts[queue][!!(s->options & CONTEXT_NR)];
	struct offload o = offload(s, c);
	struct leaving l = { m, s->command & ADD_TAG, c->lengths >> 16 };

	if (o.l4_sum && !o.mss && (c->type & L4_KIND) == L4_SCTP) {
		crc_fill(s, o.l4);
		o = (struct offload){};
	}
	if (!s->too_long && s->size > MACS)
		segment(s->frame, s->size, &o, leave, &l);
	s->size = 0;
	s->too_long = false;
}

static void gather(struct model *m, unsigned queue, const struct descriptor *d)
{
	struct ixgbevf *v = model_state(m);
	struct sending *s = &v->sending[queue];
	size_t size = d->command & SIZE;

	if (!s->size) {
		s->command = d->command;
		s->options = d->options;
	}
	s->too_long |= s->size + size > LONGEST ||
		       !model_load(m, d->buffer, s->frame + s->size, size);
	s->size += s->too_long ? 0 : size;
	if (d->command & END)
		send_whole(m, queue);
}

static void take(struct model *m, unsigned queue, const struct descriptor *d)
{
	struct ixgbevf *v = model_state(m);
	struct context c;

	if ((d->command & KIND) == CONTEXT) {
		memcpy(&c, d, sizeof(c));
		v->contexts[queue][!!(c.mss & CONTEXT_NR)] = c;
	} else if ((d->command & KIND) == DATA) {
		gather(m, queue, d);
	}
}

void ixgbevf_complete(struct model *m, unsigned queue, const uint64_t what[2])
{
	const uint32_t done = DONE;

	(void)queue;
	model_store(m, what[0] + 12, &done, sizeof(done));
}

void ixgbevf_completed(struct model *m, unsigned queue)
{
	ixgbevf_queue_news(m, queue, true);
}

void ixgbevf_transmit(struct model *m, unsigned queue)
{
	struct ixgbevf *v = model_state(m);
	uint32_t size = ring_size(v, TX_QUEUES, queue);
	uint32_t *head = queue_register(v, TX_QUEUES, queue, HEAD);
	uint32_t tail = *queue_register(v, TX_QUEUES, queue, TAIL);
	bool news = false;

	if (!(*queue_register(v, TX_QUEUES, queue, CONTROL) & QUEUE_ENABLE) || tail >= size)
		return;
	while (*head != tail) {
		uint64_t at = descriptor_at(v, TX_QUEUES, queue, *head);
		struct descriptor d;

		if (!model_load(m, at, &d, sizeof(d)))
			break;		/* it must not: it stands */
		take(m, queue, &d);
		news |= d.command & REPORT && model_finish(m, queue, at, 0);
		*head = (*head + 1) % size;
	}
	if (news)
		ixgbevf_queue_news(m, queue, true);
}

/* SPDX-License-Identifier: GPL-2.0 */
/* ENA sends: pieces become a frame, the frame those of the wire, and then it is completed. */
#include <stddef.h>
#include <string.h>

#include "ena.h"
#include "segment.h"

/* A piece of a frame; or, with TX_META, what all pieces after it have in common. */
struct tx_piece {
	uint32_t word[4];
};

enum tx_word0 { TX_META = 1 << 23, TX_FIRST = 1 << 26, TX_LAST = 1 << 27 };
enum tx_word1 { TX_TSO = 1 << 7, TX_L3_SUM = 1 << 13, TX_L4_SUM = 1 << 14 };
enum meta_word0 { META_STORE = 1 << 21 };

struct tx_done {
	uint16_t request;
	uint8_t status, phase;
	uint16_t queue, head;
};

/* A frame that is being put together. */
struct tx_frame {
	uint8_t at[ENA_FRAME];
	size_t size;
	uint32_t word0, word1;		/* of its first piece */
	bool bad;
};

static void meta(struct ena_sq *sq, const struct tx_piece *p)
{
	if (!(p->word[0] & META_STORE))
		return;
	sq->l3 = p->word[2] >> 8 & 0xff;
	sq->l4 = sq->l3 + (p->word[2] & 0xff);
	sq->payload = sq->l4 + (p->word[2] >> 16 & 0x3f) * 4;
	sq->mss = p->word[2] >> 22 | (p->word[0] >> 16 & 0xf) << 10;
}

/* In the card's memory there are headers behind the first descriptors, in the same line. */
static void begin(struct tx_frame *f, const struct tx_piece *p, const uint8_t *line)
{
	const unsigned at = ENA_LINE_FIRST * sizeof(*p), most = ENA_LINE - at;
	unsigned size = p->word[3] >> 24;

	f->word0 = p->word[0];
	f->word1 = p->word[1];
	f->bad = false;
	f->size = !line ? 0 : size < most ? size : most;
	if (line)
		memcpy(f->at, line + at, f->size);
}

static void piece(struct model *m, struct tx_frame *f, const struct tx_piece *p)
{
	uint64_t from = p->word[2] | (uint64_t)(p->word[3] & 0xffff) << 32;
	size_t size = p->word[0] & 0xffff;

	if (size > sizeof(f->at) - f->size || !model_load(m, from, f->at + f->size, size)) {
		f->bad = true;
		return;
	}
	f->size += size;
}

/* Of link-local addresses, or one that opens a connection: what the instance's own limits are. */
static bool above_limit(struct ena *ena, const uint8_t *frame, size_t size)
{
	static const uint8_t ipv4[] = { 8, 0, 0x45 }, prefix[] = { 169, 254 };
	enum ena_allowance what;
	bool above = false;

	if (size < 54 || memcmp(frame + 12, ipv4, 3))
		return false;
	if (!memcmp(frame + 30, prefix, 2)) {
		what = LINK_LOCAL;
		above = ena->link_local++ >= ENA_LINK_LOCAL;
	} else if (frame[23] == 6 && (frame[47] & 0x12) == 2) {	/* SYN of TCP, and no answer */
		what = CONNTRACK;
		above = ena->connections >= ENA_CONNECTIONS;
		ena->connections += !above;
	}
	if (above)
		ena->exceeded[what]++;
	return above;
}

static void wire(void *arg, const uint8_t *frame, size_t size)
{
	struct ena *ena = model_state(arg);

	if (above_limit(ena, frame, size) || ena_above_rate(arg, size, true)) {
		ena->counters.tx_drops++;
		return;
	}
	ena->counters.tx_packets++;
	ena->counters.tx_bytes += size;
	model_send(arg, frame, size);
}

static void send(struct model *m, const struct ena_sq *sq, const struct tx_frame *f)
{
	struct ena *ena = model_state(m);
	struct offload o = {
		.l3 = sq->l3, .l4 = f->word1 & (TX_TSO | TX_L4_SUM) ? sq->l4 : 0,
		.payload = sq->payload, .mss = f->word1 & TX_TSO ? sq->mss : 0,
		.ip_sum = f->word1 & TX_L3_SUM, .l4_sum = f->word1 & TX_L4_SUM,
	};

	if (f->bad || !f->size || !segment(f->at, f->size, &o, wire, m))
		ena->counters.tx_drops++;
}

void ena_tx_complete(struct model *m, unsigned queue, const uint64_t what[2])
{
	struct ena *ena = model_state(m);
	struct tx_done d = { .request = what[0], .queue = queue, .head = what[1] };

	ena_complete(m, ena->tx[queue].cq, &d, &d.phase, 1);
}

void ena_tx_completed(struct model *m, unsigned queue)
{
	struct ena *ena = model_state(m);

	ena_news(m, ena->tx[queue].cq, false);
}

static void done(struct model *m, struct ena_sq *sq, const struct tx_frame *f)
{
	struct ena *ena = model_state(m);
	unsigned queue = sq - ena->tx;
	uint16_t request = f->word1 >> 22 | (f->word0 >> 16 & 0x3f) << 10;

	if (model_finish(m, queue, request, sq->head))
		ena_tx_completed(m, queue);
}

/* The next descriptor, and the line that it is in: a frame begins on a line of its own. */
static bool next(struct model *m, struct ena_sq *sq, struct tx_piece *p, const uint8_t **line)
{
	unsigned at = sq->head % sq->depth;
	bool last;

	if (!sq->lines) {
		sq->head++;
		return model_load(m, sq->base + at * sizeof(*p), p, sizeof(*p));
	}
	*line = sq->lines + at * ENA_LINE;
	memcpy(p, *line + sq->slot++ * sizeof(*p), sizeof(*p));
	last = p->word[0] & TX_LAST;
	if (last || sq->slot == (sq->further ? ENA_LINE / sizeof(*p) : ENA_LINE_FIRST)) {
		sq->slot = 0;
		sq->further = !last;
		sq->head++;
	}
	return true;
}

void ena_transmit(struct model *m, struct ena_sq *sq)
{
	static struct tx_frame f;
	const uint8_t *line = NULL;
	bool begun = false;

	while (sq->head != sq->doorbell) {
		struct tx_piece p;

		if (!next(m, sq, &p, &line))
			return;
		if (p.word[0] & TX_META) {
			meta(sq, &p);
			continue;
		}
		if (!begun)
			begin(&f, &p, line);
		piece(m, &f, &p);
		begun = !(p.word[0] & TX_LAST);
		if (begun)
			continue;
		send(m, sq, &f);
		done(m, sq, &f);
	}
}

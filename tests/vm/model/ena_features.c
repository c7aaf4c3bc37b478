/* SPDX-License-Identifier: GPL-2.0 */
/* ENA's features: what the card can do, and what of it the driver sets. */
#include "ena_admin.h"

enum feature {
	DEVICE = 1, LLQ = 4, QUEUES_EXT = 7, RSS_FUNCTION = 10, OFFLOADS = 11, RSS_TABLE = 12,
	MTU = 14, RSS_INPUT = 18, MODERATION = 20, EVENTS = 26, LINK = 27, HOST = 28,
};

enum { TOEPLITZ = 1 << 1 };

static void device(struct model *m, struct reply *r)
{
	struct {
		uint32_t implementation, version, features, abilities, physical, virtual;
		uint8_t mac[6], reserved[2];
		uint32_t mtu;
	} d = {
		.version = 1, .physical = 48, .virtual = 48, .mtu = ENA_MTU,
		.features = 1 << DEVICE | 1 << LLQ | 1 << QUEUES_EXT | 1 << RSS_FUNCTION |
			    1 << OFFLOADS | 1 << RSS_TABLE | 1 << MTU | 1 << RSS_INPUT |
			    1 << MODERATION | 1 << EVENTS | 1 << LINK | 1 << HOST,
		.abilities = 1 << 0 | 1 << 2,	/* ENI's statistics, and metrics (6.12) */
	};

	memcpy(d.mac, model_mac(m), 6);
	put(r, &d, sizeof(d));
}

static void queues(struct reply *r)
{
	put(r, &(struct {
		uint32_t version, tx_sqs, tx_cqs, rx_sqs, rx_cqs, depths[4], header;
		uint16_t tx_pieces, rx_pieces;
	}){ 1, ENA_QUEUES, ENA_QUEUES, ENA_QUEUES, ENA_QUEUES,
	    { ENA_DEPTH, ENA_DEPTH, ENA_DEPTH, ENA_DEPTH }, 96, ENA_TX_PIECES, ENA_RX_PIECES }, 44);
}

/*
 * TX rings in the card's memory, which the driver writes frames' headers into, too: it calls them
 * low latency queues. What can be, and what the driver chose.
 */
struct llq {
	uint32_t queues, depth;
	struct { uint16_t can, does; } inline_headers, line, first, stride;
	uint16_t version, depth_of_wide, accelerated[2];
};

static const struct llq llq = {
	.queues = ENA_QUEUES, .depth = ENA_DEPTH, .inline_headers.can = 1, .line.can = 1,
	.first.can = ENA_LINE_FIRST, .stride.can = 2,
};

static bool llq_set(const struct command *c)
{
	struct llq want;

	memcpy(&want, c->feature.value, sizeof(want));
	return want.inline_headers.does == llq.inline_headers.can &&
	       want.line.does == llq.line.can && want.first.does == llq.first.can &&
	       want.stride.does == llq.stride.can;
}

static void offloads(struct reply *r)
{
	put(r, &(struct { uint32_t tx, rx, rx_enabled; }){
		.tx = 1 << 0 | 1 << 1 | 1 << 3 |	/* IPv4's sum; TCP's and UDP's of both */
		      1 << 5 | 1 << 6 | 1 << 7,		/* TSO of both, and with ECN */
		.rx = 0xf, .rx_enabled = 0xf }, 12);	/* sums as for TX, and the hash */
}

/* What does not fit into a command or a reply: the driver's buffer has it. */
static bool outside(struct model *m, const struct command *c, bool load, void *data, size_t size)
{
	uint64_t at = address(&c->feature.at);

	if (!c->feature.length)
		return true;
	return c->feature.length >= size &&
	       (load ? model_load(m, at, data, size) : model_store(m, at, data, size));
}

struct rss_key {
	uint32_t words, reserved;
	uint8_t key[ENA_RSS_KEY];
};

struct rss_fields {
	struct { uint16_t fields, reserved; } can[16], does[16], unused[32];
};

struct rss_entry {
	uint16_t queue, reserved;
};

static bool rss_key(struct model *m, const struct command *c, bool set)
{
	struct ena *ena = model_state(m);
	struct rss_key k = { .words = ENA_RSS_KEY / 4 };

	memcpy(k.key, ena->key, sizeof(k.key));
	if (!outside(m, c, set, &k, sizeof(k)))
		return false;
	memcpy(ena->key, k.key, sizeof(k.key));
	return true;
}

static bool rss_fields(struct model *m, const struct command *c, bool set)
{
	struct ena *ena = model_state(m);
	struct rss_fields f = {};

	for (int i = 0; i < 16; i++) {
		f.can[i].fields = ena_rss_fields[i];
		f.does[i].fields = ena->fields[i];
	}
	if (!outside(m, c, set, &f, sizeof(f)))
		return false;
	for (int i = 0; i < 16; i++)
		ena->fields[i] = f.does[i].fields & ena_rss_fields[i];
	return true;
}

static bool rss_table(struct model *m, const struct command *c, bool set)
{
	struct ena *ena = model_state(m);
	struct rss_entry table[1 << ENA_RSS_BITS] = {};

	for (unsigned i = 0; i < 1 << ENA_RSS_BITS; i++)
		table[i].queue = ena->table[i];
	if (!outside(m, c, set, table, sizeof(table)))
		return false;
	for (unsigned i = 0; i < 1 << ENA_RSS_BITS; i++)
		ena->table[i] = table[i].queue % ENA_QUEUES;
	return true;
}

enum result ena_feature_get(struct model *m, const struct command *c, struct reply *r)
{
	struct ena *ena = model_state(m);

	switch (c->feature.nr) {
	case DEVICE:
		device(m, r);
		return SUCCESS;
	case QUEUES_EXT:
		queues(r);
		return SUCCESS;
	case LLQ:
		put(r, &llq, sizeof(llq));
		return SUCCESS;
	case OFFLOADS:
		offloads(r);
		return SUCCESS;
	case EVENTS:
		put(r, (uint32_t []){ 1 << 0 | 1 << 4, ena->groups }, 8);
		return SUCCESS;
	case LINK:
		put(r, (uint32_t []){ 25000, 1 << 4, 1 << 1 }, 12);	/* 25G, full duplex */
		return SUCCESS;
	case MODERATION:
		put(r, (uint16_t []){ 1 }, 2);		/* µs */
		return SUCCESS;
	case RSS_FUNCTION:
		put(r, (uint32_t []){ TOEPLITZ, TOEPLITZ }, 8);
		return rss_key(m, c, false) ? SUCCESS : ILLEGAL;
	case RSS_INPUT:
		put(r, (uint16_t []){ ENA_SORT_L3 | ENA_SORT_L4, ena->sort }, 4);
		return rss_fields(m, c, false) ? SUCCESS : ILLEGAL;
	case RSS_TABLE:
		put(r, (uint16_t []){ ENA_RSS_BITS, ENA_RSS_BITS, ENA_RSS_BITS }, 6);
		return rss_table(m, c, false) ? SUCCESS : ILLEGAL;
	}
	return UNSUPPORTED;
}

enum result ena_feature_set(struct model *m, const struct command *c)
{
	struct ena *ena = model_state(m);

	switch (c->feature.nr) {
	case HOST:
		return SUCCESS;		/* who drives it: nothing that a card must do */
	case LLQ:
		return llq_set(c) ? SUCCESS : ILLEGAL;
	case MTU:
		return c->feature.value[0] <= ENA_MTU ? SUCCESS : ILLEGAL;
	case EVENTS:
		ena->groups = c->feature.value[1];
		return SUCCESS;
	case RSS_FUNCTION:
		if (c->feature.value[1] != TOEPLITZ)
			return ILLEGAL;
		return rss_key(m, c, true) ? SUCCESS : ILLEGAL;
	case RSS_INPUT:
		ena->sort = c->feature.value[0] >> 16;
		return rss_fields(m, c, true) ? SUCCESS : ILLEGAL;
	case RSS_TABLE:
		return rss_table(m, c, true) ? SUCCESS : ILLEGAL;
	}
	return UNSUPPORTED;
}

/* SPDX-License-Identifier: GPL-2.0 */
/* ENA's admin queue: the driver creates queues, and asks for features and statistics. */
#include "ena_admin.h"

enum opcode {
	CREATE_SQ = 1, DESTROY_SQ = 2, CREATE_CQ = 3, DESTROY_CQ = 4,
	GET_FEATURE = 8, SET_FEATURE = 9, GET_STATS = 11,
};

enum { DIRECTION_TX = 1, DIRECTION_RX = 2 };
enum { IN_HOST_MEMORY = 1, IN_OURS = 3 };	/* where a ring is */
enum { STATS_BASIC = 0, STATS_ENI = 2, STATS_METRICS = 4 };

static enum result create_cq(struct model *m, const struct command *c, struct reply *r)
{
	struct ena *ena = model_state(m);
	uint32_t vector = c->create_cq.vector;
	uint16_t depth = c->create_cq.depth;
	unsigned nr = 0;

	while (nr < ENA_CQS && ena->cq[nr].there)
		nr++;
	if (nr == ENA_CQS)
		return NO_RESOURCE;
	if (!vector || vector >= ENA_VECTORS || !depth || depth & (depth - 1))
		return ILLEGAL;
	ena->cq[nr] = (struct ena_cq){
		.there = true, .base = address(&c->create_cq.base), .depth = depth,
		.vector = vector, .entry = c->create_cq.words * 4,
	};
	put(r, &(struct { uint16_t nr, depth; uint32_t numa, head, unmask; }){
		nr, depth, ENA_NUMA + nr * 4, 0, ENA_UNMASK + vector * 4 }, 16);
	return SUCCESS;
}

static enum result destroy_cq(struct model *m, const struct command *c)
{
	struct ena *ena = model_state(m);
	struct ena_cq *cq = &ena->cq[c->destroy_cq.nr % ENA_CQS];

	if (c->destroy_cq.nr >= ENA_CQS || !cq->there)
		return ILLEGAL;
	ena->vector[cq->vector] = (struct ena_vector){};
	*cq = (struct ena_cq){};
	return SUCCESS;
}

/* Each direction has numbers of its own. */
static struct ena_sq *sqs(struct ena *ena, uint8_t direction)
{
	direction >>= 5;
	return direction == DIRECTION_TX ? ena->tx : direction == DIRECTION_RX ? ena->rx : NULL;
}

static enum result create_sq(struct model *m, const struct command *c, struct reply *r)
{
	struct ena *ena = model_state(m);
	struct ena_sq *sq = sqs(ena, c->create_sq.direction);
	uint16_t depth = c->create_sq.depth, cq = c->create_sq.cq;
	unsigned nr = 0, where = c->create_sq.placement & 0xf;
	uint32_t lines;

	if (!sq || (where != IN_HOST_MEMORY && (where != IN_OURS || sq != ena->tx)) ||
	    cq >= ENA_CQS || !ena->cq[cq].there || !depth || depth > ENA_DEPTH ||
	    depth & (depth - 1))
		return ILLEGAL;
	while (nr < ENA_QUEUES && sq[nr].there)
		nr++;
	if (nr == ENA_QUEUES)
		return NO_RESOURCE;
	lines = nr * ENA_DEPTH * ENA_LINE;
	sq[nr] = (struct ena_sq){
		.there = true, .base = address(&c->create_sq.base), .depth = depth,
		.cq = &ena->cq[cq], .lines = where == IN_OURS ? model_memory(m) + lines : NULL,
	};
	put(r, &(struct { uint16_t nr, reserved; uint32_t doorbell, lines, headers; }){
		nr, 0, (sq == ena->tx ? ENA_TX_DOORBELL : ENA_RX_DOORBELL) + nr * 4, lines, 0 },
	    16);
	return SUCCESS;
}

static enum result destroy_sq(struct model *m, const struct command *c)
{
	struct ena *ena = model_state(m);
	struct ena_sq *sq = sqs(ena, c->destroy_sq.direction);
	unsigned nr = c->destroy_sq.nr;

	if (!sq || nr >= ENA_QUEUES || !sq[nr].there)
		return ILLEGAL;
	if (sq == ena->tx)
		model_forget(m, nr);
	sq[nr] = (struct ena_sq){};
	return SUCCESS;
}

/* Those asked for go to the driver's buffer, in order; without one it learns which there are. */
static enum result metrics(struct model *m, const struct command *c, struct reply *r)
{
	const struct ena *ena = model_state(m);
	const uint64_t left = ENA_CONNECTIONS - ena->connections;
	uint64_t asked = c->stats.metrics[0] & ((1 << (ENA_ALLOWANCES + 1)) - 1);
	uint64_t at = address(&c->stats.at), end = at + c->stats.length;

	put(r, &asked, sizeof(asked));
	for (unsigned i = 0; at + 8 <= end && i <= ENA_ALLOWANCES; i++) {
		if (!(asked >> i & 1))
			continue;
		model_store(m, at, i < ENA_ALLOWANCES ? &ena->exceeded[i] : &left, 8);
		at += 8;
	}
	return SUCCESS;
}

static enum result get_stats(struct model *m, const struct command *c, struct reply *r)
{
	const struct ena *ena = model_state(m);

	switch (c->stats.type) {
	case STATS_BASIC:
		put(r, &ena->counters, sizeof(ena->counters));
		return SUCCESS;
	case STATS_ENI:
		put(r, ena->exceeded, sizeof(ena->exceeded));
		return SUCCESS;
	case STATS_METRICS:
		return metrics(m, c, r);
	}
	return UNSUPPORTED;
}

static enum result obey(struct model *m, const struct command *c, struct reply *r)
{
	switch (c->opcode) {
	case CREATE_SQ:
		return create_sq(m, c, r);
	case DESTROY_SQ:
		return destroy_sq(m, c);
	case CREATE_CQ:
		return create_cq(m, c, r);
	case DESTROY_CQ:
		return destroy_cq(m, c);
	case GET_FEATURE:
		return ena_feature_get(m, c, r);
	case SET_FEATURE:
		return ena_feature_set(m, c);
	case GET_STATS:
		return get_stats(m, c, r);
	}
	return UNSUPPORTED;
}

void ena_commands(struct model *m)
{
	struct ena *ena = model_state(m);
	uint16_t depth = ena->registers[ENA_AQ_CAPS / 4];
	uint16_t replies = ena->registers[ENA_ACQ_CAPS / 4];

	while (depth && replies && ena->aq_head != (uint16_t)ena->registers[ENA_AQ_DOORBELL / 4]) {
		struct reply r = {};
		struct command c;

		if (!model_load(m, ena_base(ena, ENA_AQ_BASE) + ena->aq_head % depth * sizeof(c),
				&c, sizeof(c)))
			return;
		ena->aq_head++;
		r.result = obey(m, &c, &r);
		r.id = c.id & 0xfff;
		r.sq_head = ena->aq_head;
		r.phase = !(ena->acq_tail / replies & 1);
		model_store(m, ena_base(ena, ENA_ACQ_BASE) + ena->acq_tail % replies * sizeof(r),
			    &r, sizeof(r));
		ena->acq_tail++;
	}
	if (!ena->registers[ENA_INTERRUPT_MASK / 4])
		model_interrupt(m, 0);
}

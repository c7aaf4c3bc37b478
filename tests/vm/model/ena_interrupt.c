/* SPDX-License-Identifier: GPL-2.0 */
/* ENA's completions and interrupts: one is due when there is news, no driver at work, and time. */
#include "ena.h"

enum unmask { UNMASK_DELAY = 0x7fff, UNMASK_TX = 15, UNMASK = 1 << 30 };

/* The entry's phase is written last, and says that all is there. */
void ena_complete(struct model *m, struct ena_cq *cq, void *entry, uint8_t *phase, uint8_t bit)
{
	if (!(cq->tail / cq->depth & 1))
		*phase |= bit;
	model_store(m, cq->base + (uint64_t)(cq->tail % cq->depth) * cq->entry, entry, cq->entry);
	cq->tail++;
}

static void due(struct model *m)
{
	struct ena *ena = model_state(m);
	int64_t now = model_now();

	for (unsigned nr = 1; nr < ENA_VECTORS; nr++) {
		struct ena_vector *v = &ena->vector[nr];

		if (!v->waiting || v->due > now)
			continue;
		*v = (struct ena_vector){ .rx_delay = v->rx_delay, .tx_delay = v->tx_delay };
		model_interrupt(m, nr);
	}
}

static void wait_for(struct model *m, struct ena_vector *v)
{
	int64_t delay = 1000 * (v->rx && (!v->tx || v->rx_delay < v->tx_delay) ? v->rx_delay :
				v->tx_delay), now = model_now();

	if (!v->unmasked || !(v->rx || v->tx) || (v->waiting && v->due <= now + delay))
		return;
	v->waiting = true;
	v->due = now + delay;
	if (delay)
		model_later(m, delay, due);
	else
		due(m);
}

void ena_news(struct model *m, const struct ena_cq *cq, bool rx)
{
	struct ena *ena = model_state(m);
	struct ena_vector *v = &ena->vector[cq->vector];

	v->rx |= rx;
	v->tx |= !rx;
	wait_for(m, v);
}

void ena_unmask(struct model *m, unsigned vector, uint32_t value)
{
	struct ena *ena = model_state(m);
	struct ena_vector *v = &ena->vector[vector];

	v->rx_delay = value & UNMASK_DELAY;
	v->tx_delay = value >> UNMASK_TX & UNMASK_DELAY;
	v->unmasked = value & UNMASK;
	wait_for(m, v);
}

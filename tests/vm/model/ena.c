/* SPDX-License-Identifier: GPL-2.0 */
/* Amazon's ENA: its registers, its reset, and what it tells the driver unasked. */
#include <string.h>

#include "ena.h"

#define SECOND	1000000000

enum control { CONTROL_RESET = 1 };
enum status { STATUS_READY = 1, STATUS_RESETTING = 8 };
enum group { LINK_CHANGE = 0, KEEP_ALIVE = 4 };

/* An entry of the AENQ, the queue of events. */
struct event {
	uint16_t group, syndrome;
	uint8_t phase, reserved[3];
	uint32_t time[2];
	uint32_t data[12];
};

/* What answers to ENA_READ: a card may take its time, and the driver waits on memory. */
struct answer {
	uint16_t request, reg;
	uint32_t value;
};

uint64_t ena_base(const struct ena *ena, unsigned reg)
{
	return ena->registers[reg / 4] | (uint64_t)ena->registers[reg / 4 + 1] << 32;
}

static void reset(struct model *m)
{
	struct ena *ena = model_state(m);
	bool alive = ena->alive;	/* what is on its way comes, and then finds no queue */

	model_forget(m, -1);
	memset(ena, 0, sizeof(*ena));
	ena->alive = alive;
	ena->registers[ENA_VERSION / 4] = 0x0200;
	ena->registers[ENA_CONTROLLER_VERSION / 4] = 0x000001;
	/* 48 bits of address; a reset takes at most three seconds, in units of 100 ms */
	ena->registers[ENA_CAPS / 4] = 48 << 8 | 30 << 1 | 1;
	ena->registers[ENA_STATUS / 4] = STATUS_READY;
	ena->registers[ENA_INTERRUPT_MASK / 4] = 1;
	ena_rss_reset(ena);
}

/* The driver holds the bit until it has seen that a reset is under way. */
static void control(struct model *m, uint32_t value)
{
	struct ena *ena = model_state(m);

	if (value & CONTROL_RESET) {
		reset(m);
		ena->registers[ENA_STATUS / 4] |= STATUS_RESETTING;
	} else {
		ena->registers[ENA_STATUS / 4] &= ~STATUS_RESETTING;
	}
	ena->registers[ENA_CONTROL / 4] = value;
}

static void answer(struct model *m, uint32_t question)
{
	struct ena *ena = model_state(m);
	struct answer a = { .request = question, .reg = question >> 16 };

	if (a.reg < sizeof(ena->registers))
		a.value = ena->registers[a.reg / 4];
	model_store(m, ena_base(ena, ENA_READ_BASE), &a, sizeof(a));
}

/* The doorbell counts the entries that were ever given to us: those we have used are not there. */
static bool event_room(const struct ena *ena)
{
	return (uint16_t)(ena->registers[ENA_AENQ_DOORBELL / 4] - ena->aenq_tail);
}

static void event(struct model *m, uint16_t group, const void *data, size_t size)
{
	struct ena *ena = model_state(m);
	uint16_t depth = ena->registers[ENA_AENQ_CAPS / 4];
	struct event e = { .group = group };

	if (!depth || !(ena->groups >> group & 1) || !event_room(ena))
		return;
	memcpy(e.data, data, size);
	e.phase = !(ena->aenq_tail / depth & 1);
	model_store(m, ena_base(ena, ENA_AENQ_BASE) + ena->aenq_tail % depth * sizeof(e), &e,
		    sizeof(e));
	ena->aenq_tail++;
	if (!ena->registers[ENA_INTERRUPT_MASK / 4])
		model_interrupt(m, 0);
}

/* Without it the driver resets the card: its watchdog waits for six seconds. */
static void keep_alive(struct model *m)
{
	struct ena *ena = model_state(m);
	const struct ena_counters *c = &ena->counters;
	uint64_t drops[] = { c->rx_drops, c->tx_drops };

	ena->alive = ena->groups >> KEEP_ALIVE & 1;
	if (!ena->alive)
		return;
	event(m, KEEP_ALIVE, drops, sizeof(drops));
	ena->link_local = 0;
	model_later(m, SECOND, keep_alive);
}

/* The first doorbell says that the driver listens: it wants to know of the link. */
static void listened_to(struct model *m, uint32_t value)
{
	struct ena *ena = model_state(m);
	bool first = !ena->registers[ENA_AENQ_DOORBELL / 4];
	uint32_t up = 1;

	ena->registers[ENA_AENQ_DOORBELL / 4] = value;
	if (!first)
		return;
	event(m, LINK_CHANGE, &up, sizeof(up));
	if (!ena->alive)
		model_later(m, SECOND / 10, keep_alive);
	ena->alive = true;
}

static bool queue_write(struct model *m, uint32_t at, uint32_t value)
{
	struct ena *ena = model_state(m);
	unsigned nr = at % 0x100 / 4;

	switch (at & ~0xffu) {
	case ENA_TX_DOORBELL:
		if (nr < ENA_QUEUES && ena->tx[nr].there) {
			ena->tx[nr].doorbell = value;
			ena_transmit(m, &ena->tx[nr]);
		}
		return true;
	case ENA_RX_DOORBELL:
		if (nr < ENA_QUEUES && ena->rx[nr].there) {
			ena->rx[nr].doorbell = value;
			model_room(m);
		}
		return true;
	case ENA_UNMASK:
		if (nr && nr < ENA_VECTORS)
			ena_unmask(m, nr, value);
		return true;
	}
	return at >= ENA_TX_DOORBELL;
}

static uint32_t read(struct model *m, uint32_t at)
{
	const struct ena *ena = model_state(m);

	return at < sizeof(ena->registers) ? ena->registers[at / 4] : 0;
}

static void write(struct model *m, uint32_t at, uint32_t value)
{
	struct ena *ena = model_state(m);

	if (queue_write(m, at, value) || at >= sizeof(ena->registers))
		return;
	switch (at) {
	case ENA_VERSION:
	case ENA_CONTROLLER_VERSION:
	case ENA_CAPS:
	case ENA_STATUS:
		return;
	case ENA_CONTROL:
		control(m, value);
		return;
	case ENA_READ:
		answer(m, value);
		return;
	case ENA_AENQ_DOORBELL:
		listened_to(m, value);
		return;
	}
	ena->registers[at / 4] = value;
	if (at == ENA_AQ_DOORBELL)
		ena_commands(m);
}

static const struct model_card card = {
	.name = "ena",
	.vendor = 0x1d0f, .device = 0xec20,	/* a virtual function of Nitro's */
	.registers = ENA_BYTES,
	.memory = ENA_QUEUES * ENA_DEPTH * ENA_LINE,
	.vectors = ENA_VECTORS,
	.state = sizeof(struct ena),
	.reset = reset,
	.read = read,
	.write = write,
	.receive = ena_receive,
	.complete = ena_tx_complete,
	.completed = ena_tx_completed,
};

__attribute__((constructor)) static void ena_register(void)
{
	model_register(&card);
}

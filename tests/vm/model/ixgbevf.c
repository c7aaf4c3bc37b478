/* SPDX-License-Identifier: GPL-2.0 */
/* X550's virtual function: reads and writes of its registers. */
#include <string.h>

#include "ixgbevf.h"

/* All but what its physical function knows, and what it counted. */
static void reset_function(struct model *m)
{
	struct ixgbevf *v = model_state(m);

	memset(v->registers, 0, sizeof(v->registers));
	memset(v->contexts, 0, sizeof(v->contexts));
	v->causes = v->enabled = v->unsaid = 0;
	for (unsigned i = 0; i < QUEUES; i++)
		v->sending[i].size = 0;
	model_forget(m, -1);
	ixgbevf_mailbox_reset(m);
}

static void reset(struct model *m)
{
	struct ixgbevf *v = model_state(m);

	memset(&v->counts, 0, sizeof(v->counts));
	v->filter.met = false;
	reset_function(m);
}

static uint32_t causes_read(struct ixgbevf *v)
{
	uint32_t causes = v->causes;

	v->causes = v->unsaid = 0;
	return causes;
}

static uint32_t read_register(struct model *m, uint32_t at)
{
	struct ixgbevf *v = model_state(m);

	switch (at) {
	case VFLINKS:
		return VFLINKS_UP_10G;
	case VFFRTIMER:
		return model_now() / 1000;
	case VTEICR:
		return causes_read(v);
	case VTEIMS:
		return v->enabled;
	case VFMAILBOX:
		return ixgbevf_mailbox_read(m);
	case VFGPRC:
		return v->counts.rx_packets;
	case VFGORC_LOW:
		return v->counts.rx_bytes;
	case VFGORC_HIGH:
		return v->counts.rx_bytes >> 32 & 0xf;
	case VFMPRC:
		return v->counts.rx_multicast;
	case VFGPTC:
		return v->counts.tx_packets;
	case VFGOTC_LOW:
		return v->counts.tx_bytes;
	case VFGOTC_HIGH:
		return v->counts.tx_bytes >> 32 & 0xf;
	}
	return v->registers[at / 4];
}

static void tail_write(struct model *m, uint32_t at)
{
	unsigned queue = (at & 0xfff) / QUEUE_STRIDE;

	if (queue >= QUEUES || at % QUEUE_STRIDE != TAIL)
		return;
	if (at >= TX_QUEUES)
		ixgbevf_transmit(m, queue);
	else
		model_room(m);
}

static void write_register(struct model *m, uint32_t at, uint32_t value)
{
	struct ixgbevf *v = model_state(m);

	switch (at) {
	case VFCTRL:
		if (value & VFCTRL_RESET)
			reset_function(m);
		return;
	case VTEICR:
		v->causes &= ~value;
		v->unsaid &= ~value;
		return;
	case VTEICS:
		ixgbevf_cause(m, value);
		return;
	case VTEIMS:
		ixgbevf_enable(m, value);
		return;
	case VTEIMC:
		v->enabled &= ~value;
		return;
	case VFMAILBOX:
		ixgbevf_mailbox_write(m, value);
		return;
	}
	v->registers[at / 4] = value;
	if (at >= RX_QUEUES && at < VFMRQC)
		tail_write(m, at);
}

static const struct model_card card = {
	.name = "ixgbevf",
	.vendor = 0x8086,
	.device = 0x1565,
	.revision = 1,
	.registers = REGISTERS,
	.vectors = VECTORS,
	.state = sizeof(struct ixgbevf),
	.reset = reset,
	.read = read_register,
	.write = write_register,
	.receive = ixgbevf_receive,
	.complete = ixgbevf_complete,
	.completed = ixgbevf_completed,
	.in_order = true,
};

static void __attribute__((constructor)) add(void)
{
	model_register(&card);
}

/* SPDX-License-Identifier: GPL-2.0 */
/* A virtual function of Intel X550: its registers. */
#include "model.h"

struct ixgbevf {
	uint32_t registers[0x4000 / 4];
};

static void reset(struct model *m)
{
	(void)m;
}

static uint32_t read_register(struct model *m, uint32_t at)
{
	struct ixgbevf *v = model_state(m);

	return v->registers[at / 4];
}

static void write_register(struct model *m, uint32_t at, uint32_t value)
{
	struct ixgbevf *v = model_state(m);

	v->registers[at / 4] = value;
}

static ssize_t receive(struct model *m, const uint8_t *frame, size_t size)
{
	(void)m;
	(void)frame;
	return size;
}

static const struct model_card card = {
	.name = "ixgbevf",
	.vendor = 0x8086,
	.device = 0x1565,
	.registers = 0x4000,
	.vectors = 3,
	.state = sizeof(struct ixgbevf),
	.reset = reset,
	.read = read_register,
	.write = write_register,
	.receive = receive,
};

static void __attribute__((constructor)) add(void)
{
	model_register(&card);
}

/* SPDX-License-Identifier: GPL-2.0 */
/* X550's virtual function: causes become messages, not too many of them. */
#include "ixgbevf.h"

/* VTEITR: the shortest time between two messages, in bits 11:3, of 2 µs each at 10 Gbit/s. */
static int64_t interval(const struct ixgbevf *v, unsigned vector)
{
	return (v->registers[VTEITR / 4 + vector] >> 3 & 0x1ff) * 2000LL;
}

static void say(struct model *m)
{
	struct ixgbevf *v = model_state(m);
	int64_t now = model_now();

	for (unsigned i = 0; i < VECTORS; i++) {
		uint32_t cause = 1 << i;

		if (!(v->unsaid & v->enabled & cause))
			continue;
		if (now < v->quiet_until[i]) {
			if (!v->waits[i])
				model_later(m, v->quiet_until[i] - now, say);
			v->waits[i] = true;
			continue;
		}
		v->waits[i] = false;
		v->quiet_until[i] = now + interval(v, i);
		v->unsaid &= ~cause;
		v->causes &= ~(v->registers[VTEIAC / 4] & cause);
		v->enabled &= ~(v->registers[VTEIAM / 4] & cause);
		model_interrupt(m, i);
	}
}

void ixgbevf_cause(struct model *m, uint32_t causes)
{
	struct ixgbevf *v = model_state(m);

	v->causes |= causes;
	v->unsaid |= causes;
	say(m);
}

void ixgbevf_enable(struct model *m, uint32_t causes)
{
	struct ixgbevf *v = model_state(m);

	v->enabled |= causes;
	v->unsaid |= v->causes & causes;
	say(m);
}

static void news(struct model *m, uint8_t entry)
{
	if (entry & VTIVAR_VALID)
		ixgbevf_cause(m, 1 << (entry & 3));
}

/* An entry is a byte: RX and TX of an even queue, RX and TX of an odd one. */
void ixgbevf_queue_news(struct model *m, unsigned queue, bool tx)
{
	struct ixgbevf *v = model_state(m);

	news(m, v->registers[VTIVAR / 4 + queue / 2] >> (16 * (queue % 2) + 8 * tx));
}

void ixgbevf_mailbox_news(struct model *m)
{
	struct ixgbevf *v = model_state(m);

	news(m, v->registers[VTIVAR_MISC / 4]);
}

/* SPDX-License-Identifier: GPL-2.0 */
/* ENA's allowances of packets and bytes a second: what is beyond them is refused, and counted. */
#include "ena.h"

#define SECOND	1000000000LL

static bool above(struct model *m, enum model_switch which, uint64_t passed, uint64_t more)
{
	uint32_t most = model_switch(m, which);

	return most && passed + more > most;
}

bool ena_above_rate(struct model *m, size_t size, bool out)
{
	struct ena *ena = model_state(m);
	struct ena_passed *p = &ena->passed;
	uint64_t *bytes = out ? &p->bytes_out : &p->bytes_in;
	int64_t second = model_now() / SECOND;

	if (p->second != second)
		*p = (struct ena_passed){ .second = second };
	if (above(m, SWITCH_PACKETS, p->packets, 1)) {
		ena->exceeded[PPS]++;
		return true;
	}
	if (above(m, out ? SWITCH_BYTES_OUT : SWITCH_BYTES_IN, *bytes, size)) {
		ena->exceeded[out ? BW_OUT : BW_IN]++;
		return true;
	}
	p->packets++;
	*bytes += size;
	return false;
}

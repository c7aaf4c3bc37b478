/* SPDX-License-Identifier: GPL-2.0 */
/* Frames that GRO does not merge: a finding only where the stack received them, with data. */
#include <stdlib.h>

#include "bpf/gro/gro.h"
#include "xdp/flow.h"

#define SUBJECT "merging "
#include "busy.h"

#define FRAMES	20000

/* Frames past GRO as a generic XDP program is there, and the buffers of this size that remain. */
static struct snapshot *frames(uint64_t buffers, uint64_t size)
{
	struct snapshot *s = window((unsigned[]){ 90, 90, 90, 90 });
	struct table *t = &s->tables[METER_flow], *gro = &s->tables[METER_gro];
	struct flow_key key = { .family = 4, .port = { 1000, 80 }, .proto = 6 };
	struct flow *flow;
	struct gro *row;

	*t = (struct table){ .cpus = 1, .words = sizeof(*flow) / 8 };
	flow = (struct flow *)table_add(t, &meter_flow, &key);
	*gro = (struct table){ .rows = QUEUES + 1, .cpus = 1, .words = sizeof(*row) / 8 };
	gro->cells = calloc(gro->rows, sizeof(*row));
	if (!flow || !gro->cells)
		abort();
	*flow = (struct flow){ FRAMES, FRAMES * size, 22 };
	row = (struct gro *)row_words(gro, 0, 0);
	row->frames[GRO_FRAME_NORMAL] = row->alone[GRO_XDP] = FRAMES;
	row->size.slot[0] = row->size.sum = buffers;
	row->bytes = buffers * size;
	return s;
}

static void says(const char *name, uint64_t buffers, uint64_t size, const char *id)
{
	struct snapshot *s = frames(buffers, size);

	finds(s, setup_unknown(), name, id, NULL, NULL);
	free(s->tables[METER_flow].cells);
	free(s->tables[METER_flow].keys);
	free(s->tables[METER_gro].cells);
	forget(s);
}

int main(void)
{
	says("data", FRAMES, 1000, "gro-generic-xdp");
	says("acknowledgements", FRAMES, 66, NULL);
	says("the program drops all of them", 0, 1000, NULL);
	says("it drops nine of ten", FRAMES / 10, 1000, NULL);
	says("it drops one of ten", FRAMES * 9 / 10, 1000, "gro-generic-xdp");
	return failed > 0;
}

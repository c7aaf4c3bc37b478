/* SPDX-License-Identifier: GPL-2.0 */
/* OpenMetrics of how packets spread over queues: the busiest, the idlest, and the imbalance. */
#include <inttypes.h>

#include "render/openmetrics.h"
#include "render/shown.h"

/* The packets of a window at one point, whose queue is known. */
struct spread {
	unsigned queues;		/* in use; 0: there is no spread */
	uint64_t all;
	int busiest, idlest;
	uint64_t most, least;
};

/* Of several queues with as many packets it is the first. */
static struct spread spread_of(const struct snapshot *s, enum point point)
{
	const struct table *t = &s->tables[METER_pktsize];
	unsigned in_use = point == RX_NIC || point == RX_STACK ? s->meta.rx_queues :
								 s->meta.tx_queues;
	struct spread a = { .busiest = -1, .idlest = -1 };

	for (unsigned row = 0; t->cells && row < t->rows; row++) {
		struct place at = place_of(s, &meter_pktsize, row);
		uint64_t packets;

		if (at.point != point || at.queue < 0)
			continue;
		packets = row_weight(&meter_pktsize, row_words(t, row, 0));
		if (!packets && at.queue >= (int)in_use)
			continue;
		a.queues++;
		a.all += packets;
		if (a.busiest < 0 || packets > a.most) {
			a.busiest = at.queue;
			a.most = packets;
		}
		if (a.idlest < 0 || packets < a.least) {
			a.idlest = at.queue;
			a.least = packets;
		}
	}
	return a.all ? a : (struct spread){};
}

enum figure { QUEUE, SHARE, IMBALANCE };

static void samples(const struct metrics_out *o, const char *name, enum figure figure,
		    const struct snapshot *s, enum point point, const struct spread *a)
{
	for (unsigned idlest = 0; idlest < (figure == IMBALANCE ? 1 : 2); idlest++) {
		double of_all = (double)(idlest ? a->least : a->most) / a->all;

		openmetrics_labels(o->out, name, s);
		fprintf(o->out, ",point=\"%s\"", point_names[point]);
		if (figure != IMBALANCE)
			fprintf(o->out, ",which=\"%s\"", idlest ? "idlest" : "busiest");
		fprintf(o->out, "} %.9g\n", figure == QUEUE ? idlest ? a->idlest : a->busiest :
					    figure == SHARE ? of_all : of_all * a->queues);
	}
}

static void family(const struct metrics_out *o, const char *name, const char *unit,
		   const char *help, enum figure figure, const struct snapshot *const *list,
		   const struct snapshot *const *windows, unsigned nr)
{
	bool any = false;

	for (unsigned i = 0; i < nr; i++)
		for (unsigned p = 0; p < NR_POINTS; p++) {
			struct spread a = spread_of(windows[i], p);

			if (!a.queues || !meter_shown(list[i], METER_pktsize))
				continue;
			if (!any)
				openmetrics_head(o, name, "gauge", unit, help);
			any = true;
			samples(o, name, figure, list[i], p, &a);
		}
}

void spread_openmetrics(const struct metrics_out *o, const struct snapshot *const *list,
			const struct snapshot *const *windows, unsigned nr)
{
	family(o, "nicprobe_spread_queue", "", "Number of the queue with the most or the fewest "
	       "packets of the window.", QUEUE, list, windows, nr);
	family(o, "nicprobe_spread_ratio", "ratio", "Share of the packets of the window that this "
	       "queue had.", SHARE, list, windows, nr);
	family(o, "nicprobe_spread_imbalance_ratio", "ratio", "Packets of the busiest queue in the "
	       "window divided by the mean of all queues: 1 is even.", IMBALANCE, list, windows,
	       nr);
}

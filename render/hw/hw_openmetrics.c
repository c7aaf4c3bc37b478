/* SPDX-License-Identifier: GPL-2.0 */
/* OpenMetrics of "hw": info metrics with labels to join with other metrics. */
#include <stdlib.h>

#include "lib/proc/holders.h"
#include "lib/read/snapshot.h"
#include "lib/util/log.h"
#include "render/hw/hw.h"
#include "render/openmetrics.h"

static const char *number(long long value)
{
	return value < 0 ? "" : text("%lld", value);
}

static void cpus(FILE *out, const char *name, const struct cpus *c)
{
	char *list = malloc(8 * MAX_CPUS);

	openmetrics_label(out, name, list ? cpus_text(c, list, 8 * MAX_CPUS) : "");
	free(list);
}

static void queue(FILE *out, const struct snapshot *s, const struct hw_line *l)
{
	openmetrics_labels(out, "nicprobe_hw_queue_info", s);
	openmetrics_label(out, "rx", number(l->rx));
	openmetrics_label(out, "tx", number(l->tx));
	openmetrics_label(out, "napi", number(l->napi ? (long long)l->napi : -1));
	openmetrics_label(out, "irq", number(l->irq ? (long long)l->irq : -1));
	openmetrics_label(out, "vector", l->vector);
	cpus(out, "affinity", &l->may);
	cpus(out, "effective_affinity", &l->does);
	cpus(out, "rps", &l->rps);
	cpus(out, "xps", &l->xps);
	fputs("} 1\n", out);
}

static void socket_info(FILE *out, const struct snapshot *s, const struct xsk *x)
{
	struct holder h;

	holder_find(x->inode, &h);
	openmetrics_labels(out, "nicprobe_hw_xsk_info", s);
	openmetrics_label(out, "queue", number(x->queue));
	openmetrics_label(out, "process", h.name);
	openmetrics_label(out, "socket", number(x->inode));
	openmetrics_label(out, "uid", number(x->uid));
	openmetrics_label(out, "mode", x->zero_copy ? "zero-copy" : "copy");
	fputs("} 1\n", out);
}

static void sockets(const struct metrics_out *o, const struct snapshot *const *list, unsigned nr)
{
	bool begun = false;

	for (unsigned i = 0; i < nr; i++)
		for (unsigned k = 0; list[i]->hw && k < list[i]->hw->xsks.nr; k++) {
			if (!begun)
				openmetrics_head(o, "nicprobe_hw_xsk_info", "info", "",
						 "AF_XDP sockets and the queues that they use.");
			begun = true;
			socket_info(o->out, list[i], &list[i]->hw->xsks.list[k]);
		}
}

void hw_openmetrics(const struct metrics_out *o, const struct snapshot *const *list, unsigned nr)
{
	FILE *out = o->out;
	bool any = false;

	for (unsigned i = 0; i < nr; i++)
		any |= !!list[i]->hw;
	if (!any)
		return;
	openmetrics_head(o, "nicprobe_hw_info", "info", "",
			 "Driver, firmware and device of an interface.");
	for (unsigned i = 0; i < nr; i++) {
		const struct hw *h = list[i]->hw;

		if (!h)
			continue;
		openmetrics_labels(out, "nicprobe_hw_info", list[i]);
		openmetrics_label(out, "driver", h->iface.driver);
		openmetrics_label(out, "version", h->version);
		openmetrics_label(out, "firmware", h->firmware);
		openmetrics_label(out, "device", h->card.name);
		openmetrics_label(out, "ids", h->card.ids);
		openmetrics_label(out, "numa_node", number(h->card.node));
		fputs("} 1\n", out);
	}
	openmetrics_head(o, "nicprobe_hw_queue_info", "info", "",
			 "Interrupt, NAPI and CPUs that serve a queue.");
	for (unsigned i = 0; i < nr; i++)
		for (unsigned k = 0; list[i]->hw && k < list[i]->hw->nr; k++)
			queue(out, list[i], &list[i]->hw->lines[k]);
	sockets(o, list, nr);
}

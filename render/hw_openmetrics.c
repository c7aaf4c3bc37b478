/* SPDX-License-Identifier: GPL-2.0 */
/* For Prometheus and its like: what an interface is, as labels of a 1 to join with its figures. */
#include <stdlib.h>
#include <string.h>

#include "../lib/log.h"
#include "../lib/snapshot.h"
#include "hw.h"
#include "openmetrics.h"

static void head(FILE *out, const char *family, const char *help)
{
	fprintf(out, "# TYPE %s gauge\n# HELP %s %s\n", family, family, help);
}

/* A label without a value is none. */
static void label(FILE *out, const char *name, const char *value)
{
	if (!*value)
		return;
	fprintf(out, ",%s=\"", name);
	openmetrics_escaped(out, value);
	fputc('"', out);
}

static const char *number(long long value)
{
	return value < 0 ? "" : text("%lld", value);
}

static void cpus(FILE *out, const char *name, const struct cpus *c)
{
	char *list = malloc(8 * MAX_CPUS);

	label(out, name, list ? cpus_text(c, list, 8 * MAX_CPUS) : "");
	free(list);
}

static void queue(FILE *out, const struct snapshot *s, const struct hw_line *l)
{
	openmetrics_labels(out, "nicprobe_hw_queue_info", s);
	label(out, "rx", number(l->rx));
	label(out, "tx", number(l->tx));
	label(out, "napi", number(l->napi ? (long long)l->napi : -1));
	label(out, "irq", number(l->irq ? (long long)l->irq : -1));
	label(out, "vector", l->vector);
	cpus(out, "affinity", &l->may);
	cpus(out, "effective_affinity", &l->does);
	cpus(out, "rps", &l->rps);
	cpus(out, "xps", &l->xps);
	fputs("} 1\n", out);
}

void hw_openmetrics(FILE *out, const struct snapshot *const *list, unsigned nr)
{
	head(out, "nicprobe_hw_info", "What an interface is.");
	for (unsigned i = 0; i < nr; i++) {
		const struct hw *h = list[i]->hw;

		if (!h)
			continue;
		openmetrics_labels(out, "nicprobe_hw_info", list[i]);
		label(out, "driver", h->iface.driver);
		label(out, "version", h->version);
		label(out, "firmware", h->firmware);
		label(out, "device", h->card.name);
		label(out, "ids", h->card.ids);
		label(out, "numa_node", number(h->card.node));
		fputs("} 1\n", out);
	}
	head(out, "nicprobe_hw_queue_info", "Which interrupt, NAPI and CPUs serve which queue.");
	for (unsigned i = 0; i < nr; i++)
		for (unsigned k = 0; list[i]->hw && k < list[i]->hw->nr; k++)
			queue(out, list[i], &list[i]->hw->lines[k]);
}

/* SPDX-License-Identifier: GPL-2.0 */
/* Combines queues, NAPIs, interrupts, RPS and XPS of an interface into lines. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/hw/hw.h"
#include "lib/net/sysfs.h"
#include "lib/util/grow.h"
#include "lib/util/log.h"

static struct hw_line *line_add(struct hw *h, int rx, int tx)
{
	struct hw_line *more = grow(h->lines, h->nr, sizeof(*more));

	if (!more)
		return NULL;
	h->lines = more;
	more[h->nr] = (struct hw_line){ .rx = rx, .tx = tx, .node = -1 };
	return &more[h->nr++];
}

static void irq_set(struct hw_line *l, const struct vector *v)
{
	char node[16];

	l->irq = v->irq;
	memcpy(l->vector, v->name, sizeof(l->vector));
	l->at = v->at;
	l->len = v->len;
	if (!v->irq)
		return;
	vector_affinity(v->irq, &l->may, &l->does);
	if (sysfs_line(-1, text("%s/%u/node", proc_irq, v->irq), node, sizeof(node)) && *node)
		l->node = atoi(node);
}

static bool has_line(const struct hw *h, int queue, bool tx)
{
	for (unsigned i = 0; i < h->nr; i++)
		if ((tx ? h->lines[i].tx : h->lines[i].rx) == queue)
			return true;
	return false;
}

/* Some drivers request interrupts for inactive queues, too. */
static int in_use(int queue, unsigned nr)
{
	return queue >= 0 && queue < (int)nr ? queue : QUEUE_NONE;
}

/* Adds the queues that no interrupt names, rx and tx combined where both exist. */
static bool rest_add(struct hw *h, const struct queues *q)
{
	const struct vector *all = NULL;
	unsigned most = h->iface.rx_queues > h->iface.tx_queues ? h->iface.rx_queues :
			h->iface.tx_queues;

	for (unsigned i = 0; i < q->nr; i++)
		if (q->vectors[i].rx == QUEUE_ALL || q->vectors[i].tx == QUEUE_ALL)
			all = &q->vectors[i];
	for (int n = 0; n < (int)most; n++) {
		int rx = n < (int)h->iface.rx_queues && !has_line(h, n, false) ? n : QUEUE_NONE;
		int tx = n < (int)h->iface.tx_queues && !has_line(h, n, true) ? n : QUEUE_NONE;
		struct hw_line *l;

		if (rx == QUEUE_NONE && tx == QUEUE_NONE)
			continue;
		l = line_add(h, rx, tx);
		if (!l)
			return false;
		if (all) {
			irq_set(l, all);
			l->len = 0;	/* a number in its name is not a queue's */
		}
	}
	return true;
}

static bool vectors_add(struct hw *h, const struct queues *q)
{
	for (unsigned i = 0; i < q->nr; i++) {
		const struct vector *v = &q->vectors[i];
		struct hw_line *l;

		if (v->rx == QUEUE_ALL || v->tx == QUEUE_ALL)
			continue;
		l = line_add(h, in_use(v->rx, h->iface.rx_queues),
			     in_use(v->tx, h->iface.tx_queues));
		if (!l)
			return false;
		irq_set(l, v);
	}
	return true;
}

static void steering_read(struct hw_line *l, int sys)
{
	char mask[4096];

	if (l->rx >= 0) {
		if (sysfs_line(sys, text("queues/rx-%d/rps_cpus", l->rx), mask, sizeof(mask)))
			cpus_from_mask(&l->rps, mask);
		l->rps_flows = sysfs_number(sys, text("queues/rx-%d/rps_flow_cnt", l->rx));
	}
	if (l->tx >= 0 && sysfs_line(sys, text("queues/tx-%d/xps_cpus", l->tx), mask, sizeof(mask)))
		cpus_from_mask(&l->xps, mask);
}

static unsigned long number_in(const struct hw_line *l)
{
	return l->len ? strtoul(l->vector + l->at, NULL, 10) : 0;
}

/* Interrupts without a queue: sort by the number in their names. */
static int order_others(const struct hw_line *x, const struct hw_line *y)
{
	int cmp = strncmp(x->vector, y->vector, x->len && y->len ? x->at : sizeof(x->vector));

	if (!cmp && number_in(x) != number_in(y))
		return number_in(x) < number_in(y) ? -1 : 1;
	return cmp ?: x->irq < y->irq ? -1 : x->irq > y->irq;
}

static int order(const void *a, const void *b)
{
	const struct hw_line *x = a, *y = b;
	unsigned xr = x->rx, yr = y->rx, xt = x->tx, yt = y->tx;	/* QUEUE_NONE is largest */

	if (xr != yr)
		return xr < yr ? -1 : 1;
	if (xt != yt)
		return xt < yt ? -1 : 1;
	return order_others(x, y);
}

static void irqs_note(struct hw *h, const struct queues *q)
{
	if (!q->device)
		hw_note(h, "interrupts", "software device: no hardware interrupts");
	else if (!q->nr && !h->iface.up)
		hw_note(h, "interrupts", "the interface is down: its driver requests them when it "
			"comes up");
	else if (!q->nr)
		hw_note(h, "interrupts", "%s", h->driver->irqs_how ?:
			"the kernel lists none for this device");
	else if (!q->by && !h->iface.up)
		hw_note(h, "interrupts of queues", "the interface is down: its driver requests "
			"them when it comes up");
	else if (!q->by)
		hw_note(h, "interrupts of queues", "%s", h->driver->irqs_how ?:
			"neither the driver nor their names show which serves which queue");
}

int hw_lines_read(struct hw *h, int sys)
{
	struct queues q;
	int err = queues_read(&h->iface, h->driver, &q);

	if (err)
		return err;
	h->by = q.by;
	napis_read(h->iface.ifindex, &h->napis);
	if (!h->napis.nr && h->threaded)
		napis_by_name(h->iface.name, h->iface.rx_queues + h->iface.tx_queues, &h->napis);
	for (unsigned i = 0; i < h->napis.nr; i++)
		if (h->napis.list[i].threaded == NAPI_NOT_TOLD)
			h->napis.list[i].threaded = h->threaded ? NAPI_IN_THREAD : NAPI_IN_SOFTIRQ;
	if (!vectors_add(h, &q) || !rest_add(h, &q))
		err = -ENOMEM;
	if (sys >= 0 && !strcmp(h->card.subsystem, "vmbus"))
		hw_channels_read(h, sys);
	for (unsigned i = 0; i < h->nr && sys >= 0; i++)
		steering_read(&h->lines[i], sys);
	if (h->nr)
		qsort(h->lines, h->nr, sizeof(*h->lines), order);
	hw_napis_match(h, &q);
	irqs_note(h, &q);
	queues_free(&q);
	return err;
}

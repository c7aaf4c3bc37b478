/* SPDX-License-Identifier: GPL-2.0 */
/* Matches NAPIs, and channels of the VMBus, with queues. */
#include <stdlib.h>

#include "lib/hw/hw.h"
#include "lib/net/sysfs.h"
#include "lib/util/log.h"

/* The VMBus has no per-device interrupts, but reports the CPU that each channel signals. */
void hw_channels_read(struct hw *h, int sys)
{
	DIR *dir = sysfs_dir(sys, "device/channels");
	const struct dirent *e;

	while (dir && (e = readdir(dir))) {
		char index[16], cpu[16];

		if (*e->d_name == '.' ||
		    !sysfs_line(sys, text("device/channels/%.32s/subchannel_id", e->d_name), index,
				sizeof(index)) ||
		    !sysfs_line(sys, text("device/channels/%.32s/cpu", e->d_name), cpu,
				sizeof(cpu)))
			continue;
		for (unsigned i = 0; i < h->nr; i++)
			if (!h->lines[i].irq && (h->lines[i].rx == atoi(index) ||
						 h->lines[i].tx == atoi(index)))
				cpus_from_list(&h->lines[i].does, cpu);
	}
	if (dir)
		closedir(dir);
}

/* Uses what the driver reported to the kernel. */
static void napi_told(const struct hw *h, struct hw_line *l, const struct queues *q)
{
	if (l->rx >= 0)
		l->napi = q->rx_napi[l->rx];
	if (!l->napi && l->tx >= 0)
		l->napi = q->tx_napi[l->tx];
		/* it may have reported the interrupt of a NAPI, but not its queues */
	for (unsigned i = 0; i < h->napis.nr && !l->napi && l->irq; i++)
		if (h->napis.list[i].irq == l->irq)
			l->napi = h->napis.list[i].id;
}

static void napi_give(struct hw *h, unsigned irq, __u32 id)
{
	for (unsigned i = 0; i < h->nr; i++)
		if (h->lines[i].irq == irq && (h->lines[i].rx >= 0 || h->lines[i].tx >= 0))
			h->lines[i].napi = id;
}

/*
 * Drivers create NAPIs in the order of their interrupts or queues, and IDs only grow: if there are
 * as many, match them in order. Vectors of inactive queues count as well: virtio_net has a NAPI
 * with an ID for each possible receive queue, and none for transmit queues (6.12).
 */
static void napis_rank(struct hw *h, const struct queues *q)
{
	const struct napi_instance *list = h->napis.list;
	unsigned all = 0, rx = 0, nr = h->napis.nr;

	for (unsigned i = 0; i < q->nr; i++) {
		all += q->vectors[i].rx >= 0 || q->vectors[i].tx >= 0;
		rx += q->vectors[i].rx >= 0;
	}
	for (unsigned i = 0, n = 0; nr == all && i < q->nr; i++)	/* by interrupt number */
		if (q->vectors[i].rx >= 0 || q->vectors[i].tx >= 0)
			napi_give(h, q->vectors[i].irq, list[n++].id);
	if (nr && (nr == all || nr == rx || (!all && nr == h->iface.max_rx_queues) ||
		   (!all && nr == h->iface.rx_queues)))
		h->napi_by = QUEUES_BY_RANK;
	if (!h->napi_by || nr == all)
		return;
	for (unsigned i = 0; i < h->nr; i++)
		if (h->lines[i].rx >= 0 && h->lines[i].rx < (int)nr)
			h->lines[i].napi = list[h->lines[i].rx].id;
}

static void thread_set(const struct hw *h, struct hw_line *l)
{
	for (unsigned i = 0; i < h->napis.nr; i++) {
		const struct napi_instance *n = &h->napis.list[i];

		if (!l->napi || n->id != l->napi)
			continue;
		l->threaded = n->threaded;
		l->pid = n->threaded ? n->pid : 0;
		if (l->pid)
			l->thread = n->thread_cpus;
	}
}

void hw_napis_match(struct hw *h, const struct queues *q)
{
	for (unsigned i = 0; i < h->nr; i++) {
		napi_told(h, &h->lines[i], q);
		if (h->lines[i].napi)
			h->napi_by = QUEUES_BY_NETDEV;
	}
	if (!h->napi_by && h->napis.nr && h->napis.list[0].id)
		napis_rank(h, q);
	for (unsigned i = 0; i < h->nr; i++)
		thread_set(h, &h->lines[i]);
}

/* SPDX-License-Identifier: GPL-2.0 */
/* What the BPF programs must know of an interface, a request and this kernel: struct config. */
#include <errno.h>
#include <linux/if_ether.h>
#include <stdio.h>
#include <string.h>

#include "lib/attach/configure.h"
#include "lib/attach/device.h"
#include "lib/kernel/kernel.h"
#include "lib/kernel/names.h"
#include "lib/kernel/release.h"
#include "lib/kernel/symbol.h"
#include "lib/util/log.h"

/* The size of a table of skbs that has room for so many, up to 2^most: 32 - log2 of it. */
static __u32 table_shift(unsigned long long room, unsigned most)
{
	unsigned bits = 6;

	while (bits < most && 1ull << bits < room)
		bits++;
	return 32 - bits;
}

/*
 * Chunks of txlat's table, of 16 places: with every ring full at once one place
 * in eight is taken. And as many buckets of four in its overflow.
 */
static __u32 flight_shift(const struct iface *i, unsigned sample)
{
	return table_shift((unsigned long long)i->tx_queues * i->tx_ring / 2 / sample, 16);
}

/*
 * Buckets of qdisc's, of three: a qdisc holds 1000 packets by default, the largest (fq_codel,
 * fq) 10240. One such and the others at 1000 is half full.
 */
static __u32 waiting_shift(const struct iface *i, unsigned sample)
{
	return table_shift((10240ull + 1000ull * i->tx_queues) * 2 / 3 / sample, 18);
}

int site_queues(struct site *site)
{
	struct napi_order order;

	if (queues_read(&site->iface, site->driver, &site->queues))
		return complain(-ENOMEM, NULL, "no memory for the queues of %s", site->iface.name);
	order = queues_order(&site->queues);
	site->config.napis = order.all;
	site->config.napi_first = order.first;
	site->config.napi_rx = order.rx;
	return 0;
}

void site_configure(struct site *site, const struct request *req)
{
	const struct iface *i = &site->iface;
	unsigned queues = i->max_rx_queues > i->max_tx_queues ? i->max_rx_queues : i->max_tx_queues;

	site->request = req;
	site->driver = driver_find(i->driver);
	site->config = (struct config){
		.on = req->meters,
		.ifindex = i->ifindex,
		.netns = i->netns,
		.rows = queues + 1,
		.rx_queues = i->max_rx_queues,
		.rx_queue = site->driver->rx_queue,
		.sample = req->sample ?: 1,
		.l2 = i->mac[7] == 6 || i->loopback ? 14 : 0,
		.xdp_generic = req->rx && !strcmp(req->rx, "xdp-generic"),
		.dynptr = !kernel_cannot("tp_btf") && !kernel_cannot("dynptr"),
		.stays = site->driver->keeps_dev,
		.drop_sock = req->meters >> METER_drop & 1 && tracepoint_args("kfree_skb") > 3,
		.kfree_completes = site->driver->kfree_completes,
		.stacks = req->stacks,
		.flight_shift = flight_shift(i, req->sample ?: 1),
		.rx_ring = i->rx_ring ?: site->driver->rx_ring,
		.flow_sample = req->sample ?: FLOW_SAMPLE,
		.waiting_shift = waiting_shift(i, req->sample ?: 1),
		.tx_linear = site->driver->bytes.tx == TX_LINEAR,
		.tx_least = site->driver->bytes.tx == TX_CARD ? ETH_ZLEN :
							      site->driver->bytes.tx_least,
		.preempts = release_preempts(),
		.scratch = release_realtime() ? SCRATCH_TASKS : 1,
	};
	if (!kernel_cannot("device"))
		device_find(i->ifindex, &site->config.dev, &site->config.net);
	snprintf(site->config.parent, sizeof(site->config.parent), "%s", i->parent);
	if (!site->config.dynptr && !kernel_cannot("frags")) {
		site->config.vmemmap_base = symbol_address("vmemmap_base");
		site->config.page_offset_base = symbol_address("page_offset_base");
	}
	site->config.percpu = !kernel_cannot("percpu") &&
			      kernel_percpu("softnet_data", &site->config.softnet_data) &&
			      kernel_percpu("ksoftirqd", &site->config.ksoftirqd);
	/* 6.2 to 6.14 have it behind the current task */
	if (!kernel_percpu("__preempt_count", &site->config.preempt_count) &&
	    kernel_percpu("pcpu_hot", &site->config.preempt_count))
		site->config.preempt_count += sizeof(__u64);
	if (kernel_cannot("recorded"))		/* for tests: as if no driver recorded its queue */
		site->config.rx_queue = RX_QUEUE_BY_NAPI;
}

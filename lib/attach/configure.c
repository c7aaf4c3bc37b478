/* SPDX-License-Identifier: GPL-2.0 */
/* What the BPF programs must know of an interface, a request and this kernel: struct config. */
#include <errno.h>
#include <linux/if_ether.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "lib/attach/configure.h"
#include "lib/attach/device.h"
#include "lib/core/meter.h"
#include "lib/kernel/btf.h"
#include "lib/kernel/feature.h"
#include "lib/kernel/release.h"
#include "lib/kernel/symbol.h"
#include "lib/net/ethtool.h"
#include "lib/util/clock.h"
#include "lib/util/error.h"
#include "lib/util/list.h"

unsigned table_bits(unsigned long long room, unsigned most)
{
	unsigned bits = 6;

	while (bits < most && 1ull << bits < room)
		bits++;
	return bits;
}

int site_queues(struct site *site)
{
	struct napi_order order;

	if (site->iface.host)
		return 0;
	if (queues_read(&site->iface, site->driver, &site->queues))
		return error_set(site->error, -ENOMEM, NULL, "no memory for the queues of %s",
				 site->iface.name);
	order = queues_order(&site->queues);
	site->config.napis = order.all;
	site->config.napi_first = order.first;
	site->config.napi_rx = order.rx;
	return 0;
}

/* How the driver sends, in this kernel. */
static void config_sends(struct config *config, const struct driver *d, const char *qdisc)
{
	config->stays = d->keeps_dev;
	config->kfree_completes = d->kfree_completes;
	if (denied("orderly"))
		return;
	config->frees_in_tasks = d->frees_in_tasks && !release_preempts();
	/* without a queue __dev_queue_xmit() drops what the driver does not take; 6.1, 6.12 */
	config->takes_all = release_before(d->takes_all_before) ||
			    (d->no_completion && !strcmp(qdisc, "noqueue"));
}

void config_levels(struct config *config)
{
	config->preempts = release_preempts();
	/* 6.2 to 6.14 keep it in pcpu_hot, after the current task */
	if (!kernel_percpu("__preempt_count", &config->preempt_count) &&
	    kernel_percpu("pcpu_hot", &config->preempt_count))
		config->preempt_count += sizeof(__u64);
}

/* Nobody must know which addresses fall together: see table_set(). */
static void config_seed(struct config *config)
{
	for (unsigned i = 0; i < NR_OF(config->seed); i++) {
		if (getrandom(&config->seed[i], sizeof(config->seed[i]), 0) < 0)
			config->seed[i] = clock_ns(CLOCK_MONOTONIC) * 0x9e3779b97f4a7c15;
		config->seed[i] |= 1;
	}
}

/*
 * May it have a NAPI? Without one the backlog's polls serve it, which belong to no interface, or
 * nobody's. What nobody has opened yet may get one when it is.
 */
static bool polls(const struct site *site, const struct device *kernel)
{
	const struct iface *i = &site->iface;
	const char *rx = site->request->rx;
	bool native = i->xdp_id != i->generic_xdp_id || (rx && !strcmp(rx, "xdp"));

	if (site->driver->napi_by_opener)
		return !kernel->dev || kernel->napis || !i->carrier;
	return !site->driver->napi_by_gro || native || gro_read(i);
}

void site_configure(struct site *site, const struct request *req)
{
	const struct iface *i = &site->iface;
	unsigned queues = i->max_rx_queues > i->max_tx_queues ? i->max_rx_queues : i->max_tx_queues;
	unsigned used = i->rx_queues > i->tx_queues ? i->rx_queues : i->tx_queues;
	struct device kernel = {};

	site->request = req;
	site->driver = driver_find(i->driver);
	site->config = (struct config){
		.on = req->meters,
		.ifindex = i->ifindex,
		.netns = i->netns,
		.rows = queues + 1,
		.near = used < queues ? used : queues,
		.rx_queues = i->max_rx_queues,
		.rx_queue = site->driver->rx_queue,
		.l2 = i->mac[7] == 6 || i->loopback ? 14 : 0,
		.dynptr = kernel_lacks(FEATURE_TP_BTF) || kernel_lacks(FEATURE_DYNPTR) ? 0 :
			  kernel_function("bpf_dynptr_from_skb"),
		.rx_ring = i->rx_ring ?: site->driver->rx_ring,
		.tx_linear = site->driver->bytes.tx == TX_LINEAR,
		.tx_least = site->driver->bytes.tx == TX_CARD ? ETH_ZLEN :
							      site->driver->bytes.tx_least,
		.scratch = release_realtime() ? SCRATCH_TASKS : 1,
	};
	config_sends(&site->config, site->driver, i->qdisc);
	if (!i->host && !kernel_lacks(FEATURE_DEVICE))
		kernel = device_find(i->ifindex);
	site->config.dev = kernel.dev;
	site->config.net = kernel.net;
	site->config.polls = polls(site, &kernel);
	_Static_assert(sizeof(site->config.parent) == sizeof(i->parent), "compared as a whole");
	snprintf(site->config.parent, sizeof(site->config.parent), "%s", i->parent);
	if (!site->config.dynptr && !kernel_lacks(FEATURE_FRAGS)) {
		site->config.vmemmap_base = symbol_address("vmemmap_base");
		site->config.page_offset_base = symbol_address("page_offset_base");
	}
	site->config.percpu = !kernel_lacks(FEATURE_PERCPU) &&
			      kernel_percpu("softnet_data", &site->config.softnet_data) &&
			      kernel_percpu("ksoftirqd", &site->config.ksoftirqd);
	config_levels(&site->config);
	config_seed(&site->config);
	for (int id = 0; id < NR_METERS; id++)
		if (req->meters >> id & 1 && meters[id]->configure)
			meters[id]->configure(i, req, &site->config);
	if (kernel_lacks(FEATURE_RECORDED))
		site->config.rx_queue = RX_QUEUE_BY_NAPI;
}

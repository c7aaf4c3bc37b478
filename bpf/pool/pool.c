/* SPDX-License-Identifier: GPL-2.0 */
/* The meter pool: pages of the receive queues' page pools. */
#include <bpf/btf.h>

#include "bpf/pool/pool.h"
#include "lib/core/hook.h"
#include "lib/kernel/btf.h"
#include "lib/read/snapshot.h"

static const struct metric metrics[] = {
	LEVEL(struct pool, came, .name = "in_flight", .unit = "pages",
	      .help = "Pages of the pools: in the ring, in packets, or cached."),
	COUNTER(struct pool, taken, .name = "taken", .unit = "pages",
		.help = "Pages allocated from the kernel because no page of the pool was free."),
	COUNTER(struct pool, returned, .name = "returned", .unit = "pages",
		.help = "Pages returned to the kernel."),
	{}
};

static const char *absent(const struct site *site)
{
	const struct btf *btf;
	bool there;

	if (site->driver->no_pool)
		return "the driver uses no page pool";
	if (!*site->iface.parent && !site->driver->pool)
		return "software device: no page pools";
	btf = kernel_types();
	there = btf && btf__find_by_name_kind(btf, "btf_trace_page_pool_state_hold",
					      BTF_KIND_TYPEDEF) > 0;
	return there ? NULL : "this kernel has no page pools (CONFIG_PAGE_POOL is off)";
}

const struct meter meter_pool = {
	.name = "pool",
	.help = "pages that the receive queues allocate, hold and return",
	.type = EVENT_METER,
	.by = BY_QUEUE,
	.napis = true,
	.point = RX_NIC,
	.lanes = 2,
	.row_size = sizeof(struct pool),
	.metrics = metrics,
	.absent = absent,
};

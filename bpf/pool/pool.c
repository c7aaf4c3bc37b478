/* SPDX-License-Identifier: GPL-2.0 */
/* How the pages of the receive queues are shown, and where there are none. */
#include <bpf/btf.h>

#include "bpf/pool/pool.h"
#include "lib/core/hook.h"
#include "lib/kernel/btf.h"
#include "lib/read/snapshot.h"
#include "pool.skel.h"

static const struct metric metrics[] = {
	LEVEL(struct pool, came, .name = "in_flight", .unit = "pages",
	      .help = "Pages that the pools have: in the ring, in packets, or kept for the next."),
	COUNTER(struct pool, taken, .name = "taken", .unit = "pages",
		.help = "Pages that the pools took from the kernel: none of theirs was free."),
	COUNTER(struct pool, returned, .name = "returned", .unit = "pages",
		.help = "Pages that the pools gave back to the kernel."),
	{}
};

static const char *absent(const struct site *site)
{
	const struct btf *btf;
	bool there;

	if (site->driver->no_pool)
		return "the driver does not take its pages from a page pool";
	if (!*site->iface.parent && !site->driver->pool)
		return "there is no hardware below it for which pages would be kept";
	btf = kernel_types();
	there = btf && btf__find_by_name_kind(btf, "btf_trace_page_pool_state_hold",
					      BTF_KIND_TYPEDEF) > 0;
	return there ? NULL : "this kernel has no page pools (CONFIG_PAGE_POOL is off)";
}

const struct meter meter_pool = {
	.name = "pool",
	.help = "pages that the receive queues take, have and give back",
	.type = EVENT_METER,
	.by = BY_QUEUE,
	.point = RX_NIC,
	.lanes = 2,
	.row_size = sizeof(struct pool),
	.metrics = metrics,
	.events = { .elf = pool_bpf__elf_bytes },
	.absent = absent,
};

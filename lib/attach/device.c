/* SPDX-License-Identifier: GPL-2.0 */
/* The address of an interface in the kernel, by which programs recognise it at once. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "lib/attach/device.bpf.h"
#include "lib/attach/device.h"
#include "lib/kernel/btf.h"
#include "lib/util/shortage.h"
#include "device.skel.h"

static const struct { const char *structure, *member; } steps[NR_DEVICE_STEPS] = {
	[TASK_NSPROXY] = { "task_struct", "nsproxy" },
	[NSPROXY_NET] = { "nsproxy", "net_ns" },
	[NET_INDEXED] = { "net", "dev_index_head" },
	[DEVICE_INDEXED] = { "net_device", "index_hlist" },
	[DEVICE_INDEX] = { "net_device", "ifindex" },
};

static bool steps_find(struct device_wanted *w)
{
	for (int i = 0; i < NR_DEVICE_STEPS; i++) {
		int at = kernel_member(steps[i].structure, steps[i].member);

		if (at < 0)
			return false;
		w->at[i] = at;
	}
	return true;
}

void device_find(unsigned ifindex, __u64 *dev, __u64 *net)
{
	struct device_wanted wanted = { .ifindex = ifindex };
	struct device_bpf *kernel = steps_find(&wanted) ? device_bpf__open_and_load() : NULL;
	LIBBPF_OPTS(bpf_test_run_opts, run);

	*dev = *net = 0;
	if (!kernel)
		return;
	if (!shortage_unmapped(kernel->bss))
		kernel->bss->wanted = wanted;
	if (kernel->bss && !bpf_prog_test_run_opts(bpf_program__fd(kernel->progs.device), &run)) {
		*dev = kernel->bss->wanted.dev;
		*net = kernel->bss->wanted.net;
	}
	device_bpf__destroy(kernel);
}

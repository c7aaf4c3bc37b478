/* SPDX-License-Identifier: GPL-2.0 */
/* An interface as the kernel keeps it: its address, by which programs recognise it at once. */
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
	[DEVICE_NAPIS] = { "net_device", "napi_list" },
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

struct device device_find(unsigned ifindex)
{
	struct device_wanted wanted = { .ifindex = ifindex };
	struct device_bpf *kernel = steps_find(&wanted) ? device_bpf__open_and_load() : NULL;
	LIBBPF_OPTS(bpf_test_run_opts, run);
	struct device found = {};

	if (!kernel)
		return found;
	if (!shortage_unmapped(kernel->bss))
		kernel->bss->wanted = wanted;
	if (kernel->bss && !bpf_prog_test_run_opts(bpf_program__fd(kernel->progs.device), &run)) {
		found.dev = kernel->bss->wanted.dev;
		found.net = kernel->bss->wanted.net;
		found.napis = kernel->bss->wanted.napis;
	}
	device_bpf__destroy(kernel);
	return found;
}

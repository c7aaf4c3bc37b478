/* SPDX-License-Identifier: GPL-2.0 */
/* The address of an interface in the kernel, by which programs recognise it at once. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "lib/attach/device.bpf.h"
#include "lib/attach/device.h"
#include "device.skel.h"

void device_find(unsigned ifindex, __u64 *dev, __u64 *net)
{
	struct device_bpf *kernel = device_bpf__open_and_load();
	LIBBPF_OPTS(bpf_test_run_opts, run);

	*dev = *net = 0;
	if (!kernel)
		return;
	kernel->bss->wanted.ifindex = ifindex;
	if (!bpf_prog_test_run_opts(bpf_program__fd(kernel->progs.device), &run)) {
		*dev = kernel->bss->wanted.dev;
		*net = kernel->bss->wanted.net;
	}
	device_bpf__destroy(kernel);
}

/* SPDX-License-Identifier: GPL-2.0 */
/* How fast this machine runs what it takes to follow a packet: a measure of a made-up packet. */
#include <errno.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "lib/kernel/yard.h"
#include "lib/util/shortage.h"
#include "yard.skel.h"

#define TRIES	200		/* the quickest counts: nothing interrupted it */

int yard_measure(double *ns)
{
	struct yard_bpf *obj = yard_bpf__open_and_load();
	int err = !obj ? -errno : shortage_unmapped(obj->bss) ? -EAGAIN : 0;

	*ns = 0;
	for (int i = 0; i < TRIES && !err; i++) {
		LIBBPF_OPTS(bpf_test_run_opts, run);

		if (bpf_prog_test_run_opts(bpf_program__fd(obj->progs.yard), &run))
			err = -errno;
		else if (obj->bss->yard_ns && (!*ns || obj->bss->yard_ns < *ns))
			*ns = obj->bss->yard_ns;
	}
	yard_bpf__destroy(obj);
	return err ?: *ns ? 0 : -EIO;
}

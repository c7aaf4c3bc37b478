/* SPDX-License-Identifier: GPL-2.0 */
/* A program at an event of perf. */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "lib/trace/perf_link.h"
#include "lib/util/log.h"

int perf_type(const char *source)
{
	FILE *f = fopen(text("/sys/bus/event_source/devices/%s/type", source), "re");
	int type = -1;

	if (f && fscanf(f, "%d", &type) != 1)
		type = -1;
	if (f)
		fclose(f);
	return type;
}

int perf_link(int prog, struct perf_event_attr *attr, __u64 cookie)
{
	int perf = syscall(SYS_perf_event_open, attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC), link;
	LIBBPF_OPTS(bpf_link_create_opts, opts, .perf_event.bpf_cookie = cookie);

	if (perf < 0)
		return -errno;
	link = bpf_link_create(prog, perf, BPF_PERF_EVENT, &opts);
	if (link < 0) {
		link = -errno;
	} else if (ioctl(perf, PERF_EVENT_IOC_ENABLE, 0)) {
		int err = -errno;

		close(link);
		link = err;
	}
	close(perf);
	return link;
}

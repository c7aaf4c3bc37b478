/* SPDX-License-Identifier: GPL-2.0 */
/* Events that shared programs did not see: while they ran already, or beyond the last tail call. */
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "lib/attach/handover.h"
#include "lib/attach/pins.h"
#include "lib/attach/slots.h"
#include "lib/kernel/programs.h"
#include "lib/proc/cpus.h"

__u64 host_misses(const char *link)
{
	struct bpf_prog_info info = {};
	__u32 len = sizeof(info), id = program_pinned(link);
	int fd = id ? bpf_prog_get_fd_by_id(id) : -1;

	if (fd >= 0) {
		bpf_obj_get_info_by_fd(fd, &info, &len);
		close(fd);
	}
	return info.recursion_misses;
}

__u64 missed_ever(const struct host *h, __u32 p)
{
	__u64 n = h->missed[p] + host_misses(host_path(shared_names[p])), percpu[MAX_CPUS];
	int fd = pin_read(host_pin(CUT_MAP)), cpus = libbpf_num_possible_cpus();

	if (fd >= 0 && cpus > 0 && cpus <= MAX_CPUS && !bpf_map_lookup_elem(fd, &p, percpu))
		for (int cpu = 0; cpu < cpus; cpu++)
			n += percpu[cpu];
	if (fd >= 0)
		close(fd);
	return n;
}

__u64 host_missed(const char *pins, const char *program)
{
	int p = shared_program(program);
	struct host *h = p < 0 ? NULL : host_map();
	__u32 slot = h ? slot_find(h, pins) : 0;
	__u64 n = 0;

	if (slot)
		n = missed_ever(h, p) - h->tenant[slot].missed[p];
	host_unmap(h);
	return n;
}

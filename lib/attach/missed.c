/* SPDX-License-Identifier: GPL-2.0 */
/* Events that shared programs did not see: while they ran already, or beyond the last tail call. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "lib/attach/handover.h"
#include "lib/attach/pins.h"
#include "lib/attach/slots.h"

__u64 host_misses(const char *link)
{
	struct bpf_link_info shared = {};
	struct bpf_prog_info info = {};
	__u32 len = sizeof(shared);
	int pin = bpf_obj_get(link), fd = -1;

	if (pin >= 0 && !bpf_obj_get_info_by_fd(pin, &shared, &len))
		fd = bpf_prog_get_fd_by_id(shared.prog_id);
	len = sizeof(info);
	if (fd >= 0 && bpf_obj_get_info_by_fd(fd, &info, &len))
		info.recursion_misses = 0;
	if (fd >= 0)
		close(fd);
	if (pin >= 0)
		close(pin);
	return info.recursion_misses;
}

/* Adds what the limit of tail calls cut off. */
static void cuts_add(__u64 missed[NR_SHARED])
{
	int fd = pin_read(host_pin(CUT_MAP)), cpus = libbpf_num_possible_cpus();
	__u64 *percpu = cpus > 0 ? calloc(NR_SHARED * cpus, sizeof(*percpu)) : NULL;
	__u32 keys[NR_SHARED], next, nr = NR_SHARED;

	if (fd >= 0 && percpu)
		bpf_map_lookup_batch(fd, NULL, &next, keys, percpu, &nr, NULL);
	for (int i = 0; percpu && i < NR_SHARED * cpus; i++)
		missed[i / cpus] += percpu[i];
	if (fd >= 0)
		close(fd);
	free(percpu);
}

void missed_ever(const struct host *h, __u64 missed[NR_SHARED])
{
	for (int p = 0; p < NR_SHARED; p++)
		missed[p] = h->missed[p] +
			    (h->entered[p] ? host_misses(host_path(shared_names[p])) : 0);
	cuts_add(missed);
}

bool host_missed(const char *pins, __u64 missed[NR_SHARED])
{
	struct host *h = host_map();
	__u32 slot = h ? slot_find(h, pins) : 0;

	memset(missed, 0, NR_SHARED * sizeof(*missed));
	if (slot)
		missed_ever(h, missed);
	for (int p = 0; slot && p < NR_SHARED; p++)
		missed[p] -= h->tenant[slot].missed[p];
	host_unmap(h);
	return slot;
}

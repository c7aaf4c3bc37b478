/* SPDX-License-Identifier: GPL-2.0 */
/* Events that shared programs did not see: while they ran already, or beyond the last tail call. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "lib/attach/handover.h"
#include "lib/attach/held.h"
#include "lib/attach/linked.h"
#include "lib/attach/pinned.h"
#include "lib/attach/slots.h"

/* Adds what the limit of tail calls cut off. */
static void cuts_add(__u64 missed[NR_SHARED])
{
	struct pinned_map cut = pin_read(host_pin(CUT_MAP));
	int cpus = libbpf_num_possible_cpus();
	__u64 *percpu = cpus > 0 ? calloc(NR_SHARED * cpus, sizeof(*percpu)) : NULL;
	__u32 keys[NR_SHARED], next, nr = NR_SHARED;

	if (cut.fd >= 0 && percpu)
		bpf_map_lookup_batch(cut.fd, NULL, &next, keys, percpu, &nr, NULL);
	for (int i = 0; percpu && i < NR_SHARED * cpus; i++)
		missed[i / cpus] += percpu[i];
	pin_close(&cut);
	free(percpu);
}

void missed_ever(const struct host *h, __u64 missed[NR_SHARED])
{
	for (int p = 0; p < NR_SHARED; p++) {
		missed[p] = h->missed[p];
		if (PASSER_ENTERED(h->passer[p]))
			missed[p] += program_misses(h->program[p]);
	}
	cuts_add(missed);
}

/* The pages from `from` to `end` of the shared struct. */
static bool part_map(char *whole, int fd, size_t from, size_t end)
{
	from -= from % sysconf(_SC_PAGESIZE);
	return mmap(whole + from, end - from, PROT_READ, MAP_SHARED | MAP_FIXED, fd, from) !=
	       MAP_FAILED;
}

/*
 * host_map() of what is read here. All but a quarter of its pages are devices, and mapping them
 * takes as long as reading a meter.
 */
static struct host *host_look(int fd)
{
	struct host *h = mmap(NULL, sizeof(*h), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (h == MAP_FAILED)
		return NULL;
	if (part_map((char *)h, fd, 0, offsetof(struct host, devices)) &&
	    part_map((char *)h, fd, offsetof(struct host, missed), sizeof(*h)))
		return h;
	host_unmap(h);
	return NULL;
}

bool host_missed(const char *pins, __u64 missed[NR_SHARED])
{
	struct pinned_map map = pin_rows(host_path("host"));
	const struct host *held = map.mappable ?
				  held_map(map.fd, map.info.id, sizeof(*held)) : NULL;
	struct host *own = held || !map.mappable ? NULL : host_look(map.fd);
	const struct host *h = held ?: own;
	__u32 slot = h && h->magic == HOST_MAGIC ? slot_find(h, pins) : 0;

	memset(missed, 0, NR_SHARED * sizeof(*missed));
	if (slot)
		missed_ever(h, missed);
	for (int p = 0; slot && p < NR_SHARED; p++)
		missed[p] -= h->tenant[slot].missed[p];
	if (own)
		host_unmap(own);
	pin_close(&map);
	return slot;
}

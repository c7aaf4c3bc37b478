/* SPDX-License-Identifier: GPL-2.0 */
/* Replaces the attached programs of an interface that is detached while others need them. */
#include <errno.h>
#include <linux/membarrier.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "lib/attach/handover.h"
#include "lib/attach/linked.h"
#include "lib/attach/object.h"
#include "lib/attach/pins.h"
#include "lib/attach/slot_set.h"
#include "lib/attach/slots.h"
#include "lib/kernel/btf.h"
#include "lib/kernel/release.h"
#include "lib/proc/cpus.h"
#include "lib/util/error.h"
#include "lib/util/log.h"

#define PAUSE	50000000	/* ns, where the kernel cannot be asked */

/*
 * membarrier() waits for each CPU to pass through the scheduler (synchronize_rcu()), which it does
 * not within a program at a tracepoint. Where programs are preempted it is no proof: they take
 * microseconds, so a pause is as good.
 */
void kernel_pause(void)
{
	if (syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0) || release_preempts())
		nanosleep(&(struct timespec){ .tv_nsec = PAUSE }, NULL);
}

/* Second copies first: of an event's two copies the second one must not be passed on to first. */
static void phase(struct host *h, __u64 which, enum handing handing)
{
	for (int p = NR_SHARED - 1; p >= 0; p--)
		if (which >> p & 1)
			__atomic_store_n(&h->passer[p],
					 PASSER(PASSER_ENTERED(h->passer[p]), handing),
					 __ATOMIC_SEQ_CST);
	kernel_pause();
}

static const char *next_path(const char *name)
{
	return host_path(text("%s-next", name));
}

/* Forgets what the old programs counted in an earlier change. */
static void handed_clear(void)
{
	__u64 none[MAX_CPUS] = {};
	int fd = bpf_obj_get(host_path(HANDED_MAP));

	for (__u32 p = 0; fd >= 0 && p < NR_SHARED; p++)
		bpf_map_update_elem(fd, &p, none, BPF_ANY);
	if (fd >= 0)
		close(fd);
}

/*
 * The new links take the names of the old ones, which end. May be called again if it was cut short.
 */
static int replace(struct host *h, __u64 which)
{
	for (int p = 0; p < NR_SHARED; p++) {
		int old, err;

		if (!(which >> p & 1) || access(next_path(shared_names[p]), F_OK))
			continue;
		if (PASSER_ENTERED(h->passer[p]) != HOST_SLOT) {
			h->missed[p] += program_misses(h->program[p]);
			h->passer[p] = PASSER(HOST_SLOT, PASSER_HANDING(h->passer[p]));
		}
		h->program[p] = link_program(next_path(shared_names[p]));
		old = bpf_obj_get(host_path(shared_names[p]));
		err = rename(next_path(shared_names[p]), host_path(shared_names[p])) ? -errno : 0;
		if (old >= 0)
			close(old);
		if (err)
			return err;
	}
	phase(h, which, NOT_HANDING);
	return 0;
}

static void give_up(struct host *h, __u64 which)
{
	for (int p = 0; p < NR_SHARED; p++)
		if (which >> p & 1)
			pin_remove(next_path(shared_names[p]));
	phase(h, which, NOT_HANDING);
}

static int change(struct host *h, struct bpf_object *obj, __u64 which)
{
	struct bpf_program *prog;
	int err = 0;

	handed_clear();
	phase(h, which, NEW_COMES);
	bpf_object__for_each_program(prog, obj)
		if (!err && bpf_program__autoload(prog))
			err = program_hold(prog, next_path(bpf_program__name(prog)));
	if (err) {
		give_up(h, which);
		return err;
	}
	kernel_pause();			/* every event meets both from now on */
	phase(h, which, OLD_PASSES);
	phase(h, which, NEW_PASSES);
	return replace(h, which);
}

int handover(struct host *h, __u64 which, struct error *e)
{
	struct bpf_object *obj;
	int err;

	for (int p = 0; p < NR_SHARED; p++)
		if (!slots_any(&h->called[p]))
			which &= ~(1ull << p);
	if (!which)
		return 0;
	obj = object_open_host(which, e);
	if (!obj)
		return -EOPNOTSUPP;
	err = kernel_load(obj) ?: change(h, obj, which);
	if (err)
		error_set(e, err, "nicprobe detach --all", "cannot replace programs that other "
			  "interfaces share: %s", strerror(-err));
	object_close(obj);
	return err;
}

int handover_finish(struct host *h, struct error *e)
{
	__u64 come = 0, pass = 0;
	int err = 0;

	for (int p = 0; p < NR_SHARED; p++) {
		enum handing handing = PASSER_HANDING(h->passer[p]);

		pass |= (__u64)(handing == NEW_PASSES) << p;
		come |= (__u64)(handing == NEW_COMES || handing == OLD_PASSES) << p;
	}
	if (come)
		give_up(h, come);
	if (pass)
		err = replace(h, pass);
	return err ? error_set(e, err, NULL, "cannot replace programs that other interfaces "
			       "share: %s", strerror(-err)) : 0;
}

/* SPDX-License-Identifier: GPL-2.0 */
/* The NAPI instances of an interface, as netdev-genl has them, or their threads' names. */
#ifndef NICPROBE_NAPIS_H
#define NICPROBE_NAPIS_H

#include <linux/types.h>
#include <stdbool.h>

#include "lib/proc/cpus.h"

enum napi_threaded {
	NAPI_NOT_TOLD = -1,	/* before 6.17: as the interface's file `threaded` says */
	NAPI_IN_SOFTIRQ, NAPI_IN_THREAD, NAPI_IN_BUSY_THREAD /* 6.19 */
};

struct napi_instance {
	__u32 id, irq;			/* 0: not told */
	enum napi_threaded threaded;
	__u32 pid;			/* of its thread, which stays for later; 0: it has none */
	struct cpus thread_cpus;	/* on which that may run */
	/* of its own since 6.13; -1: not told */
	long long defer_hard_irqs, gro_flush_ns, irq_suspend_ns;
};

struct napis {
	int err;	/* 0; -ENOENT: no such family; -EOPNOTSUPP: no such command */
	bool named;	/* threads that are called as the interface's are: all there is to know */
	unsigned nr;
	struct napi_instance *list;
};

void napis_read(unsigned ifindex, struct napis *);

/*
 * Adds those threads "napi/IFACE-ID" that there are (napi_kthread_create()), `most` at the most:
 * more are of interfaces of that name in several namespaces, and none is taken.
 */
void napis_by_name(const char *iface, unsigned most, struct napis *);

void napis_free(struct napis *);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* The NAPI instances of an interface, from netdev-genl, or by the names of their threads. */
#ifndef NICPROBE_NAPIS_H
#define NICPROBE_NAPIS_H

#include <linux/types.h>
#include <stdbool.h>

#include "lib/proc/cpus.h"

enum napi_threaded {
	NAPI_NOT_TOLD = -1,	/* before 6.17: the interface's file `threaded` applies */
	NAPI_IN_SOFTIRQ, NAPI_IN_THREAD, NAPI_IN_BUSY_THREAD /* 6.19 */
};

struct napi_instance {
	__u32 id, irq;			/* 0: not reported */
	enum napi_threaded threaded;
	__u32 pid;			/* of its thread, which may exist unused; 0: none */
	struct cpus thread_cpus;	/* affinity of the thread */
	/* per instance since 6.13; -1: not reported */
	long long defer_hard_irqs, gro_flush_ns, irq_suspend_ns;
};

struct napis {
	int err;	/* 0; -ENOENT: no such family; -EOPNOTSUPP: no such command */
	bool named;	/* found only by the names of threads */
	unsigned nr;
	struct napi_instance *list;
};

void napis_read(unsigned ifindex, struct napis *);

/*
 * Adds the existing threads "napi/IFACE-ID" (napi_kthread_create()). If there are more than `most`,
 * they belong to interfaces of that name in several namespaces, and none is added.
 */
void napis_by_name(const char *iface, unsigned most, struct napis *);

void napis_free(struct napis *);

#endif

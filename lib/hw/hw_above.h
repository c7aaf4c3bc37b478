/* SPDX-License-Identifier: GPL-2.0 */
/* What is installed on an interface: BPF programs, filters, qdiscs, a master, upper devices. */
#ifndef NICPROBE_HW_ABOVE_H
#define NICPROBE_HW_ABOVE_H

#include <linux/types.h>
#include <net/if.h>
#include <stdbool.h>

#define HW_KIND		24	/* "fq_codel", "macvlan"; at most 16 in the kernel */
#define MAX_PROGRAMS	128
#define MAX_TCX		64	/* BPF_MPROG_MAX, per hook */
#define MAX_BENEATH	8	/* kinds of qdiscs below the root */
#define MAX_STACKED	16

enum hw_hook {
	HOOK_XDP_NATIVE, HOOK_XDP_GENERIC, HOOK_XDP_OFFLOADED,
	HOOK_XDP_DISPATCHED,	/* called by libxdp's dispatcher, which is at one of these */
	HOOK_TCX_INGRESS, HOOK_TCX_EGRESS,
	HOOK_TC_INGRESS, HOOK_TC_EGRESS,	/* filters of clsact, or of the qdisc "ingress" */
	NR_HOOKS
};
extern const char *const hook_names[NR_HOOKS];	/* "xdp-native" */

struct hw_program {
	enum hw_hook hook;
	__u32 id;
	char name[64];		/* "": none, or readable by root only */
	bool own;		/* nicprobe's */
};

struct hw_device {
	char name[IFNAMSIZ], kind[HW_KIND];	/* kind "": hardware, or unknown */
};

struct hw_above {
	unsigned nr;		/* programs, in the order in which each hook runs them */
	struct hw_program programs[MAX_PROGRAMS];
	unsigned filters[2];	/* tc filters at ingress and egress, BPF or other */
	char qdisc[HW_KIND];	/* the root; "": not reported */
	unsigned nr_beneath;
	struct hw_beneath {	/* qdiscs below it; for mq one per queue */
		char kind[HW_KIND];
		unsigned nr;
	} beneath[MAX_BENEATH];
	struct hw_device master;	/* name "": none */
	unsigned nr_stacked;		/* vlan, macvlan, …; in this network namespace */
	struct hw_device stacked[MAX_STACKED];
};

/* Counts a qdisc of this kind. */
void hw_beneath_add(struct hw_above *, const char *kind);

#endif

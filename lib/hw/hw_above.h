/* SPDX-License-Identifier: GPL-2.0 */
/* What others have put on an interface: BPF programs, filters, a qdisc, a master, devices. */
#ifndef NICPROBE_HW_ABOVE_H
#define NICPROBE_HW_ABOVE_H

#include <linux/types.h>
#include <net/if.h>
#include <stdbool.h>

#define HW_KIND		24	/* "fq_codel", "macvlan"; the kernel has at most 16 */
#define MAX_PROGRAMS	128
#define MAX_TCX		64	/* BPF_MPROG_MAX: at either hook */
#define MAX_BENEATH	8	/* kinds of qdisc below the root */
#define MAX_STACKED	16

enum hw_hook {
	HOOK_XDP_NATIVE, HOOK_XDP_GENERIC, HOOK_XDP_OFFLOADED,
	HOOK_XDP_DISPATCHED,	/* libxdp's dispatcher is at one of these, and calls it */
	HOOK_TCX_INGRESS, HOOK_TCX_EGRESS,
	HOOK_TC_INGRESS, HOOK_TC_EGRESS,	/* filters of clsact, or of the qdisc "ingress" */
	NR_HOOKS
};
extern const char *const hook_names[NR_HOOKS];	/* "xdp-native" */

struct hw_program {
	enum hw_hook hook;
	__u32 id;
	char name[64];		/* "": it has none, or only root may ask */
	bool own;		/* it is nicprobe's */
};

struct hw_device {
	char name[IFNAMSIZ], kind[HW_KIND];	/* kind "": hardware, or not told */
};

struct hw_above {
	unsigned nr;		/* programs, in the order they run at each hook */
	struct hw_program programs[MAX_PROGRAMS];
	unsigned filters[2];	/* tc filters at ingress and egress, of BPF or not */
	char qdisc[HW_KIND];	/* the root; "": the kernel did not tell */
	unsigned nr_beneath;
	struct hw_beneath {	/* qdiscs below it: of mq, one each queue */
		char kind[HW_KIND];
		unsigned nr;
	} beneath[MAX_BENEATH];
	struct hw_device master;	/* name "": none */
	unsigned nr_stacked;		/* vlan, macvlan…; of this network namespace */
	struct hw_device stacked[MAX_STACKED];
};

/* Of a kind so many, and one more. */
void hw_beneath_add(struct hw_above *, const char *kind);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* What this kernel can do: attach methods, and features that programs or commands make use of. */
#ifndef NICPROBE_FEATURE_H
#define NICPROBE_FEATURE_H

#include <stdbool.h>

struct error;

enum kernel_feature {
	/* attach methods, best first */
	FEATURE_XDP,
	FEATURE_TC,
	FEATURE_TP_BTF,
	FEATURE_RAW_TP,
	FEATURE_FENTRY,
	FEATURE_KPROBE,
	FEATURE_UPROBE,
	FEATURE_TP,
	/* what some of them need, or do better with */
	FEATURE_KPROBE_MULTI,
	FEATURE_DISPATCHER,
	FEATURE_TCX,
	FEATURE_DYNPTR,
	FEATURE_FRAGS,
	/* their users find out whether they are there; listed so that tests can deny them */
	FEATURE_OPTIONAL,	/* optional programs: kernel_choose() */
	FEATURE_DEVICE,		/* the address of an interface: device_find() */
	FEATURE_PERCPU,		/* per-CPU variables: kernel_percpu() */
	FEATURE_RECORDED,	/* skbs that record their receive queue */
	FEATURE_MODULE_BTF,	/* types of modules */
	FEATURE_XSK_DIAG,	/* sock_diag of AF_XDP sockets */
	FEATURE_NETFILTER,	/* BPF programs of netfilter: probes/sources.c */
	FEATURE_CGROUP,		/* attach method: at the root of the cgroup2 hierarchy */
	FEATURE_DEPTH,		/* programs that end in the reverse order: probes/places.bpf.h */
	NR_FEATURES
};

struct feature {
	const char *name;		/* "tp_btf": also how its ELF sections begin */
	const char *help;		/* for `list -v`; NULL: it does not list it */
	bool method;			/* programs are attached by it */
	const char *(*lacks)(void);	/* why this kernel lacks it; NULL: it does not */
};
extern const struct feature features[];	/* by enum kernel_feature; ends with an empty one */

/*
 * Why this kernel lacks a feature; NULL: it has it. Finding out may take as long as an attach, and
 * is done once.
 */
const char *kernel_lacks(enum kernel_feature);

/*
 * Is this function there for fentry? The kernel may have its types and no code of that name: the
 * compiler made "NAME.constprop.0" of it.
 */
bool kernel_enters(const char *function);

/*
 * Why something else is not to be used, by name: a hook, a netlink family, a program that unpacks;
 * NULL: it may be. $NICPROBE_CANNOT lists what tests deny, features included.
 */
const char *denied(const char *name);

/* 0; or -EINVAL: $NICPROBE_CANNOT has a word that nothing goes by. */
int denials_check(struct error *);

#endif

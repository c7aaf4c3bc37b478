/* SPDX-License-Identifier: GPL-2.0 */
/* What this kernel lets us do. The only place that knows. */
#ifndef NICPROBE_KERNEL_H
#define NICPROBE_KERNEL_H

#include <linux/types.h>
#include <stdbool.h>

struct bpf_object;
struct bpf_program;
struct btf;

/* A way into the kernel, or a feature that a way needs. */
struct way {
	const char *name;		/* "tp_btf": also how its ELF sections begin */
	const char *help;
	bool section;			/* programs are written for it */
	const char *(*cannot)(void);	/* why this kernel has it not, or NULL: it has */
};
extern const struct way ways[];		/* best first; ends with an empty one */

/*
 * Why this kernel cannot do `what` (a way, or a hook), or NULL: it can. What
 * $NICPROBE_CANNOT lists, separated by commas, it cannot: for tests.
 */
const char *kernel_cannot(const char *what);

/*
 * Programs called NAME__one, NAME__other are ways to the same end: the best
 * that the kernel has is kept, the others are not loaded. 0, or -EOPNOTSUPP
 * and a complaint where there is no way left; but programs of SEC("?…"), with
 * a mark before the section's name, may be left out.
 */
int kernel_choose(struct bpf_object *);

/* What the programs that kernel_choose() left out last would have listened at; "": none was. */
const char *kernel_left_out(void);

/* "tp_btf/net_dev_queue" of the program called `stem`, as chosen; NULL: none. */
const char *kernel_chosen(const struct bpf_object *, const char *stem);

/* Its types, which stay ours; NULL: it has none, or they cannot be read. */
struct btf *kernel_types(void);
/* Is there such a function to attach to? Modules are not searched. */
bool kernel_function(const char *name);
/* How far a per-CPU variable is from the variable `runqueues` of its CPU; false: nobody says. */
bool kernel_percpu(const char *name, __u64 *offset);

/* 0, or -EPERM and a complaint that names the capability we lack. */
int kernel_permits(void);
/* And CAP_SYS_ADMIN, for who mounts a BPF file system of its own. */
int kernel_permits_mounts(void);

#endif

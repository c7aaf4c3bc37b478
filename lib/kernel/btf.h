/* SPDX-License-Identifier: GPL-2.0 */
/* The types of the running kernel: read once, and looked up by name. */
#ifndef NICPROBE_BTF_H
#define NICPROBE_BTF_H

#include <linux/types.h>
#include <stdbool.h>

struct bpf_object;
struct btf;

#define TYPES "/sys/kernel/btf/vmlinux"

/* Not to be freed; NULL: the kernel has none, or they cannot be read. */
struct btf *kernel_types(void);
/* The number of a type, by its name and BTF_KIND_…; not above 0: there is none. */
int kernel_type(const char *name, unsigned kind);
/* The byte of a member in a struct; -1: not known. */
int kernel_member(const char *structure, const char *name);
/* Whether there is such a function to attach to. Modules are not searched. */
__u32 kernel_function(const char *name);
/* The distance of a per-CPU variable from `runqueues` of the same CPU; false: not known. */
bool kernel_percpu(const char *name, __u64 *offset);
/* Without CAP_SYS_ADMIN a process can list neither the types of modules nor programs. */
bool module_types_hidden(void);
/*
 * Where they may not be listed, what this kernel lacks is taken for absent, as where they may. To
 * be called just before the load: libbpf frees only then what it reads here.
 */
void module_types_skip(const struct bpf_object *);
/* abreast_load() after it. */
int kernel_load(struct bpf_object *);
/* The number of arguments of a tracepoint; 0: there is none of this name, or no BTF. */
unsigned tracepoint_args(const char *name);

#endif

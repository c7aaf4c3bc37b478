/* SPDX-License-Identifier: GPL-2.0 */
/* The types (BTF) of functions, in the kernel or a module: what fentry must be told. */
#ifndef NICPROBE_PROBE_TYPES_H
#define NICPROBE_PROBE_TYPES_H

struct probe_types;

struct probe_type {
	int fd;			/* of the module's types; 0: the kernel's. Not to be closed */
	unsigned id;
};

struct probe_types *probe_types_new(void);	/* NULL: no memory */
void probe_types_free(struct probe_types *);

/* Of a function of a module, "": of the kernel itself. 0; -ENOENT: it has none. */
int probe_type(struct probe_types *, const char *name, const char *module, struct probe_type *);

#endif

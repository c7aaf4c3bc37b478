/* SPDX-License-Identifier: GPL-2.0 */
/* Type IDs (BTF) of functions in the kernel or a module, as fentry needs them. */
#ifndef NICPROBE_PROBE_TYPES_H
#define NICPROBE_PROBE_TYPES_H

struct probe_types;

struct probe_type {
	int fd;			/* of the module's BTF; 0: the kernel's. Do not close it */
	unsigned id;
};

struct probe_types *probe_types_new(void);	/* NULL: no memory */
void probe_types_free(struct probe_types *);

/* For a function of a module ("": of the kernel). 0; -ENOENT: it has no type. */
int probe_type(struct probe_types *, const char *name, const char *module, struct probe_type *);

#endif

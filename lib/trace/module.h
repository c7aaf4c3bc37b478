/* SPDX-License-Identifier: GPL-2.0 */
/* A kernel module as a file, and what a tracer could do with it. It is read, never loaded. */
#ifndef NICPROBE_MODULE_H
#define NICPROBE_MODULE_H

#include "lib/trace/spot.h"

struct error;
struct module;

/*
 * `btf` is the vmlinux (ELF, or raw as /sys/kernel/btf/vmlinux) that the module was built for;
 * NULL: search for it. A compressed module (.xz, .zst, .gz) is decompressed by the tool of that
 * name. NULL with an error message if the file is no module or cannot be read.
 */
struct module *module_open(const char *path, const char *btf, struct error *);
void module_close(struct module *);

const char *module_name(const struct module *);		/* "ena" */
const char *module_release(const struct module *);	/* "6.12.117+deb12-amd64"; "": unknown */
const char *module_machine(const struct module *);	/* its machine; NULL: this one */
const char *module_no_btf(const struct module *);	/* why fentry is unknown; NULL: known */

struct spot module_function(const struct module *, const char *name);
struct spot module_tracepoint(const struct module *, const char *name);
/*
 * Can its printf formats make this name, "rx_queue_%u_%s" and "drops", or the name itself? A '?' in
 * `name` stands for text from outside the module, such as the name of an interface.
 */
bool module_says(const struct module *, const char *name);

#endif

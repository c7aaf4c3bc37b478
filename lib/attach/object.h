/* SPDX-License-Identifier: GPL-2.0 */
/* One BPF object, from bytes to pinned links. */
#ifndef NICPROBE_OBJECT_H
#define NICPROBE_OBJECT_H

#include "lib/core/event.h"
#include "lib/core/hook.h"

/* Opened, configured, its ways chosen; not loaded. NULL: site->error says why. */
struct bpf_object *object_open(const struct site *, const void *(*elf)(size_t *));

/*
 * The same of the shared object: only the programs and maps that these users want. `left` is that
 * of kernel_choose().
 */
struct left_out;
struct bpf_object *object_open_shared(const struct site *, const struct users *,
				      struct left_out *);

/* Pins the links of a set: "PROGRAM", or "PROGRAM-SET" but for the first. 0 or -errno. */
int object_attach_set(const struct site *, struct bpf_object *, unsigned set);

/* The name of a program's pin in a set, in one of text()'s buffers. */
const char *set_pin(const char *program, unsigned set);

/* The maps of several objects or meters, and of none of them alone. */
bool map_is_common(const char *name);

#endif

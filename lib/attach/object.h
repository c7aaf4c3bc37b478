/* SPDX-License-Identifier: GPL-2.0 */
/* One BPF object, from bytes to pinned links. */
#ifndef NICPROBE_OBJECT_H
#define NICPROBE_OBJECT_H

#include "lib/core/hook.h"

/*
 * Opened, configured, its ways chosen; not loaded. NULL: site->error says why. `left_out` is that
 * of kernel_choose().
 */
struct bpf_object *object_open(const struct site *, const void *(*elf)(size_t *), char *left_out);

#endif

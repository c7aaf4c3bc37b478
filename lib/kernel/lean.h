/* SPDX-License-Identifier: GPL-2.0 */
/* Those types of the kernel that an object names: libbpf finds them in a fraction of the time. */
#ifndef NICPROBE_LEAN_H
#define NICPROBE_LEAN_H

#include <stddef.h>

struct bpf_object;

/* bpf_object__open_mem(): to be loaded by kernel_load(), or closed after pending_close(). */
struct bpf_object *lean_open(const void *elf, size_t size);

#endif

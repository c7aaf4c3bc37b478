/* SPDX-License-Identifier: GPL-2.0 */
/* BPF programs of whoever: how they are called, and which one a link holds. */
#ifndef NICPROBE_PROGRAMS_H
#define NICPROBE_PROGRAMS_H

#include <linux/types.h>
#include <stdbool.h>

/* "\"drop_all\" (id 77)", as text(); the id alone where it has no name, or is gone. */
const char *program_named(__u32 id);
/* The name alone; "?": it is gone. As text(). */
const char *program_name(__u32 id);
/* Is it there, but only root may ask what it is? */
bool program_hidden(__u32 id);
/* Has it this map? No: it is gone, or only root may ask. */
bool program_uses(__u32 id, __u32 map);
/* The id of a pinned map; 0: there is none. */
__u32 map_pinned(const char *path);
/* The id of the program that a pinned link, or a pinned program, is; 0: there is none. */
__u32 program_pinned(const char *path);

#endif

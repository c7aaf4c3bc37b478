/* SPDX-License-Identifier: GPL-2.0 */
/* The neighbours of an interface: those that do not answer. */
#ifndef NICPROBE_NEIGHBOURS_H
#define NICPROBE_NEIGHBOURS_H

#include <stddef.h>

/*
 * The number of next hops of this interface that did not answer address resolution (incomplete,
 * failed), in the namespace the process is in, and the address of one ("" if none). 0 on error.
 */
unsigned neighbours_silent(unsigned ifindex, char *one, size_t size);

#endif

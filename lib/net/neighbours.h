/* SPDX-License-Identifier: GPL-2.0 */
/* The hosts on an interface's links: which of them do not answer. */
#ifndef NICPROBE_NEIGHBOURS_H
#define NICPROBE_NEIGHBOURS_H

#include <stddef.h>

/*
 * How many next hops of this interface were asked for their hardware address and did not answer
 * (incomplete, failed), in the namespace the process is in; the address of one of them, "" where
 * there is none. What cannot be asked is 0.
 */
unsigned neighbours_silent(unsigned ifindex, char *one, size_t size);

#endif

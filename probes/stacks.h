/* SPDX-License-Identifier: GPL-2.0 */
/* The stacks of events: their functions, by name. */
#ifndef NICPROBE_PROBES_STACKS_H
#define NICPROBE_PROBES_STACKS_H

#include "probes/probe.h"

struct tracing;

/* The map that has them, while the question is asked. */
void stacks_open(int map);
/* Calls `each` with the functions of a value of kstack or ustack, the innermost first. */
void stack_each(const struct field *, const void *from,
		void (*each)(const char *function, void *arg), void *arg);
/* Remembers what the processes of all keys have mapped: while they live. */
void stacks_see(const struct tracing *);

#endif

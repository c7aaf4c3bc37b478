/* SPDX-License-Identifier: GPL-2.0 */
/* Stacks of what `trace` has gathered: lines below a row, and arrays. */
#ifndef NICPROBE_RENDER_TRACE_STACKS_H
#define NICPROBE_RENDER_TRACE_STACKS_H

#include "render/trace.h"

struct json;

/* A stack, indented, with its name above. */
void stack_print(struct page *, const struct field *, const void *from, bool there);
/* Those of a key. */
void stacks_print(struct page *, const struct question *, const struct query_key *);
void stack_json(struct json *, const struct field *, const void *from);
/* "a;b;c", the innermost first; free() it. NULL: no memory. */
char *stack_joined(const struct field *, const void *from);
/* A table with a line for each row, and below each its stacks. */
void rows_with_stacks(struct page *, const struct trace_result *, const char *table);

#endif

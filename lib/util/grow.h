/* SPDX-License-Identifier: GPL-2.0 */
/* Lists that grow by one element at a time. */
#ifndef NICPROBE_GROW_H
#define NICPROBE_GROW_H

#include <stdlib.h>

/* The list of `nr` elements with room for one more: it doubles when full. NULL: no memory. */
static inline void *grow(void *list, size_t nr, size_t size)
{
	return nr & (nr - 1) ? list : realloc(list, (nr ? 2 * nr : 1) * size);
}

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* Memory that is taken and freed again and again. */
#ifndef NICPROBE_HEAP_H
#define NICPROBE_HEAP_H

#include <malloc.h>

#define HEAP_KEPT	(32 << 20)	/* bytes that are free; glibc takes no larger threshold */

/*
 * Each reading frees megabytes that the next one needs: what is given back to the kernel meanwhile
 * is cleared anew, page by page.
 */
static inline void heap_keep(void)
{
	mallopt(M_MMAP_THRESHOLD, HEAP_KEPT);
	mallopt(M_TRIM_THRESHOLD, HEAP_KEPT);
}

#endif

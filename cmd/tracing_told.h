/* SPDX-License-Identifier: GPL-2.0 */
/* What `trace` says beside its answer, on stderr. */
#ifndef NICPROBE_TRACING_TOLD_H
#define NICPROBE_TRACING_TOLD_H

#include "render/trace.h"

/* "tracing tcp:::send at netfilter POST_ROUTING, …": what is seen where, once it is. */
void begun_tell(const struct tracing *);
/* Probes whose events lack a field of the condition: it never holds for them. */
void stopped_tell(const struct question *);
/* What was lost of events that were printed: the tables of aggregations tell that themselves. */
void losses_tell(const struct tracing *, const struct page *look);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* What `trace` says beside its answer: where it sees events, and what it lost. */
#include <stdio.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/tracing_told.h"
#include "lib/util/log.h"
#include "probes/raw.h"
#include "render/trace.h"

void losses_tell(const struct tracing *t, const struct page *as)
{
	struct page page = { .out = stderr, .look = as->look, .width = as->width };
	__u64 losses[NR_LOSSES + 1];

	tracing_losses(t, losses);
	trace_losses(&page, losses);
}

/* What a pattern names and this kernel has not. */
static void lacking_tell(const struct tracing *t)
{
	probe_set lacks = tracing_lacks(t);
	const char *list = "";

	for (int p = 0; p < NR_STABLE_PROBES; p++)
		if (lacks >> p & 1)
			list = text("%s%s%s", list, *list ? ", " : "", probe_name(p));
	if (*list)
		tell(text("not here: %s; nicprobe list -v has the reasons", list));
}

void begun_tell(const struct tracing *t)
{
	char list[500] = "";
	unsigned more = 0;

	lacking_tell(t);
	for (int p = 0; p < NR_STABLE_PROBES; p++) {
		const struct serving *s = tracing_source(t, p);

		if (!s || raw_has(probe_bit(p)))
			continue;
		if (strlen(list) > sizeof(list) - 200) {
			more++;
			continue;
		}
		snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%s at %s%s%s%s",
			 *list ? ", " : "", probe_name(p), source_name(s->source),
			 s->grade == EXACT ? "" : " (",
			 s->grade == EXACT ? "" : grade_names[s->grade],
			 s->grade == EXACT ? "" : ")");
	}
	tracing_raw(t, list + strlen(list), sizeof(list) - strlen(list), *list);
	tell(more ? text("tracing %s and %u more", list, more) : text("tracing %s", list));
}

void stopped_tell(const struct question *q)
{
	for (int p = 0; p < NR_STABLE_PROBES; p++) {
		const struct field *f = q->probes >> p & 1 ? question_stops(q, p) : NULL;

		if (f)
			tell(text("no event of %s passes the condition: they have no %s",
				  probe_name(p), f->name));
	}
}

/* SPDX-License-Identifier: GPL-2.0 */
/* Which probes have events that a condition can let pass: it is false for a field they lack. */
#include "probes/asking.h"

static const struct field *field_of(const struct term *t)
{
	for (const struct field *f = fields; f->name; f++)
		if (f->offset == t->offset && f->group == t->group)
			return f;
	return NULL;
}

const struct field *question_stops(const struct question *q, enum stable_probe p)
{
	__u64 groups = probe_groups(p) | 1ull << GROUP_SINCE;
	const struct field *missing = NULL, *first = NULL;

	for (__u32 i = 0; i < q->query.nr_terms; i++) {
		const struct term *t = &q->query.term[i];

		if (!missing && !(groups >> t->group & 1))
			missing = field_of(t);
		if (!t->ends)
			continue;
		if (!missing)
			return NULL;
		first = first ?: missing;
		missing = NULL;
	}
	return first;
}

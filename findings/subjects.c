/* SPDX-License-Identifier: GPL-2.0 */
/* Evaluates all subjects on a window and orders their findings. */
#include <stdlib.h>
#include <string.h>

#include "findings/subjects.h"
#include "lib/hw/hw.h"

const struct subject *const subjects[] = {
#define S(name) &subject_##name,
	SUBJECTS(S)
#undef S
	NULL
};

const struct finding_kind *kind_find(const char *id)
{
	for (const struct subject *const *s = subjects; *s; s++)
		for (unsigned i = 0; (*s)->kind(i); i++)
			if (!strcmp((*s)->kind(i)->id, id))
				return (*s)->kind(i);
	return NULL;
}

bool subject_fits(const struct subject *subject, const struct snapshot *s)
{
	return subject->host == !!s->meta.host;
}

void findings_judge(struct snapshot *s, const struct hw *hw)
{
	struct evidence e = { .s = s, .f = &s->findings, .hw = hw };

	findings_clear(&s->findings);
	for (const struct subject *const *one = subjects; *one; one++)
		if (subject_fits(*one, s))
			(*one)->judge(&e);
	findings_order(&s->findings);
	if (e.own)
		hw_free(e.own);
	free(e.own);
}

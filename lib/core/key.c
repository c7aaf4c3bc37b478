/* SPDX-License-Identifier: GPL-2.0 */
/* What a key of a meter is called: by the meter, or as a recording has it from another kernel. */
#include <stdio.h>

#include "lib/core/key.h"

const struct key_words *(*key_recorded)(const struct meter *, const void *key);

static const struct key_words *recorded(const struct meter *m, const void *key)
{
	return key_recorded ? key_recorded(m, key) : NULL;
}

void key_text(const struct meter *m, const void *key, unsigned nr, char *text, size_t size)
{
	const struct key_words *w = recorded(m, key);

	if (w)
		snprintf(text, size, "%s", nr < w->nr_labels ? w->labels[nr] : "");
	else
		m->key.text(key, nr, text, size);
}

bool key_line(const struct meter *m, const void *key, unsigned nr, char *text, size_t size)
{
	const struct key_words *w = recorded(m, key);

	if (!m->key.line)
		return false;
	if (!w)
		return m->key.line(key, nr, text, size);
	snprintf(text, size, "%s", nr < w->nr_lines ? w->lines[nr] : "");
	return nr < w->nr_lines;
}

const char *key_unit_of(const struct meter *m, const void *key)
{
	const struct key_words *w = m->key.unit ? recorded(m, key) : NULL;

	return !m->key.unit ? NULL : w ? w->unit : m->key.unit(key);
}

bool key_minor(const struct meter *m, const void *key)
{
	const struct key_words *w = m->key.is_minor ? recorded(m, key) : NULL;

	return m->key.is_minor && (w ? w->minor : m->key.is_minor(key));
}

bool key_part(const struct meter *m, const void *key)
{
	return m->key.is_part && m->key.is_part(key);
}

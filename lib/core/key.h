/* SPDX-License-Identifier: GPL-2.0 */
/* What a key of a meter is called: by the meter, or as a recording has it from another kernel. */
#ifndef NICPROBE_KEY_H
#define NICPROBE_KEY_H

#include "lib/core/meter.h"

#define KEY_TEXT 400		/* of the longest part: a domain name of odd bytes */

/* The words of a key, as they were where it was recorded. */
struct key_words {
	const char *const *labels;	/* as many as the meter has, */
	unsigned nr_labels;
	const char *const *lines;	/* and its further lines */
	unsigned nr_lines;
	const char *unit;		/* NULL: it has none of its own */
	bool minor;
};

/* Set while a recording is read: asked before the meter. NULL: it knows nothing of this key. */
extern const struct key_words *(*key_recorded)(const struct meter *, const void *key);

void key_text(const struct meter *, const void *key, unsigned nr, char *text, size_t size);
bool key_line(const struct meter *, const void *key, unsigned nr, char *text, size_t size);
const char *key_unit_of(const struct meter *, const void *key);	/* NULL: as its metrics' */
bool key_minor(const struct meter *, const void *key);
bool key_part(const struct meter *, const void *key);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* The strings in a program's data, and the names that its printf formats can make of them. */
#ifndef NICPROBE_STRINGS_H
#define NICPROBE_STRINGS_H

#include <stdbool.h>
#include <stddef.h>

struct strings {
	const char **plain;	/* sorted */
	const char **formats;	/* those with a conversion and fixed text */
	unsigned nr_plain, nr_formats;
};

/* Points into `data`, which must stay. 0 or -ENOMEM. */
int strings_add(struct strings *, const char *data, size_t size);
void strings_sort(struct strings *);	/* after the last is added, before any lookup */
void strings_free(struct strings *);

/*
 * Is `name` among the strings, or can a format make it? A %u matches digits, a %s a string or
 * another format's result; '?' in `name` is unknown text, which only a %s matches. Gives up on
 * names
 * with too many possible derivations ("%s%s%s%s-"), and returns false.
 */
bool strings_make(const struct strings *, const char *name);

#endif

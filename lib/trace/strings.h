/* SPDX-License-Identifier: GPL-2.0 */
/* The strings in a program's data, and the names it can make of them by its printf formats. */
#ifndef NICPROBE_STRINGS_H
#define NICPROBE_STRINGS_H

#include <stdbool.h>
#include <stddef.h>

struct strings {
	const char **plain;	/* sorted */
	const char **formats;	/* those with a conversion, and with something besides */
	unsigned nr_plain, nr_formats;
};

/* Points into `data`, which must stay. 0 or -ENOMEM. */
int strings_add(struct strings *, const char *data, size_t size);
void strings_sort(struct strings *);	/* before it is asked, after the last is added */
void strings_free(struct strings *);

/*
 * Is `name` there, or can a format make it: digits of a %u, and of a %s what is there itself or
 * can be made? '?' in `name` stands for what nobody knows; a %s that is nothing else is good.
 * What could be made in more than very many ways ("%s%s%s%s-") is given up: it is not there.
 */
bool strings_make(const struct strings *, const char *name);

#endif

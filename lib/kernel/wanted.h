/* SPDX-License-Identifier: GPL-2.0 */
/* The names of the types of the kernel that the programs of an object read. */
#ifndef NICPROBE_WANTED_H
#define NICPROBE_WANTED_H

#include <stdbool.h>
#include <stddef.h>

struct btf;
struct btf_type;

#define PLACES	1024		/* of a hash; an object reads 37 types */

struct wanted_types {
	const char *name[PLACES];	/* NULL: the place is free */
	bool found[PLACES];
	unsigned nr;
};

/* The length of NAME in NAME___flavor, as libbpf compares them. */
size_t essential(const char *name);
/* The place of a name, or the free place where it would be. */
unsigned wanted_place(const struct wanted_types *, const char *name);
/* Whether it is of a kind that can be wanted. */
bool may_be_wanted(const struct btf_type *);
/* Enters the types that the programs of an ELF object read, whose own types are `of`. */
int wanted_read(struct wanted_types *, const void *bytes, size_t size, const struct btf *of);

#endif

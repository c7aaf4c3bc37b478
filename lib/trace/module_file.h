/* SPDX-License-Identifier: GPL-2.0 */
/* A module's file: filled in by module_read.c, queried by module.c. */
#ifndef NICPROBE_MODULE_FILE_H
#define NICPROBE_MODULE_FILE_H

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>

#include "lib/trace/strings.h"

struct btf;
struct error;

struct symbol {
	const char *name;
	GElf_Addr at;
	unsigned section;
	bool function;
};

struct trace_site {		/* a place where a function can be traced */
	unsigned section;
	GElf_Addr at;
};

struct module {
	void *file;
	size_t size, told;	/* its bytes, and the bytes that sections have claimed so far */
	Elf *elf;
	unsigned machine;
	char name[64], release[80];
	const char *no_btf;
	struct symbol *symbols;	/* the defined ones, by name */
	unsigned nr_symbols;
	struct trace_site *sites;
	unsigned nr_sites;
	unsigned before;	/* bytes by which a site may precede its function */
	struct strings strings;
	struct btf *base, *btf;
	bool info;		/* it has .modinfo */
};

/* Reads m->file. 0, or -errno with an error message; what was read until then stays. */
int module_read(struct module *, const char *path, struct error *);
/* By name, for bsearch(). */
int symbol_compare(const void *a, const void *b);
Elf_Scn *section_find(const struct module *, const char *name);

#endif

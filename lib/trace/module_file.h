/* SPDX-License-Identifier: GPL-2.0 */
/* What module_read.c reads of a module's file, and module.c answers from. */
#ifndef NICPROBE_MODULE_FILE_H
#define NICPROBE_MODULE_FILE_H

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>

#include "lib/trace/strings.h"

struct btf;

struct symbol {
	const char *name;
	GElf_Addr at;
	unsigned section;
	bool function;
};

struct site {			/* where a function can be traced */
	unsigned section;
	GElf_Addr at;
};

struct module {
	void *file;
	size_t size, told;	/* bytes it has, and that sections were said to have until now */
	Elf *elf;
	unsigned machine;
	char name[64], release[80];
	const char *no_btf;
	struct symbol *symbols;	/* those that are defined, by name */
	unsigned nr_symbols;
	struct site *sites;
	unsigned nr_sites;
	unsigned before;	/* bytes that a site may stand before its function */
	struct strings strings;
	struct btf *base, *btf;
	bool info;		/* it has what makes it a module */
};

/* Of m->file. 0, or -errno and a complaint; what was read until then stays. */
int module_read(struct module *, const char *path);
/* By name, for bsearch(). */
int symbol_compare(const void *a, const void *b);
Elf_Scn *section_find(const struct module *, const char *name);

#endif

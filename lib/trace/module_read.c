/* SPDX-License-Identifier: GPL-2.0 */
/* Reads a kernel module's file: its symbols, where functions can be traced, its strings. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/trace/module_file.h"
#include "lib/util/error.h"

int symbol_compare(const void *a, const void *b)
{
	return strcmp(((const struct symbol *)a)->name, ((const struct symbol *)b)->name);
}

static int by_site(const void *a, const void *b)
{
	const struct trace_site *x = a, *y = b;

	if (x->section != y->section)
		return x->section < y->section ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

static const char *section_name(const struct module *m, Elf_Scn *scn, GElf_Shdr *head)
{
	size_t strings;

	if (!gelf_getshdr(scn, head) || elf_getshdrstrndx(m->elf, &strings))
		return "";
	return elf_strptr(m->elf, strings, head->sh_name) ?: "";
}

Elf_Scn *section_find(const struct module *m, const char *name)
{
	GElf_Shdr head;

	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(m->elf, scn));)
		if (!strcmp(section_name(m, scn, &head), name))
			return scn;
	return NULL;
}

static int symbols_read(struct module *m, Elf_Scn *scn, const GElf_Shdr *head)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	size_t nr = data && head->sh_entsize ? data->d_size / head->sh_entsize : 0;
	GElf_Sym sym;

	m->symbols = calloc(nr ?: 1, sizeof(*m->symbols));
	if (!m->symbols)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		const char *name = gelf_getsym(data, i, &sym) ?
			elf_strptr(m->elf, head->sh_link, sym.st_name) : NULL;

		if (!name || !*name || sym.st_shndx == SHN_UNDEF)
			continue;
		m->symbols[m->nr_symbols++] = (struct symbol){
			.name = name, .at = sym.st_value, .section = sym.st_shndx,
			.function = GELF_ST_TYPE(sym.st_info) == STT_FUNC,
		};
	}
	qsort(m->symbols, m->nr_symbols, sizeof(*m->symbols), symbol_compare);
	return 0;
}

/* The addresses in a section, from its relocations. */
static int sites_read(struct module *m, Elf_Scn *scn, const GElf_Shdr *head)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	Elf_Scn *table = elf_getscn(m->elf, head->sh_link);
	Elf_Data *symbols = table ? elf_getdata(table, NULL) : NULL;
	size_t nr = data && head->sh_entsize ? data->d_size / head->sh_entsize : 0;
	GElf_Rela rela;
	GElf_Sym sym;

	free(m->sites);
	m->nr_sites = 0;
	m->sites = calloc(nr ?: 1, sizeof(*m->sites));
	if (!m->sites)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		if (gelf_getrela(data, i, &rela) && symbols &&
		    gelf_getsym(symbols, GELF_R_SYM(rela.r_info), &sym))
			m->sites[m->nr_sites++] = (struct trace_site){
				.section = sym.st_shndx, .at = sym.st_value + rela.r_addend,
			};
	qsort(m->sites, m->nr_sites, sizeof(*m->sites), by_site);
	return 0;
}

static void value_copy(char *to, size_t size, const char *from, const char *end)
{
	size_t len = end - from < (ssize_t)size ? end - from : (ssize_t)size - 1;

	memcpy(to, from, len);
	to[len] = '\0';
}

/* "key=value" of .modinfo. */
static void info_read(struct module *m, Elf_Scn *scn)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	const char *at = data ? data->d_buf : NULL, *end = at ? at + data->d_size : NULL;

	while (at && at < end) {
		size_t len = strnlen(at, end - at);	/* the last may lack its terminator */
		const char *space = memchr(at, ' ', len);

		if (len > 5 && !strncmp(at, "name=", 5))
			value_copy(m->name, sizeof(m->name), at + 5, at + len);
		else if (len > 9 && !strncmp(at, "vermagic=", 9))
			value_copy(m->release, sizeof(m->release), at + 9, space ?: at + len);
		at += len + 1;
		m->info = true;
	}
}

static int section_read(struct module *m, Elf_Scn *scn)
{
	GElf_Shdr head;
	const char *name = section_name(m, scn, &head);
	Elf_Data *data;

	if (head.sh_type != SHT_NOBITS &&
	    (head.sh_offset > m->size || head.sh_size > m->size - head.sh_offset))
		return -ENODATA;
	/* no linker makes two, and Linux rejects such a module */
	if (head.sh_type == SHT_SYMTAB && m->symbols)
		return -EEXIST;
	/* a thousand of them over the same bytes would take forever */
	m->told += head.sh_type != SHT_NOBITS ? head.sh_size : 0;
	if (m->told > m->size)
		return -EBADMSG;
	if (head.sh_type == SHT_SYMTAB)
		return symbols_read(m, scn, &head);
	if (!strcmp(name, ".modinfo"))
		info_read(m, scn);
	if (!strcmp(name, ".rela__mcount_loc"))
		return sites_read(m, scn, &head);
	/* arm64 has only this one; on x86 it is padding, beside the former */
	if (!strcmp(name, ".rela__patchable_function_entries") &&
	    !section_find(m, ".rela__mcount_loc")) {
		m->before = 16;
		return sites_read(m, scn, &head);
	}
	if (strncmp(name, ".rodata", 7) && strncmp(name, ".data", 5))
		return 0;
	data = head.sh_type == SHT_PROGBITS ? elf_getdata(scn, NULL) : NULL;
	return data && data->d_buf ? strings_add(&m->strings, data->d_buf, data->d_size) : 0;
}

int module_read(struct module *m, const char *path, struct error *e)
{
	GElf_Ehdr head;
	int err = 0;

	if (m->size < 64 || elf_kind(m->elf) != ELF_K_ELF || !gelf_getehdr(m->elf, &head))
		return error_set(e, -EINVAL, NULL,
				 "cannot check %s: it is not an ELF file, so not a "
				 "module",
				 path);
	if (!head.e_shnum || head.e_shoff > m->size ||
	    (size_t)head.e_shnum * head.e_shentsize > m->size - head.e_shoff)
		return error_set(e, -ENODATA, NULL, "cannot check %s: it is truncated", path);
	m->machine = head.e_machine;
	for (Elf_Scn *scn = NULL; !err && (scn = elf_nextscn(m->elf, scn));)
		err = section_read(m, scn);
	if (err == -ENODATA)
		return error_set(e, err, NULL, "cannot check %s: it is truncated", path);
	if (err)
		return error_set(e, err, NULL, "cannot check %s: %s", path,
				 err == -EEXIST ? "it is damaged: it has two symbol tables" :
				 err == -EBADMSG ? "it is damaged: its sections overlap" :
				 strerror(-err));
	if (head.e_type != ET_REL || !m->info || !*m->name)
		return error_set(e, -EINVAL, NULL, "cannot check %s: it is not a kernel module",
				 path);
	if (!m->nr_symbols)
		return error_set(e, -EINVAL, NULL, "cannot check %s: it has no symbols", path);
	strings_sort(&m->strings);
	return 0;
}

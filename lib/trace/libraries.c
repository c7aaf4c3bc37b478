/* SPDX-License-Identifier: GPL-2.0 */
/* Files of a library that processes have mapped, and where its functions are in them. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/trace/libraries.h"
#include "lib/trace/process.h"
#include "lib/util/grow.h"
#include "lib/util/log.h"

#if defined(__x86_64__)
#define OUR_MACHINE	EM_X86_64
#elif defined(__aarch64__)
#define OUR_MACHINE	EM_AARCH64
#else
#define OUR_MACHINE	EM_NONE
#endif

/* More different ones than a host has; each is kept open. */
#define LIBRARIES_MOST	256

/* A container may have any file for a library: one with more than this is not read, in bytes. */
#define FILE_MOST	(64u << 20)
#define SECTION_MOST	(4u << 20)

/* One that could not be opened, by what the list of mappings says. */
static bool known(const struct libraries *l, const struct library *one)
{
	for (unsigned i = 0; i < l->nr; i++)
		if (l->list[i].fd < 0 && l->list[i].mapped == one->mapped &&
		    !strcmp(l->list[i].mapped_on, one->mapped_on))
			return true;
	return false;
}

/*
 * The same file may be mapped from several places. The list of mappings has the device of the whole
 * file system, where subvolumes (btrfs) may each have a file of the same number.
 */
static bool opened(const struct libraries *l, const struct library *one)
{
	for (unsigned i = 0; i < l->nr; i++)
		if (l->list[i].fd >= 0 && l->list[i].inode == one->inode &&
		    l->list[i].device == one->device)
			return true;
	return false;
}

/* Also one that was replaced, and has no path any more. */
static int library_open(const char *process, const char *range, const char *path)
{
	int fd = regular_open(text("/proc/%s/map_files/%s", process, range));

	return fd >= 0 ? fd : regular_open(text("/proc/%s/root%s", process, path));
}

static int add(struct libraries *l, struct library *one, const char *process, const char *range)
{
	struct library *list;
	struct stat st;
	int err = 0;

	one->fd = library_open(process, range, one->path);
	if (one->fd >= 0 && !fstat(one->fd, &st)) {
		one->device = st.st_dev;
		one->inode = st.st_ino;
	}
	if (one->fd >= 0 ? opened(l, one) : known(l, one))
		goto not_kept;
	if (l->nr == LIBRARIES_MOST) {
		l->left_out++;
		goto not_kept;
	}
	list = grow(l->list, l->nr, sizeof(*list));
	if (!list) {
		err = -ENOMEM;
		goto not_kept;
	}
	l->list = list;
	list[l->nr++] = *one;
	return 0;
not_kept:
	if (one->fd >= 0)
		close(one->fd);
	return err;
}

/* "7f00-7f10 r-xp 00026000 fd:01 1234 /usr/lib/libc.so.6": those that hold code. */
static int mapping_take(struct libraries *l, const char *process, const char *line,
			bool (*fits)(const char *))
{
	struct library one = {};
	char range[40], rights[5], *name;

	if (sscanf(line, "%39s %4s %*x %15s %" SCNu64 " %255[^\n]", range, rights, one.mapped_on,
		   &one.mapped, one.path) != 5 || rights[2] != 'x' || *one.path != '/')
		return 0;
	name = strstr(one.path, " (deleted)");
	if (name)
		*name = '\0';
	return fits(strrchr(one.path, '/') + 1) ? add(l, &one, process, range) : 0;
}

static int process_take(struct libraries *l, const char *process, bool (*fits)(const char *))
{
	FILE *maps = fopen(text("/proc/%s/maps", process), "re");
	char *line = NULL;
	size_t room = 0;
	int err = 0;

	while (maps && !err && getline(&line, &room, maps) > 0)
		err = mapping_take(l, process, line, fits);
	free(line);
	if (maps)
		fclose(maps);
	return err;	/* a process may be gone by now */
}

static bool is_in(struct libraries *l, const char *process, unsigned netns)
{
	struct stat st;

	if (!stat(text("/proc/%s/ns/net", process), &st))
		return st.st_ino == netns;
	l->denied += errno == EACCES || errno == EPERM;
	return false;
}

int libraries_find(struct libraries *l, unsigned netns, bool (*fits)(const char *))
{
	DIR *all = opendir("/proc");
	struct dirent *one;
	int err;

	*l = (struct libraries){};
	err = all ? process_take(l, "self", fits) : -errno;
	while (!err && (one = readdir(all)))
		if (isdigit((unsigned char)*one->d_name) && is_in(l, one->d_name, netns))
			err = process_take(l, one->d_name, fits);
	if (all)
		closedir(all);
	return err;
}

void libraries_free(struct libraries *l)
{
	for (unsigned i = 0; i < l->nr; i++)
		if (l->list[i].fd >= 0)
			close(l->list[i].fd);
	free(l->list);
	*l = (struct libraries){};
}

/* Where in the file an address lies; 0: nowhere. */
static uint64_t offset_of(Elf *elf, uint64_t at)
{
	size_t nr = 0;
	GElf_Phdr head;

	elf_getphdrnum(elf, &nr);
	for (size_t i = 0; i < nr; i++)
		if (gelf_getphdr(elf, i, &head) && head.p_type == PT_LOAD &&
		    at - head.p_vaddr < head.p_filesz)
			return at - head.p_vaddr + head.p_offset;
	return 0;
}

static bool is_function(const GElf_Sym *sym)
{
	return GELF_ST_TYPE(sym->st_info) == STT_FUNC && sym->st_shndx != SHN_UNDEF;
}

/* The first section of dynamic symbols; a file of the C library has no other. */
static Elf_Scn *symbols_of(Elf *elf, GElf_Shdr *head)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, head) && head->sh_type == SHT_DYNSYM)
			break;
	return section;
}

static unsigned symbols_find(Elf *elf, const char *wanted, uint64_t *offsets, unsigned most)
{
	GElf_Shdr head, strings;
	Elf_Scn *section = symbols_of(elf, &head);
	Elf_Data *data;
	unsigned nr = 0;
	GElf_Sym sym;

	if (!section || head.sh_size > SECTION_MOST ||
	    !gelf_getshdr(elf_getscn(elf, head.sh_link), &strings) ||
	    strings.sh_size > SECTION_MOST)
		return 0;
	data = elf_getdata(section, NULL);
	for (int i = 0; data && nr < most && gelf_getsym(data, i, &sym); i++) {
		const char *name = is_function(&sym) ?
			elf_strptr(elf, head.sh_link, sym.st_name) : NULL;
		uint64_t offset = name && !strcmp(name, wanted) ? offset_of(elf, sym.st_value) : 0;
		bool twice = !offset;

		for (unsigned n = 0; n < nr; n++)
			twice |= offsets[n] == offset;
		if (!twice)
			offsets[nr++] = offset;
	}
	return nr;
}

int library_function(const struct library *l, const char *name, uint64_t *offsets, unsigned most)
{
	GElf_Ehdr head;
	struct stat st;
	unsigned nr;
	Elf *elf;

	if (fstat(l->fd, &st) || st.st_size > FILE_MOST)
		return -ENOEXEC;
	elf_version(EV_CURRENT);
	elf = elf_begin(l->fd, ELF_C_READ, NULL);
	if (!elf || !gelf_getehdr(elf, &head) || head.e_machine != OUR_MACHINE ||
	    head.e_ident[EI_CLASS] != ELFCLASS64) {
		elf_end(elf);
		return -ENOEXEC;
	}
	nr = symbols_find(elf, name, offsets, most);
	elf_end(elf);
	return nr;
}

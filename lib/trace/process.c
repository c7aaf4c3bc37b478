/* SPDX-License-Identifier: GPL-2.0 */
/* The functions of a process, by address: from its mappings and the symbols of their files. */
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/trace/process.h"
#include "lib/util/grow.h"
#include "lib/util/log.h"

struct elf_symbol {
	uint64_t at, size;
	char *name;
};

/* A process may map what it likes: more than this of a file is not read. */
#define SYMBOLS_MOST	(1u << 20)
#define SECTION_MOST	(256u << 20)	/* bytes */

/*
 * An ELF file, read once for all processes that map it. Containers have other files of the same
 * path: the kernel's numbers of device and inode tell them apart.
 */
struct elf_file {
	char device[16];
	uint64_t inode;
	char path[256];
	struct elf_symbol *list;		/* by address */
	unsigned nr;
	struct { uint64_t offset, size, at; } load[8];	/* what lies where */
	unsigned nr_loads;
	struct elf_file *next;
};

struct mapping {
	uint64_t from, to, offset;
	struct elf_file *file;
};

static struct process {
	unsigned pid;
	struct mapping *list;
	unsigned nr;
	struct process *next;
} *processes;

static void symbols_take(struct elf_file *f, Elf *elf, Elf_Scn *section, const GElf_Shdr *head)
{
	GElf_Shdr strings;
	Elf_Data *data;
	GElf_Sym sym;

	if (head->sh_size > SECTION_MOST ||
	    !gelf_getshdr(elf_getscn(elf, head->sh_link), &strings) ||
	    strings.sh_size > SECTION_MOST)
		return;
	data = elf_getdata(section, NULL);
	for (int i = 0; data && f->nr < SYMBOLS_MOST && gelf_getsym(data, i, &sym); i++) {
		const char *name = elf_strptr(elf, head->sh_link, sym.st_name);
		struct elf_symbol *list;

		if (GELF_ST_TYPE(sym.st_info) != STT_FUNC || !sym.st_value || !name || !*name)
			continue;
		list = grow(f->list, f->nr, sizeof(*list));
		if (!list)
			return;
		f->list = list;
		list[f->nr] = (struct elf_symbol){ .at = sym.st_value, .size = sym.st_size,
					       .name = strdup(name) };
		f->nr += list[f->nr].name != NULL;
	}
}

static int by_address(const void *a, const void *b)
{
	const struct elf_symbol *x = a, *y = b;

	return x->at < y->at ? -1 : x->at > y->at;
}

static void elf_read(struct elf_file *f, Elf *elf)
{
	Elf_Scn *section = NULL;
	size_t nr = 0;

	elf_getphdrnum(elf, &nr);
	for (size_t i = 0; i < nr && f->nr_loads < 8; i++) {
		GElf_Phdr head;

		if (!gelf_getphdr(elf, i, &head) || head.p_type != PT_LOAD)
			continue;
		f->load[f->nr_loads].offset = head.p_offset;
		f->load[f->nr_loads].size = head.p_filesz;
		f->load[f->nr_loads++].at = head.p_vaddr;
	}
	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr head;

		if (gelf_getshdr(section, &head) &&
		    (head.sh_type == SHT_SYMTAB || head.sh_type == SHT_DYNSYM))
			symbols_take(f, elf, section, &head);
	}
	if (f->nr)
		qsort(f->list, f->nr, sizeof(*f->list), by_address);
}

int regular_open(const char *path)
{
	int place = open(path, O_PATH | O_CLOEXEC), fd = -1;
	struct stat st;

	if (place >= 0 && !fstat(place, &st) && S_ISREG(st.st_mode))
		fd = open(text("/proc/self/fd/%d", place), O_RDONLY | O_CLOEXEC);
	if (place >= 0)
		close(place);
	return fd;
}

/* Read where the process sees it. */
static struct elf_file *file_of(unsigned pid, const struct elf_file *wanted)
{
	static struct elf_file *files;
	struct elf_file *f;
	int fd;
	Elf *elf;

	for (f = files; f; f = f->next)
		if (f->inode == wanted->inode && !strcmp(f->device, wanted->device) &&
		    !strcmp(f->path, wanted->path))
			return f;
	f = calloc(1, sizeof(*f));
	if (!f)
		return NULL;
	*f = *wanted;
	f->next = files;
	files = f;
	fd = regular_open(text("/proc/%u/root%s", pid, f->path));
	elf_version(EV_CURRENT);
	elf = fd < 0 ? NULL : elf_begin(fd, ELF_C_READ, NULL);
	if (elf && elf_kind(elf) == ELF_K_ELF)
		elf_read(f, elf);
	elf_end(elf);
	if (fd >= 0)
		close(fd);
	return f;
}

/* "7f00-7f10 r-xp 00026000 fd:01 1234 /usr/lib/libc.so.6": those that hold code. */
static void mapping_take(struct process *p, const char *line)
{
	struct mapping m = {}, *list;
	struct elf_file file = {};
	char rights[5];

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %15s %" SCNu64 " %255[^\n]",
		   &m.from, &m.to, rights, &m.offset, file.device, &file.inode,
		   file.path) != 7 || rights[2] != 'x' || *file.path != '/')
		return;
	list = grow(p->list, p->nr, sizeof(*list));
	if (!list)
		return;
	p->list = list;
	m.file = file_of(p->pid, &file);
	list[p->nr] = m;
	p->nr += m.file != NULL;
}

static struct process *process_find(unsigned pid)
{
	struct process *p = processes;
	char *line = NULL;
	size_t room = 0;
	FILE *maps;

	while (p && p->pid != pid)
		p = p->next;
	if (p)
		return p;
	maps = fopen(text("/proc/%u/maps", pid), "re");
	p = maps ? calloc(1, sizeof(*p)) : NULL;
	if (p) {
		p->pid = pid;
		p->next = processes;
		processes = p;
	}
	while (p && getline(&line, &room, maps) > 0)
		mapping_take(p, line);
	free(line);
	if (maps)
		fclose(maps);
	return p;
}

void process_see(unsigned pid)
{
	process_find(pid);
}

/* The last that begins at or before it, if it is as long. */
static const struct elf_symbol *symbol_at(const struct elf_file *f, uint64_t at)
{
	unsigned low = 0, high = f->nr;

	while (low < high) {
		unsigned middle = (low + high) / 2;

		if (f->list[middle].at <= at)
			low = middle + 1;
		else
			high = middle;
	}
	return low && at - f->list[low - 1].at < (f->list[low - 1].size ?: 1) ? &f->list[low - 1] :
		NULL;
}

void process_symbol(unsigned pid, uint64_t address, char *to, size_t size)
{
	const struct process *p = process_find(pid);
	const struct mapping *m = p ? p->list : NULL;
	const struct elf_symbol *s;
	const char *name;
	uint64_t at;

	while (m && m < p->list + p->nr && (address < m->from || address >= m->to))
		m++;
	if (!m || m == p->list + p->nr) {
		snprintf(to, size, "0x%" PRIx64, address);
		return;
	}
	at = address - m->from + m->offset;
	for (unsigned i = 0; i < m->file->nr_loads; i++)
		if (at - m->file->load[i].offset < m->file->load[i].size) {
			at += m->file->load[i].at - m->file->load[i].offset;
			break;
		}
	name = strrchr(m->file->path, '/') + 1;
	s = symbol_at(m->file, at);
	if (s)
		snprintf(to, size, "%s+0x%" PRIx64 " [%s]", s->name, at - s->at, name);
	else
		snprintf(to, size, "%s+0x%" PRIx64, name, at);
}

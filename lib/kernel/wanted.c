/* SPDX-License-Identifier: GPL-2.0 */
/* The names of the types of the kernel that the programs of an object read. */
#include <errno.h>
#include <gelf.h>
#include <libelf.h>
#include <string.h>

#include <bpf/btf.h>

#include "lib/kernel/wanted.h"

size_t essential(const char *name)
{
	size_t len = strlen(name);

	if (!strstr(name, "___"))
		return len;
	for (size_t i = len; i-- > 1;)
		if (!strncmp(name + i, "___", 3) && name[i - 1] != '_' && name[i + 3] &&
		    name[i + 3] != '_')
			return i;
	return len;
}

unsigned wanted_place(const struct wanted_types *w, const char *name)
{
	size_t len = essential(name);
	__u32 hash = 2166136261u;

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ (unsigned char)name[i]) * 16777619u;
	for (;; hash++) {
		const char *there = w->name[hash % PLACES];

		if (!there || (essential(there) == len && !strncmp(there, name, len)))
			return hash % PLACES;
	}
}

bool may_be_wanted(const struct btf_type *t)
{
	return t->name_off && (btf_is_composite(t) || btf_is_any_enum(t) || btf_is_typedef(t));
}

/* As in .BTF.ext: sections of records, all of one size. */
struct relocations {
	__u32 section, nr;
};

struct relocation {
	__u32 instruction, type, access, kind;
};

static int record_read(struct wanted_types *w, const struct btf *of, const char *at)
{
	const struct btf_type *t;
	struct relocation one;
	const char *name;
	unsigned place;

	memcpy(&one, at, sizeof(one));
	t = btf__type_by_id(of, one.type);
	if (!t || !may_be_wanted(t) || w->nr == PLACES / 2)
		return -EINVAL;			/* that is for libbpf alone */
	name = btf__name_by_offset(of, t->name_off);
	place = wanted_place(w, name);
	w->nr += !w->name[place];
	w->name[place] = name;
	return 0;
}

/* Enters the types of the relocations from `at` on. */
static int records_read(struct wanted_types *w, const struct btf *of, const char *at,
			const char *end)
{
	struct relocations all;
	__u32 size;
	int err = 0;

	if (at + sizeof(size) > end)
		return 0;			/* there are none */
	memcpy(&size, at, sizeof(size));
	at += sizeof(size);
	if (size < sizeof(struct relocation))
		return -EINVAL;
	while (!err && at + sizeof(all) <= end) {
		memcpy(&all, at, sizeof(all));
		at += sizeof(all);
		if (all.nr > (size_t)(end - at) / size)
			return -EINVAL;
		for (__u32 i = 0; i < all.nr && !err; i++, at += size)
			err = record_read(w, of, at);
	}
	return err;
}

static Elf_Data *section_find(Elf *elf, const char *called)
{
	size_t names;
	GElf_Shdr head;

	if (elf_getshdrstrndx(elf, &names))
		return NULL;
	for (Elf_Scn *s = NULL; (s = elf_nextscn(elf, s));) {
		const char *name = gelf_getshdr(s, &head) ?
				   elf_strptr(elf, names, head.sh_name) : NULL;

		if (name && !strcmp(name, called))
			return elf_rawdata(s, NULL);
	}
	return NULL;
}

int wanted_read(struct wanted_types *w, const void *bytes, size_t size, const struct btf *of)
{
	struct {
		__u16 magic;
		__u8 version, flags;
		__u32 len, functions, functions_len, lines, lines_len, core, core_len;
	} head = {};
	Elf *elf;
	Elf_Data *data;
	int err = -EINVAL;

	elf_version(EV_CURRENT);
	elf = elf_memory((char *)bytes, size);
	data = elf ? section_find(elf, ".BTF.ext") : NULL;
	if (data && data->d_size >= sizeof(head))
		memcpy(&head, data->d_buf, sizeof(head));
	if (head.len >= sizeof(head) &&
	    (size_t)head.len + head.core + head.core_len <= data->d_size) {
		const char *at = (const char *)data->d_buf + head.len + head.core;

		err = records_read(w, of, at, at + head.core_len);
	}
	elf_end(elf);
	return err ?: w->nr ? 0 : -ENOENT;
}

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Those types of the kernel that an object names, in a file of the format of the kernel's own.
 *
 * For each type that an object's programs read, libbpf looks through the names of all types of the
 * kernel: 37 times 127,000. Here they are looked through once, for all. A type keeps its number, as
 * programs tell it to the kernel: in the place of a type that nobody needs is a pointer to void.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "lib/kernel/btf.h"
#include "lib/kernel/lean.h"
#include "lib/kernel/pending.h"
#include "lib/kernel/wanted.h"
#include "lib/util/log.h"
#include "lib/util/slurp.h"

#define MODULES	"/sys/kernel/btf"
#define MOST	(1 << 26)	/* bytes of the types of a module */
#define BYTES	(1 << 22)	/* of the file, at most */

struct lean {
	const struct btf *kernel;
	__u32 nr, last, nr_todo;
	bool *kept;
	__u32 *todo;			/* kept, but what they are made of is not yet */
	struct { char *at; size_t used; } types, names;
};

static void keep(struct lean *l, __u32 id)
{
	if (!id || l->kept[id])
		return;
	l->kept[id] = true;
	l->todo[l->nr_todo++] = id;
	l->last = id > l->last ? id : l->last;
}

/* Keeps what the types are made of, except what they only point to. */
static void keep_parts(struct lean *l)
{
	while (l->nr_todo) {
		const struct btf_type *t = btf__type_by_id(l->kernel, l->todo[--l->nr_todo]);

		if (btf_is_composite(t))
			for (unsigned i = 0; i < btf_vlen(t); i++)
				keep(l, btf_members(t)[i].type);
		else if (btf_is_array(t))
			keep(l, btf_array(t)->type);
		else if (btf_is_mod(t) || btf_is_typedef(t))
			keep(l, t->type);
	}
}

static void keep_wanted(struct lean *l, struct wanted_types *w)
{
	for (__u32 id = 1; id < l->nr; id++) {
		const struct btf_type *t = btf__type_by_id(l->kernel, id);
		const char *name;
		unsigned at;

		if (btf_is_int(t))	/* libbpf learns from them how large a pointer is */
			keep(l, id);
		if (!may_be_wanted(t))
			continue;
		name = btf__name_by_offset(l->kernel, t->name_off);
		at = wanted_place(w, name);
		if (!w->name[at])
			continue;
		w->found[at] = true;
		keep(l, id);
	}
	keep_parts(l);
}

/* Adds a name; 0 is that of what has none. */
static __u32 name_add(struct lean *l, __u32 offset)
{
	const char *name = btf__name_by_offset(l->kernel, offset);
	size_t size = strlen(name) + 1, at = l->names.used;

	if (size == 1)
		return 0;
	if (at + size > BYTES)
		return 0;
	memcpy(l->names.at + at, name, size);
	l->names.used += size;
	return at;
}

/* The bytes that follow the struct btf_type of a kept one. */
static size_t tail(const struct btf_type *t)
{
	switch (btf_kind(t)) {
	case BTF_KIND_INT:
		return sizeof(__u32);
	case BTF_KIND_ARRAY:
		return sizeof(struct btf_array);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return btf_vlen(t) * sizeof(struct btf_member);
	case BTF_KIND_ENUM:
		return btf_vlen(t) * sizeof(struct btf_enum);
	case BTF_KIND_ENUM64:
		return btf_vlen(t) * sizeof(struct btf_enum64);
	default:
		return 0;
	}
}

/* Gives the parts of a copied type the names of the file: the first word of each is its name. */
static void parts_name(struct lean *l, struct btf_type *t)
{
	size_t size = btf_is_composite(t) ? sizeof(struct btf_member) :
		      btf_is_enum(t) ? sizeof(struct btf_enum) : sizeof(struct btf_enum64);

	if (!btf_is_composite(t) && !btf_is_any_enum(t))
		return;
	for (unsigned i = 0; i < btf_vlen(t); i++) {
		__u32 *name = (__u32 *)((char *)(t + 1) + i * size);

		*name = name_add(l, *name);
	}
}

static int type_add(struct lean *l, __u32 id)
{
	const struct btf_type *of = btf__type_by_id(l->kernel, id);
	bool whole = l->kept[id] && !btf_is_ptr(of) && !btf_is_func_proto(of) && !btf_is_fwd(of);
	size_t size = sizeof(*of) + (whole ? tail(of) : 0);
	struct btf_type *t = (void *)(l->types.at + l->types.used);

	if (l->types.used + size > BYTES)
		return -E2BIG;
	l->types.used += size;
	if (!whole) {
		*t = (struct btf_type){ .info = BTF_KIND_PTR << 24 };
		return 0;
	}
	memcpy(t, of, size);
	t->name_off = name_add(l, of->name_off);
	parts_name(l, t);
	if (btf_is_array(t))
		btf_array(t)->index_type = 0;
	return 0;
}

static int all_write(int fd, const void *data, size_t size)
{
	for (ssize_t n; size; data = (const char *)data + n, size -= n) {
		n = write(fd, data, size);
		if (n <= 0)
			return n ? -errno : -EIO;
	}
	return 0;
}

static int file_write(struct lean *l, int fd)
{
	struct btf_header head = { .magic = BTF_MAGIC, .version = BTF_VERSION };
	int err = 0;

	l->names.used = 1;
	for (__u32 id = 1; id <= l->last && !err; id++)
		err = type_add(l, id);
	head.hdr_len = sizeof(head);
	head.type_len = head.str_off = l->types.used;
	head.str_len = l->names.used;
	return err ?: l->names.used == BYTES ? -E2BIG : all_write(fd, &head, sizeof(head)) ?:
	       all_write(fd, l->types.at, l->types.used) ?:
	       all_write(fd, l->names.at, l->names.used);
}

/* Does a module have types of a name that the kernel itself has not? */
static bool module_names(const char *module, const struct wanted_types *w)
{
	int fd = open(text(MODULES "/%s", module), O_RDONLY | O_CLOEXEC), err;
	size_t size = 0;
	char *data = fd < 0 ? NULL : slurp(fd, MOST, &size, &err);
	bool found = !data;		/* who knows */

	if (fd >= 0)
		close(fd);
	for (unsigned at = 0; data && at < PLACES && !found; at++)
		if (w->name[at] && !w->found[at])
			found = memmem(data, size, w->name[at], essential(w->name[at]));
	free(data);
	return found;
}

static bool modules_name(const struct wanted_types *w)
{
	bool lacks = false, found = false;
	struct dirent *e;
	DIR *dir;

	for (unsigned at = 0; at < PLACES; at++)
		lacks |= w->name[at] && !w->found[at];
	if (!lacks)
		return false;
	dir = opendir(MODULES);
	if (!dir)
		return true;
	while (!found && (e = readdir(dir)))
		found = *e->d_name != '.' && strcmp(e->d_name, "vmlinux") &&
			module_names(e->d_name, w);
	closedir(dir);
	return found;
}

static int lean_write(int fd, const void *elf, size_t size, const struct btf *of)
{
	struct lean l = { .kernel = kernel_types() };
	struct wanted_types *w = calloc(1, sizeof(*w));
	int err = l.kernel && w ? wanted_read(w, elf, size, of) : -ENOMEM;

	if (!err) {
		l.nr = btf__type_cnt(l.kernel);
		l.kept = calloc(l.nr, sizeof(*l.kept));
		l.todo = malloc(l.nr * sizeof(*l.todo));
		l.types.at = malloc(BYTES);
		l.names.at = calloc(1, BYTES);
		if (!l.kept || !l.todo || !l.types.at || !l.names.at)
			err = -ENOMEM;
	}
	if (!err) {
		keep_wanted(&l, w);
		err = modules_name(w) ? -ENOENT : file_write(&l, fd);
	}
	free(l.kept);
	free(l.todo);
	free(l.types.at);
	free(l.names.at);
	free(w);
	return err;
}

struct bpf_object *lean_open(const void *elf, size_t size)
{
	int fd = memfd_create("nicprobe: types", MFD_CLOEXEC);
	LIBBPF_OPTS(bpf_object_open_opts, opts,
		    .btf_custom_path = text("/proc/self/fd/%d", fd));
	struct bpf_object *obj = bpf_object__open_mem(elf, size, fd < 0 ? NULL : &opts);

	if (fd < 0)
		return obj;
	if (obj && !lean_write(fd, elf, size, bpf_object__btf(obj)) && pending_add(obj, fd))
		return obj;
	close(fd);
	bpf_object__close(obj);
	return bpf_object__open_mem(elf, size, NULL);
}

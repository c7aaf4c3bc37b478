/* SPDX-License-Identifier: GPL-2.0 */
/* The types of the running kernel: read once, and looked up by name. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "lib/kernel/abreast.h"
#include "lib/kernel/btf.h"
#include "lib/kernel/pending.h"
#include "lib/util/list.h"
#include "lib/util/log.h"
#include "lib/util/shortage.h"

/*
 * Since 6.16 the file can be mapped. Before it is read, which takes 1300 system calls, as the
 * kernel returns 4 KiB of it at a time.
 */
static struct btf *types_map(void)
{
	int fd = open(TYPES, O_RDONLY | O_CLOEXEC);
	struct btf *mapped = NULL;
	struct stat st;
	void *data;

	if (fd < 0)
		return NULL;
	if (!fstat(fd, &st) && st.st_size) {
		data = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (data != MAP_FAILED) {
			mapped = btf__new(data, st.st_size);
			munmap(data, st.st_size);
		}
	}
	close(fd);
	return mapped;
}

struct btf *kernel_types(void)
{
	static struct btf *types;	/* large: read once */

	if (types)
		return types;
	types = types_map() ?: btf__load_vmlinux_btf();
	if (!types && !access(TYPES, F_OK))
		types = btf__parse(TYPES, NULL);	/* which says why not */
	if (!types && !access(TYPES, F_OK))
		shortage_note(errno, NULL, "cannot read the types of this kernel in " TYPES ": %s",
			 strerror(errno));
	return types;
}

bool module_types_hidden(void)
{
	static int hidden = -1;
	__u32 id = 0;

	if (hidden < 0)
		hidden = bpf_btf_get_next_id(0, &id) && errno == EPERM;
	return hidden;
}

/*
 * What is not among the kernel's own types libbpf looks for in those of modules, once per object.
 * Where it may not list them, that look fails (1.1; later ones go on), even for a weak function,
 * and nothing is loaded. So it looks here, for a function that nobody has, where that is of no
 * consequence.
 */
void module_types_skip(const struct bpf_object *obj)
{
	struct bpf_program *prog = bpf_object__next_program(obj, NULL);

	if (!prog || !module_types_hidden())
		return;
	bpf_program__set_attach_target(prog, 0, "nicprobe: no function");
	log_forget();
}

int kernel_load(struct bpf_object *obj)
{
	int err;

	module_types_skip(obj);
	err = abreast_load(obj);
	pending_close(obj);
	return err;
}

__u32 kernel_function(const char *name)
{
	int id = kernel_type(name, BTF_KIND_FUNC);

	return id > 0 ? id : 0;
}

#define EVENT_PREFIX	"btf_trace_"

/* The types of tracepoints: an attach asks for 60 of 800, each of them among 127,000. */
static const char *event_at(const struct btf *types, __u32 id)
{
	const struct btf_type *t = btf__type_by_id(types, id);
	const char *name = t && btf_is_typedef(t) ? btf__name_by_offset(types, t->name_off) : NULL;

	return name && !strncmp(name, EVENT_PREFIX, strlen(EVENT_PREFIX)) ? name : NULL;
}

static int event_find(const struct btf *types, const char *name)
{
	static __u32 *events, nr;	/* their numbers */
	__u32 all = btf__type_cnt(types);

	if (!events) {
		events = malloc(all * sizeof(*events));
		if (!events)
			return btf__find_by_name_kind(types, name, BTF_KIND_TYPEDEF);
		for (__u32 id = 1; id < all; id++)
			if (event_at(types, id))
				events[nr++] = id;
	}
	for (__u32 i = 0; i < nr; i++)
		if (!strcmp(event_at(types, events[i]), name))
			return events[i];
	return -ENOENT;
}

/* Some are asked for again and again, which takes 0.2 ms each time. */
static int type_find(const struct btf *types, const char *name, unsigned kind)
{
	static struct known {
		char name[32];
		unsigned kind;
		int id;
	} known[32];
	static unsigned nr;
	int id;

	for (struct known *k = known; k < known + nr; k++)
		if (k->kind == kind && !strcmp(k->name, name))
			return k->id;
	id = btf__find_by_name_kind(types, name, kind);
	if (nr < NR_OF(known) && strlen(name) < sizeof(known[nr].name)) {
		known[nr] = (struct known){ .kind = kind, .id = id };
		strcpy(known[nr++].name, name);
	}
	return id;
}

int kernel_type(const char *name, unsigned kind)
{
	const struct btf *types = kernel_types();

	if (!types)
		return -ENOENT;
	return kind == BTF_KIND_TYPEDEF && !strncmp(name, EVENT_PREFIX, strlen(EVENT_PREFIX)) ?
	       event_find(types, name) : type_find(types, name, kind);
}

/* The byte of a member in a struct, also of an unnamed struct or union in it; -1: it has none. */
static int member_at(const struct btf *types, const struct btf_type *in, const char *name)
{
	for (unsigned i = 0; in && btf_is_composite(in) && i < btf_vlen(in); i++) {
		const struct btf_member *m = btf_members(in) + i;
		const char *called = btf__name_by_offset(types, m->name_off);
		int at = *called ? strcmp(called, name) ? -1 : 0 :
			 member_at(types, btf__type_by_id(types, m->type), name);

		if (at >= 0)
			return at + btf_member_bit_offset(in, i) / 8;
	}
	return -1;
}

int kernel_member(const char *structure, const char *name)
{
	int id = kernel_type(structure, BTF_KIND_STRUCT);

	return id > 0 ? member_at(kernel_types(), btf__type_by_id(kernel_types(), id), name) : -1;
}

static const struct btf_var_secinfo *percpu_find(const char *name)
{
	const struct btf *types = kernel_types();
	int id = kernel_type(".data..percpu", BTF_KIND_DATASEC);
	const struct btf_type *section = id > 0 ? btf__type_by_id(types, id) : NULL;

	for (int i = 0; section && i < btf_vlen(section); i++) {
		const struct btf_var_secinfo *var = btf_var_secinfos(section) + i;
		const struct btf_type *type = btf__type_by_id(types, var->type);

		if (!strcmp(btf__name_by_offset(types, type->name_off), name))
			return var;
	}
	return NULL;
}

bool kernel_percpu(const char *name, __u64 *offset)
{
	const struct btf_var_secinfo *var = percpu_find(name), *from = percpu_find("runqueues");

	if (var && from)
		*offset = (__u64)var->offset - from->offset;
	return var && from;
}

unsigned tracepoint_args(const char *name)
{
	const struct btf *btf = kernel_types();
	int id = kernel_type(text(EVENT_PREFIX "%s", name), BTF_KIND_TYPEDEF);
	const struct btf_type *t = id > 0 ? btf__type_by_id(btf, id) : NULL;

	while (t && (btf_is_typedef(t) || btf_is_ptr(t)))
		t = btf__type_by_id(btf, t->type);
	return t && btf_is_func_proto(t) ? btf_vlen(t) - 1 : 0;	/* the first is the probe's own */
}

/* SPDX-License-Identifier: GPL-2.0 */
/* Type IDs (BTF) of functions in the kernel or a module, as fentry needs them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>

#include "lib/kernel/btf.h"
#include "lib/trace/probe_types.h"

struct probe_types {
	struct module_types {
		char name[64];
		struct btf *btf;	/* NULL: none */
		int fd;
		struct module_types *next;
	} *modules;
};

struct probe_types *probe_types_new(void)
{
	return calloc(1, sizeof(struct probe_types));
}

void probe_types_free(struct probe_types *t)
{
	for (struct module_types *m = t ? t->modules : NULL, *next; m; m = next) {
		next = m->next;
		btf__free(m->btf);
		if (m->fd >= 0)
			close(m->fd);
		free(m);
	}
	free(t);
}

/* The ID of its BTF: libbpf would take the first module with the function's name. 0: none. */
static __u32 module_btf(const char *module, int *fd)
{
	__u32 id = 0;

	while (!bpf_btf_get_next_id(id, &id)) {
		struct bpf_btf_info info = {};
		__u32 len = sizeof(info);
		char name[64] = "";

		*fd = bpf_btf_get_fd_by_id(id);
		if (*fd < 0)
			continue;
		info.name = (unsigned long)name;
		info.name_len = sizeof(name);
		if (!bpf_obj_get_info_by_fd(*fd, &info, &len) && info.kernel_btf &&
		    !strcmp(name, module))
			return id;
		close(*fd);
	}
	*fd = -1;
	return 0;
}

static struct module_types *module_find(struct probe_types *t, const char *name)
{
	struct module_types *m;
	__u32 id;

	for (m = t->modules; m; m = m->next)
		if (!strcmp(m->name, name))
			return m;
	m = calloc(1, sizeof(*m));
	if (!m)
		return NULL;
	snprintf(m->name, sizeof(m->name), "%s", name);
	id = module_btf(name, &m->fd);
	if (id)
		m->btf = btf__load_from_kernel_by_id_split(id, kernel_types());
	m->next = t->modules;
	t->modules = m;
	return m;
}

/* The ID of a function among types from `from` on; 0: none, or ambiguous. */
static unsigned function_id(const struct btf *btf, unsigned from, const char *name)
{
	unsigned found = 0;

	for (unsigned id = from; id < btf__type_cnt(btf); id++) {
		const struct btf_type *type = btf__type_by_id(btf, id);

		if (!btf_is_func(type) || strcmp(btf__name_by_offset(btf, type->name_off), name))
			continue;
		if (found)
			return 0;
		found = id;
	}
	return found;
}

int probe_type(struct probe_types *t, const char *name, const char *module, struct probe_type *of)
{
	const struct btf *kernel = kernel_types();
	struct module_types *m = kernel && *module ? module_find(t, module) : NULL;

	*of = (struct probe_type){};
	if (kernel && !*module)
		of->id = function_id(kernel, 1, name);
	if (m && m->btf)
		*of = (struct probe_type){
			.fd = m->fd, .id = function_id(m->btf, btf__type_cnt(kernel), name),
		};
	return of->id ? 0 : -ENOENT;
}

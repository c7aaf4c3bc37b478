/* SPDX-License-Identifier: GPL-2.0 */
/* The types of the running kernel: read once, and looked up by name. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <bpf/btf.h>

#include "lib/kernel/btf.h"
#include "lib/util/log.h"
#include "lib/util/shortage.h"

struct btf *kernel_types(void)
{
	static struct btf *types;	/* large: read once */

	if (types)
		return types;
	types = btf__load_vmlinux_btf();
	if (!types && !access(TYPES, F_OK))
		types = btf__parse(TYPES, NULL);	/* which says why not */
	if (!types && !access(TYPES, F_OK))
		shortage_note(errno, NULL, "cannot read the types of this kernel in " TYPES ": %s",
			 strerror(errno));
	return types;
}

bool kernel_function(const char *name)
{
	const struct btf *types = kernel_types();

	return types && btf__find_by_name_kind(types, name, BTF_KIND_FUNC) > 0;
}

static const struct btf_var_secinfo *percpu_find(const char *name)
{
	const struct btf *types = kernel_types();
	int id = types ? btf__find_by_name_kind(types, ".data..percpu", BTF_KIND_DATASEC) : -1;
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
	int id = btf ? btf__find_by_name_kind(btf, text("btf_trace_%s", name), BTF_KIND_TYPEDEF) :
		 -1;
	const struct btf_type *t = id > 0 ? btf__type_by_id(btf, id) : NULL;

	while (t && (btf_is_typedef(t) || btf_is_ptr(t)))
		t = btf__type_by_id(btf, t->type);
	return t && btf_is_func_proto(t) ? btf_vlen(t) - 1 : 0;	/* the first is the probe's own */
}

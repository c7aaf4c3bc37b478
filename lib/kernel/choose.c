/* SPDX-License-Identifier: GPL-2.0 */
/* Chooses among the programs of an object by what this kernel can attach. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "lib/kernel/btf.h"
#include "lib/kernel/choose.h"
#include "lib/kernel/feature.h"
#include "lib/kernel/release.h"
#include "lib/util/error.h"
#include "lib/util/log.h"

static const struct feature *method_of(const struct bpf_program *prog)
{
	const char *section = bpf_program__section_name(prog);

	for (const struct feature *w = features; w->name; w++) {
		size_t len = strlen(w->name);

		if (w->method && !strncmp(section, w->name, len) &&
		    (!section[len] || section[len] == '/' || section[len] == '.'))
			return w;
	}
	return NULL;
}

/* The length of NAME in NAME__method. */
static size_t stem(const char *name)
{
	const char *end = strstr(name, "__");

	return end ? (size_t)(end - name) : strlen(name);
}

static bool alternatives(const char *a, const char *b)
{
	return stem(a) == stem(b) && !strncmp(a, b, stem(a));
}

/* Whether this kernel has, and needs, the tracepoint or function that the section names. */
static bool place_exists(const struct bpf_program *prog)
{
	const char *section = bpf_program__section_name(prog), *place = strchr(section, '/');
	const struct btf *btf = kernel_types();
	int id = -ENOENT;

	if (!btf || !place || !release_needs(place + 1))
		return false;
	if (!strncmp(section, "f", 1))	/* fentry, fexit */
		id = btf__find_by_name_kind(btf, place + 1, BTF_KIND_FUNC);
	else
		id = btf__find_by_name_kind(btf, text("btf_trace_%s", place + 1),
					    BTF_KIND_TYPEDEF);
	return id > 0;
}

/* Adds the event of an optional program to the list. */
static void leave_out(const struct bpf_program *prog, char left_out[LEFT_OUT])
{
	const char *section = bpf_program__section_name(prog);
	const char *place = strchr(section, '/') ?: "/?";
	size_t at = strlen(left_out);

	if (*section != 'f' && !strstr(left_out, place + 1))	/* not the function as well */
		snprintf(left_out + at, LEFT_OUT - at, "%s%s", at ? ", " : "", place + 1);
}

int kernel_choose(struct bpf_object *obj, char left_out[LEFT_OUT], struct error *e)
{
	struct bpf_program *prog, *other;

	if (left_out)
	*left_out = '\0';
	bpf_object__for_each_program(prog, obj) {
		const struct feature *best = NULL, *w;
		bool optional = !bpf_program__autoload(prog);	/* SEC("?…") */
		const char *why = "";

		bpf_object__for_each_program(other, obj) {
			const char *no;

			if (!alternatives(bpf_program__name(prog), bpf_program__name(other)))
				continue;
			w = method_of(other);
			no = w ? kernel_lacks(w - features) : "unknown to nicprobe";
			if (!no && optional &&
			    (kernel_lacks(FEATURE_OPTIONAL) || !place_exists(other)))
				no = "not in this kernel";
			if (!no && (!best || w < best))
				best = w;
			if (no)
				why = no;
		}
		if (!best && !optional)
			return error_set(e, -EOPNOTSUPP, NULL, "%s", why);
		if (!best && left_out)
			leave_out(prog, left_out);
		bpf_program__set_autoload(prog, best && method_of(prog) == best);
	}
	return 0;
}

const char *kernel_chosen(const struct bpf_object *obj, const char *name)
{
	struct bpf_program *prog;

	bpf_object__for_each_program(prog, (struct bpf_object *)obj)
		if (bpf_program__autoload(prog) && alternatives(bpf_program__name(prog), name))
			return bpf_program__section_name(prog);
	return NULL;
}


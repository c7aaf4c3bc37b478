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

	if (!strncmp(section, "fexit/", 6))	/* the same trampoline */
		return &features[FEATURE_FENTRY];
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

	if (!place || !release_needs(place + 1))
		return false;
	if (!strncmp(section, "f", 1))	/* fentry, fexit */
		return kernel_enters(place + 1);
	return kernel_type(text("btf_trace_%s", place + 1), BTF_KIND_TYPEDEF) > 0;
}

/* Adds an optional program and its event to the list. */
static void leave_out(const struct bpf_program *prog, struct left_out *left)
{
	const char *section = bpf_program__section_name(prog);
	const char *place = strchr(section, '/') ?: "/?";

	for (unsigned i = 0; i < left->nr; i++)
		if (!strcmp(left->event[i], place + 1))
			return;
	if (*section == 'f' || left->nr == MAX_LEFT_OUT)	/* not the function as well */
		return;
	snprintf(left->program[left->nr], sizeof(left->program[0]), "%s", bpf_program__name(prog));
	snprintf(left->event[left->nr++], sizeof(left->event[0]), "%s", place + 1);
}

int kernel_choose(struct bpf_object *obj, bool (*wanted)(const char *, const void *),
		  const void *arg, struct left_out *left, struct error *e)
{
	struct bpf_program *prog, *other;

	if (left)
		left->nr = 0;
	bpf_object__for_each_program(prog, obj) {
		const struct feature *best = NULL, *w;
		bool optional = !bpf_program__autoload(prog);	/* SEC("?…") */
		const char *why = "";

		if (wanted && !wanted(bpf_program__name(prog), arg)) {
			bpf_program__set_autoload(prog, false);
			continue;
		}
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
		if (!best && left)
			leave_out(prog, left);
		bpf_program__set_autoload(prog, best && method_of(prog) == best);
	}
	return 0;
}

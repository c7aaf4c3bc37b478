/* SPDX-License-Identifier: GPL-2.0 */
/* What arguments functions and tracepoints have, and what they return: from the kernel's types. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/btf.h>

#include "lib/kernel/btf.h"
#include "lib/kernel/feature.h"
#include "lib/util/log.h"
#include "probes/raw.h"

#define ITERATOR	"__traceiter_"	/* the function behind a tracepoint: its names are known */
#define TYPE		"btf_trace_"	/* the type of a tracepoint, without names */

/* The types of a module, kept for all who ask; NULL: it has none. */
static struct btf *module_types(const char *module)
{
	static struct module_btf {
		char name[56];
		struct btf *btf;
		struct module_btf *next;
	} *known;
	struct module_btf *m = known;

	while (m && strcmp(m->name, module))
		m = m->next;
	if (m)
		return m->btf;
	m = calloc(1, sizeof(*m));
	if (!m || !kernel_types())
		return NULL;
	snprintf(m->name, sizeof(m->name), "%s", module);
	if (!kernel_lacks(FEATURE_MODULE_BTF))
		m->btf = btf__load_module_btf(module, kernel_types());
	m->next = known;
	known = m;
	return m->btf;
}

static const struct btf_type *plain(const struct btf *btf, unsigned id)
{
	return btf__type_by_id(btf, btf__resolve_type(btf, id) < 0 ? 0 :
			       btf__resolve_type(btf, id));
}

/* Bytes, and RAW_SIGNED; 0: it is no scalar, or nothing. */
static __u8 width_of(const struct btf *btf, unsigned id)
{
	const struct btf_type *t = id ? plain(btf, id) : NULL;

	if (!t)
		return 0;
	if (btf_is_ptr(t))
		return 8;
	if (btf_is_int(t) && t->size <= 8)
		return t->size | (btf_int_encoding(t) & BTF_INT_SIGNED ? RAW_SIGNED : 0);
	if (btf_is_any_enum(t) && t->size <= 8)
		return t->size;
	return 0;
}

static void take(struct raw_named *s, const struct btf *btf, unsigned prototype, unsigned skip)
{
	const struct btf_type *t = btf__type_by_id(btf, prototype);
	const struct btf_param *p = btf_params(t);
	unsigned nr = btf_vlen(t) - skip;

	if (btf_vlen(t) < skip)
		return;
	s->btf = btf;
	s->prototype = prototype;
	s->skip = skip;
	s->spot.nr_args = 0;
	for (unsigned i = 0; i < nr && i < RAW_ARGS; i++) {
		s->spot.width[i] = width_of(btf, p[skip + i].type);
		/* a struct takes registers of its own: what follows is not where its number says */
		if (!s->spot.width[i])
			break;
		s->spot.nr_args++;
	}
	s->spot.width[RAW_ARGS] = skip ? 0 : width_of(btf, t->type);
}

static int by_name(const void *a, const void *b)
{
	return strcmp((*(struct raw_named *const *)a)->name, (*(struct raw_named *const *)b)->name);
}

/* Those of one module, by name. */
struct described {
	struct raw_named **list;
	unsigned nr;
};

static void name_take(struct described *d, const char *name, bool tracepoint,
		      const struct btf *btf, unsigned prototype, bool again)
{
	struct raw_named key, *wanted = &key, **found;

	if (strlen(name) >= sizeof(key.name))
		return;
	strcpy(key.name, name);
	found = bsearch(&wanted, d->list, d->nr, sizeof(*d->list), by_name);
	while (found && found > d->list && !by_name(found - 1, &wanted))
		found--;
	for (; found && found < d->list + d->nr && !by_name(found, &wanted); found++)
		if (((*found)->probe == PROBE_sdt_event) == tracepoint &&
		    (again || !(*found)->btf))
			take(*found, btf, prototype, tracepoint);
}

/* All types of the kernel, or of a module behind those of the kernel. */
static void types_scan(struct described *d, const struct btf *btf, unsigned from)
{
	for (unsigned id = from; id < btf__type_cnt(btf); id++) {
		const struct btf_type *t = btf__type_by_id(btf, id), *of = NULL;
		const char *name;

		if (!btf_is_func(t) && !btf_is_typedef(t))
			continue;
		name = btf__name_by_offset(btf, t->name_off);
		if (btf_is_func(t)) {
			bool iterates = !strncmp(name, ITERATOR, strlen(ITERATOR));

			name_take(d, iterates ? name + strlen(ITERATOR) : name, iterates, btf,
				  t->type, true);
			continue;
		}
		if (strncmp(name, TYPE, strlen(TYPE)))
			continue;
		of = btf__type_by_id(btf, t->type);
		if (btf_is_ptr(of) && btf_is_func_proto(btf__type_by_id(btf, of->type)))
			name_take(d, name + strlen(TYPE), true, btf, of->type, false);
	}
}

void raw_describe(struct raw_list *all)
{
	struct raw_named **list = calloc(all->nr + 1, sizeof(*list));
	bool *done = calloc(all->nr + 1, sizeof(*done));
	const struct btf *kernel = kernel_types();

	for (unsigned i = 0; list && done && kernel && i < all->nr; i++) {
		const char *module = all->list[i].of;
		const struct btf *btf = *module ? module_types(module) : kernel;
		struct described d = { .list = list };

		for (unsigned k = i; k < all->nr && !done[i]; k++)
			if (!strcmp(all->list[k].of, module))
				list[d.nr++] = &all->list[k];
		if (done[i] || !btf)
			continue;
		for (unsigned k = i; k < all->nr; k++)
			done[k] |= !strcmp(all->list[k].of, module);
		qsort(list, d.nr, sizeof(*list), by_name);
		types_scan(&d, btf, *module ? btf__type_cnt(kernel) : 1);
	}
	free(done);
	free(list);
}

static void print(void *to, const char *format, va_list args)
{
	vfprintf(to, format, args);
}

const char *raw_argument(const struct raw_named *s, unsigned arg)
{
	const struct btf_type *t = s->btf ? btf__type_by_id(s->btf, s->prototype) : NULL;
	const struct btf_param *p = t ? btf_params(t) + s->skip + arg : NULL;
	LIBBPF_OPTS(btf_dump_emit_type_decl_opts, opts);
	const char *said = NULL;
	struct btf_dump *d;
	char *line = NULL;
	size_t size;
	FILE *f;

	if (!t || (arg < RAW_ARGS && arg + s->skip >= btf_vlen(t)) ||
	    (arg == RAW_ARGS && (s->skip || !t->type)))
		return NULL;
	f = open_memstream(&line, &size);
	d = f ? btf_dump__new(s->btf, print, f, NULL) : NULL;
	if (d) {
		opts.field_name = arg < RAW_ARGS ? btf__name_by_offset(s->btf, p->name_off) : "";
		btf_dump__emit_type_decl(d, arg < RAW_ARGS ? p->type : t->type, &opts);
		btf_dump__free(d);
	}
	if (f && !fclose(f))
		said = text("%s", line);
	free(line);
	return said;
}

/* SPDX-License-Identifier: GPL-2.0 */
/* Looks up the names of a driver's table in the running kernel: kallsyms and BTF. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/btf.h>

#include "lib/kernel/btf.h"
#include "lib/trace/running.h"

struct name_seen {
	const char *name, *of;	/* the module it should be in, if any */
	bool tracepoint;
	unsigned copies;
	char module[64];	/* the module it is in; "": the kernel itself */
};

struct running {
	unsigned nr;
	struct btf *btf;		/* of the module asked for last */
	char module[64];		/* that module */
	struct name_seen seen[];
};

static unsigned count(const struct driver_name *n)
{
	unsigned nr = 0;

	while (n && n[nr].name)
		nr++;
	return nr;
}

static void symbol_see(const struct kallsym *symbol, void *arg)
{
	struct running *r = arg;

	for (unsigned i = 0; i < r->nr; i++) {
		struct name_seen *s = &r->seen[i];

		/* e1000 and e1000e share names */
		if (s->tracepoint != symbol->tracepoint || strcmp(s->name, symbol->name) ||
		    (*symbol->module && strcmp(symbol->module, s->of)))
			continue;
		s->copies++;
		snprintf(s->module, sizeof(s->module), "%s", symbol->module);
	}
}

static struct running *running_new(unsigned nr)
{
	struct running *r = calloc(1, sizeof(*r) + nr * sizeof(*r->seen));

	if (r)
		r->nr = nr;
	return r;
}

static void seek(struct name_seen *s, const struct driver *d, const struct driver_name *n, bool tp)
{
	*s = (struct name_seen){ .name = n->name, .of = n->module ?: d->name, .tracepoint = tp };
}

struct running *running_open(const struct driver *d)
{
	unsigned functions = count(d->functions), nr = functions + count(d->tracepoints);
	struct running *r = running_new(nr);

	if (!r)
		return NULL;
	for (unsigned i = 0; i < nr; i++)
		if (i < functions)
			seek(&r->seen[i], d, &d->functions[i], false);
		else
			seek(&r->seen[i], d, &d->tracepoints[i - functions], true);
	if (!kallsyms_each(symbol_see, r))
		return r;
	free(r);
	return NULL;
}

/* By its poll function, whose name is unique to each driver. */
static const struct driver_name *poll_of(const struct driver *d)
{
	for (const struct driver_name *n = d->functions; n && n->name; n++)
		if (n->does == DOES_POLL && !n->module)
			return n;
	return NULL;
}

void running_all(bool *here)
{
	unsigned nr = 0;
	struct running *r;

	while (drivers[nr])
		nr++;
	r = running_new(nr);
	for (unsigned i = 0; r && i < nr; i++)
		seek(&r->seen[i], drivers[i], poll_of(drivers[i]) ?:
		     &(struct driver_name){ .name = "" }, false);
	if (r)
		kallsyms_each(symbol_see, r);
	for (unsigned i = 0; i < nr; i++)
		here[i] = r && r->seen[i].copies;
	free(r);
}

void running_close(struct running *r)
{
	btf__free(r->btf);
	free(r);
}

static const struct name_seen *find(const struct running *r, const char *name, bool tracepoint)
{
	for (unsigned i = 0; i < r->nr; i++)
		if (r->seen[i].tracepoint == tracepoint && !strcmp(r->seen[i].name, name))
			return &r->seen[i];
	return NULL;
}

bool running_here(const struct running *r, const struct driver *d)
{
	const struct driver_name *poll = poll_of(d);
	const struct name_seen *s = poll ? find(r, poll->name, false) : NULL;

	return s && s->copies;
}

static const struct btf *types(struct running *r, const char *module)
{
	struct btf *kernel = kernel_types();

	if (!*module || !kernel)
		return kernel;
	if (strcmp(r->module, module)) {
		btf__free(r->btf);
		r->btf = btf__load_module_btf(module, kernel);
		strcpy(r->module, module);
	}
	return r->btf;
}

struct spot running_function(const struct running *r, const char *name)
{
	const struct name_seen *s = find(r, name, false);
	struct spot spot = { .there = s && s->copies };
	const struct btf *btf;

	if (!spot.there)
		return spot;
	btf = types((struct running *)r, s->module);
	spot.kprobe = s->copies == 1;
	if (s->copies > 1)
		snprintf(spot.why, sizeof(spot.why), "%u functions have this name", s->copies);
	else if (!btf || btf__find_by_name_kind(btf, name, BTF_KIND_FUNC) <= 0)
		snprintf(spot.why, sizeof(spot.why), "it has no type (BTF)");
	else
		spot.fentry = true;
	return spot;
}

struct spot running_tracepoint(const struct running *r, const char *name)
{
	const struct name_seen *s = find(r, name, true);

	return (struct spot){ .there = s && s->copies };
}

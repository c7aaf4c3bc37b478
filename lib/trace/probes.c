/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Selects functions and tracepoints by name: names from /proc/kallsyms, traceability from tracefs.
 */
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "lib/kernel/tracefs.h"
#include "lib/trace/probes.h"
#include "lib/trace/kallsyms.h"
#include "lib/util/grow.h"
#include "lib/util/error.h"
#include "lib/util/log.h"

#define GLOBS 64		/* per option; for these it is known whether they match anything */

struct choice {
	struct probes *p;
	const struct probes_wanted *want;
	unsigned long long fitted[2];	/* functions, timed: bit of each glob that matched */
	bool here;			/* the driver's module was seen */
	bool hidden;			/* kptr_restrict hides the addresses */
	bool short_of_memory;
};

static const char *first(const char *globs)
{
	return globs ? globs + strspn(globs, ",") : NULL;
}

bool probes_fit(const char *globs, const char *name, const char *module, unsigned *nr)
{
	unsigned i = 0;

	for (const char *at = first(globs); at && *at; at += strspn(at, ","), i++) {
		char glob[160];
		char *colon;
		size_t len = strcspn(at, ",");

		snprintf(glob, sizeof(glob), "%.*s", (int)len, at);
		at += len;
		colon = strchr(glob, ':');
		if (colon) {
			*colon = '\0';
			if (fnmatch(glob, *module ? module : "vmlinux", 0))
				continue;
		}
		if (fnmatch(colon ? colon + 1 : glob, name, 0))
			continue;
		if (nr)
			*nr = i;
		return true;
	}
	return false;
}

static const struct driver_name *table_find(const struct driver_name *n, const char *own,
					    const char *name, const char *module)
{
	for (; n && n->name; n++)
		if (!strcmp(n->name, name) && (!*module || !strcmp(n->module ?: own, module)))
			return n;
	return NULL;
}

static void add(struct choice *c, const struct probe *one)
{
	struct probes *p = c->p;
	struct probe *list = grow(p->list, p->nr, sizeof(*list));

	c->hidden |= !one->address;
	c->short_of_memory |= !list;
	if (!list)
		return;
	list[p->nr++] = *one;
	p->list = list;
}

/* Does a glob ask for it? */
static bool fits(struct choice *c, const char *globs, unsigned which, const struct probe *one)
{
	unsigned nr;

	if (!globs || !probes_fit(globs, one->name, one->module, &nr))
		return false;
	c->fitted[which] |= 1ull << (nr < GLOBS ? nr : GLOBS - 1);
	return true;
}

static void tracepoint_take(struct choice *c, struct probe *one)
{
	const struct probes_wanted *w = c->want;
	const struct driver_name *n = table_find(w->driver->tracepoints, w->module, one->name,
						 one->module);
	/* the kernel's own tracepoints are the driver's only if that is built in */
	bool own = *one->module ? !strcmp(one->module, w->module) : n != NULL;

	if (w->functions ? *one->module && fits(c, w->functions, 0, one) : own || n) {
		one->does = n ? n->does : DOES_OTHER;
		one->tracepoint = true;
		one->traceable = true;
		add(c, one);
	}
}

static void function_take(struct choice *c, struct probe *one)
{
	const struct probes_wanted *w = c->want;
	const struct driver_name *n = table_find(w->driver->functions, w->module, one->name,
						 one->module);

	/* not entry points: the padding before a function, and its cold part */
	if (!strncmp(one->name, "__pfx_", 6) || strstr(one->name, ".cold"))
		return;
	one->timed = fits(c, w->timed, 1, one);
	if (w->functions ? fits(c, w->functions, 0, one) || one->timed : n || one->timed) {
		one->does = n ? n->does : DOES_OTHER;
		one->known = !w->functions && !one->timed;
		add(c, one);
	}
}

static void symbol_take(const struct kallsym *symbol, void *arg)
{
	struct probe one = { .address = symbol->address };
	struct choice *c = arg;

	if (!strchr("tTwW", symbol->type))
		return;
	snprintf(one.module, sizeof(one.module), "%s", symbol->module);
	c->here |= *one.module && !strcmp(one.module, c->want->module);
	if (strlen(symbol->name) >= sizeof(one.name) || !strcmp(one.module, "bpf"))
		return;
	strcpy(one.name, symbol->name);
	(symbol->tracepoint ? tracepoint_take : function_take)(c, &one);
}

static int symbols_take(struct choice *c, struct error *e)
{
	int err = kallsyms_each(symbol_take, c);

	if (err)
		return error_set(e, err, NULL, "cannot read function names from %s: %s",
				 proc_kallsyms, strerror(-err));
	return c->short_of_memory ? error_set(e, -ENOMEM, NULL, "no memory for the functions") : 0;
}

static int by_name(const void *a, const void *b)
{
	const struct probe *x = a, *y = b;
	int order = strcmp(x->name, y->name) ?: strcmp(x->module, y->module);

	return order ?: (int)x->tracepoint - y->tracepoint;
}

/*
 * Marks those that can be traced. If tracefs cannot be read, or only a few known ones are wanted,
 * attaching them will tell: listing all takes long.
 */
static void traceable_mark(struct probes *p, bool ask)
{
	FILE *list = ask ? tracefs_open("available_filter_functions") : NULL;
	char line[640];

	for (unsigned i = 0; !list && i < p->nr; i++)
		p->list[i].traceable = true;
	while (list && fgets(line, sizeof(line), list)) {
		struct probe key = {}, *found;

		if (sscanf(line, "%95s [%55[^]]", key.name, key.module) < 1)
			continue;
		found = p->nr ? bsearch(&key, p->list, p->nr, sizeof(key), by_name) : NULL;
		if (!found)
			continue;
		while (found > p->list && !by_name(found - 1, &key))
			found--;
		for (; found < p->list + p->nr && !by_name(found, &key); found++)
			found->traceable = true;
	}
	if (list)
		fclose(list);
}

/*
 * A built-in driver is recognized by its poll: the kernel has a receive_buf() for terminals, too.
 */
static bool built_in(const struct probes *p, const struct driver *d)
{
	for (const struct driver_name *n = d->functions; n && n->name; n++)
		for (unsigned i = 0; n->does == DOES_POLL && !n->module && i < p->nr; i++)
			if (!*p->list[i].module && !strcmp(p->list[i].name, n->name))
				return true;
	return false;
}

/*
 * Of matches from the driver's table, not from globs: a function of the kernel itself is the
 * driver's only if that is built in and no other function has the name.
 */
static void strays_mark(struct probes *p, const struct probes_wanted *w)
{
	bool ours = built_in(p, w->driver);

	for (unsigned i = 0; i < p->nr; i++) {
		struct probe *one = &p->list[i];
		const struct driver_name *n = table_find(w->driver->functions, w->module,
							 one->name, one->module);
		bool twice = (i && !by_name(one, one - 1)) ||
			     (i + 1 < p->nr && !by_name(one, one + 1));

		if (one->known && !*one->module && n && (twice || (!n->module && !ours)))
			one->traceable = false;
	}
}

/* Drops what cannot be traced, and numbers the rows. */
static void rows_number(struct probes *p, bool functions)
{
	unsigned nr = 0;

	for (unsigned i = 0; i < p->nr; i++) {
		struct probe one = p->list[i], *before = nr ? &p->list[nr - 1] : NULL;

		if (one.tracepoint)
			one.event = tracefs_event(one.name);
		if (one.tracepoint ? !one.event : !functions || !one.traceable)
			continue;
		one.copy = before && !by_name(before, &one);
		if (one.copy && one.tracepoint)
			continue;
		one.row = one.copy ? before->row : p->rows++;
		one.time = one.copy ? before->time : one.timed ? p->times++ : 0;
		p->tracepoints += one.tracepoint;
		p->functions += !one.tracepoint;
		p->list[nr++] = one;
	}
	p->nr = nr;
}

/* Counts the table's entries that this kernel should have, and those that are missing. */
static void known_count(struct probes *p, const struct probes_wanted *w)
{
	struct utsname kernel;
	unsigned version;

	uname(&kernel);
	version = release_version(kernel.release);
	for (const struct driver_name *n = w->driver->functions; n && n->name; n++) {
		bool found = false;

		if (!version_has(version, n->since, n->until))
			continue;
		for (unsigned i = 0; i < p->nr && !found; i++)
			found = !p->list[i].tracepoint && !strcmp(p->list[i].name, n->name);
		p->known++;
		p->missing += !found;
	}
}

/* Does any remaining function match this glob? */
static bool left(const struct probes *p, const char *glob, bool timed)
{
	for (unsigned i = 0; i < p->nr; i++)
		if ((!timed || p->list[i].timed) &&
		    probes_fit(glob, p->list[i].name, p->list[i].module, NULL))
			return true;
	return false;
}

/* Each glob must match something: whoever asks for a function should learn that it is missing. */
static int globs_check(const struct choice *c, const char *globs, unsigned which, struct error *e)
{
	unsigned nr = 0;

	for (const char *at = first(globs); at && *at; at += strspn(at, ","), nr++) {
		const char *glob = text("%.*s", (int)strcspn(at, ","), at);

		if (!(c->fitted[which] >> (nr < GLOBS ? nr : GLOBS - 1) & 1))
			return error_set(e, -ENOENT,
					 text("nicprobe drivers %s", c->want->driver->name),
					 "no function in this kernel matches \"%s\"", glob);
		if (!left(c->p, glob, which))
			return error_set(e, -ENOENT, NULL,
					 "functions that match \"%s\" cannot be "
					 "traced: notrace, or known by another name",
					 glob);
		at += strlen(glob);
	}
	return 0;
}

static int nothing(const struct choice *c, struct error *e)
{
	const struct probes_wanted *w = c->want;

	if (!c->here && !w->driver->functions)
		return error_set(e, -ENOENT, text("--functions '%s_*'", w->module),
				 "no functions of %s are known", w->module);
	if (!c->here)
		return error_set(e, -ENOENT, text("modprobe %s", w->module),
				 "the driver %s is not in this kernel, or not loaded", w->module);
	return error_set(e, -ENOENT, text("--functions '%s:*'", w->module),
			 "no functions of %s are known", w->module);
}

static int enough(const struct choice *c, struct error *e)
{
	unsigned max = c->want->max ?: PROBES_MAX, nr = c->p->functions;

	if (c->hidden)
		return error_set(e, -EPERM, "sysctl kernel.kptr_restrict=1",
				 "the kernel hides the addresses of its functions");
	if (!c->p->nr)
		return nothing(c, e);
	if (nr > max)
		return error_set(e, -E2BIG, text("--max-functions %u, or fewer", nr),
				 "%u functions are selected; the limit is %u", nr, max);
	return 0;
}

int probes_choose(struct probes *p, const struct probes_wanted *w, struct error *e)
{
	struct choice c = { .p = p, .want = w };
	bool functions = !w->cannot;
	int err;

	*p = (struct probes){};
	err = symbols_take(&c, e);
	if (err)
		return err;
	if (p->nr)
		qsort(p->list, p->nr, sizeof(*p->list), by_name);
	if (functions)
		traceable_mark(p, w->functions || w->timed);
	strays_mark(p, w);
	rows_number(p, functions);
	if (!w->functions)
		known_count(p, w);
	if (!functions && !p->nr)
		return error_set(e, -EOPNOTSUPP, NULL, "%s", w->cannot);
	if (functions)
		err = globs_check(&c, w->functions, 0, e) ?: globs_check(&c, w->timed, 1, e);
	return err ?: enough(&c, e);
}

void probes_free(struct probes *p)
{
	free(p->list);
	*p = (struct probes){};
}

/* SPDX-License-Identifier: GPL-2.0 */
/* Finds the functions and tracepoints that a pattern names: in kallsyms and tracefs. */
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "lib/kernel/feature.h"
#include "lib/kernel/tracefs.h"
#include "lib/trace/kallsyms.h"
#include "lib/trace/probes.h"
#include "lib/util/error.h"
#include "lib/util/grow.h"
#include "lib/util/log.h"
#include "lib/util/near.h"
#include "probes/raw.h"

#define KERNEL_ITSELF	"vmlinux"

struct finding_raw {
	const char *where, *pattern;
	char module[56], function[96], name[96];	/* globs; "": any */
	struct raw_list *to;
	struct near near;
	const char *group;		/* whose events are read */
	bool short_of_memory;
	bool there;			/* the module or group was seen */
};

static bool fits(const char *glob, const char *name)
{
	return !*glob || !fnmatch(glob, name, 0);
}

/*
 * The parts behind the provider; "fbt:tun::tun_net_xmit:entry" for "fbt:tun:tun_net_xmit:entry",
 * too. False: they are not three, or too long.
 */
static bool split(struct finding_raw *f)
{
	const char *at = strchr(f->pattern, ':') + 1, *next = strchr(at, ':');
	bool empty = next && next[1] == ':' && next[2] && strchr(next + 2, ':');
	const char *last = next ? strchr(next + 1, ':') : NULL;

	if (empty) {
		next++;
		last = strchr(next + 1, ':');
	}
	if (!last || strchr(last + 1, ':') || next - at > (int)sizeof(f->module) ||
	    last - next > (int)sizeof(f->function) || strlen(last + 1) >= sizeof(f->name))
		return false;
	snprintf(f->module, sizeof(f->module), "%.*s", (int)(next - empty - at), at);
	snprintf(f->function, sizeof(f->function), "%.*s", (int)(last - next - 1), next + 1);
	snprintf(f->name, sizeof(f->name), "%s", last + 1);
	return true;
}

static void add(struct finding_raw *f, const struct raw_named *one)
{
	struct raw_named *list = grow(f->to->list, f->to->nr, sizeof(*list));

	f->short_of_memory |= !list;
	if (!list)
		return;
	f->to->list = list;
	list[f->to->nr++] = *one;
}

/* Symbols that are no entries of functions: padding, cold parts, and what BPF itself made. */
static bool is_function(const struct kallsym *s)
{
	return strchr("tTwW", s->type) && !s->tracepoint && strncmp(s->name, "__pfx_", 6) &&
	       !strstr(s->name, ".cold") && strcmp(s->module, "bpf") &&
	       strlen(s->name) < sizeof(((struct raw_named *)0)->name);
}

static void function_see(const struct kallsym *s, void *arg)
{
	struct finding_raw *f = arg;
	struct raw_named one = { .address = s->address };

	if (!is_function(s) || !fits(f->module, *s->module ? s->module : KERNEL_ITSELF))
		return;
	f->there = true;
	near_try(&f->near, s->name);
	if (!fits(f->function, s->name))
		return;
	snprintf(one.name, sizeof(one.name), "%s", s->name);
	snprintf(one.module, sizeof(one.module), "%s", s->module);
	snprintf(one.of, sizeof(one.of), "%s", s->module);
	add(f, &one);
}

static int by_name(const void *a, const void *b)
{
	const struct raw_named *x = a, *y = b;
	int order = strcmp(x->module, y->module) ?: strcmp(x->name, y->name);

	return order ?: (int)x->probe - (int)y->probe;
}

/* Of those that a glob names, only what the kernel lists can be traced. */
static void untraceable_drop(struct raw_list *all)
{
	FILE *list = tracefs_open("available_filter_functions");
	bool *keep = list ? calloc(all->nr + 1, sizeof(*keep)) : NULL;
	unsigned nr = 0;
	char line[640];

	while (keep && fgets(line, sizeof(line), list)) {
		struct raw_named key = {}, *found;

		if (sscanf(line, "%95s [%55[^]]", key.name, key.module) < 1)
			continue;
		found = bsearch(&key, all->list, all->nr, sizeof(key), by_name);
		while (found && found > all->list && !by_name(found - 1, &key))
			found--;
		for (; found && found < all->list + all->nr && !by_name(found, &key); found++)
			keep[found - all->list] = true;
	}
	for (unsigned i = 0; keep && i < all->nr; i++)
		if (keep[i])
			all->list[nr++] = all->list[i];
	if (keep)
		all->nr = nr;
	free(keep);
	if (list)
		fclose(list);
}

static bool is_glob(const char *part)
{
	return !*part || strpbrk(part, "*?[");
}

/* Each function as it begins, as it returns, or both. */
static int ends_split(struct finding_raw *f, struct error *e)
{
	bool enters = fits(f->name, "entry"), returns = fits(f->name, "return");
	unsigned nr = f->to->nr;

	if (!enters && !returns)
		return error_set(e, -EINVAL, text("fbt:%s:%s:entry", f->module, f->function),
				 "%s: functions have entry and return, and no \"%s\"", f->where,
				 f->name);
	for (unsigned i = 0; i < nr; i++) {
		struct raw_named other = f->to->list[i];

		f->to->list[i].probe = enters ? PROBE_fbt_entry : PROBE_fbt_return;
		other.probe = PROBE_fbt_return;
		if (enters && returns)
			add(f, &other);
	}
	return 0;
}

static int functions_find(struct finding_raw *f, struct error *e)
{
	int err = kallsyms_each(function_see, f);

	if (err)
		return error_set(e, err, NULL, "cannot read function names from %s: %s",
				 proc_kallsyms, strerror(-err));
	if (!f->there)
		return error_set(e, -EOPNOTSUPP, text("modprobe %s", f->module),
				 "%s: the module %s is not loaded, or not of this kernel", f->where,
				 f->module);
	if (!f->to->nr)
		return error_set(e, -EINVAL, *f->near.name ? f->near.name : NULL,
				 "%s: this kernel has no function \"%s\"%s%s", f->where,
				 f->function, *f->module ? " in " : "", f->module);
	qsort(f->to->list, f->to->nr, sizeof(*f->to->list), by_name);
	if (is_glob(f->function))
		untraceable_drop(f->to);
	if (!f->to->nr)
		return error_set(e, -EOPNOTSUPP, NULL,
				 "%s: the kernel lets none of the functions %s be traced", f->where,
				 f->pattern);
	for (unsigned i = 1; i < f->to->nr; i++)
		if (!by_name(&f->to->list[i - 1], &f->to->list[i]))
			f->to->list[i - 1].twice = f->to->list[i].twice = true;
	return ends_split(f, e);
}

static int event_see(const char *event, void *arg)
{
	struct finding_raw *f = arg;
	struct raw_named one = { .probe = PROBE_sdt_event };

	near_try(&f->near, event);
	if (!fits(f->name, event) || strlen(event) >= sizeof(one.name))
		return 0;
	snprintf(one.name, sizeof(one.name), "%s", event);
	snprintf(one.module, sizeof(one.module), "%s", f->group);
	add(f, &one);
	return 0;
}

static int group_see(const char *group, void *arg)
{
	struct finding_raw *f = arg;

	f->group = group;
	/* those of system calls and functions are no tracepoints of their own */
	if (!fits(f->module, group) || !strcmp(group, "syscalls") || !strcmp(group, "ftrace"))
		return 0;
	f->there = true;
	return tracefs_events(group, event_see, f) == -ENOMEM ? -ENOMEM : 0;
}

static int by_event(const void *a, const void *b)
{
	return strcmp(((const struct raw_named *)a)->name, ((const struct raw_named *)b)->name);
}

/* `address` marks those that have the function of a tracepoint. */
static void iterator_see(const struct kallsym *s, void *arg)
{
	struct finding_raw *f = arg;
	struct raw_named key, *found;

	if (!s->tracepoint || !f->to->nr || strlen(s->name) >= sizeof(key.name))
		return;
	strcpy(key.name, s->name);
	found = bsearch(&key, f->to->list, f->to->nr, sizeof(key), by_event);
	if (!found)
		return;
	found->address = 1;
	snprintf(found->of, sizeof(found->of), "%s", s->module);
}

static int tracepoints_find(struct finding_raw *f, struct error *e)
{
	unsigned nr = 0;
	int err = tracefs_groups(group_see, f);

	if (err)
		return error_set(e, -EOPNOTSUPP, NULL,
				 "%s: the events of this kernel cannot be listed (tracefs): %s",
				 f->where, strerror(-err));
	if (*f->function)
		return error_set(e, -EINVAL, text("sdt:%s::%s", f->module, f->function),
				 "%s: tracepoints belong to no function: \"%s\"", f->where,
				 f->function);
	if (!f->there)
		return error_set(e, -EOPNOTSUPP, "nicprobe list 'sdt:::'",
				 "%s: this kernel has no group of tracepoints %s; a module may "
				 "bring it", f->where, f->module);
	if (f->to->nr)
		qsort(f->to->list, f->to->nr, sizeof(*f->to->list), by_event);
	err = kallsyms_each(iterator_see, f);
	for (unsigned i = 0; i < f->to->nr; i++)
		if (f->to->list[i].address)
			f->to->list[nr++] = f->to->list[i];
	if (f->to->nr && !nr)
		return error_set(e, -EOPNOTSUPP, NULL,
				 "%s: %s is an event of the kernel, but no tracepoint that "
				 "programs can have", f->where, f->pattern);
	f->to->nr = nr;
	for (unsigned i = 0; i < nr; i++)
		f->to->list[i].address = 0;
	if (nr)
		qsort(f->to->list, nr, sizeof(*f->to->list), by_name);
	return nr ? 0 : error_set(e, -EINVAL, *f->near.name ? f->near.name : NULL,
				  "%s: this kernel has no tracepoint \"%s\"%s%s", f->where,
				  f->name, *f->module ? " in " : "", f->module);
}

const char *raw_functions_lack(void)
{
	return probes_cannot();
}

int raw_find(const char *where, const char *pattern, struct raw_list *to, struct error *e)
{
	struct finding_raw f = { .where = where, .pattern = pattern, .to = to };
	bool functions = !strncmp(pattern, "fbt:", 4);
	int err;

	if (!split(&f))
		return error_set(e, -EINVAL, functions ? "fbt:MODULE:FUNCTION:entry" :
				 "sdt:GROUP::EVENT", "%s: \"%s\" is no pattern of four parts",
				 where, pattern);
	if (functions && raw_functions_lack())
		return error_set(e, -EOPNOTSUPP, "nicprobe list ':::'",
				 "%s: functions of the kernel cannot be traced here: %s", where,
				 raw_functions_lack());
	f.near = near_to(functions ? f.function : f.name);
	err = functions ? functions_find(&f, e) : tracepoints_find(&f, e);
	return err ?: f.short_of_memory ? error_set(e, -ENOMEM, NULL, "out of memory") : 0;
}

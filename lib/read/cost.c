/* SPDX-License-Identifier: GPL-2.0 */
/* What our programs cost, by kernel event: the kernel's run-time statistics of a while. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>

#include "lib/attach/slots.h"
#include "lib/attach/pins.h"
#include "lib/core/hook.h"
#include "lib/kernel/btf.h"
#include "lib/kernel/programs.h"
#include "lib/read/cost.h"
#include "lib/read/losses.h"
#include "lib/util/clock.h"
#include "lib/util/error.h"
#include "lib/util/grow.h"
#include "lib/util/log.h"

struct watched {			/* a program */
	int fd;
	__u32 id;
	char event[48];
	bool traced;
	struct users users;
	uint64_t runs, ns;		/* when it began */
};

struct cost_watch {
	struct calling calling;
	struct watched *programs;
	unsigned nr;
	int statistics;
	double since;
};

static int info_of(int fd, struct bpf_prog_info *info)
{
	__u32 len = sizeof(*info);

	memset(info, 0, sizeof(*info));
	return bpf_obj_get_info_by_fd(fd, info, &len) ? -errno : 0;
}

/* Names the event of a program; `pin` is used where the kernel does not tell. */
static void name_event(struct watched *w, const struct bpf_prog_info *info, const char *pin)
{
	const struct btf_type *type = NULL;
	const char *name = pin;

	if (info->type == BPF_PROG_TYPE_TRACING && kernel_types() && info->attach_btf_id)
		type = btf__type_by_id(kernel_types(), info->attach_btf_id);
	if (type)
		name = btf__name_by_offset(kernel_types(), type->name_off);
	if (!strncmp(name, "btf_trace_", strlen("btf_trace_")))
		name += strlen("btf_trace_");
	if (info->type == BPF_PROG_TYPE_XDP)
		name = "xdp";
	if (info->type == BPF_PROG_TYPE_SCHED_CLS)
		name = "tc";
	w->traced = info->type != BPF_PROG_TYPE_XDP && info->type != BPF_PROG_TYPE_SCHED_CLS;
	snprintf(w->event, sizeof(w->event), "%.47s", name);
}

static void users_add(struct users *to, struct users more)
{
	to->meters |= more.meters;
	to->points |= more.points;
}

static int watch(struct cost_watch *w, __u32 id, const char *pin, struct users users)
{
	struct bpf_prog_info info;
	struct watched *all;
	int err, fd;

	for (unsigned i = 0; i < w->nr; i++)
		if (w->programs[i].id == id) {
			users_add(&w->programs[i].users, users);
			return 0;
		}
	fd = bpf_prog_get_fd_by_id(id);
	if (fd < 0)
		return -errno;
	err = info_of(fd, &info);
	all = grow(w->programs, w->nr, sizeof(*all));
	if (err || !all) {
		close(fd);
		return err ?: -ENOMEM;
	}
	w->programs = all;
	all[w->nr] = (struct watched){ .fd = fd, .id = id, .users = users };
	name_event(&all[w->nr++], &info, pin);
	return 0;
}

/* Who wants the program of a pin. */
static struct users users_of(const struct meta *meta, const char *pin)
{
	for (const struct hook *const *t = hooks; *t; t++) {
		struct users by = {};

		if (!((*t)->link && !strcmp((*t)->link, pin)) &&
		    !((*t)->filter && !strcmp((*t)->filter, pin)))
			continue;
		for (int p = 0; p < NR_POINTS; p++)
			if ((*t)->points >> p & 1 && *meta->hook[p])
				by.points |= 1u << p;
		return by;
	}
	return missed_by(meta, pin);
}

/*
 * The program that the kernel runs for a pin: of a shared program the one that is attached, whose
 * statistics have the time of all that it calls. 0: it is none.
 */
static __u32 runs_for(const char *dir, const char *pin)
{
	return program_pinned(shared_program(pin) < 0 ? text("%s/%s", dir, pin) :
						       host_path(pin)) ?:
	       program_pinned(text("%s/%s", dir, pin));
}

static int watch_dir(struct cost_watch *w, const char *dir, struct error *e)
{
	struct meta meta;
	int err = meta_read(dir, &meta, e);
	DIR *d = err ? NULL : opendir(dir);
	struct dirent *entry;

	if (err)
		return err;
	while (d && !err && (entry = readdir(d))) {
		const char *name = entry->d_name;
		__u32 id = *name == '.' || meter_find(name) ? 0 : runs_for(dir, name);

		if (id)
			err = watch(w, id, name, users_of(&meta, name));
	}
	if (d)
		closedir(d);
	return err == -ENOENT ? 0 : err;
}

static void forget(struct cost_watch *w)
{
	for (unsigned i = 0; i < w->nr; i++)
		close(w->programs[i].fd);
	if (w->statistics >= 0)
		close(w->statistics);
	free(w->programs);
	free(w);
}

/* Notes the counts of now, less those noted before. */
static int look(struct watched *p)
{
	struct bpf_prog_info info;
	int err = info_of(p->fd, &info);

	p->runs = info.run_cnt - p->runs;
	p->ns = info.run_time_ns - p->ns;
	return err;
}

struct cost_watch *cost_begin(const char (*dirs)[256], unsigned nr, struct error *e)
{
	struct cost_watch *w = calloc(1, sizeof(*w));
	int err = w ? 0 : -ENOMEM;

	if (w) {
		w->statistics = -1;
		err = calling_measure(&w->calling, e);
	}
	for (unsigned i = 0; i < nr && !err; i++)
		err = watch_dir(w, dirs[i], e);
	if (!err) {
		w->statistics = bpf_enable_stats(BPF_STATS_RUN_TIME);
		err = w->statistics < 0 ? -errno : 0;
	}
	for (unsigned i = 0; !err && i < w->nr; i++)
		err = look(&w->programs[i]);
	if (!err) {
		w->since = seconds_now();
		return w;
	}
	if (!*error_what(e))
		error_set(e, err, err == -EPERM ? "run it as root" : NULL, "cannot measure what "
			  "our programs cost: %s", strerror(-err));
	if (w)
		forget(w);
	return NULL;
}

static struct cost_event *event_of(struct cost *c, const struct watched *p)
{
	struct cost_event *all;

	for (unsigned i = 0; i < c->nr; i++)
		if (!strcmp(c->events[i].event, p->event))
			return &c->events[i];
	all = grow(c->events, c->nr, sizeof(*all));
	if (!all)
		return NULL;
	c->events = all;
	all[c->nr] = (struct cost_event){ .traced = p->traced };
	snprintf(all[c->nr].event, sizeof(all->event), "%s", p->event);
	return &all[c->nr++];
}

static int add(struct cost *c, const struct watched *p)
{
	double timing = p->runs * c->calling.inside, inside = p->ns > timing ? p->ns - timing : 0;
	struct cost_event *to = event_of(c, p);
	double call = 0;

	if (!to)
		return -ENOMEM;
	if (to->traced)
		call = p->runs * (to->programs ? c->calling.further : c->calling.first);
	to->programs++;
	to->runs += p->runs;
	to->inside += inside;
	to->calling += call;
	users_add(&to->users, p->users);
	c->runs += p->runs;
	c->inside += inside;
	c->calls += call;
	return 0;
}

static int dearest(const void *a, const void *b)
{
	const struct cost_event *x = a, *y = b;
	double left = x->inside + x->calling, right = y->inside + y->calling;

	return left < right ? 1 : left > right ? -1 : strcmp(x->event, y->event);
}

int cost_end(struct cost_watch *w, struct cost *cost, struct error *e)
{
	int err = 0;

	if (cost) {
		*cost = (struct cost){
			.seconds = seconds_now() - w->since, .calling = w->calling,
		};
		for (unsigned i = 0; i < w->nr && !err; i++)
			err = look(&w->programs[i]);
		for (unsigned i = 0; i < w->nr && !err; i++)
			err = add(cost, &w->programs[i]);
		if (!err && cost->nr)
			qsort(cost->events, cost->nr, sizeof(*cost->events), dearest);
	}
	forget(w);
	return err ? error_set(e, err, NULL, "cannot read what our programs cost: %s",
			       strerror(-err)) : 0;
}

int cost_keep(const char *dir, double ns, struct error *e)
{
	struct meta meta;
	int err = meta_read(dir, &meta, e);

	if (err == -ENOENT || err == -ENODATA)		/* detached meanwhile */
		return 0;
	meta.cost_ns = ns + .5;
	meta.cost_when = clock_ns(CLOCK_BOOTTIME);
	return err ?: meta_update(dir, &meta, e);
}

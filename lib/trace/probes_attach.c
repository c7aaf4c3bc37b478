/* SPDX-License-Identifier: GPL-2.0 */
/* Attaches to many functions at once by kprobe.multi, else to each by fentry, else by kprobe. */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "lib/kernel/feature.h"
#include "lib/trace/perf_link.h"
#include "lib/trace/probe_types.h"
#include "lib/trace/probes.h"
#include "lib/util/error.h"
#include "lib/util/log.h"

/*
 * More than these are attached by fentry only if nothing else works: detaching each takes a grace
 * period of RCU tasks, a tenth of a second, and each trampoline takes a page.
 */
#define FEW 16

/* Cost per program run; man/nicprobe-meters.7 documents where these figures come from. */
enum { NS_FENTRY = 25, NS_MULTI = 60, NS_KPROBE = 140, NS_EVENT = 45, NS_TIMES = 100 };

struct work {
	struct probes *p;
	const struct probe_program *programs;
	int (*keep)(int link, void *);
	void *arg;
	struct probe_types *types;
	unsigned attached;		/* places */
	int why;			/* the -errno of the first place that was refused */
};

const char *probes_cannot(void)
{
	const char *kprobe = kernel_lacks(FEATURE_KPROBE), *fentry;

	if (!kprobe || !kernel_lacks(FEATURE_KPROBE_MULTI))
		return NULL;
	fentry = kernel_lacks(FEATURE_FENTRY);
	return fentry ? text("%s, and %s", kprobe, fentry) : NULL;
}

static int load(enum bpf_prog_type type, enum bpf_attach_type attach, const char *name,
		const struct probe_program *p, const struct probe_type *of)
{
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = attach);
	int fd;

	if (of) {
		opts.attach_btf_id = of->id;
		opts.attach_btf_obj_fd = of->fd;
	}
	fd = bpf_prog_load(type, name, "GPL", p->insns, p->nr, &opts);
	return fd < 0 ? -errno : fd;
}

/* Keeps the link, or records the error. */
static int keep(struct work *w, int link)
{
	return link < 0 ? -errno : w->keep(link, w->arg);
}

static __u64 cookie(const struct probe *one)
{
	return (__u64)one->time << 32 | one->row;
}

static void refuse(struct work *w, struct probe **list, unsigned nr, int err)
{
	for (unsigned i = 0; i < nr; i++)
		list[i]->refused = true;
	w->why = w->why ?: err;
}

/* Attaches as many as one call accepts; splits on errors, and marks those that are refused. */
static int multi(struct work *w, int prog, struct probe **list, unsigned nr, __u32 flags)
{
	unsigned long *addresses = calloc(nr, sizeof(*addresses));
	__u64 *cookies = calloc(nr, sizeof(*cookies));
	int link = -1, err = addresses && cookies ? 0 : -ENOMEM;

	for (unsigned i = 0; !err && i < nr; i++) {
		addresses[i] = list[i]->address;
		cookies[i] = cookie(list[i]);
	}
	if (!err) {
		LIBBPF_OPTS(bpf_link_create_opts, opts);

		opts.kprobe_multi.flags = flags;
		opts.kprobe_multi.cnt = nr;
		opts.kprobe_multi.addrs = addresses;
		opts.kprobe_multi.cookies = cookies;
		link = bpf_link_create(prog, 0, BPF_TRACE_KPROBE_MULTI, &opts);
		err = link < 0 ? -errno : 0;
	}
	free(addresses);
	free(cookies);
	if (link >= 0)
		return w->keep(link, w->arg);
	if (nr > 1 && err != -ENOMEM && err != -EPERM)	/* find out which */
		return multi(w, prog, list, nr / 2, flags) ?:
		       multi(w, prog, list + nr / 2, nr - nr / 2, flags);
	refuse(w, list, nr, err);
	return 0;
}

static unsigned not_refused(struct probe **list, unsigned nr)
{
	unsigned left = 0;

	for (unsigned i = 0; i < nr; i++)
		if (!list[i]->refused)
			list[left++] = list[i];
	return left;
}

static int multi_all(struct work *w, struct probe **list, unsigned nr,
		     const struct probe_program *p, __u32 flags)
{
	int prog = load(BPF_PROG_TYPE_KPROBE, BPF_TRACE_KPROBE_MULTI, "driver_multi", p, NULL);
	int err;

	if (prog < 0)
		return prog;
	err = multi(w, prog, list, nr, flags);
	close(prog);
	return err;
}

/* By perf, one at a time. */
static int perf_attach(struct work *w, const struct probe *one, int prog, bool ret)
{
	struct perf_event_attr attr = { .size = sizeof(attr) };
	int link;

	if (one->tracepoint) {
		attr.type = PERF_TYPE_TRACEPOINT;
		attr.config = one->event;
	} else {
		attr.type = perf_type("kprobe");
		attr.config = ret;			/* bit 0 is "retprobe"; Linux 4.17 */
		attr.kprobe_addr = one->address;	/* names may be ambiguous */
	}
	link = perf_link(prog, &attr, cookie(one));
	return link < 0 ? link : w->keep(link, w->arg);
}

static int kprobe(struct work *w, const struct probe *one, const int *fds)
{
	if (one->timed)
		return perf_attach(w, one, fds[PROBE_END], true) ?:
		       perf_attach(w, one, fds[PROBE_BEGIN], false);
	return perf_attach(w, one, fds[PROBE_ENTER], false);
}

static int fentry_one(struct work *w, const struct probe *one, const struct probe_type *of,
		      enum bpf_attach_type type, const struct probe_program *p)
{
	LIBBPF_OPTS(bpf_link_create_opts, opts);
	int prog = load(BPF_PROG_TYPE_TRACING, type, "driver_fentry", p, of), err;

	if (prog < 0)
		return prog;
	opts.tracing.cookie = cookie(one);
	err = keep(w, bpf_link_create(prog, 0, type, &opts));
	close(prog);
	return err;
}

static int fentry(struct work *w, const struct probe *one)
{
	const struct probe_program *g = w->programs;
	struct probe_type of;
	int err = probe_type(w->types, one->name, one->module, &of);

	if (err)
		return err;
	if (!one->timed)
		return fentry_one(w, one, &of, BPF_TRACE_FENTRY, &g[PROBE_ENTER]);
	return fentry_one(w, one, &of, BPF_TRACE_FEXIT, &g[PROBE_END]) ?:
	       fentry_one(w, one, &of, BPF_TRACE_FENTRY, &g[PROBE_BEGIN]);
}

/* Attaches the places that have a type, and keeps the rest in the list. Errors are per place. */
static unsigned fentry_all(struct work *w, struct probe **list, unsigned nr)
{
	unsigned left = 0;

	for (unsigned i = 0; i < nr; i++)
		if (list[i]->copy || (i + 1 < nr && list[i + 1]->copy) || fentry(w, list[i]))
			list[left++] = list[i];	/* a type cannot tell copies apart */
	return left;
}

static int kprobe_all(struct work *w, struct probe **list, unsigned nr, enum bpf_prog_type type)
{
	int fds[NR_PROBE_PROGRAMS], err = 0;

	for (int i = 0; i < NR_PROBE_PROGRAMS; i++) {
		fds[i] = load(type, 0, w->programs[i].name, &w->programs[i], NULL);
		if (fds[i] < 0)
			err = err ?: fds[i];
	}
	for (unsigned i = 0; !err && i < nr; i++) {
		int no = kprobe(w, list[i], fds);

		if (no == -EMFILE || no == -ENFILE || no == -ENOMEM)
			err = no;
		list[i]->refused = no;
		w->why = w->why ?: no;
	}
	for (int i = 0; i < NR_PROBE_PROGRAMS; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	return err;
}

/* Returns are attached before entries: no entry must lack its return. */
static int multi_timed(struct work *w, struct probe **list, unsigned nr)
{
	int err = multi_all(w, list, nr, &w->programs[PROBE_END], BPF_F_KPROBE_MULTI_RETURN);

	nr = not_refused(list, nr);
	return err ?: nr ? multi_all(w, list, nr, &w->programs[PROBE_BEGIN], 0) : 0;
}

/* Prefer fentry although others would work? They attach faster; fentry runs faster. */
static bool by_fentry(unsigned nr, bool timed)
{
	if (kernel_lacks(FEATURE_FENTRY))
		return false;
	if (kernel_lacks(FEATURE_KPROBE) && kernel_lacks(FEATURE_KPROBE_MULTI))
		return true;
	return nr <= FEW && (timed || kernel_lacks(FEATURE_KPROBE_MULTI));
}

static int functions_attach(struct work *w, struct probe **list, unsigned nr, bool timed)
{
	bool can_multi = !kernel_lacks(FEATURE_KPROBE_MULTI);

	if (by_fentry(nr, timed))
		nr = fentry_all(w, list, nr);
	if (!nr)
		return 0;
	if (can_multi && timed)
		return multi_timed(w, list, nr);
	if (can_multi)
		return multi_all(w, list, nr, &w->programs[PROBE_ENTER], 0);
	if (!kernel_lacks(FEATURE_KPROBE))
		return kprobe_all(w, list, nr, BPF_PROG_TYPE_KPROBE);
	refuse(w, list, nr, -EOPNOTSUPP);
	return 0;
}

static unsigned select_of(struct probes *p, struct probe **list, bool tracepoint, bool timed)
{
	unsigned nr = 0;

	for (unsigned i = 0; i < p->nr; i++)
		if (p->list[i].tracepoint == tracepoint && p->list[i].timed == timed)
			list[nr++] = &p->list[i];
	return nr;
}

static int attach_all(struct work *w, struct probe **list)
{
	unsigned nr = select_of(w->p, list, true, false);
	int err = nr ? kprobe_all(w, list, nr, BPF_PROG_TYPE_TRACEPOINT) : 0;

	for (int timed = 1; !err && timed >= 0; timed--) {
		nr = select_of(w->p, list, false, timed);
		if (nr)
			err = functions_attach(w, list, nr, timed);
	}
	return err;
}

int probes_attach(struct probes *p, const struct probe_program programs[NR_PROBE_PROGRAMS],
		  int (*keep)(int link, void *), void *arg, struct error *e)
{
	struct work w = { .p = p, .programs = programs, .keep = keep, .arg = arg };
	struct probe **list = calloc(p->nr + 1, sizeof(*list));
	int err;

	w.types = probe_types_new();
	err = list && w.types ? attach_all(&w, list) : -ENOMEM;
	probe_types_free(w.types);
	free(list);
	p->refused = 0;
	for (unsigned i = 0; i < p->nr; i++)
		p->refused += p->list[i].refused;
	if (err)
		return error_set(e, err, NULL, "cannot attach to the functions of the driver: %s",
				 strerror(-err));
	if (p->refused == p->nr)
		return error_set(e, w.why, NULL, "the kernel refuses all %u functions: %s", p->nr,
				 strerror(-w.why));
	return 0;
}

static void part(char *to, unsigned size, unsigned nr, const char *what, const char *by,
		 unsigned ns)
{
	unsigned at = strlen(to);

	if (nr && at < size)
		snprintf(to + at, size - at, "%s%u %s%s%s, about %u ns per call",
			 at ? "; " : "", nr, what, nr == 1 ? "" : "s", by, ns);
}

static const struct { const char *by, *timed_by; unsigned ns; } costs[] = {
	{ " by kprobe.multi", " by kprobe.multi", NS_MULTI },
	{ " by fentry", " by fentry and fexit", NS_FENTRY },
	{ " by kprobe", " by kprobe", NS_KPROBE },
};

static unsigned cost_of(unsigned nr, bool timed)
{
	return by_fentry(nr, timed) ? 1 : kernel_lacks(FEATURE_KPROBE_MULTI) ? 2 : 0;
}

void probes_plan(const struct probes *p, char *plan, unsigned size)
{
	unsigned timed = 0, counted, way;

	for (unsigned i = 0; i < p->nr; i++)
		timed += p->list[i].timed;
	counted = p->functions - timed;
	*plan = '\0';
	way = cost_of(counted, false);
	part(plan, size, counted, "function", costs[way].by, costs[way].ns);
	way = cost_of(timed, true);
	part(plan, size, timed, "timed function", costs[way].timed_by,
	     NS_TIMES + 2 * costs[way].ns);
	part(plan, size, p->tracepoints, "tracepoint", "", NS_EVENT);
}

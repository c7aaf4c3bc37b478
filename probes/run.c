/* SPDX-License-Identifier: GPL-2.0 */
/* Asks a question of the kernel: loads, attaches and detaches the programs of its probes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "lib/kernel/btf.h"
#include "lib/kernel/cgroup.h"
#include "lib/kernel/feature.h"
#include "lib/kernel/symbol.h"
#include "lib/kernel/tracefs.h"
#include "lib/util/error.h"
#include "lib/util/grow.h"
#include "lib/util/list.h"
#include "lib/util/log.h"
#include "probes/cookies.h"
#include "probes/early.h"
#include "probes/functions.h"
#include "probes/raw_attach.h"
#include "probes/run.h"
#include "probes/stacks.h"
#include "probes/tracing.h"
#include "probes/source.h"

static const char *const source_names[] = {
#define S(name) #name,
	SOURCES(S)
#undef S
};

/* The source of a program: its name up to "__". */
static int source_of(const struct bpf_program *prog)
{
	const char *name = bpf_program__name(prog), *end = strstr(name, "__");
	size_t len = end ? (size_t)(end - name) : strlen(name);

	for (int s = 0; s < NR_SOURCES; s++)
		if (strlen(source_names[s]) == len && !strncmp(source_names[s], name, len))
			return s;
	return -1;
}

int link_keep(struct tracing *t, struct bpf_link *link, int fd)
{
	struct trace_link *list = grow(t->held, t->nr_held, sizeof(*list));

	if (!list) {
		bpf_link__destroy(link);
		if (fd >= 0)
			close(fd);
		return -ENOMEM;
	}
	t->held = list;
	list[t->nr_held++] = (struct trace_link){ .link = link, .fd = fd };
	return 0;
}

static int cgroup_attach(struct tracing *t, struct bpf_program *prog)
{
	int dir = cgroup_open(), err;
	struct bpf_link *link = dir < 0 ? NULL : bpf_program__attach_cgroup(prog, dir);

	err = link ? 0 : -errno;
	if (dir >= 0)
		close(dir);
	return link ? link_keep(t, link, -1) : err;
}

static int tracepoint_attach(struct tracing *t, struct bpf_program *prog)
{
	struct bpf_link *link = bpf_program__attach_trace(prog);

	return link ? link_keep(t, link, -1) : -errno;
}

static int program_attach(struct tracing *t, struct bpf_program *prog, struct error *e)
{
	enum source s = source_of(prog);
	int err;

	switch (s) {
	case SOURCE_cgroup_ingress:
	case SOURCE_sock_ops:
	case SOURCE_sock_create:
	case SOURCE_sock_release:
		err = cgroup_attach(t, prog);
		break;
	case SOURCE_syscall_enter:
	case SOURCE_syscall_exit:
		err = syscalls_attach(t, prog, s, e);
		break;
	case SOURCE_socket_enter:
	case SOURCE_socket_exit:
		err = socket_calls_attach(t, prog, s);
		break;
	case SOURCE_rtnetlink:
		err = links_open(t);
		break;
	case SOURCE_fbt_enter:
	case SOURCE_fbt_exit:
	case SOURCE_sdt_event:
		return raw_attach(t, prog, s, e);
	default:
		err = program_is_netfilter(prog) ? netfilter_attach(t, prog, s) :
						   tracepoint_attach(t, prog);
	}
	return err ? error_set(e, err, NULL, "cannot attach to %s: %s", source_name(s),
			       strerror(-err)) : 0;
}

#define H(group)	(1ull << GROUP_##group)

/* A pattern names what this kernel has of it. */
static bool may_lack(const struct question *q, enum stable_probe p,
		     const struct tracing_scope *scope, bool begins)
{
	return !begins && !q->source && !(q->named >> p & 1) &&
	       !serving_for(p, 0, NULL, !scope->netns, NULL);
}

static int sources_choose(struct tracing *t, const struct tracing_scope *scope, struct error *e)
{
	const struct question *q = t->question;
	bool served = false;

	for (int p = 0; p < NR_STABLE_PROBES; p++) {
		bool begins = q->since >> p & 1;
		const struct serving *s;
		__u64 groups;

		if (!begins && !(q->probes >> p & 1))
			continue;
		groups = question_groups(q, p, begins) | (scope->ifindex ? H(IF) : 0);
		s = serving_for(p, groups, q->source, !scope->netns, e);
		if (!s && may_lack(q, p, scope, begins)) {
			t->lacking |= probe_bit(p);
			continue;
		}
		if (!s)
			return -EOPNOTSUPP;
		served = true;
		t->serving[p] = s;
		t->skel->rodata->serves[s->source][p / 64] |= 1ull << p % 64;
		for (const struct assistance *a = assistances; a->probe != NR_STABLE_PROBES; a++)
			t->assists[a->source] |= a->probe == (enum stable_probe)p &&
						 a->at == s->source;
	}
	if (!served)
		return -EOPNOTSUPP;
	error_forget(e);
	return 0;
}

/* Where sockets are told apart by cookie, each must have one. */
static void cookies_want(struct tracing *t)
{
	static const enum source givers[] = { SOURCE_inet_sock_set_state, SOURCE_sock_create };

	if (!(t->question->query.need >> GROUP_CID & 1))
		return;
	for (unsigned i = 0; i < NR_OF(givers); i++)
		t->assists[givers[i]] |= !source_lacks(givers[i]);
	cookies_make();
}

static bool serves(const struct tracing *t, int source)
{
	return t->skel->rodata->serves[source][0] || t->skel->rodata->serves[source][1];
}

static bool program_wanted(const struct tracing *t, const struct bpf_program *prog)
{
	int source = source_of(prog);
	const char *name = bpf_program__name(prog), *event = strstr(name, "__");

	if (source < 0 || !(serves(t, source) || t->assists[source]))
		return false;
	if (source == SOURCE_fbt_enter || source == SOURCE_fbt_exit)
		return raw_wanted(prog);
	/* one of several functions: those that are not in a module */
	if (source_is_function(source))
		return kernel_function(strchr(bpf_program__section_name(prog), '/') + 1);
	/* one of several events: those that this kernel has */
	return source != SOURCE_driver_delivers || !event || tracepoint_args(event + 2);
}

#define CAPTURE_ROOM	(16 << 20)	/* bytes */

static int maps_size(struct tracing *t, const struct tracing_scope *scope)
{
	const struct query *q = &t->question->query;
	__u32 value = sizeof(struct aggregate) + q->slots * sizeof(__u64);
	bool times = t->question->since || q->delta, prints = q->aggregation == AGG_PRINT;
	bool stops = t->serving[PROBE_nic_tx_stop] || t->serving[PROBE_nic_tx_wake];
	int err = bpf_map__set_value_size(t->skel->maps.aggregates, value);

	err = err ?: bpf_map__set_value_size(t->skel->maps.fresh, value);
	err = err ?: bpf_map__set_value_size(t->skel->maps.alone, value);
	err = err ?: bpf_map__set_key_size(t->skel->maps.aggregates, q->key_size);
	/* a key that tasks and interrupts have takes two */
	if (scope->keys)
		err = err ?: bpf_map__set_max_entries(t->skel->maps.aggregates, 2 * scope->keys);
	err = err ?: bpf_map__set_autocreate(t->skel->maps.aggregates, q->nr_parts);
	err = err ?: bpf_map__set_autocreate(t->skel->maps.fresh, q->nr_parts);
	err = err ?: bpf_map__set_autocreate(t->skel->maps.alone, !prints && !q->nr_parts);
	err = err ?: bpf_map__set_autocreate(t->skel->maps.ring, prints);
	err = err ?: bpf_map__set_autocreate(t->skel->maps.socket_calls,
					     serves(t, SOURCE_socket_exit));
	if (q->snaplen)
		err = err ?: bpf_map__set_max_entries(t->skel->maps.ring, CAPTURE_ROOM);
	err = err ?: bpf_map__set_autocreate(t->skel->maps.in_driver,
					     t->serving[PROBE_nic_tx_done]);
	err = err ?: bpf_map__set_autocreate(t->skel->maps.befores,
					     serves(t, SOURCE_fn_time_wait) ||
					     serves(t, SOURCE_fn_delack) ||
					     serves(t, SOURCE_timer_expire_exit));
	err = err ?: bpf_map__set_autocreate(t->skel->maps.irqs, t->serving[PROBE_nic_irq]);
	err = err ?: bpf_map__set_autocreate(t->skel->maps.stopped, stops);
	err = err ?: bpf_map__set_autocreate(t->skel->maps.sending, stops);
	err = err ?: bpf_map__set_autocreate(t->skel->maps.stacks,
					     q->need & (H(KSTACK) | H(USTACK)));
	return err ?: bpf_map__set_autocreate(t->skel->maps.begun, times);
}

/* Where a CPU has its preempt count: Linux 6.2 to 6.14 have it in pcpu_hot, after `current`. */
static void preempts_find(struct tracing *t)
{
	__u64 at;
	bool alone = kernel_percpu("__preempt_count", &at);

	if (!alone && !kernel_percpu("pcpu_hot", &at))
		return;
	t->skel->rodata->preempt_count = alone ? at : at + sizeof(__u64);
	t->skel->rodata->counts_preempts = true;
}

static int programs_load(struct tracing *t, const struct tracing_scope *scope, struct error *e)
{
	struct bpf_program *prog;
	int err;

	t->skel->rodata->query = t->question->query;
	t->skel->rodata->query.netns = scope->netns;
	t->skel->rodata->query.ifindex = scope->ifindex;
	t->skel->rodata->query.since[0] = t->question->since;
	t->skel->rodata->query.since[1] = t->question->since >> 64;
	early_choose(t->question, &t->skel->rodata->query);
	t->skel->rodata->preempts = kernel_lacks(FEATURE_DEPTH);
	preempts_find(t);
	for (int i = 0; serves(t, SOURCE_timer_expire_exit) && i < NR_TCP_TIMERS; i++)
		t->skel->rodata->timer_functions[i] = timer_function(i);
	if (t->question->query.snaplen && !kernel_lacks(FEATURE_FRAGS)) {
		t->skel->rodata->vmemmap_base = symbol_address("vmemmap_base");
		t->skel->rodata->page_offset_base = symbol_address("page_offset_base");
	}
	bpf_object__for_each_program(prog, t->skel->obj) {
		if (program_is_netfilter(prog))
			netfilter_prepare(prog);
		bpf_program__set_autoload(prog, program_wanted(t, prog));
	}
	err = raw_prepare(t, e);
	if (err)
		return err;
	err = maps_size(t, scope);
	log_forget();
	if (!err)
		module_types_skip(t->skel->obj);
	err = err ?: stable_bpf__load(t->skel);
	stacks_open(err ? -1 : bpf_map__fd(t->skel->maps.stacks));
	return err ? error_set(e, err, NULL, "cannot load the programs: %s%s%s", strerror(-err),
			       *log_last() ? ": " : "", log_last()) : 0;
}

static int begin(struct tracing *t, const struct tracing_scope *scope, struct error *e)
{
	struct bpf_program *prog;
	int err;

	t->skel = stable_bpf__open();
	if (!t->skel)
		return error_set(e, -errno, NULL, "cannot open the programs: %s",
				 strerror(errno));
	err = sources_choose(t, scope, e);
	cookies_want(t);
	err = err ?: programs_load(t, scope, e);
	if (!err && t->serving[PROBE_nic_irq])
		err = irqs_tell(t, scope->ifindex, e);
	if (!err && t->question->query.aggregation == AGG_PRINT)
		err = ring_open(t, e);
	bpf_object__for_each_program(prog, t->skel->obj)
		if (!err && bpf_program__autoload(prog))
			err = program_attach(t, prog, e);
	return err;
}

struct tracing *tracing_begin(const struct question *q, const struct tracing_scope *scope,
			      struct error *e)
{
	struct tracing *t = calloc(1, sizeof(*t));

	if (!t) {
		error_set(e, -ENOMEM, NULL, "out of memory");
		return NULL;
	}
	t->question = q;
	if (begin(t, scope, e)) {
		tracing_end(t);
		return NULL;
	}
	return t;
}

void tracing_detach(struct tracing *t)
{
	links_close(t);
	for (unsigned i = 0; i < t->nr_held; i++) {
		bpf_link__destroy(t->held[i].link);
		if (t->held[i].fd >= 0)
			close(t->held[i].fd);
	}
	free(t->held);
	t->held = NULL;
	t->nr_held = 0;
}

void tracing_end(struct tracing *t)
{
	tracing_detach(t);
	for (unsigned i = 0; i < t->nr_copies; i++)
		close(t->copies[i]);
	free(t->copies);
	ring_buffer__free(t->ring);
	stable_bpf__destroy(t->skel);
	free(t);
}

probe_set tracing_lacks(const struct tracing *t)
{
	return t->lacking;
}

const struct serving *tracing_source(const struct tracing *t, enum stable_probe p)
{
	return t->serving[p];
}

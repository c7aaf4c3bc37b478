/* SPDX-License-Identifier: GPL-2.0 */
/* The stacks of events: their functions, by name. */
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "lib/kernel/symbol.h"
#include "lib/trace/process.h"
#include "lib/util/list.h"
#include "probes/stacks.h"
#include "probes/tracing.h"

static int stacks = -1;

void stacks_open(int map)
{
	stacks = map;
}

/* What traces, and not what is traced: the first functions of a stack. */
static bool traces(const char *function)
{
	static const char *const names[] = {
		"bpf_prog_", "bpf_trace_run", "__traceiter_", "bpf_trampoline_", "__bpf_trace_",
		"perf_trace_", "perf_syscall_", "perf_call_bpf_", "trace_call_bpf",
	};

	for (unsigned i = 0; i < NR_OF(names); i++)
		if (!strncmp(function, names[i], strlen(names[i])))
			return true;
	return false;
}

void stack_each(const struct field *f, const void *from,
		void (*each)(const char *function, void *arg), void *arg)
{
	__u64 frames[STACK_DEPTH] = {}, value = 0;
	bool begun = f->format == FORMAT_USTACK;
	char function[256];
	__u32 id;

	memcpy(&value, from, f->size);
	id = value;
	if (stacks < 0 || bpf_map_lookup_elem(stacks, &id, frames))
		return;
	for (unsigned i = 0; i < STACK_DEPTH && frames[i]; i++) {
		if (f->format == FORMAT_KSTACK)
			symbol_text(frames[i], function, sizeof(function));
		else
			process_symbol(value >> 32, frames[i], function, sizeof(function));
		begun |= !traces(function);
		if (begun)
			each(function, arg);
	}
}

void stacks_see(const struct tracing *t)
{
	const struct question *q = t->question;
	int map = q->nr_keys ? bpf_map__fd(t->skel->maps.aggregates) : -1;
	char key[sizeof(struct query_key)], *before = NULL;
	bool wanted = false;

	for (unsigned i = 0; i < q->nr_keys; i++)
		wanted |= q->keys[i]->format == FORMAT_USTACK;
	while (wanted && map >= 0 && !bpf_map_get_next_key(map, before, key)) {
		const struct query_key *k = (const void *)key;
		__u64 value;

		before = key;
		for (unsigned i = 0; i < q->nr_keys; i++) {
			if (q->keys[i]->format != FORMAT_USTACK || k->absent >> i & 1)
				continue;
			memcpy(&value, k->bytes + q->query.part[i].at, sizeof(value));
			process_see(value >> 32);
		}
	}
}

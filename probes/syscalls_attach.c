/* SPDX-License-Identifier: GPL-2.0 */
/* Attaches a program to the tracepoints of those system calls that a question names. */
#include <errno.h>
#include <fnmatch.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include "lib/kernel/tracefs.h"
#include "lib/util/error.h"
#include "probes/tracing.h"

static bool function_wanted(const struct question *q, enum stable_probe of, const char *function)
{
	for (unsigned i = 0; i < q->nr_functions; i++)
		if (q->function_of[i] >> of & 1 &&
		    (!*q->function[i] || !fnmatch(q->function[i], function, 0)))
			return true;
	return false;
}

struct syscall_attaching {
	struct tracing *t;
	struct bpf_program *prog;
	enum stable_probe probe;
	const char *prefix;	/* "sys_enter_" */
	unsigned nr;
};

int syscall_link(struct tracing *t, struct bpf_program *prog, const char *event, __u64 cookie)
{
	struct perf_event_attr attr = { .size = sizeof(attr), .type = PERF_TYPE_TRACEPOINT };
	LIBBPF_OPTS(bpf_perf_event_opts, opts, .bpf_cookie = cookie);
	struct bpf_link *link;
	int perf, err;

	attr.config = tracefs_event_of("syscalls", event);
	perf = syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
	if (perf < 0)
		return -errno;
	/* the link closes it */
	link = bpf_program__attach_perf_event_opts(prog, perf, &opts);
	if (!link) {
		err = -errno;
		close(perf);
		return err;
	}
	return link_keep(t, link, -1);
}

static int syscall_attach(const char *event, void *arg)
{
	struct syscall_attaching *a = arg;
	size_t len = strlen(a->prefix);

	if (strncmp(event, a->prefix, len) ||
	    !function_wanted(a->t->question, a->probe, event + len))
		return 0;
	a->nr++;
	/* the kernel refuses a program that itself reads arguments that a call does not have */
	return syscall_link(a->t, a->prog, event, syscall_arguments(event));
}

int syscalls_attach(struct tracing *t, struct bpf_program *prog, enum source source,
		    struct error *e)
{
	bool enters = source == SOURCE_syscall_enter;
	struct syscall_attaching a = {
		.t = t, .prog = prog,
		.probe = enters ? PROBE_syscall_entry : PROBE_syscall_return,
		.prefix = enters ? "sys_enter_" : "sys_exit_",
	};
	int err = tracefs_events("syscalls", syscall_attach, &a);

	if (!err && !a.nr)
		return error_set(e, -ENOENT, NULL, "this kernel has no system call \"%s\"",
				 t->question->function[0]);
	return err;
}

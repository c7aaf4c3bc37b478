/* SPDX-License-Identifier: GPL-2.0 */
/* Inside of a question that is being asked: only for run.c, gather.c and what attaches. */
#ifndef NICPROBE_PROBES_TRACING_H
#define NICPROBE_PROBES_TRACING_H

#include <stdint.h>

#include "probes/run.h"
#include "stable.skel.h"

struct trace_link {			/* one of both */
	struct bpf_link *link;
	int fd;			/* of a link that libbpf does not know; -1: none */
};

struct tracing {
	const struct question *question;
	struct stable_bpf *skel;
	const struct serving *serving[NR_STABLE_PROBES];
	bool assists[NR_SOURCES];
	probe_set lacking;
	struct carriers *links;	/* NULL: nobody asks for them */
	struct trace_link *held;
	unsigned nr_held;
	int *copies;			/* programs beside those of the skeleton */
	unsigned nr_copies;
	unsigned refused;		/* functions that the kernel does not let be traced */
	struct ring_buffer *ring;
	void (*tell)(const struct probe_event *, void *);
	void *arg;
};

int ring_open(struct tracing *, struct error *);
/* Ends with the tracing: a link of libbpf, or else a descriptor. At an error it ends at once. */
int link_keep(struct tracing *, struct bpf_link *, int fd);
/* Attaches to the system calls that the question names: to each its own tracepoint. */
int syscalls_attach(struct tracing *, struct bpf_program *, enum source, struct error *);
/* Attaches to sys_enter_NAME or sys_exit_NAME; the program gets the cookie. */
int syscall_link(struct tracing *, struct bpf_program *, const char *event, __u64 cookie);
/* Attaches to the system calls of socket:::connect and so on. */
int socket_calls_attach(struct tracing *, struct bpf_program *, enum source);
/* For programs of the section "netfilter", which libbpf may not know. */
bool program_is_netfilter(const struct bpf_program *);
void netfilter_prepare(struct bpf_program *);
int netfilter_attach(struct tracing *, struct bpf_program *, enum source);
/* Names the interrupts of one interface, or of all of the present namespace (0). 0 or -errno. */
int irqs_tell(struct tracing *, __u32 ifindex, struct error *);
/* Links of the present namespace, from now on; read what came; read all once more, and end. */
int links_open(struct tracing *);
int links_fd(const struct tracing *);
void links_read(struct tracing *);
void links_close(struct tracing *);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* A build of a packet program with one choice of meters, and what was put through it. */
#ifndef BENCH_OBJECT_H
#define BENCH_OBJECT_H

#include <bpf/libbpf.h>

#include "lib/core/hook.h"
#include "bench.h"

#define MAX_OBJECTS	64

struct object {
	char build[32];		/* "nicprobe", or what the command line calls it */
	const char *hook;	/* "xdp", "tc" */
	const char *meters;	/* "empty", a meter, "all" */
	__u64 on;
	struct bpf_object *obj;
	int prog;
	unsigned int jited;	/* bytes */
	__u64 buffers, bytes;	/* that were put through */
	__u64 packets, marked;	/* on the wire */
};

extern struct object objects[MAX_OBJECTS];
extern unsigned int nr_objects;

void add_empty(const char *hook, const char *program);
/*
 * A build of a tap: nothing on, each meter alone, and all; or `only` that one. `file`: a build
 * that is there, instead of our own bytes.
 */
void add_tap(const char *build, const char *hook, const struct hook *tap, const char *program,
	     const char *file, const char *only);
/* Fast and wrong is no result: ends it all. */
void verify(const struct object *);

#endif

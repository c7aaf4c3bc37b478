/* SPDX-License-Identifier: GPL-2.0 */
/* A packet program with one selection of meters, and the packets that it was run on. */
#ifndef BENCH_OBJECT_H
#define BENCH_OBJECT_H

#include <bpf/libbpf.h>

#include "lib/core/hook.h"
#include "bench.h"

#define MAX_OBJECTS	64

struct object {
	char build[32];		/* "nicprobe", or a name from the command line */
	const char *hook;	/* "xdp", "tc" */
	const char *meters;	/* "empty", a meter, "all" */
	__u64 on;
	struct bpf_object *obj;
	int prog;
	unsigned int jited;	/* bytes */
	__u64 buffers, bytes;	/* it was run on */
	__u64 packets, marked;	/* wire packets, and those marked CE */
};

extern struct object objects[MAX_OBJECTS];
extern unsigned int nr_objects;

void add_empty(const char *hook, const char *program);
/*
 * Add objects of a hook: without meters, with each meter alone, and with all; or with `only` one
 * selection. `file`: an object file to use instead of our embedded one.
 */
void add_tap(const char *build, const char *hook, const struct hook *tap, const char *program,
	     const char *file, const char *only);
/* Exit if the object counted wrong. */
void verify(const struct object *);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* Functions and tracepoints of the kernel by their names: fbt and sdt. */
#ifndef NICPROBE_PROBES_RAW_H
#define NICPROBE_PROBES_RAW_H

#include "probes/probe.h"

struct btf;
struct near;

/* A spot: a function at its entry or return, or a tracepoint. */
struct raw_named {
	char name[96], module[56];	/* of a tracepoint: its group */
	char of[56];			/* the module whose types describe it; "": the kernel */
	__u64 address;			/* of a function */
	enum stable_probe probe;
	bool begins, twice;		/* twice: another function has the name */
	const struct btf *btf;		/* NULL: it has no types */
	unsigned prototype, skip;	/* its type, and the arguments before the first */
	struct raw_spot spot;
};

/* A list of spots. free() it. */
struct raw_list {
	struct raw_named *list;
	unsigned nr;
};

/* "fbt::tcp_*:entry", "sdt:net::net_dev_queue" or perf: a pattern of these? Not "sdt:::ip4-*". */
bool raw_is(const char *pattern);
bool raw_has(probe_set);
/* NULL: functions can be traced here; otherwise why not. */
const char *raw_functions_lack(void);
/*
 * All that a pattern names. `where` begins the message: "PROBE". -EINVAL: nothing has the name;
 * -EOPNOTSUPP: this kernel cannot trace it.
 */
int raw_find(const char *where, const char *pattern, struct raw_list *, struct error *);
/* Finds out what arguments they have, and what they return. */
void raw_describe(struct raw_list *);
/* "struct sk_buff *skb"; NULL: it has no such argument. RAW_ARGS: what it returns. */
const char *raw_argument(const struct raw_named *, unsigned arg);
const char *raw_name(const struct raw_named *);	/* "fbt:tun:tun_net_xmit:entry", as text() */

/* Those of the question that is asked: an event has their numbers. */
extern struct raw_list raw_asked;
void raw_forget(void);
/* Adds those that a pattern names. `begins`: by --since. */
int raw_ask(const char *where, const char *pattern, bool begins, probe_set *, struct error *);
/* Names of probes, functions and modules: NULL and false: there is none. */
const char *raw_text(enum field_format, __u32 number);
bool raw_number(enum field_format, const char *name, __u32 *number);
void raw_near(enum field_format, struct near *);

#endif

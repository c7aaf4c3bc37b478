/* SPDX-License-Identifier: GPL-2.0 */
/* What a user asks of probes: parsed from options or from a D clause, and checked. */
#ifndef NICPROBE_PROBES_QUESTION_H
#define NICPROBE_PROBES_QUESTION_H

#include "probes/probe.h"

#define FUNCTIONS_MOST	32
#define PRINTED_MOST	16

/* As the options say it; NULL: not given. */
struct posed {
	const char *probes;	/* "tcp:::send,udp:::send" */
	const char *where, *by, *print, *since, *on, *delta;
	const char *sum, *min, *max, *avg, *quantize, *lquantize;
	bool count;
	const char *source;	/* --source */
	unsigned snaplen;	/* of packets, for --pcap; 0: none */
};

struct question {
	probe_set probes, since;	/* since: those that begin a time */
	probe_set named;		/* each by its name, not only by a pattern */
	struct query query;		/* without netns, ifindex and since */
	__u64 required;			/* 1 << GROUP_x of what the user named, not of defaults */
	const struct field *keys[QUERY_KEYS], *printed[PRINTED_MOST], *measured;
	unsigned nr_keys, nr_printed;
	bool printed_asked;		/* by --print, not by default */
	char function[FUNCTIONS_MOST][64];	/* of syscalls: "sendto", "accept*"; "": all */
	probe_set function_of[FUNCTIONS_MOST];	/* which of the probes it is of */
	unsigned nr_functions;
	__s64 high;			/* of lquantize */
	const char *source;
};

/*
 * 0; -EINVAL and an error that names the word that is wrong, with the nearest right one as what to
 * try. Checks everything that needs no kernel: names, types, limits of query.h; that each field is
 * one of at least one of the probes; that aliases args[N]->field fit the probe's arguments.
 */
int question_ask(struct question *, const struct posed *, struct error *);

/*
 * The groups that a source of this probe must be able to fill: 1 << GROUP_x. `begins`: of a probe
 * of --since, which only needs what --on names. Not those that no source of it has: they are
 * absent.
 */
__u64 question_groups(const struct question *, enum stable_probe, bool begins);

/*
 * The first field of the condition for lack of which no event of the probe passes; NULL: events may
 * pass.
 */
const struct field *question_stops(const struct question *, enum stable_probe);

/*
 * The same for one clause of D: PROBES /CONDITION/ { @name[KEYS] = AGGREGATION(FIELD); }. What lies
 * beyond that is refused with the word at which it stops.
 */
int question_ask_d(struct question *, const char *clause, struct error *);

#endif

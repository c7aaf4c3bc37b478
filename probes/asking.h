/* SPDX-License-Identifier: GPL-2.0 */
/* Inside of the parsers of a question: only for question.c, words.c, condition.c and d.c. */
#ifndef NICPROBE_PROBES_ASKING_H
#define NICPROBE_PROBES_ASKING_H

#include "lib/util/error.h"
#include "probes/question.h"

#define WORD_SIZE	128

struct asking {
	struct question *q;
	bool d;			/* a clause of D, not options: for messages */
	struct error *e;
};

/* The next of words with commas between, without blanks; false: that was the last. */
bool word_next(const char **list, char word[WORD_SIZE]);

/* 1 << GROUP_x that some source of the probe may fill, in this kernel or another. */
__u64 probe_groups(enum stable_probe);

/*
 * The field of "tcp_dport" or "args[4]->tcp_dport", which one of the probes must have; NULL and an
 * error. `where` is the option.
 */
const struct field *field_asked(struct asking *, const char *where, const char *word);
/* The same, for a field that events are filtered, keyed or measured by. */
const struct field *field_used(struct asking *, const char *where, const char *word);

int probes_asked(struct asking *, const char *where, const char *list, probe_set *probes);
int condition_asked(struct asking *, const char *where, const char *condition);

/*
 * Asks for the packets of events, up to `snaplen` bytes of each. -EOPNOTSUPP and an error: a probe
 * has no packet, or the headers with which those of two probes begin do not fit together.
 */
int packets_ask(struct asking *, unsigned snaplen);

/* question_ask() for options, or for what a clause of D says. */
int question_fill(struct asking *, const struct posed *);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* Packets that the stack or a socket throws away: by reason, what it means and what helps. */
#ifndef NICPROBE_DROPPING_H
#define NICPROBE_DROPPING_H

#include <stdint.h>

#include "../lib/findings.h"

#define MAX_REASONS	4

struct drop_key;

struct loss {
	struct finding_kind kind;
	const char *reasons[MAX_REASONS];	/* of the meter drop; "X*": all that begin so */
	/* counters of nstat that say the same where the meter drop is not there */
	const char *counters[MAX_REASONS];
	const char *what;		/* after "20 packets" */
	/*
	 * A command, its words apart by blanks, what it changes, and a sentence. {if} is the
	 * interface; {NAME} and {N*NAME} are a sysctl's value, and N times that. Without the value
	 * there is no command.
	 */
	const char *fix, *changes, *advice;
	bool untraced;			/* the kernel drops without an event: counters tell, too */
	bool only_bursts;		/* the command is for bursts: not where most is lost */
	/* Of these reasons not all are meant; NULL: they are. */
	bool (*meant)(const struct drop_key *);
};

extern const struct loss losses[];
extern const unsigned nr_losses;

#endif

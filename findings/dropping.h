/* SPDX-License-Identifier: GPL-2.0 */
/* Packets that the stack or a socket throws away: by reason, what it means and what helps. */
#ifndef NICPROBE_DROPPING_H
#define NICPROBE_DROPPING_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/read/findings.h"

#define MAX_REASONS	4

struct drop_key;

struct loss {
	struct finding_kind kind;
	/* of the meter drop; "X*": all that begin so; "X@f": in functions that begin so */
	const char *reasons[MAX_REASONS];
	/*
	 * Counters of nstat that say the same where the meter drop is not there. "SOURCE:X" is of
	 * another source; what "-X" counted is taken off.
	 */
	const char *counters[MAX_REASONS];
	const char *what;		/* after "20 packets" */
	/*
	 * A command, its words apart by blanks, what it changes, and a sentence. {if} is the
	 * interface; {NAME} and {N*NAME} are a sysctl's value, and N times that. Without the value
	 * there is no command.
	 */
	const char *fix, *changes, *advice;
	/*
	 * A reason that is this one's while a neighbour does not answer, and else another's; its
	 * address is said, too.
	 */
	const char *if_silent;
	bool unless_silent;		/* it is the other one's */
	bool untraced;			/* the kernel drops without an event: counters tell, too */
	bool of_sockets;		/* advice names the socket, and how it came by its buffer */
	bool only_bursts;		/* the command is for bursts: not where most is lost */
	/* Of these reasons not all are meant; NULL: they are. */
	bool (*meant)(const struct drop_key *);
};

/* Is a packet that was dropped so one of this loss? `silent`: a neighbour does not answer. */
bool loss_fits(const struct loss *, const struct drop_key *, bool silent);
/* "X", "X*", or "X@f" (reasons of struct loss): is it this reason, dropped there? */
bool reason_fits(const char *pattern, const struct drop_key *);

extern const struct loss socket_losses[];	/* ends with an empty one */
/* Each by its number, from 0 on; NULL: there are no more. */
const struct loss *loss_at(unsigned nr);

#endif

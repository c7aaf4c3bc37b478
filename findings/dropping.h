/* SPDX-License-Identifier: GPL-2.0 */
/* Losses in the stack or at a socket: by drop reason, with meaning and remedy. */
#ifndef NICPROBE_DROPPING_H
#define NICPROBE_DROPPING_H

#include <stdbool.h>

#include "lib/read/findings.h"

#define MAX_REASONS	4

struct drop_key;

struct loss {
	struct finding_kind kind;
	/*
	 * reasons of the meter drop; "X*": a prefix; "X@f": in functions whose name begins with f
	 */
	const char *reasons[MAX_REASONS];
	/*
	 * Counters of nstat that stand in when the meter drop is off. "SOURCE:X" names another
	 * source; "-X" is subtracted.
	 */
	const char *counters[MAX_REASONS];
	const char *what;		/* predicate of "20 packets" */
	/*
	 * A command (words separated by blanks), what it changes, and a sentence. {if} is the
	 * interface; {NAME} and {N*NAME} are a sysctl's value, times N. The command is left out if
	 * a value is unknown.
	 */
	const char *fix, *changes, *advice;
	const char *fix_also;	/* one more word, where its values are known: of IPv6 */
	/*
	 * A reason that belongs to this loss only while a neighbour does not answer. The finding
	 * then also names the neighbour.
	 */
	const char *if_silent;
	bool unless_silent;		/* the opposite: only while all neighbours answer */
	bool untraced;			/* some drops have no event: use counters as well */
	bool of_sockets;		/* advice names the socket and who chose its buffer size */
	bool only_bursts;		/* the command helps against bursts only */
	/* Tells which drops with these reasons are meant; NULL: all. */
	bool (*meant)(const struct drop_key *);
};

/* Does this loss include packets dropped so? `silent`: a neighbour does not answer. */
bool loss_fits(const struct loss *, const struct drop_key *, bool silent);
/* Does a drop match "X", "X*" or "X@f" (see struct loss)? */
bool reason_fits(const char *pattern, const struct drop_key *);

struct evidence;

/* The remedy of a loss, by its id, for a finding about the same; `lost`: the share of packets. */
void loss_advise(struct evidence *, struct finding *, const char *id, double lost);

extern const struct loss socket_losses[];	/* ends with an empty entry */
/* Every loss by number, from 0; NULL: past the last. */
const struct loss *loss_at(unsigned nr);

#endif

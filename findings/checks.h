/* SPDX-License-Identifier: GPL-2.0 */
/* What a window says of every finding there may be: it is so, it is not so, or nobody can tell. */
#ifndef NICPROBE_CHECKS_H
#define NICPROBE_CHECKS_H

#include "findings/subjects.h"

enum checked { CHECK_WELL, CHECK_FOUND, CHECK_UNASKED, NR_CHECKED };
extern const char *const checked_names[NR_CHECKED];	/* "well", "found", "not checked" */

struct check {
	const struct finding_kind *kind;
	const struct subject *subject;
	enum checked is;
	char why[320];		/* it was not checked; else "" */
};

struct checks {
	struct check *list;	/* in the order of SUBJECTS */
	unsigned nr, count[NR_CHECKED];
};

/* One check for each kind of finding, after findings_judge(). 0 or -ENOMEM; free checks->list. */
int checks_of(const struct snapshot *, struct checks *);

/* Packets that came, and that went, at the points that see most of them. */
uint64_t packets_received(const struct snapshot *);
uint64_t packets_sent(const struct snapshot *);

#endif

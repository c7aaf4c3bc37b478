/* SPDX-License-Identifier: GPL-2.0 */
/* All findings by subject: the function that detects them, and their kinds. */
#ifndef NICPROBE_SUBJECTS_H
#define NICPROBE_SUBJECTS_H

#include "findings/evidence.h"
#include "lib/read/findings.h"

/*
 * Every subject, in the order of evaluation and listing: causes before effects. A new subject is a
 * file and a word here; a new finding is an entry in the table of its subject.
 */
#define SUBJECTS(S) \
	S(link) S(receiving) S(arriving) S(interrupts) S(merging) S(limits) S(sending) S(qdisc) \
	S(offload) S(af_xdp) S(xdp_failures) S(programs) S(dropping) S(setup) S(hooks) \
	S(account) S(listening) S(neighbours) S(connecting) S(holding) S(windows) S(buffers) \
	S(resolving) S(paths) S(trust)

struct subject {
	const char *name;		/* the file */
	const char *title;		/* "Receiving: queues and CPUs" */
	/* Its kinds by number, from 0; NULL: past the last. */
	const struct finding_kind *(*kind)(unsigned nr);
	bool host;			/* of the host, and not of interfaces */
	/* Adds its findings to e->f. */
	void (*judge)(struct evidence *e);
};

#define S(name) extern const struct subject subject_##name;
SUBJECTS(S)
#undef S
extern const struct subject *const subjects[];	/* ends with NULL */

/* The subject of a file that lists its kinds in kinds[] and detects them in judge(). */
#define DEFINE_SUBJECT(word, heading, ...)					\
	static const struct finding_kind *kind(unsigned nr)			\
	{									\
		return nr < sizeof(kinds) / sizeof(*kinds) ? &kinds[nr] : NULL;	\
	}									\
	const struct subject subject_##word = {					\
		.name = #word, .title = heading, .kind = kind, .judge = judge,	\
		__VA_ARGS__							\
	};

/* Is it about what was attached: an interface, or the host? */
bool subject_fits(const struct subject *, const struct snapshot *);

/* NULL: no finding has this id. */
const struct finding_kind *kind_find(const char *id);

/*
 * Evaluates the window and fills s->findings, ordered. `hw` is the current setup; NULL: it is read
 * when needed. If s->hw is set, the setup is evaluated as well.
 */
void findings_judge(struct snapshot *, const struct hw *hw);
/* Adds past losses that no longer occur in the window; `total` is since attach. */
void findings_earlier(struct snapshot *window, const struct snapshot *total);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* All findings, by what they are about: who judges, and which kinds there are. */
#ifndef NICPROBE_SUBJECTS_H
#define NICPROBE_SUBJECTS_H

#include "findings/evidence.h"
#include "lib/read/findings.h"

/*
 * Every subject, in the order in which they judge and are listed: causes before what comes of them.
 * A new one is a file and a word here; a new finding is an entry in the table of its subject.
 */
#define SUBJECTS(S) \
	S(link) S(receiving) S(arriving) S(interrupts) S(merging) S(limits) S(sending) S(qdisc) \
	S(offload) S(af_xdp) S(programs) S(dropping) S(setup) S(hooks) \
	S(account) S(trust)

struct subject {
	const char *name;		/* the file */
	const char *title;		/* "Receiving: queues and CPUs" */
	/* Its kinds by number, from 0 on; NULL: there are no more. */
	const struct finding_kind *(*kind)(unsigned nr);
	/* Adds what it finds to e->f. */
	void (*judge)(struct evidence *e);
};

#define S(name) extern const struct subject subject_##name;
SUBJECTS(S)
#undef S
extern const struct subject *const subjects[];	/* ends with NULL */

/* For a subject whose kinds are an array that ends with an empty one. */
#define KINDS(list)								\
	static const struct finding_kind *kind(unsigned nr)			\
	{									\
		return nr < sizeof(list) / sizeof(*(list)) ? &(list)[nr] : NULL;	\
	}

/* NULL: there is no finding of this id. */
const struct finding_kind *kind_find(const char *id);

/*
 * Judges the window: s->findings is made anew, and put in order. `hw` is how the interface is set
 * up now; NULL: it is read where it is needed. If s->hw is there, the setup is judged, too.
 */
void findings_judge(struct snapshot *, const struct hw *hw);
/* Adds to what was found in a window what was before, and is no more: `total` is since attach. */
void findings_earlier(struct snapshot *window, const struct snapshot *total);

#endif

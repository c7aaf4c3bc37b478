/* SPDX-License-Identifier: GPL-2.0 */
/* What `nicprobe doctor` was asked and what it measured, shared by its files. */
#ifndef NICPROBE_DOCTOR_H
#define NICPROBE_DOCTOR_H

#include "cmd/cmd.h"
#include "findings/checks.h"
#include "lib/hw/hw.h"
#include "lib/util/error.h"

struct patient {			/* one interface */
	char name[96];			/* as typed */
	struct meta meta;		/* of our own attachment */
	char pins[256];			/* its directory; "": not attached */
	struct snapshot before, now;	/* `now` becomes the window */
	struct hw hw;
	struct checks checks;
	struct error error;		/* why it cannot be judged; "": it is */
};

struct doctor {
	double seconds;			/* of the window */
	unsigned least;			/* enum severity: milder findings leave it well */
	bool script;
	unsigned nr;
	struct patient *patients;	/* the worst first, once they are measured */
	double attaching;		/* seconds */
	double share;			/* of a CPU that measuring took; below 0: not known */
};

/* Attaches to all of them beside whatever is attached, measures, judges and detaches. 0 or -errno:
 * none could be measured. */
int doctor_measure(struct doctor *, struct error *);
void doctor_free(struct doctor *);

/* Why it is not judged; NULL: it is. */
static inline const char *unjudged(const struct patient *p)
{
	return *p->error.what ? p->error.what : NULL;
}

/* Findings that count for the answer. */
static inline unsigned troubles(const struct doctor *d, const struct patient *p)
{
	return unjudged(p) ? 0 : findings_count(&p->now.findings, d->least);
}

void doctor_print(const struct doctor *);
void doctor_json(const struct doctor *);
void doctor_script(const struct doctor *);

#endif

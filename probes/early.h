/* SPDX-License-Identifier: GPL-2.0 */
/* What programs ask of a packet before they fill all of its event. */
#ifndef NICPROBE_PROBES_EARLY_H
#define NICPROBE_PROBES_EARLY_H

#include "probes/question.h"

/* Sets `early`, `peek` and `peeked` of the query that programs get. */
void early_choose(const struct question *, struct query *);

#endif

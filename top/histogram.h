/* SPDX-License-Identifier: GPL-2.0 */
/* A histogram as bars: the present window, beside what was a minute ago. */
#ifndef NICPROBE_TOP_HISTOGRAM_H
#define NICPROBE_TOP_HISTOGRAM_H

#include "top/ui.h"

/* Two windows of one interface. */
struct both {
	const struct snapshot *now;
	const struct snapshot *ago;	/* NULL: there is none */
	double from, to;		/* of `ago`: seconds before now */
};

enum shown { SHOWN_ALL, SHOWN_TIMES, SHOWN_OTHERS };
/* Histograms of a meter that have counts, of a queue or of all. False: none has. */
bool histograms(const struct ui *, struct doc *, const struct both *, const struct meter *,
		int queue, enum shown);

#endif

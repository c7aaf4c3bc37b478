/* SPDX-License-Identifier: GPL-2.0 */
/* What loading the programs needs to know of their sources. */
#ifndef NICPROBE_PROBES_SOURCE_H
#define NICPROBE_PROBES_SOURCE_H

#include "probes/probe.h"

/* A further source whose program a probe needs. */
struct assistance {
	enum stable_probe probe;
	enum source at, source;		/* `at` shows the events */
};
extern const struct assistance assistances[];	/* ends with NR_STABLE_PROBES */

#endif

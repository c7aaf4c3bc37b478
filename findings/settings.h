/* SPDX-License-Identifier: GPL-2.0 */
/* Current settings of an interface, as findings need them before they advise a change. */
#ifndef NICPROBE_SETTINGS_H
#define NICPROBE_SETTINGS_H

#include "findings/evidence.h"

/*
 * Four times the length of a ring ("rx", "tx"), at most what the card allows; *now is its length.
 * 0:
 * it is at its maximum, or unknown.
 */
long long ring_longer(struct evidence *, const char *way, long long *now);

/* Is a feature on, or any whose name begins so? Names are the kernel's. */
bool feature_on(struct evidence *, const char *name);
/* Is one off that could be switched on? */
bool feature_missing(struct evidence *, const char *name);

/* A value of ethtool -c or -l: "rx-usecs"; -1: not reported. */
long long coalesce_value(struct evidence *, const char *name);
long long channels_value(struct evidence *, const char *name);

/* Is there a device behind it, rather than software alone? */
bool is_hardware(struct evidence *);

#endif

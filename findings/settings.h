/* SPDX-License-Identifier: GPL-2.0 */
/* What findings ask about how an interface is set up now, before they advise to change it. */
#ifndef NICPROBE_SETTINGS_H
#define NICPROBE_SETTINGS_H

#include "findings/evidence.h"

/*
 * A ring ("rx", "tx") four times as long, or as long as the card allows; and what it is now. 0: it
 * is as long as it can be, or nobody tells.
 */
long long ring_longer(struct evidence *, const char *way, long long *now);

/* A feature of the kernel's list, or those that begin so: is it on? */
bool feature_on(struct evidence *, const char *name);
/* Is it off, and can it be switched on? */
bool feature_missing(struct evidence *, const char *name);

/* A value of ethtool -c, -l: "rx-usecs"; -1: it is not told. */
long long coalesce_value(struct evidence *, const char *name);
long long channels_value(struct evidence *, const char *name);

/* There is a device behind it: it is not software alone. */
bool is_hardware(struct evidence *);

#endif

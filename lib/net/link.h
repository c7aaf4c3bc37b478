/* SPDX-License-Identifier: GPL-2.0 */
/* Whether an interface can send now, and how fast. */
#ifndef NICPROBE_LINK_H
#define NICPROBE_LINK_H

#include "lib/read/snapshot.h"

struct iface;

/* In the namespace the process is in; `known` is false if there is no such interface any more. */
void link_state(const struct iface *, struct link *);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* Whether an interface can send now, and how fast. */
#ifndef NICPROBE_LINK_H
#define NICPROBE_LINK_H

#include "lib/read/snapshot.h"

/* In the namespace the process is in; `known` is false if there is no such interface. */
void link_state(unsigned ifindex, struct link *);

#endif

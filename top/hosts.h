/* SPDX-License-Identifier: GPL-2.0 */
/* Hosts in the first view of top: their connections, a line each. */
#ifndef NICPROBE_TOP_HOSTS_H
#define NICPROBE_TOP_HOSTS_H

#include "top/doc.h"
#include "top/model.h"

/* Prints a table of these, in their order; nothing if there are none. */
void hosts_table(struct doc *, const struct top_iface *const *hosts, unsigned nr);

#endif

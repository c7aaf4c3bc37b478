/* SPDX-License-Identifier: GPL-2.0 */
/* Numbers that have names: states, protocols, families and so on. */
#ifndef NICPROBE_PROBES_NAMED_H
#define NICPROBE_PROBES_NAMED_H

#include "probes/probe.h"

struct near;

/* NULL: it has no name, or numbers of this format have none. */
const char *named_text(enum field_format, __u32 number);
/* As nicprobe, DTrace or C calls it: "syn-sent", "state-syn-sent", "TCP_STATE_SYN_SENT". */
bool named_number(enum field_format, const char *name, __u32 *number);
void named_near(enum field_format, struct near *);

#endif

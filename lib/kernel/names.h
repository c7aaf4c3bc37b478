/* SPDX-License-Identifier: GPL-2.0 */
/* What the running kernel calls its own numbers: values of an enum, arguments of a tracepoint. */
#ifndef NICPROBE_NAMES_H
#define NICPROBE_NAMES_H

#include <stddef.h>
#include <stdint.h>

/* Why an skb was dropped: "NO_SOCKET"; "OPENVSWITCH_7" or "?77" where it has no name of its own. */
const char *drop_reason_name(uint32_t reason);
/* The same, if it is of the stack itself and has a name of its own; else NULL. */
const char *drop_reason_core(uint32_t reason);
/* Tells one that is of the stack itself: it need not be looked up again. */
void drop_reason_know(uint32_t reason, const char *name);

/* How many arguments a tracepoint hands over; 0: there is none of this name, or no BTF. */
unsigned tracepoint_args(const char *name);

#endif

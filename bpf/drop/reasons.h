/* SPDX-License-Identifier: GPL-2.0 */
/* What the running kernel calls the reasons of drops. */
#ifndef NICPROBE_REASONS_H
#define NICPROBE_REASONS_H

#include <stddef.h>
#include <stdint.h>

/* Why an skb was dropped: "NO_SOCKET"; "OPENVSWITCH_7" or "?77" where it has no name of its own. */
const char *drop_reason_name(uint32_t reason);
/* The same for a reason of the stack itself; NULL: it has no name. */
const char *drop_reason_core(uint32_t reason);
/* Remembers the name of a reason of the stack itself, so that it need not be looked up. */
void drop_reason_know(uint32_t reason, const char *name);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* Names of drop reasons in the running kernel. */
#ifndef NICPROBE_REASONS_H
#define NICPROBE_REASONS_H

#include <stddef.h>
#include <stdint.h>

/* "NO_SOCKET"; "OPENVSWITCH_7" or "?77" if its name is not known. */
const char *drop_reason_name(uint32_t reason);
/* The same for a reason of the core stack; NULL: it has no name. */
const char *drop_reason_core(uint32_t reason);
/* Caches the name of a reason of the core stack, so that it need not be looked up. */
void drop_reason_know(uint32_t reason, const char *name);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* What changed between two readings of an interface's setup, as sentences. */
#ifndef NICPROBE_RECORD_CHANGES_H
#define NICPROBE_RECORD_CHANGES_H

#include "lib/hw/hw.h"

/* Calls `tell` for each change: "channels combined: 4, now 8". */
void changes_tell(const struct hw *before, const struct hw *now,
		  void (*tell)(const char *what, void *arg), void *arg);

#endif

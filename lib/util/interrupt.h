/* SPDX-License-Identifier: GPL-2.0 */
/* Signals that end us, kept waiting while something is half done. */
#ifndef NICPROBE_INTERRUPT_H
#define NICPROBE_INTERRUPT_H

#include <stdbool.h>

/* From now on they wait: who is at work asks, and puts away what it has begun. */
void interrupts_hold(void);
/* Has one come that waits? */
bool interrupted(void);
/* They end us again: one that waits does so here, by itself. */
void interrupts_release(void);
/* What they were to prevent is done: from now on they end us, with success. */
void interrupts_done(void);

#endif

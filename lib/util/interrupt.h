/* SPDX-License-Identifier: GPL-2.0 */
/* Holds back terminating signals while a change is half done. */
#ifndef NICPROBE_INTERRUPT_H
#define NICPROBE_INTERRUPT_H

#include <stdbool.h>

/* From now on they are blocked: poll interrupted(), and undo what was begun. */
void interrupts_hold(void);
/* Is one pending? */
bool interrupted(void);
/* Unblocks them; a pending one takes effect here. */
void interrupts_release(void);
/* From now on they end the process with success: there is nothing left to undo. */
void interrupts_done(void);

#endif

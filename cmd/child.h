/* SPDX-License-Identifier: GPL-2.0 */
/* A command that is run while something is measured. */
#ifndef NICPROBE_CHILD_H
#define NICPROBE_CHILD_H

#include <stdbool.h>

/* 0, or the errno that execvp() would fail with: checked before anything is attached. */
int child_wrong(const char *name);
/* Its exit status as a shell gives it: 128 + the signal that ended it. Needs signals_ready(). */
int child_run(char **argv);
/* The same in two parts. 0, or the exit status after printing an error. */
int child_start(char **argv);
bool child_ended(int *status);		/* has it? */
int child_end(void);			/* waits for that; its exit status */
/* The signal that came while no command was running; 0: none. */
int child_signal(void);
/* Without a command: waits for a signal. */
int child_wait(void);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* Runs a command of the user's, and tells how it failed. */
#ifndef NICPROBE_TRIAL_SHELL_H
#define NICPROBE_TRIAL_SHELL_H

/*
 * By /bin/sh, out of reach of Ctrl-C (it is ended by us or by itself), reading nothing, its
 * standard output thrown away. After `seconds` it is killed, with what it has started.
 * 0; or -errno and a complaint, which calls it `what`, with its status and its last words:
 * -ECHILD, it ended with another status than 0; -ETIME: it did not end.
 */
int shell_run(const char *what, const char *command, double seconds);

#endif

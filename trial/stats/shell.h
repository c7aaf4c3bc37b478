/* SPDX-License-Identifier: GPL-2.0 */
/* Runs a shell command of the user and reports how it failed. */
#ifndef NICPROBE_TRIAL_SHELL_H
#define NICPROBE_TRIAL_SHELL_H

struct error;

/*
 * Run by /bin/sh in a process group of its own, so that Ctrl-C does not reach it; stdin and stdout
 * are /dev/null. After `seconds` the group is killed. 0; or -errno with an error message that
 * names the command `what` and has its status and its last line of stderr: -ECHILD: nonzero status;
 * -ETIME: timeout.
 */
int shell_run(const char *what, const char *command, double seconds, struct error *);

#endif

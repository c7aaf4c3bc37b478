/* SPDX-License-Identifier: GPL-2.0 */
/* One way to complain. The engine says why by complain(); the command prints it, once. */
#ifndef NICPROBE_LOG_H
#define NICPROBE_LOG_H

#include <stdbool.h>

/*
 * Remember what we could not do, to what, and why; the first complaint wins
 * unless complaints_forget() came between. Returns `err`, a -errno.
 */
__attribute__((format(printf, 3, 4)))
int complain(int err, const char *try, const char *what, ...);
void complaints_forget(void);
const char *complaint(void);		/* the sentence; "": none */
const char *complaint_try(void);	/* what to try; "": nothing known */

/* libbpf and libxdp: silent, or with -v all they say, to stderr. */
void log_init(bool verbose);
/* The last line the verifier or libbpf said about what failed; "": nothing. */
const char *log_last(void);

/* snprintf into a fresh static buffer; eight of them go round. */
__attribute__((format(printf, 1, 2)))
const char *text(const char *format, ...);

#endif

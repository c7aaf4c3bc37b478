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

/*
 * What stands in the way here and now and says nothing of what the kernel can: no file, no memory,
 * a call that was to be made again. complain() and what libbpf says are looked through for it;
 * short_of() notes it where nobody would complain. The first is kept.
 */
__attribute__((format(printf, 3, 4)))
void hindered(int err, const char *try, const char *what, ...);
void short_of(int err, const char *what);	/* "open FILE"; other errors are passed over */
void hindrance_forget(void);
/* 0, or the -errno of it, which is the complaint then. */
int hindrance(void);

/* libbpf and libxdp: silent, or with -v all they say, to stderr. */
void log_init(bool verbose);
/* The last line the verifier or libbpf said about what failed; "": nothing. */
const char *log_last(void);

/* snprintf into a fresh static buffer; eight of them go round. */
__attribute__((format(printf, 1, 2)))
const char *text(const char *format, ...);

#endif

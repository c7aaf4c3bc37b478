/* SPDX-License-Identifier: GPL-2.0 */
/* Error messages. The engine records the reason by complain(); the command prints it, once. */
#ifndef NICPROBE_LOG_H
#define NICPROBE_LOG_H

#include <stdbool.h>

/*
 * Records what failed, on what, and why. The first error is kept until complaints_forget().
 * Returns `err`, a -errno.
 */
__attribute__((format(printf, 3, 4)))
int complain(int err, const char *try, const char *what, ...);
void complaints_forget(void);
const char *complaint(void);		/* the sentence; "": none */
const char *complaint_try(void);	/* what to try; "": no suggestion */

/*
 * A hindrance is a temporary shortage (files, memory, EINTR, EAGAIN) that says nothing about the
 * kernel's features. libbpf's messages are parsed for one; short_of() records one where nothing
 * else would complain, and ignores other errors. The first is kept.
 */
__attribute__((format(printf, 3, 4)))
void hindered(int err, const char *try, const char *what, ...);
void short_of(int err, const char *what);	/* "open FILE" */
void hindrance_forget(void);
/* 0, or the hindrance's -errno, which then is the error reported. */
int hindrance(void);

/* Silences libbpf and libxdp; with -v, prints all they say to stderr. */
void log_init(bool verbose);
/* The last line of the verifier or libbpf about a failure; "": none. */
const char *log_last(void);

/* snprintf into one of eight static buffers, used in turn. */
__attribute__((format(printf, 1, 2)))
const char *text(const char *format, ...);

#endif

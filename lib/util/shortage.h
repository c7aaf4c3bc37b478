/* SPDX-License-Identifier: GPL-2.0 */
/* A temporary shortage of this process, which says nothing about the kernel's features. */
#ifndef NICPROBE_SHORTAGE_H
#define NICPROBE_SHORTAGE_H

#include <stdbool.h>

struct error;

/*
 * Files or memory are short, or a call was interrupted (EINTR, EAGAIN): what looks like a missing
 * feature is none, and an attach must end. The limits are the process's, and libbpf reports one
 * only in a message, to a callback without a context: so the note is the process's, too. The first
 * shortage is kept.
 */
bool is_shortage(int err);	/* an errno, above 0 */
/* Notes one; `try` NULL: the usual remedy. */
__attribute__((format(printf, 3, 4)))
void shortage_note(int err, const char *try, const char *what, ...);
/* Notes a shortage in a call that is not reported otherwise, "open FILE"; ignores other errors. */
void short_of(int err, const char *what);
/*
 * Are the variables of a loaded skeleton not mapped? It notes that: libbpf asks once whether arrays
 * can be, and takes any error of that call for a no.
 */
bool shortage_unmapped(const void *variables);
/* In its messages, libbpf may misreport a shortage as a feature that the kernel lacks. */
void shortage_read(const char *message);
void shortage_forget(void);
/* 0; or the -errno of the shortage, which replaces whatever reason the error has. */
int shortage(struct error *);

#endif
